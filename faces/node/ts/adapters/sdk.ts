/**
 * The official SDKs of Anthropic and OpenAI: one line, and every request of the client fits its window.
 *
 *     const client = wrap(new Anthropic());
 *
 * Works on what both SDKs call a request's options, so that every method that sends a conversation passes here: `create`,
 * `stream`, `parse`, the beta ones. The lists that the caller holds stay as they are.
 */

import { Conversations, type Turn } from "../conversations.js";
import type { Format, Settings } from "../types.js";

const FORMATS: Record<string, Format> = {
  "/v1/messages": "anthropic",
  "/chat/completions": "openai-chat",
  "/responses": "openai-responses",
};

/** What both SDKs call a request before it is written. */
interface Options {
  method?: string;
  path?: string;
  body?: unknown;
}

/** What both clients have, and their types do not show. */
interface Client {
  withOptions(options: object): Client;
  buildRequest(options: Options, more?: object): Promise<unknown>;
  fetchWithTimeout(url: unknown, init: unknown, ...more: unknown[]): Promise<Response>;
}

/** What one wrapped client remembers: its conversations by wire format, and which answer belongs to which. */
class Requests {
  readonly #conversations = new Map<Format, Conversations>();
  readonly #asked = new WeakMap<object, { format: Format; turn: Turn<object> }>();

  constructor(readonly settings: Settings) {}

  /** The same options with the request's view. Those that came stay as they are: a retry brings them again. */
  fit(options: Options): { fitted: Options; note: (request: unknown) => void } {
    const format = FORMATS[(options.path ?? "").split("?")[0] ?? ""];
    const { body } = options;
    if (!format || options.method?.toLowerCase() !== "post" || typeof body !== "object" || body === null) {
      return { fitted: options, note: () => undefined };
    }
    const turn = this.#of(format).fit(body);
    const note = (request: unknown): void => {
      if (typeof request === "object" && request !== null) this.#asked.set(request, { format, turn });
    };
    return { fitted: { ...options, body: turn.request }, note };
  }

  #of(format: Format): Conversations {
    const known = this.#conversations.get(format) ?? new Conversations({ ...this.settings, format });
    this.#conversations.set(format, known);
    return known;
  }

  /** Counts are corrected by what the provider counted; whoever reads the answer does not wait for that. */
  heard(request: unknown, response: Response): void {
    const asked = typeof request === "object" && request !== null ? this.#asked.get(request) : undefined;
    if (!asked || !response.ok || !response.body) return;
    const isStream = response.headers.get("content-type")?.includes("text/event-stream") ?? false;
    const told = (text: string): void => {
      const answer = isStream ? streamedUsage(text) : text;
      if (answer !== undefined) this.#of(asked.format).reportUsage(asked.turn, answer);
    };
    response.clone().text().then(told).catch(() => undefined);
  }
}

/** The part of a stream that says what was counted, as an answer that is not streamed would. */
function streamedUsage(stream: string): object | undefined {
  const lines = stream.split("\n").filter((line) => line.startsWith("data:") && line.includes('"usage"'));
  for (const line of lines) {
    const event = JSON.parse(line.slice("data:".length)) as Record<string, unknown>;
    // Anthropic says it where a message begins, OpenAI with the last chunk or the whole response.
    const said = [event["message"], event["response"], event].find(hasUsage);
    if (said) return said;
  }
  return undefined;
}

function hasUsage(value: unknown): value is object {
  return typeof value === "object" && value !== null && Boolean((value as { usage?: unknown }).usage);
}

/**
 * A copy of an Anthropic or OpenAI client whose requests fit their window.
 *
 * The model of each request says how large the window is, unless `contextWindow` does. The client itself stays as it is,
 * and so does every list that is handed to it.
 */
export function wrap<C extends object>(client: C, settings: Settings = {}): C {
  const base = client as unknown as Partial<Client>;
  if (!base.withOptions || !base.buildRequest || !base.fetchWithTimeout) {
    const kind = client.constructor.name;
    throw new TypeError(`expected a client of @anthropic-ai/sdk or openai, found ${kind}`);
  }
  return installed(client as unknown as Client, new Requests(settings), {}) as unknown as C;
}

/** A copy with other options, whose requests pass here. */
function installed(base: Client, requests: Requests, options: object): Client {
  const copy = base.withOptions(options);
  const { withOptions, buildRequest, fetchWithTimeout } = copy;
  copy.buildRequest = async (given, more) => {
    const { fitted, note } = requests.fit(given);
    const built = await buildRequest.call(copy, fitted, more);
    note((built as { req?: unknown }).req);
    return built;
  };
  copy.fetchWithTimeout = async (url, init, ...more) => {
    const response = await fetchWithTimeout.call(copy, url, init, ...more);
    requests.heard(init, response);
    return response;
  };
  copy.withOptions = (more) => installed({ withOptions: withOptions.bind(copy) } as Client, requests, more);
  return copy;
}
