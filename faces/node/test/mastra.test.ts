/** Mastra's agent against the sandbox: 200 tool turns past the window, and its messages stay whole. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { createOpenAI } from "@ai-sdk/openai";
import { Agent } from "@mastra/core/agent";
import type { MastraModelConfig } from "@mastra/core/llm";
import { TokenLimiterProcessor, type ProcessLLMRequestArgs } from "@mastra/core/processors";
import { createTool } from "@mastra/core/tools";
import { louverProcessor } from "louver/mastra";
import { z } from "zod";
import { readFile, sandbox, TASK, TURNS, WINDOW } from "./talks.js";

const read_file = createTool({
  id: "read_file",
  description: "Reads a file.",
  inputSchema: z.object({ path: z.string() }),
  execute: async ({ path }: { path: string }) => readFile(path),
});

test("an agent stays inside and its messages whole", async (context) => {
  const box = await sandbox(context);
  const openai = createOpenAI({ baseURL: `${box.url}/v1`, apiKey: "key" });
  const agent = new Agent({
    id: "reader",
    name: "Reader",
    instructions: "Be brief.",
    // Its types ask a model of the AI SDK for streams alone; it takes any.
    model: openai.chat("gpt-5") as unknown as MastraModelConfig,
    tools: { read_file },
    inputProcessors: [louverProcessor({ contextWindow: WINDOW })],
  });
  const result = await agent.generate(TASK, { maxSteps: 2 * TURNS });
  assert.equal(result.text.slice(-"All is read.".length), "All is read.");
  const results = result.steps.flatMap((step) => step.toolResults);
  assert.equal(results.length, TURNS);
  for (const { payload } of results) assert.equal(payload.result, readFile("a.txt"));
  await box.assertKeptInside();
});

type Prompt = ProcessLLMRequestArgs["prompt"];

/** A task, a call with a small result, and one with a large result, which is the newest. */
function prompt(): Prompt {
  const turn = (toolCallId: string, size: number): Prompt => [
    { role: "assistant", content: [{ type: "tool-call", toolCallId, toolName: "read_file", input: { path: toolCallId } }] },
    {
      role: "tool",
      content: [
        { type: "tool-result", toolCallId, toolName: "read_file", output: { type: "text", value: readFile(toolCallId, size) } },
      ],
    },
  ];
  return [{ role: "user", content: [{ type: "text", text: TASK }] }, ...turn("small", 100), ...turn("large", 40_000)];
}

/** The results that a prompt has, by their calls. */
function results(sent: Prompt): Record<string, number> {
  const parts = sent.flatMap(({ role, content }) => (role === "tool" ? content : []));
  const texts = parts.flatMap((part) =>
    part.type === "tool-result" && part.output.type === "text" ? [[part.toolCallId, part.output.value.length] as const] : [],
  );
  return Object.fromEntries(texts);
}

test("their own limiter drops the result that was just asked for, ours shortens it", async () => {
  const args = { prompt: prompt(), model: { modelId: "gpt-5" } } as unknown as ProcessLLMRequestArgs;
  const theirs = await new TokenLimiterProcessor(6_000).processLLMRequest(args);
  assert.deepEqual(Object.keys(results(theirs?.prompt ?? [])), ["small"]);
  const ours = await louverProcessor({ contextWindow: 8_000, maxOutput: 500, counter: "chars4" }).processLLMRequest(args);
  const { large } = results(ours?.prompt ?? []);
  assert.ok(large !== undefined && large > 1_000 && large < 30_000, `${large} characters`);
  assert.deepEqual(args.prompt, prompt());
});
