/** The Vercel AI SDK against the sandbox: 200 tool turns past the window, streamed and not, and its messages stay whole. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { createOpenAI } from "@ai-sdk/openai";
import { APICallError, generateText, stepCountIs, streamText, tool, wrapLanguageModel, type ModelMessage } from "ai";
import { louverMiddleware } from "louver/ai-sdk";
import { z } from "zod";
import { readFile, sandbox, TASK, TURNS, WINDOW, type Sandbox } from "./talks.js";

const tools = {
  read_file: tool({
    description: "Reads a file.",
    inputSchema: z.object({ path: z.string() }),
    execute: async ({ path }) => readFile(path),
  }),
};

/** Every result, as the tool gave it. */
function assertWhole(messages: ModelMessage[]): void {
  const results = messages.flatMap(({ role, content }) => (role === "tool" && Array.isArray(content) ? content : []));
  assert.equal(results.length, TURNS);
  const output = { type: "text", value: readFile("a.txt") };
  for (const result of results) assert.deepEqual(result.type === "tool-result" && result.output, output);
}

function plainModel({ url }: Sandbox, kind: "chat" | "responses"): ReturnType<ReturnType<typeof createOpenAI>["chat"]> {
  const openai = createOpenAI({ baseURL: `${url}/v1`, apiKey: "key" });
  return kind === "chat" ? openai.chat("gpt-5") : openai.responses("gpt-5");
}

function asked(box: Sandbox, kind: "chat" | "responses"): Parameters<typeof generateText>[0] {
  const model = wrapLanguageModel({ model: plainModel(box, kind), middleware: louverMiddleware({ contextWindow: WINDOW }) });
  const providerOptions = { openai: { store: false } };
  return { model, tools, system: "Be brief.", prompt: TASK, stopWhen: stepCountIs(2 * TURNS), maxRetries: 0, providerOptions };
}

test("a loop of steps stays inside, and its messages whole", async (context) => {
  const box = await sandbox(context);
  const result = await generateText(asked(box, "chat"));
  assert.equal(result.text, "All is read.");
  assertWhole(result.responseMessages);
  await box.assertKeptInside();
});

test("the same streamed, with the Responses API", async (context) => {
  const box = await sandbox(context);
  const result = streamText(asked(box, "responses"));
  let said = "";
  for await (const text of result.textStream) said += text;
  assert.ok(said.endsWith("All is read."));
  assertWhole(await result.responseMessages);
  await box.assertKeptInside(4 * TURNS);
});

test("what their own `prepareStep` leaves out once is gone, what ours leaves out is not", async (context) => {
  const box = await sandbox(context);
  const seen: number[] = [];
  const once = ({ stepNumber, messages }: { stepNumber: number; messages: ModelMessage[] }): object => {
    seen.push(messages.length);
    return stepNumber === 10 ? { messages: messages.slice(-2) } : {};
  };
  await generateText({ ...asked(box, "chat"), model: plainModel(box, "chat"), prepareStep: once, stopWhen: stepCountIs(12) });
  assert.deepEqual(seen.slice(9), [19, 21, 4], "the task and nine steps are missing at the step after");
  seen.length = 0;
  const other = await sandbox(context);
  await generateText({ ...asked(other, "chat"), prepareStep: ({ messages }) => void seen.push(messages.length) });
  assert.equal(seen.at(-1), 1 + 2 * TURNS);
  await other.assertKeptInside();
});

test("so many messages tear pairs apart", async (context) => {
  const box = await sandbox(context);
  const newest = ({ messages }: { messages: ModelMessage[] }): object => ({ messages: messages.slice(-5) });
  const theirs = generateText({ ...asked(box, "chat"), model: plainModel(box, "chat"), prepareStep: newest });
  await assert.rejects(theirs, (error) => APICallError.isInstance(error) && error.statusCode === 400);
  assert.ok((await box.journal()).at(-1)?.violations.length);
});
