/** The Vercel AI SDK against the sandbox: 200 tool turns past the window, streamed and not, and its messages stay whole. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { createOpenAI } from "@ai-sdk/openai";
import { APICallError, generateText, stepCountIs, streamText, tool, wrapLanguageModel, type ModelMessage } from "ai";
import { Conversations } from "louver";
import { louverMiddleware } from "louver/ai-sdk";
import { fitPrompt, type PromptMessage } from "louver/prompt";
import { z } from "zod";
import { picture, readFile, sandbox, TASK, TURNS, WINDOW, type Sandbox } from "./talks.js";

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

test("images in results are shown as images", async () => {
  const data = picture();
  const call = { toolCallId: "a", toolName: "see" } as const;
  const kinds = [
    { type: "file", mediaType: "image/png", data: { type: "data", data: new Uint8Array(data) } },
    { type: "media", mediaType: "image/png", data: data.toString("base64") },
    { type: "image-data", mediaType: "image/png", data: data.toString("base64") },
  ];
  for (const shown of kinds) {
    const value = [{ type: "text", text: "word ".repeat(9_000) }, shown];
    const prompt = [
      { role: "user", content: [{ type: "text", text: TASK }] },
      { role: "assistant", content: [{ type: "tool-call", ...call, input: {} }] },
      { role: "tool", content: [{ type: "tool-result", ...call, output: { type: "content", value } }] },
    ];
    const conversations = new Conversations({ format: "anthropic", contextWindow: 12_000, maxOutput: 500, counter: "chars4" });
    const fitted = fitPrompt(conversations, prompt as PromptMessage[], {});
    assert.ok((fitted.turn.fit?.tokensBefore ?? Infinity) < 20_000);
    const [result] = fitted.prompt.at(-1)?.content as { output: { value: { text: string }[] } }[];
    const [text, image] = result?.output.value ?? [];
    assert.ok(Object.is(image, shown) && text !== undefined && text.text.length > 1_000 && text.text.length < 40_000);
  }
});
