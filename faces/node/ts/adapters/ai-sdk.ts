/**
 * The Vercel AI SDK: a middleware that fits each call of a model, whatever the steps before it.
 *
 *     const model = wrapLanguageModel({ model: openai("gpt-5"), middleware: louverMiddleware() });
 */

import type { LanguageModelV4CallOptions, LanguageModelV4Middleware, LanguageModelV4Usage } from "@ai-sdk/provider";
import { Conversations, type Settings, type Turn } from "../index.js";
import { fitPrompt } from "./prompt.js";

/** A middleware for `wrapLanguageModel`. The messages of the application and of its steps stay whole. */
export function louverMiddleware(settings: Settings = {}): LanguageModelV4Middleware {
  const conversations = new Conversations({ ...settings, format: "anthropic" });
  const asked = new WeakMap<object, Turn<unknown>>();
  const heard = (params: LanguageModelV4CallOptions, usage: LanguageModelV4Usage): void => {
    const turn = asked.get(params);
    if (turn && usage.inputTokens.total) conversations.reportUsage(turn, usage.inputTokens.total);
  };
  return {
    specificationVersion: "v4",
    transformParams: async ({ params, model }) => {
      const around = { model: model.modelId, maxOutput: params.maxOutputTokens, tools: definitions(params.tools) };
      const { prompt, turn } = fitPrompt(conversations, params.prompt, around);
      const fitted = { ...params, prompt };
      asked.set(fitted, turn);
      return fitted;
    },
    wrapGenerate: async ({ doGenerate, params }) => {
      const answer = await doGenerate();
      heard(params, answer.usage);
      return answer;
    },
    wrapStream: async ({ doStream, params }) => {
      const { stream, ...answer } = await doStream();
      const listening = new TransformStream<StreamPart, StreamPart>({
        transform(part, controller) {
          if (part.type === "finish") heard(params, part.usage);
          controller.enqueue(part);
        },
      });
      return { ...answer, stream: stream.pipeThrough(listening) };
    },
  };
}

type Streamed = Awaited<ReturnType<Parameters<NonNullable<LanguageModelV4Middleware["wrapStream"]>>[0]["doStream"]>>;
type StreamPart = Streamed["stream"] extends ReadableStream<infer Part> ? Part : never;

/** What the tools' definitions cost. */
function definitions(tools: LanguageModelV4CallOptions["tools"]): object[] {
  return (tools ?? []).map((tool) =>
    tool.type === "function"
      ? { name: tool.name, description: tool.description ?? "", input_schema: tool.inputSchema }
      : { name: tool.name, input_schema: tool.args },
  );
}
