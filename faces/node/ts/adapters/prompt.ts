/** The prompts of the AI SDK, which Mastra has, too: converted as far as it takes to fit them. */

import type { Conversations, Turn } from "../index.js";

/** A message of a prompt, of any version of the specification. */
export interface PromptMessage {
  role: "system" | "user" | "assistant" | "tool";
  content: unknown;
}

/** A part of a message, as far as it matters here. */
interface Part {
  type: string;
  text?: string;
  toolCallId?: string;
  toolName?: string;
  input?: unknown;
  providerExecuted?: boolean;
  output?: { type: string; value?: unknown; reason?: string };
  mediaType?: string;
  data?: unknown;
  url?: unknown;
}

/** A block as the Messages API has it. */
interface Block {
  type: string;
  text?: string;
  id?: string;
  tool_use_id?: string;
  content?: unknown;
  [more: string]: unknown;
}

interface Wire {
  role: string;
  content: string | Block[];
}

/** What stands around a prompt. */
export interface Around {
  model?: string | undefined;
  maxOutput?: number | undefined;
  tools?: readonly object[] | undefined;
}

/** A prompt as it may be sent: the same messages for those that stay. */
export interface FittedPrompt<M> {
  prompt: M[];
  turn: Turn<{ messages: Wire[] }>;
}

/** Fits a prompt. A message with results holds all results of the calls before it, as one of Anthropic's does. */
export function fitPrompt<M extends PromptMessage>(
  conversations: Conversations,
  prompt: readonly M[],
  around: Around,
): FittedPrompt<M> {
  const start = prompt.findIndex(({ role }) => role !== "system");
  const head = prompt.slice(0, start < 0 ? prompt.length : start);
  const history = prompt.slice(head.length);
  const turn = conversations.fit({
    model: around.model,
    max_tokens: around.maxOutput,
    system: head.map(({ content }) => ({ type: "text", text: String(content) })),
    tools: around.tools ?? [],
    messages: history.map(wireOf),
  });
  if (turn.isUnchanged) return { prompt: prompt as M[], turn };
  const view = turn.origins.map(({ index, isKept }, place) => {
    const original = index === null ? undefined : history[index];
    const wire = turn.request.messages[place] ?? { role: "user", content: "" };
    return original && isKept ? original : messageOf(original, wire);
  });
  return { prompt: [...head, ...view], turn };
}

function wireOf(message: PromptMessage): Wire {
  const role = message.role === "assistant" ? "assistant" : "user";
  if (!Array.isArray(message.content)) return { role, content: String(message.content) };
  const blocks = (message.content as Part[]).map(blockOf);
  return { role, content: blocks.length > 0 ? blocks : "(nothing)" };
}

function blockOf(part: Part): Block {
  // What the provider ran itself has no counterpart in another message.
  if (part.type === "tool-call" && !part.providerExecuted) {
    return { type: "tool_use", id: part.toolCallId ?? "", name: part.toolName ?? "", input: inputOf(part.input) };
  }
  if (part.type === "tool-result") {
    return { type: "tool_result", tool_use_id: part.toolCallId ?? "", content: outputOf(part.output) };
  }
  if (part.type === "file") return fileBlock(part);
  return { type: "text", text: part.text ?? JSON.stringify(part) };
}

function inputOf(input: unknown): object {
  return typeof input === "object" && input !== null ? input : { input };
}

function outputOf(output: Part["output"]): string | Block[] {
  return output?.type === "content" && Array.isArray(output.value)
    ? (output.value as Part[]).map(shownBlock)
    : outputText(output);
}

/** What a result says or shows, as each version of the specification has it. */
function shownBlock(part: Part): Block {
  if (part.type === "text") return { type: "text", text: part.text ?? "" };
  const data = part.data ?? part.url;
  return data === undefined ? { type: "text", text: JSON.stringify(part) } : fileBlock({ ...part, data });
}

function outputText(output: Part["output"]): string {
  if (!output) return "";
  if (typeof output.value === "string") return output.value;
  return output.value === undefined ? (output.reason ?? output.type) : JSON.stringify(output.value);
}

function fileBlock(part: Part): Block {
  const kind = part.type.startsWith("image-") || /^image(\/|$)/.test(part.mediaType ?? "") ? "image" : "document";
  const data = bare(part.data);
  if (data instanceof URL || (typeof data === "string" && /^https?:/.test(data))) {
    return { type: kind, source: { type: "url", url: String(data) } };
  }
  const base64 = data instanceof Uint8Array ? Buffer.from(data).toString("base64") : String(data);
  return { type: kind, source: { type: "base64", media_type: part.mediaType, data: base64 } };
}

/** Since v4 of the specification data says of which kind it is. */
function bare(data: unknown): unknown {
  const tagged = data as { type?: string; data?: unknown; url?: unknown; text?: unknown };
  if (typeof tagged !== "object" || tagged === null || typeof tagged.type !== "string") return data;
  return tagged.data ?? tagged.url ?? tagged.text;
}

/** A changed copy, or a message of Louver's own. */
function messageOf<M extends PromptMessage>(original: M | undefined, wire: Wire): M {
  const blocks: Block[] = typeof wire.content === "string" ? [{ type: "text", text: wire.content }] : wire.content;
  if (!original) {
    const role = wire.role === "assistant" ? "assistant" : "user";
    return { role, content: blocks.map(({ text }) => ({ type: "text", text: text ?? "" })) } as unknown as M;
  }
  if (!Array.isArray(original.content)) return { ...original, content: blocks.map(({ text }) => text ?? "").join("\n") };
  const parts = [...(original.content as Part[])];
  return { ...original, content: blocks.map((block) => partOf(block, parts)) };
}

/** The part that a block came from, changed where the block is; a new one where there is none. */
function partOf(block: Block, parts: Part[]): Part {
  const place = parts.findIndex((part) => isOf(block, part));
  const [part] = place < 0 ? [] : parts.splice(place, 1);
  if (!part) return { type: "text", text: block.text ?? "" };
  if (part.type !== "tool-result") return part;
  const was = outputOf(part.output);
  if (JSON.stringify(was) === JSON.stringify(block.content)) return part;
  return { ...part, output: changed(part.output, was, block.content) };
}

/** A result as it came back: only what has changed is written anew. */
function changed(output: Part["output"], was: string | Block[], content: unknown): NonNullable<Part["output"]> {
  if (!output || typeof was === "string" || !Array.isArray(content) || content.length !== was.length) {
    return { type: "text", value: textOf(content) };
  }
  const value = (output.value as unknown[]).map((shown, place) => {
    const now = content[place] as Block;
    return JSON.stringify(was[place]) === JSON.stringify(now) ? shown : { type: "text", text: now.text ?? "" };
  });
  return { ...output, value };
}

function isOf(block: Block, part: Part): boolean {
  if (block.type === "tool_use") return part.type === "tool-call" && part.toolCallId === block.id;
  if (block.type === "tool_result") return part.type === "tool-result" && part.toolCallId === block.tool_use_id;
  if (block.type === "text") return blockOf(part).text === block.text;
  return part.type === "file";
}

function textOf(content: unknown): string {
  if (!Array.isArray(content)) return String(content);
  return (content as Block[]).map(({ text }) => text ?? "").join("\n");
}
