/** The official SDKs against the sandbox: 200 tool turns past the window. */

import assert from "node:assert/strict";
import { test } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import * as louver from "louver";
import { readFile, sandbox, SCHEMA, TASK, TURNS, WINDOW, type Sandbox } from "./talks.js";

const SETTINGS = { contextWindow: WINDOW };
const options = { apiKey: "key", maxRetries: 0 };
const claude = ({ url }: Sandbox): Anthropic => new Anthropic({ baseURL: url, ...options });
const gpt = ({ url }: Sandbox): OpenAI => new OpenAI({ baseURL: `${url}/v1`, ...options });

const FRAME = {
  model: "claude-sonnet-4-5",
  max_tokens: 1_024,
  system: "Be brief.",
  tools: [{ name: "read_file", input_schema: SCHEMA }],
};

/** What the tool says to an answer; nothing where it called none. */
function told(answer: Anthropic.Message): Anthropic.MessageParam | undefined {
  const uses = answer.content.filter((block) => block.type === "tool_use");
  const results = uses.map((use) => {
    const content = readFile((use.input as { path: string }).path);
    return { type: "tool_result" as const, tool_use_id: use.id, content };
  });
  return results.length > 0 ? { role: "user", content: results } : undefined;
}

for (const streaming of [false, true]) {
  test(`Anthropic's messages, ${streaming ? "streamed" : "whole"}`, async (context) => {
    const box = await sandbox(context);
    const client = louver.wrap(claude(box), SETTINGS);
    const history: Anthropic.MessageParam[] = [{ role: "user", content: TASK }];
    for (;;) {
      const request = { messages: history, ...FRAME };
      const answer = await (streaming ? client.messages.stream(request).finalMessage() : client.messages.create(request));
      const before = [...history];
      const results = told(answer);
      if (!results) {
        assert.deepEqual(answer.content.map((block) => block.type === "text" && block.text), ["All is read."]);
        break;
      }
      history.push({ role: "assistant", content: answer.content }, results);
      assert.ok(before.every((message, index) => message === history[index]));
    }
    assert.equal(history.length, 1 + 2 * TURNS);
    await box.assertKeptInside();
  });
}

test("OpenAI's chat completions", async (context) => {
  const box = await sandbox(context);
  const client = louver.wrap(gpt(box), SETTINGS);
  const tools = [{ type: "function" as const, function: { name: "read_file", parameters: SCHEMA } }];
  const history: OpenAI.ChatCompletionMessageParam[] = [
    { role: "system", content: "Be brief." },
    { role: "user", content: TASK },
  ];
  for (;;) {
    const answer = await client.chat.completions.create({ model: "gpt-5", messages: history, tools });
    const message = answer.choices[0]?.message;
    assert.ok(message);
    if (!message.tool_calls) {
      assert.equal(message.content, "All is read.");
      break;
    }
    history.push(message);
    for (const call of message.tool_calls) history.push({ role: "tool", tool_call_id: call.id, content: readFile("a") });
  }
  assert.equal(history.length, 2 + 2 * TURNS);
  await box.assertKeptInside();
});

test("OpenAI's responses", async (context) => {
  const box = await sandbox(context);
  const client = louver.wrap(gpt(box), SETTINGS);
  const tools = [{ type: "function" as const, name: "read_file", parameters: SCHEMA, strict: false }];
  const history: OpenAI.Responses.ResponseInputItem[] = [{ role: "user", content: TASK }];
  for (let said = 0; said <= TURNS; said++) {
    const more = { tools, instructions: "Be brief.", store: false };
    const response = await client.responses.create({ model: "gpt-5", input: history, ...more });
    history.push(...(response.output as OpenAI.Responses.ResponseInputItem[]));
    for (const item of response.output) {
      if (item.type !== "function_call") continue;
      history.push({ type: "function_call_output", call_id: item.call_id, output: readFile(item.call_id) });
    }
  }
  await box.assertKeptInside(history.length);
});

test("without a window the same talk is refused", async (context) => {
  const client = claude(await sandbox(context));
  const history: Anthropic.MessageParam[] = [{ role: "user", content: TASK }];
  const talk = async (): Promise<void> => {
    for (;;) {
      const answer = await client.messages.create({ messages: history, ...FRAME });
      history.push({ role: "assistant", content: answer.content }, told(answer) ?? assert.fail("it was not refused"));
    }
  };
  await assert.rejects(talk, /prompt is too long/);
});

test("the client and what it is given stay as they are", async (context) => {
  const box = await sandbox(context);
  const plain = gpt(box);
  const client = louver.wrap(plain, SETTINGS);
  assert.ok(client instanceof OpenAI && client !== plain);
  const messages: OpenAI.ChatCompletionMessageParam[] = Array.from({ length: 61 }, (_, turn) => {
    return { role: turn % 2 ? "assistant" : "user", content: "word ".repeat(1_000) };
  });
  const before = structuredClone(messages);
  for (const asked of [client, client.withOptions({ timeout: 30_000 })]) {
    await asked.chat.completions.create({ model: "gpt-5", messages });
  }
  assert.deepEqual(messages, before);
  const journal = await box.journal();
  assert.deepEqual(journal.map(({ status }) => status), [200, 200]);
  assert.ok((journal[0]?.messages ?? 99) < 60);
  await assert.rejects(plain.chat.completions.create({ model: "gpt-5", messages }), OpenAI.BadRequestError);
  assert.throws(() => louver.wrap({}), /expected a client/);
});

test("what the provider counts is heard, streamed or not", async (context) => {
  const box = await sandbox(context);
  const heard: unknown[] = [];
  const report = louver.Conversations.prototype.reportUsage;
  context.mock.method(louver.Conversations.prototype, "reportUsage", function (this: louver.Conversations, ...args: Parameters<typeof report>) {
    const verdict = report.apply(this, args);
    heard.push(verdict);
    return verdict;
  });
  const messages = [{ role: "user" as const, content: "word ".repeat(2_000) }];
  const anthropic = louver.wrap(claude(box), SETTINGS);
  await anthropic.messages.create({ messages, ...FRAME });
  await anthropic.messages.stream({ messages, ...FRAME }).finalMessage();
  const openai = louver.wrap(gpt(box), SETTINGS);
  const stream = await openai.chat.completions.create({
    model: "gpt-5", messages, stream: true, stream_options: { include_usage: true },
  });
  for await (const chunk of stream) assert.ok(chunk.object);
  const streamed = await openai.responses.create({ model: "gpt-5", input: messages, stream: true, store: false });
  for await (const event of streamed) assert.ok(event.type);
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(heard.length, 4);
  assert.ok(heard.every((verdict) => typeof verdict === "string"), JSON.stringify(heard));
});
