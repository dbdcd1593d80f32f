// The official Node SDKs of Anthropic, OpenAI and Google against the sandbox, streaming and not.

import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";

const url = process.env.LOUVER_SANDBOX;
const schema = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
const task = "Read a.txt and b.txt.";
const [first, last] = ["I read both files.", "Both files say hello."];
const paths = [{ path: "a.txt" }, { path: "b.txt" }];

const options = (run) => ({ apiKey: "key", maxRetries: 0, defaultHeaders: { "x-sandbox-run": `node-${run}` } });
const claude = (run) => new Anthropic({ baseURL: url, ...options(run) });
const gpt = (run) => new OpenAI({ baseURL: `${url}/v1`, ...options(run) });

const gemini = (run) =>
  new GoogleGenAI({ apiKey: "key", httpOptions: { baseUrl: url, headers: { "x-sandbox-run": `node-${run}` } } });

async function messages(streaming) {
  const client = claude(`messages-${streaming}`);
  const history = [{ role: "user", content: task }];
  const ask = () => {
    const request = {
      model: "claude-opus-5-5",
      max_tokens: 2048,
      thinking: { type: "adaptive" },
      tools: [{ name: "read_file", input_schema: schema }],
      messages: history,
    };
    return streaming ? client.messages.stream(request).finalMessage() : client.messages.create(request);
  };
  const answer = await ask();
  assert.deepEqual(answer.content.map((block) => block.type), ["thinking", "text", "tool_use", "tool_use"]);
  assert.equal(answer.content[1].text, first);
  assert.deepEqual(answer.content.slice(2).map((block) => block.input), paths);
  assert.equal(answer.stop_reason, "tool_use");
  history.push({ role: "assistant", content: answer.content });
  await assert.rejects(ask, /`tool_use` ids were found without `tool_result` blocks immediately after/);
  const results = answer.content.slice(2);
  history.push({
    role: "user",
    content: results.map((block) => ({ type: "tool_result", tool_use_id: block.id, content: "hello" })),
  });
  const end = await ask();
  assert.equal(end.content.at(-1).text, last);
  assert.equal(end.stop_reason, "end_turn");
}

async function completions(streaming) {
  const client = gpt(`completions-${streaming}`);
  const history = [{ role: "user", content: task }];
  const tools = [{ type: "function", function: { name: "read_file", parameters: schema } }];
  const ask = () => {
    const request = { model: "gpt-5", messages: history, tools };
    return streaming
      ? client.chat.completions.stream({ ...request, stream_options: { include_usage: true } }).finalChatCompletion()
      : client.chat.completions.create(request);
  };
  const answer = await ask();
  const { message, finish_reason } = answer.choices[0];
  assert.equal(message.content, first);
  assert.equal(finish_reason, "tool_calls");
  assert.deepEqual(message.tool_calls.map((call) => JSON.parse(call.function.arguments)), paths);
  assert.ok(answer.usage.prompt_tokens > 0);
  history.push(message, ...message.tool_calls.map((call) => ({ role: "tool", tool_call_id: call.id, content: "hello" })));
  assert.equal((await ask()).choices[0].message.content, last);
}

async function responses(streaming) {
  const client = gpt(`responses-${streaming}`);
  const history = [{ role: "user", content: task }];
  const tools = [{ type: "function", name: "read_file", parameters: schema, strict: false }];
  const ask = () => {
    const request = { model: "gpt-5", input: history, tools, store: false };
    return streaming ? client.responses.stream(request).finalResponse() : client.responses.create(request);
  };
  const answer = await ask();
  assert.equal(answer.output_text, first);
  const calls = answer.output.filter((item) => item.type === "function_call");
  assert.deepEqual(calls.map((call) => JSON.parse(call.arguments)), paths);
  const outputs = calls.map((call) => ({ type: "function_call_output", call_id: call.call_id, output: "hello" }));
  history.push(...answer.output.filter((item) => item.type !== "reasoning"), ...outputs);
  await assert.rejects(ask, /was provided without its required 'reasoning' item/);
  history.splice(1, history.length, ...answer.output, ...outputs);
  assert.equal((await ask()).output_text, last);
}

async function contents(streaming) {
  const client = gemini(`contents-${streaming}`);
  const history = [{ role: "user", parts: [{ text: task }] }];
  const declared = { name: "read_file", description: "Reads.", parametersJsonSchema: schema };
  const ask = async () => {
    const request = { model: "gemini-2.5-pro", contents: history, config: { tools: [{ functionDeclarations: [declared] }] } };
    if (!streaming) return (await client.models.generateContent(request)).candidates[0].content.parts;
    const parts = [];
    for await (const chunk of await client.models.generateContentStream(request)) {
      parts.push(...(chunk.candidates[0].content.parts ?? []));
    }
    return parts;
  };
  const said = (parts) => parts.filter((part) => part.text && !part.thought).map((part) => part.text).join("");
  const parts = await ask();
  const calls = parts.filter((part) => part.functionCall).map((part) => part.functionCall);
  assert.equal(said(parts), first);
  assert.deepEqual(calls.map((call) => call.args), paths);
  const results = calls.map((call) => ({ functionResponse: { name: call.name, response: { output: "hello" } } }));
  history.push({ role: "model", parts }, { role: "user", parts: results.slice(1) });
  await assert.rejects(ask, /number of function response parts/);
  history[2].parts = results;
  assert.equal(said(await ask()), last);
}

async function errors() {
  const bad = new OpenAI({ baseURL: `${url}/v1`, apiKey: "bad", maxRetries: 0 });
  await assert.rejects(() => bad.models.list(), OpenAI.AuthenticationError);
  const long = [{ role: "user", content: "x".repeat(100_000) }];
  await assert.rejects(
    () => claude("errors").messages.create({ model: "claude-sonnet-5", max_tokens: 10, messages: long }),
    /prompt is too long: 25000 tokens > 20000 maximum/,
  );
  const count = await claude("errors").messages.countTokens({ model: "claude-sonnet-5", messages: long });
  assert.equal(count.input_tokens, 25_000);
}

for (const streaming of [false, true]) {
  await messages(streaming);
  await completions(streaming);
  await responses(streaming);
  await contents(streaming);
}
await errors();
console.log("node: ok");
