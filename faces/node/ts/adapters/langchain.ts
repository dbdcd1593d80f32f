/**
 * LangChain and LangGraph: a middleware that fits each model call, and leaves the agent's state alone.
 *
 *     createAgent({ model, tools, middleware: [louverMiddleware()] })
 */

import { AIMessage, HumanMessage, SystemMessage, type BaseMessage } from "@langchain/core/messages";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { createMiddleware, type AgentMiddleware } from "langchain";
import { Conversations, type Settings, type Turn } from "../index.js";

/** A message as the Chat Completions API has it: enough to know what belongs together and what it costs. */
interface Wire {
  role: string;
  content: unknown;
  tool_call_id?: string;
  tool_calls?: object[];
}

interface Call {
  id?: string;
  name: string;
  args: unknown;
}

const ROLES: Record<string, string> = { human: "user", ai: "assistant", tool: "tool", system: "system" };
// What an answer's `tool_calls` say already.
const CALL_BLOCKS = new Set(["tool_use", "function_call", "input_json_delta", "tool_call"]);

// Blocks of LangChain's that show something.
const MEDIA = new Set(["image", "audio", "video", "file", "document"]);

/** A block that shows something, of any version, as far as it matters here. */
interface Shown {
  type?: string;
  text?: unknown;
  url?: unknown;
  data?: string | Uint8Array;
  base64?: string;
  mimeType?: string;
  mime_type?: string;
  source?: { type?: string; media_type?: string; data?: string; url?: string };
}

/** What is asked of a model. */
export interface ModelCall {
  readonly model: unknown;
  readonly messages: BaseMessage[];
  readonly systemMessage?: BaseMessage;
  readonly tools: readonly unknown[];
}

/** Fits the calls of one agent, or of several. */
export class LouverCalls {
  readonly #conversations: Conversations;
  readonly #tools = new WeakMap<object, object>();

  constructor(settings: Settings = {}) {
    this.#conversations = new Conversations({ ...settings, format: "openai-chat" });
  }

  /** The messages that may be sent: the same objects for those that stay. */
  fit(call: ModelCall): { messages: BaseMessage[]; turn: Turn<{ messages: Wire[] }> } {
    const system = call.systemMessage && textLength(call.systemMessage.content) > 0 ? [call.systemMessage] : [];
    const history = [...system, ...call.messages];
    const turn = this.#conversations.fit({
      model: modelName(call.model),
      tools: call.tools.map((tool) => this.#tool(tool)),
      messages: history.map(wireOf),
    });
    if (turn.isUnchanged) return { messages: call.messages, turn };
    const view = turn.origins.map(({ index, isKept }, place) => {
      const original = index === null ? undefined : history[index];
      const wire = turn.request.messages[place];
      return original && isKept ? original : messageOf(original, wire);
    });
    return { messages: view.slice(system.length), turn };
  }

  /** Counts are corrected by what the provider counted. */
  heard(turn: Pick<Turn<unknown>, "conversation">, answer: unknown): void {
    const tokens = (answer as { usage_metadata?: { input_tokens?: number } }).usage_metadata?.input_tokens;
    if (tokens) this.#conversations.reportUsage(turn, tokens);
  }

  #tool(tool: unknown): object {
    if (typeof tool !== "object" || tool === null) return {};
    const known = this.#tools.get(tool) ?? definition(tool);
    this.#tools.set(tool, known);
    return known;
  }
}

/** A middleware for `createAgent`. Only the request is changed: what the agent and its checkpointer store stays whole. */
export function louverMiddleware(settings: Settings = {}): AgentMiddleware {
  const calls = new LouverCalls(settings);
  return createMiddleware({
    name: "Louver",
    wrapModelCall: async (request, handler) => {
      const { messages, turn } = calls.fit(request);
      const answer = await handler({ ...request, messages });
      calls.heard(turn, answer);
      return answer;
    },
  });
}

function definition(tool: object): object {
  return "schema" in tool ? convertToOpenAITool(tool as Parameters<typeof convertToOpenAITool>[0]) : tool;
}

function modelName(model: unknown): string | undefined {
  const { model: name, modelName } = (model ?? {}) as { model?: unknown; modelName?: unknown };
  return [name, modelName].find((value): value is string => typeof value === "string");
}

function textLength(content: unknown): number {
  return typeof content === "string" || Array.isArray(content) ? content.length : 0;
}

function wireOf(message: BaseMessage): Wire {
  const kind = message.getType();
  const wire: Wire = { role: ROLES[kind] ?? "user", content: contentOf(message.content) };
  if (kind === "tool") wire.tool_call_id = (message as unknown as { tool_call_id?: string }).tool_call_id ?? "";
  const calls = (message as unknown as { tool_calls?: Call[] }).tool_calls ?? [];
  if (calls.length > 0) wire.tool_calls = calls.map(callOf);
  return wire;
}

function contentOf(content: unknown): unknown {
  if (!Array.isArray(content)) return content ?? "";
  const parts = (content as unknown[]).filter((part) => !isCall(part)).map(partOf);
  return parts.length > 0 ? parts : "";
}

function isCall(part: unknown): boolean {
  return CALL_BLOCKS.has((part as { type?: string }).type ?? "");
}

/** A part of a content: LangChain's own blocks, and Anthropic's, as the Chat Completions API has them. */
function partOf(part: unknown): object {
  if (typeof part === "string") return { type: "text", text: part };
  const shown = part as Shown;
  const kind = shown.type ?? "";
  if (kind === "text-plain" && typeof shown.text === "string") return { type: "text", text: shown.text };
  if (!MEDIA.has(kind) || kind in shown) return shown;
  const source = shown.source ?? {};
  if (source.type === "text") return { type: "text", text: String(source.data ?? "") };
  const media = shown.mimeType ?? shown.mime_type ?? source.media_type ?? "application/octet-stream";
  const held = shown.data ?? shown.base64 ?? source.data;
  const data = held instanceof Uint8Array ? Buffer.from(held).toString("base64") : held;
  const url = data === undefined ? String(shown.url ?? source.url ?? "") : `data:${media};base64,${data}`;
  if (kind === "audio" && data !== undefined) {
    return { type: "input_audio", input_audio: { data, format: media.slice(media.indexOf("/") + 1) } };
  }
  if (kind === "image") return { type: "image_url", image_url: { url } };
  return { type: "file", file: { file_data: url } };
}

/** A content as it came back: only what has changed is written anew. */
function changed(content: unknown, wire: unknown): unknown {
  if (!Array.isArray(content) || !Array.isArray(wire)) return wire;
  const parts = content as unknown[];
  if (parts.filter((part) => !isCall(part)).length !== wire.length) return wire;
  const known = (wire as unknown[]).values();
  return parts.map((part) => {
    if (isCall(part)) return part;
    const now = known.next().value;
    return JSON.stringify(partOf(part)) === JSON.stringify(now) ? part : now;
  });
}

function callOf(call: Call): object {
  return { id: call.id ?? "", type: "function", function: { name: call.name, arguments: JSON.stringify(call.args) } };
}

/** A changed copy, or a message of Louver's own. */
function messageOf(original: BaseMessage | undefined, wire: Wire | undefined): BaseMessage {
  if (original) {
    const content = changed(original.content, wire?.content ?? "");
    const copy = Object.create(Object.getPrototypeOf(original) as object) as BaseMessage;
    return Object.assign(copy, original, { content, lc_kwargs: { ...original.lc_kwargs, content } });
  }
  const content = (wire?.content ?? "") as string;
  if (wire?.role === "assistant") return new AIMessage(content);
  return wire?.role === "system" ? new SystemMessage(content) : new HumanMessage(content);
}
