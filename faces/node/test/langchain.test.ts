/** LangChain's agent against the sandbox: 200 tool turns past the window, and its state stays whole. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { AIMessage, HumanMessage, ToolMessage, trimMessages, type BaseMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { MemorySaver } from "@langchain/langgraph-checkpoint";
import { ChatOpenAI } from "@langchain/openai";
import { createAgent } from "langchain";
import * as louver from "louver";
import { LouverCalls, louverMiddleware } from "louver/langchain";
import { z } from "zod";
import { picture, readFile, sandbox, TASK, TURNS, WINDOW } from "./talks.js";

const reader = tool(({ path }: { path: string }) => readFile(path), {
  name: "read_file",
  description: "Reads a file.",
  schema: z.object({ path: z.string() }),
});

/** The state has every message, as the model and the tool gave it. */
function assertWhole(messages: BaseMessage[]): void {
  assert.equal(messages.length, 2 + 2 * TURNS);
  const results = messages.filter((message) => ToolMessage.isInstance(message));
  assert.deepEqual(new Set(results.map(({ content }) => content)), new Set([readFile("a.txt")]));
  assert.equal(results.length, TURNS);
  assert.equal(messages.at(-1)?.content, "All is read.");
}

test("an agent stays inside and its state whole", async (context) => {
  const box = await sandbox(context);
  const configuration = { baseURL: `${box.url}/v1` };
  const model = new ChatOpenAI({ model: "gpt-5", apiKey: "key", maxRetries: 0, configuration });
  const middleware = [louverMiddleware({ contextWindow: WINDOW })] as const;
  const checkpointer = new MemorySaver();
  const agent = createAgent({ model, tools: [reader], systemPrompt: "Be brief.", middleware, checkpointer });
  const config = { recursionLimit: 10 * TURNS, configurable: { thread_id: "1" } };
  const state = await agent.invoke({ messages: [new HumanMessage(TASK)] }, config);
  assertWhole(state.messages);
  const stored = await checkpointer.getTuple(config);
  assertWhole(stored?.checkpoint.channel_values["messages"] as BaseMessage[]);
  await box.assertKeptInside();
});

function history(turns: number): BaseMessage[] {
  const messages: BaseMessage[] = [new HumanMessage("Read.")];
  for (let turn = 0; turn < turns; turn++) {
    const calls = [0, 1].map((call) => ({ name: "read_file", args: { path: String(turn) }, id: `${turn}_${call}` }));
    messages.push(new AIMessage({ content: `Step ${turn}.`, tool_calls: calls }));
    messages.push(...calls.map(({ id }) => new ToolMessage({ content: readFile(String(turn)), tool_call_id: id })));
  }
  return messages;
}

interface Called {
  tool_calls?: { id?: string; name: string; args: unknown }[];
  tool_call_id?: string;
}

/** As LangChain's own model writes them. */
function wire(messages: BaseMessage[]): object[] {
  const roles: Record<string, string> = { human: "user", ai: "assistant", tool: "tool" };
  return messages.map((message) => {
    const { tool_calls: calls = [], tool_call_id } = message as unknown as Called;
    const called = calls.map(({ id, name }) => ({ id, type: "function", function: { name, arguments: "{}" } }));
    const more = { ...(called.length > 0 ? { tool_calls: called } : {}), ...(tool_call_id ? { tool_call_id } : {}) };
    return { role: roles[message.getType()], content: message.content, ...more };
  });
}

test("kept messages are the same objects and pairs stay", () => {
  const messages = history(100);
  const calls = new LouverCalls({ contextWindow: WINDOW, counter: "chars4" });
  const request = { model: { model: "gpt-5" }, messages, tools: [] };
  const { messages: view, turn } = calls.fit(request);
  const own = new Set(messages);
  assert.ok(messages.length === 301 && view.length < 301);
  const kept = view.filter((message) => own.has(message)).length;
  assert.ok(kept > 5 && kept === turn.origins.filter(({ isKept }) => isKept).length);
  assert.deepEqual(louver.check(wire(view)), []);
  const few = messages.slice(0, 4);
  assert.equal(calls.fit({ ...request, messages: few }).messages, few);
});

test("images are shown as images", () => {
  const bytes = picture();
  const data = bytes.toString("base64");
  const blocks = [
    { type: "image", mimeType: "image/png", data },
    { type: "image", mimeType: "image/png", data: new Uint8Array(bytes) },
    { type: "image", source_type: "base64", mime_type: "image/png", data },
    { type: "image", source: { type: "base64", media_type: "image/png", data } },
    { type: "image_url", image_url: { url: `data:image/png;base64,${data}` } },
  ];
  for (const shown of blocks) {
    const call = new AIMessage({ content: "Step.", tool_calls: [{ name: "see", args: {}, id: "a" }] });
    const content = [{ type: "text", text: "word ".repeat(9_000) }, shown];
    const messages = [new HumanMessage({ content: [shown] }), call, new ToolMessage({ content, tool_call_id: "a" })];
    const calls = new LouverCalls({ contextWindow: 12_000, maxOutput: 500, counter: "chars4" });
    const few = messages.slice(0, 2);
    const small = calls.fit({ model: { model: "gpt-5" }, messages: few, tools: [] });
    assert.ok(small.messages === few && (small.turn.fit?.tokensBefore ?? Infinity) < 10_000);
    const { messages: view, turn } = calls.fit({ model: { model: "gpt-5" }, messages, tools: [] });
    assert.ok((turn.fit?.tokensBefore ?? Infinity) < 20_000);
    const [text, image] = view.at(-1)?.content as { text: string }[];
    assert.ok(Object.is(image, shown) && text !== undefined && text.text.length > 1_000 && text.text.length < 40_000);
  }
});

test("their own trimming tears pairs apart", async () => {
  const messages = history(40);
  let refused = 0;
  for (let maxTokens = 2_000; maxTokens < 6_000; maxTokens += 250) {
    const tokenCounter = (given: BaseMessage[]): number => JSON.stringify(wire(given)).length / 4;
    const trimmed = await trimMessages(messages, { maxTokens, tokenCounter, strategy: "last" });
    refused += Number(louver.check(wire(trimmed), { format: "openai-chat" }).length > 0);
    const room = { contextWindow: maxTokens + 1_000, maxOutput: 500 };
    const ours = louver.trim(wire(messages), { format: "openai-chat", counter: "chars4", policy: "newest", ...room });
    assert.deepEqual(louver.check(ours, { format: "openai-chat" }), []);
  }
  assert.ok(refused > 0);
  console.log(`# ${refused} of 16 budgets give a history that is refused`);
});
