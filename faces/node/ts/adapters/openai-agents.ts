/**
 * The OpenAI Agents SDK: an input filter that fits each model call, and leaves the run's items and session alone.
 *
 *     new Runner({ callModelInputFilter: louverFilter() })
 */

import type { AgentInputItem, CallModelInputFilter, ModelInputData } from "@openai/agents";
import { Conversations, type Settings } from "../index.js";

/** An item of a run, as far as it matters here. */
interface Item {
  type?: string;
  role?: string;
  callId?: string;
  name?: string;
  arguments?: string;
  output?: unknown;
  content?: unknown;
  id?: string;
}

/** A part of a result, as far as it matters here. */
interface Shown {
  type?: string;
  image?: unknown;
  file?: unknown;
  data?: unknown;
}

const MEDIA = new Set(["image", "input_image", "computer_screenshot", "file", "input_file"]);

/** A filter for `callModelInputFilter`: the input that may be sent, the same items for those that stay. */
export function louverFilter(settings: Settings = {}): CallModelInputFilter {
  const conversations = new Conversations({ ...settings, format: "openai-responses" });
  return ({ modelData, agent }): ModelInputData => {
    const { input, instructions } = modelData;
    const turn = conversations.fit({
      model: modelName(agent.model),
      instructions: instructions ?? "",
      tools: agent.tools.map(definition),
      input: input.map((item) => wireOf(item as Item)),
    });
    if (turn.isUnchanged) return modelData;
    const view = turn.origins.map(({ index, isKept }, place) => {
      const original = index === null ? undefined : input[index];
      const wire = turn.request.input[place] as Item;
      return original && isKept ? original : itemOf(original, wire);
    });
    return { ...modelData, input: view };
  };
}

function modelName(model: unknown): string | undefined {
  if (typeof model === "string") return model || undefined;
  // The models of the SDK keep their name to themselves.
  const name = (model as { _model?: unknown; model?: unknown } | undefined)?._model;
  return typeof name === "string" ? name : undefined;
}

/** What a tool's definition costs. */
function definition(tool: { name: string; description?: string; parameters?: unknown }): object {
  return { name: tool.name, description: tool.description ?? "", parameters: tool.parameters ?? {} };
}

/** An item as the Responses API has it: enough to know what belongs together and what it costs. */
function wireOf(item: Item): object {
  const { type = "message" } = item;
  if (type === "message") return { type, role: item.role ?? "user", content: contentOf(item) };
  if (type === "reasoning") return { type, id: item.id ?? "", summary: item.content ?? [] };
  // Calls of any kind, such as those of a shell, are followed by their results.
  if (item.callId !== undefined && type.endsWith("_call")) {
    return { type: "function_call", call_id: item.callId, name: item.name ?? type, arguments: callText(item) };
  }
  if (item.callId !== undefined) {
    return { type: "function_call_output", call_id: item.callId, output: outputOf(item.output) };
  }
  return { type: "message", role: "assistant", content: JSON.stringify(item) };
}

function contentOf({ content }: Item): unknown {
  if (!Array.isArray(content)) return content ?? "";
  return (content as Record<string, unknown>[]).map((part) => {
    if (part["type"] !== "input_image") return part;
    return { type: "input_image", image_url: part["image"] };
  });
}

function callText(item: Item): string {
  return item.arguments ?? JSON.stringify(item);
}

/** A result that shows something goes part by part, any other as its text. */
function outputOf(output: unknown): unknown {
  const parts = (Array.isArray(output) ? output : [output]) as (Shown | null | undefined)[];
  return parts.some((part) => MEDIA.has(part?.type ?? "")) ? parts.map((part) => partOf(part ?? {})) : outputText(output);
}

function partOf(part: Shown): object {
  const { type = "" } = part;
  if (!MEDIA.has(type)) return { type: "input_text", text: outputText(part) };
  if (type.endsWith("file")) return { type: "input_file", file_data: address(part.file) };
  return { type: "input_image", image_url: address(part.image ?? part.data) };
}

/** Where something is shown from: an address, or its data as one. */
function address(source: unknown): string {
  if (typeof source === "string") return source;
  const { data, mediaType, url, id, fileId } = (source ?? {}) as Record<string, unknown>;
  if (data === undefined) return String(url ?? id ?? fileId ?? "");
  const base64 = data instanceof Uint8Array ? Buffer.from(data).toString("base64") : String(data);
  return base64.startsWith("data:") ? base64 : `data:${String(mediaType ?? "image/*")};base64,${base64}`;
}

/** A result as it came back: only what has changed is written anew. */
function changed(output: unknown, wire: unknown): unknown {
  if (!Array.isArray(output) || !Array.isArray(wire) || output.length !== wire.length) {
    return { type: "text", text: Array.isArray(wire) ? textOf(wire) : outputText(wire) };
  }
  return (output as Shown[]).map((part, place) => {
    const now = wire[place] as { text?: string };
    return JSON.stringify(partOf(part)) === JSON.stringify(now) ? part : { ...part, text: now.text ?? "" };
  });
}

function outputText(output: unknown): string {
  if (typeof output === "string") return output;
  const { text } = (output ?? {}) as { text?: unknown };
  return typeof text === "string" ? text : (JSON.stringify(output) ?? "");
}

/** A changed copy, or an item of Louver's own. */
function itemOf(original: AgentInputItem | undefined, wire: Item): AgentInputItem {
  if (original && wire.output !== undefined) {
    return { ...original, output: changed((original as Item).output, wire.output) } as AgentInputItem;
  }
  if (original) return { ...original, content: wire.content } as AgentInputItem;
  const isAnswer = wire.role === "assistant";
  const text = typeof wire.content === "string" ? wire.content : textOf(wire.content);
  if (!isAnswer) return { type: "message", role: wire.role === "system" ? "system" : "user", content: text } as AgentInputItem;
  return { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text }] };
}

function textOf(content: unknown): string {
  return Array.isArray(content) ? (content as { text?: string }[]).map(({ text }) => text ?? "").join("\n") : "";
}
