/** Many conversations behind one client: each request finds its own. */

import { NativeConversations } from "../native/index.js";
import { guarded } from "./errors.js";
import { Memory } from "./memory.js";
import { messagesOf, originsOf, requestOf, settingsText, withHistory, written, type Origin } from "./text.js";
import type { Fit, Settings, Verdict } from "./types.js";
import { said, type Counted } from "./window.js";

/** One request as it may be sent. */
export interface Turn<T> {
  /** The request, in the form it came in. */
  readonly request: T;
  /** Where each message of the view comes from. */
  readonly origins: readonly Origin[];
  /** Whether it is what was given. */
  readonly isUnchanged: boolean;
  /** What was done; nothing where the provider holds part of the history. */
  readonly fit: Fit | null;
  /** The conversation it belongs to. */
  readonly conversation: number;
}

/**
 * Windows for requests that carry their whole history and say nothing of the conversation they belong to.
 *
 * A request goes on with the conversation whose log it begins with. One that leaves a known path on the way begins a
 * branch: what was decided up to there stands.
 */
export class Conversations {
  readonly #native: NativeConversations;
  readonly #memory = new Memory();

  constructor(settings: Settings & { maxConversations?: number | undefined });
  constructor(model?: string, settings?: Settings & { maxConversations?: number | undefined });
  constructor(
    model?: string | (Settings & { maxConversations?: number | undefined }),
    settings?: Settings & { maxConversations?: number | undefined },
  ) {
    const { maxConversations = 64, ...own }: Settings & { maxConversations?: number | undefined } = said(model, settings);
    this.#native = guarded(() => new NativeConversations(settingsText(own), maxConversations));
  }

  /** The request as it may be sent: a list of messages, or a request. What came in stays as it is. */
  fit<T extends object>(given: T): Turn<T> {
    const key = this.#native.historyKey;
    const { history, frame } = requestOf(given, key);
    const { view, fit, conversation } = this.#memory.told(history, (known, { text, isList }) =>
      guarded(() => this.#native.fit(known.slot, known.common, text, isList, frame)),
    );
    if (!view) {
      const origins = history.map((_, index) => ({ index, isKept: true }));
      return { request: given, origins, isUnchanged: true, fit: null, conversation };
    }
    const origins = originsOf(view.places);
    const isUnchanged = origins.length === history.length && origins.every(({ isKept }) => isKept);
    const request = withHistory(given, key, messagesOf(view, history, origins));
    return { request, origins, isUnchanged, fit: fit ? (JSON.parse(fit) as Fit) : null, conversation };
  }

  /** Tells what the provider counted for a request: a number, or its answer. */
  reportUsage(turn: Pick<Turn<unknown>, "conversation">, usage: Counted): Verdict | null {
    if (typeof usage === "number") return this.#native.reportTokens(turn.conversation, usage) as Verdict | null;
    const answer = typeof usage === "string" ? usage : written(usage, "$");
    return this.#native.reportAnswer(turn.conversation, answer) as Verdict | null;
  }

  /** How many conversations are known. */
  get size(): number {
    return this.#native.size;
  }
}
