/**
 * Mastra: a processor that fits each request behind the conversion, and leaves the message list and the memory alone.
 *
 *     new Agent({ ..., inputProcessors: [louverProcessor()] })
 */

import type { ProcessLLMRequestArgs, ProcessLLMRequestResult } from "@mastra/core/processors";
import { Conversations, type Settings } from "../index.js";
import { fitPrompt } from "./prompt.js";

/** A processor that fits what is sent. */
export interface LouverProcessor {
  readonly id: "louver";
  processLLMRequest(args: Pick<ProcessLLMRequestArgs, "prompt" | "model">): ProcessLLMRequestResult;
}

/**
 * A processor for an agent's `inputProcessors`; the last one, so that it sees what is sent. Mastra does not show it the
 * tools: where their definitions are long, say a `contextWindow` that is smaller by them.
 */
export function louverProcessor(settings: Settings = {}): LouverProcessor {
  const conversations = new Conversations({ ...settings, format: "anthropic" });
  return {
    id: "louver",
    processLLMRequest: ({ prompt, model }) => {
      const name = (model as { modelId?: unknown }).modelId;
      const around = { model: typeof name === "string" ? name : undefined };
      return { prompt: fitPrompt(conversations, prompt, around).prompt };
    },
  };
}
