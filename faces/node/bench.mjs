// One turn of an agent's loop: what it costs to fit a history that is handed over whole, conversion included.
//
//     faces/node/bench.sh [MESSAGES...]      (default: 50 500 5000)
//
// Every way gets the same conversation and half of its tokens as its window. The frameworks' own trimming starts anew at each
// turn. Louver's window has seen the history up to the turn before, as it has in an agent; "first" is the turn at which it
// sees all of it for the first time. "walk" is `JSON.stringify` of the framework's list. The ways take turns, so that other
// work disturbs all of them, and the quickest of several turns counts: it disturbs that the least.

import { AIMessage, coerceMessageLikeToMessage, trimMessages } from "@langchain/core/messages";
import { TokenLimiterProcessor } from "@mastra/core/processors";
import { Agent } from "@openai/agents";
import { pruneMessages } from "ai";
import * as louver from "louver";
import { louverMiddleware } from "louver/ai-sdk";
import { LouverCalls } from "louver/langchain";
import { louverProcessor } from "louver/mastra";
import { louverFilter } from "louver/openai-agents";
import { toolTurns } from "./out/talks.js";

const TURNS = 25;
// A way that has taken so long altogether has had enough turns.
const PATIENCE_MS = 20_000;

async function millisecondsOf(turn) {
  const start = performance.now();
  await turn();
  return performance.now() - start;
}

/** What the quickest turn costs each way, with a list that is longer by a call and its result at each. */
async function compared(messages, more, ours, theirs = {}) {
  const ways = { walk: JSON.stringify, ...theirs, louver: ours };
  const spent = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
  const first = await millisecondsOf(() => ours(messages));
  for (let number = 0; number < TURNS; number++) {
    messages.push(...more.slice(2 * number, 2 * number + 2));
    for (const [name, way] of Object.entries(ways)) {
      const enough = spent[name].reduce((sum, ms) => sum + ms, 0) > PATIENCE_MS;
      if (!enough) spent[name].push(await millisecondsOf(() => way(messages)));
    }
  }
  const { louver, ...others } = Object.fromEntries(Object.entries(spent).map(([name, all]) => [name, Math.min(...all)]));
  return { ...others, "louver, first": first, louver };
}

const room = (tokens, counter = "chars4") => ({ contextWindow: tokens + 1_000, maxOutput: 1_000, counter });

const plain = (counter) => (history, more, tokens) => {
  const window = new louver.Window({ format: "openai-chat", ...room(tokens, counter) });
  return compared([...history], more, (messages) => window.viewOf(messages));
};

function langchain(history, more, tokens) {
  const messages = history.map(coerceMessageLikeToMessage);
  if (!AIMessage.isInstance(messages[2])) throw new Error("these are no messages of LangChain");
  const length = (message) => JSON.stringify(message.content).length + JSON.stringify(message.tool_calls ?? []).length;
  const tokenCounter = (given) => given.reduce((sum, message) => sum + length(message) / 4, 0);
  const how = { maxTokens: tokens, tokenCounter, strategy: "last", includeSystem: true };
  const calls = new LouverCalls(room(tokens));
  const ours = (given) => calls.fit({ model: { model: "gpt-5" }, messages: given, tools: [] });
  return compared(messages, more.map(coerceMessageLikeToMessage), ours, { trimMessages: (given) => trimMessages(given, how) });
}

/** The same as the AI SDK has it. */
function promptMessage({ role, content, tool_calls: calls = [], tool_call_id: toolCallId }) {
  const toolName = "read_file";
  if (role === "system") return { role, content };
  const output = { type: "text", value: content };
  if (role === "tool") return { role, content: [{ type: "tool-result", toolCallId, toolName, output }] };
  const part = ({ id, function: call }) => {
    return { type: "tool-call", toolCallId: id, toolName, input: JSON.parse(call.arguments) };
  };
  const parts = calls.map(part);
  return { role, content: [{ type: "text", text: content }, ...parts] };
}

function aiSdk(history, more, tokens) {
  const middleware = louverMiddleware(room(tokens));
  const ours = (prompt) => middleware.transformParams({ type: "generate", params: { prompt }, model: { modelId: "gpt-5" } });
  const toolCalls = `before-last-${history.length / 2}-messages`;
  const theirs = (messages) => pruneMessages({ messages, toolCalls });
  return compared(history.map(promptMessage), more.map(promptMessage), ours, { pruneMessages: theirs });
}

function mastra(history, more, tokens) {
  const model = { modelId: "gpt-5" };
  const limiter = new TokenLimiterProcessor(tokens);
  const processor = louverProcessor(room(tokens));
  const ours = (prompt) => processor.processLLMRequest({ prompt, model });
  const theirs = (prompt) => limiter.processLLMRequest({ prompt, model });
  return compared(history.map(promptMessage), more.map(promptMessage), ours, { TokenLimiterProcessor: theirs });
}

/** The same as a run of OpenAI Agents has it. */
function agentItems({ role, content, tool_calls: calls = [], tool_call_id: callId }) {
  const item = { name: "read_file", status: "completed" };
  if (role === "tool") return [{ type: "function_call_result", callId, ...item, output: { type: "text", text: content } }];
  if (role === "user") return [{ role, content }];
  return calls.map(({ id, function: call }) => ({ type: "function_call", callId: id, ...item, arguments: call.arguments }));
}

function openaiAgents(history, more, tokens) {
  const agent = new Agent({ name: "A", model: "gpt-5" });
  const filter = louverFilter(room(tokens));
  const ours = (input) => filter({ modelData: { input, instructions: "Be brief." }, agent });
  return compared(history.flatMap(agentItems), more.flatMap(agentItems), ours);
}

const FRAMEWORKS = {
  "a list of objects": plain("chars4"),
  "a list of objects, exact counts": plain("o200k"),
  LangChain: langchain,
  "AI SDK": aiSdk,
  Mastra: mastra,
  "OpenAI Agents": openaiAgents,
};

const sizes = process.argv.slice(2).map(Number);
for (const size of sizes.length > 0 ? sizes : [50, 500, 5_000]) {
  const history = toolTurns(size / 2 - 1, 1_000);
  const tokens = Math.floor(history.reduce((sum, message) => sum + JSON.stringify(message).length, 0) / 8);
  console.log(`${history.length} messages, ${tokens} tokens may stay`);
  for (const [framework, measure] of Object.entries(FRAMEWORKS)) {
    const ways = await measure(history, toolTurns(TURNS).slice(2), tokens);
    for (const [name, ms] of Object.entries(ways)) {
      const ratio = (ms / ways["louver"]).toFixed(1).padStart(9);
      console.log(`  ${`${framework}, ${name}`.padEnd(46)} ${ms.toFixed(3).padStart(10)} ms ${ratio} times louver`);
    }
  }
}
process.exit();
