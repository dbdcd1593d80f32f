// What each framework's own way against a full window costs beside Louver's, by the sandbox's books.
//
//     faces/node/frameworks.sh [FRAMEWORK...]      (such as langchain; default: all)
//
// One task, 200 calls of a tool, each with another result, in a window of 20,000 tokens. The sandbox judges every request as
// the provider does, and keeps its prompt cache; dollars are those of gpt-5's input at the catalogue's prices. Where a
// refused request ends the run, what it would have cost is not known.

import { createOpenAI } from "@ai-sdk/openai";
import { HumanMessage, trimMessages } from "@langchain/core/messages";
import { tool as langchainTool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";
import { Agent as MastraAgent } from "@mastra/core/agent";
import { TokenLimiterProcessor } from "@mastra/core/processors";
import { createTool } from "@mastra/core/tools";
import { Agent, OpenAIResponsesModel, Runner, tool as agentsTool } from "@openai/agents";
import { generateText, pruneMessages, stepCountIs, tool, wrapLanguageModel } from "ai";
import {
  ClearToolUsesEdit,
  contextEditingMiddleware,
  countTokensApproximately,
  createAgent,
  createMiddleware,
} from "langchain";
import { louverMiddleware as aiSdkMiddleware } from "louver/ai-sdk";
import { louverMiddleware as langchainMiddleware } from "louver/langchain";
import { louverProcessor } from "louver/mastra";
import { louverFilter } from "louver/openai-agents";
import OpenAI from "openai";
import { z } from "zod";
import { louver, readFile, sandbox, TASK, TURNS, WINDOW } from "./out/talks.js";

// What is left for the history where a way is told in tokens: the window without a reply and a margin.
const TOKENS = 12_000;
const MESSAGES = 40;
const SETTINGS = { contextWindow: WINDOW };

let calls = 0;
/** Another text at each call, as files are. */
const toolResult = ({ path }) => readFile(`${calls++}-${path}`);
const execute = async (call) => toolResult(call);
const description = "Reads a file.";
const name = "read_file";
const schema = z.object({ path: z.string() });
const instructions = "Be brief.";

function aiSdkWays() {
  const tools = { read_file: tool({ description, inputSchema: schema, execute }) };
  const way = (middleware, prepareStep) => async (url) => {
    const plain = createOpenAI({ baseURL: `${url}/v1`, apiKey: "key" }).chat("gpt-5");
    const model = middleware ? wrapLanguageModel({ model: plain, middleware: middleware() }) : plain;
    const stopWhen = stepCountIs(2 * TURNS);
    await generateText({ model, tools, instructions, prompt: TASK, stopWhen, maxRetries: 0, prepareStep });
  };
  const toolCalls = `before-last-${MESSAGES}-messages`;
  return {
    [`AI SDK, \`prepareStep\` with \`messages.slice(-${MESSAGES})\``]: way(undefined, ({ messages }) => ({
      messages: messages.slice(-MESSAGES),
    })),
    "AI SDK, `prepareStep` with `pruneMessages`": way(undefined, ({ messages }) => ({
      messages: pruneMessages({ messages, toolCalls }),
    })),
    "AI SDK, `louverMiddleware`": way(() => aiSdkMiddleware(SETTINGS)),
  };
}

function langchainWays() {
  const reader = langchainTool(toolResult, { name, description, schema });
  const way = (middleware) => async (url) => {
    const model = new ChatOpenAI({ model: "gpt-5", apiKey: "key", maxRetries: 0, configuration: { baseURL: `${url}/v1` } });
    const agent = createAgent({ model, tools: [reader], systemPrompt: instructions, middleware: [middleware()] });
    await agent.invoke({ messages: [new HumanMessage(TASK)] }, { recursionLimit: 10 * TURNS });
  };
  const trimmed = () =>
    createMiddleware({
      name: "Trimmed",
      wrapModelCall: async (request, handler) => {
        const how = { maxTokens: TOKENS, tokenCounter: countTokensApproximately, strategy: "last" };
        return handler({ ...request, messages: await trimMessages(request.messages, how) });
      },
    });
  const clearing = () => new ClearToolUsesEdit({ trigger: { tokens: TOKENS }, keep: { messages: 3 } });
  return {
    "LangChain.js, `trimMessages`": way(trimmed),
    "LangChain.js, `contextEditingMiddleware`": way(() => contextEditingMiddleware({ edits: [clearing()] })),
    "LangChain.js, `louverMiddleware`": way(() => langchainMiddleware(SETTINGS)),
  };
}

function mastraWays() {
  const tools = { read_file: createTool({ id: name, description, inputSchema: schema, execute }) };
  const way = (processor) => async (url) => {
    const model = createOpenAI({ baseURL: `${url}/v1`, apiKey: "key" }).chat("gpt-5");
    const inputProcessors = [processor()];
    const agent = new MastraAgent({ id: "r", name: "R", instructions, model, tools, inputProcessors });
    await agent.generate(TASK, { maxSteps: 2 * TURNS, modelSettings: { maxRetries: 0 } });
  };
  return {
    "Mastra, `TokenLimiterProcessor`": way(() => new TokenLimiterProcessor(TOKENS)),
    "Mastra, `louverProcessor`": way(() => louverProcessor(SETTINGS)),
  };
}

function agentsWays() {
  const reader = agentsTool({ name, description, parameters: schema, execute });
  const way = (callModelInputFilter) => async (url) => {
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "key", maxRetries: 0 });
    const model = new OpenAIResponsesModel(client, "gpt-5");
    const agent = new Agent({ name: "R", instructions, model, tools: [reader], modelSettings: { store: false } });
    await new Runner({ callModelInputFilter, tracingDisabled: true }).run(agent, TASK, { maxTurns: 2 * TURNS });
  };
  const newest = (items) => ({ modelData }) => ({ ...modelData, input: modelData.input.slice(-items) });
  // A turn has three items here: so many of them begin with a result, or with what was said before the call.
  return {
    [`OpenAI Agents JS, a filter with \`input.slice(-${MESSAGES})\``]: way(newest(MESSAGES)),
    [`OpenAI Agents JS, a filter with \`input.slice(-${MESSAGES + 2})\``]: way(newest(MESSAGES + 2)),
    "OpenAI Agents JS, `louverFilter`": way(louverFilter(SETTINGS)),
  };
}

const FRAMEWORKS = { "ai-sdk": aiSdkWays, langchain: langchainWays, mastra: mastraWays, "openai-agents": agentsWays };

/** The sandbox's books after a run, as far as it went. */
async function measured(way) {
  const ends = [];
  const box = await sandbox({ after: (end) => ends.push(end) });
  let error;
  try {
    await way(box.url);
  } catch (raised) {
    error = raised;
  }
  const journal = await box.journal();
  ends.forEach((end) => end());
  return { journal, error };
}

function row(way, { journal, error }, price) {
  const accepted = journal.filter(({ status }) => status === 200);
  const sum = (field) => accepted.reduce((total, entry) => total + entry[field], 0);
  const [sent, read] = [sum("input_tokens"), sum("cache_read_tokens")];
  const dollars = ((sent - read) * price.input + read * price.cache_read) / 1e6;
  const ended = !error && accepted.length > TURNS ? "all" : `${accepted.length} of ${TURNS + 1}`;
  const cached = Math.floor((100 * read) / Math.max(sent, 1));
  const refused = journal.length - accepted.length;
  return `| ${way} | ${ended} | ${refused} | ${sent.toLocaleString("en")} | ${cached} % | ${dollars.toFixed(3)} |`;
}

const models = JSON.parse(louver(["models", "gpt-5", "--json"], "").stdout.toString());
const price = models.find(({ name }) => name === "gpt-5").usd_per_million;
const wanted = process.argv.slice(2);
for (const [framework, ways] of Object.entries(FRAMEWORKS)) {
  if (wanted.length > 0 && !wanted.includes(framework)) continue;
  for (const [title, way] of Object.entries(ways())) {
    const books = await measured(way);
    console.log(row(title, books, price));
    if (books.error) console.error(`${title}: ${String(books.error).slice(0, 300)}`);
  }
}
// What a framework leaves open does not hold the table up.
process.exit();
