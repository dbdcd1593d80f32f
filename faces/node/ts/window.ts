/** A window: pushed to, fitted and viewed. */

import { NativeWindow } from "../native/index.js";
import { guarded, WindowOverflow } from "./errors.js";
import { Memory } from "./memory.js";
import { joinedOf, messagesOf, requestOf, settingsText, textOf, withHistory, written } from "./text.js";
import type { Fit, Format, Job, Settings, Verdict } from "./types.js";

/** What a provider counted: a number of tokens, or its whole answer. */
export type Counted = number | object | string;

/** What a summary cost in tokens. */
export interface SummaryUsage {
  inputTokens?: number;
  outputTokens?: number;
}

/** A conversation that is pushed to, fitted and viewed, and that can give back everything it left out. */
export class Window {
  readonly #native: NativeWindow;
  readonly #memory = new Memory(1);
  #objects: unknown[];

  /** A window for a model, or for what the settings say. */
  constructor(model?: string | Settings, settings?: Settings);
  /** @internal */
  constructor(opened: NativeWindow);
  constructor(given?: string | Settings | NativeWindow, settings?: Settings) {
    if (given instanceof NativeWindow) {
      this.#native = given;
      this.#objects = given.log().map((text) => JSON.parse(text) as unknown);
      return;
    }
    this.#native = guarded(() => new NativeWindow(settingsText(said(given, settings))));
    this.#objects = [];
  }

  /** The window of some records: its recorded decisions hold, whatever is set here. */
  static open(records: Iterable<string>, model?: string | Settings, settings?: Settings): Window {
    return new Window(guarded(() => NativeWindow.open([...records], settingsText(said(model, settings)))));
  }

  /** Appends a message, and gives its index in the log. */
  push(message: unknown): number {
    const text = textOf(message, "$");
    const index = guarded(() => this.#native.push(text));
    this.#objects.push(message);
    return index;
  }

  /** Appends messages; none where one of them cannot be read. */
  extend(messages: Iterable<unknown>): void {
    const objects = [...messages];
    const { text, isList } = joinedOf(objects);
    guarded(() => this.#native.extend(text, isList));
    this.#objects.push(...objects);
  }

  /** Makes the view keep the policy's promise. Call it before each request. */
  fit(): Fit {
    return JSON.parse(guarded(() => this.#native.fit())) as Fit;
  }

  /** What is sent: the objects that were pushed, and messages of Louver's own. */
  view(): unknown[] {
    return messagesOf(this.#native.view(), this.#objects);
  }

  /** The view of a history that is handed over whole, as frameworks do: a list of messages, or a request. */
  viewOf<T extends object>(history: T): T {
    const key = this.#native.historyKey;
    const request = requestOf(history, key);
    try {
      const view = this.#memory.told(request.history, ({ common }, { text, isList }) =>
        guarded(() => this.#native.take(common, text, isList, request.frame)),
      );
      this.#objects = [...request.history];
      return view ? withHistory(history, key, messagesOf(view, this.#objects)) : history;
    } catch (error) {
      // Also where it cannot be made to fit, these are the messages of the log now.
      if (error instanceof WindowOverflow) this.#objects = [...request.history];
      throw error;
    }
  }

  /** Tells what the provider counted for the last request. */
  reportUsage(usage: Counted): Verdict | null {
    if (typeof usage === "number") return this.#native.reportTokens(usage) as Verdict;
    return this.#native.reportAnswer(typeof usage === "string" ? usage : written(usage, "$")) as Verdict | null;
  }

  /** Tells that the provider's cache has expired, so that a cut costs nothing. */
  cacheExpired(): void {
    this.#native.cacheExpired();
  }

  /** Takes the text that a model wrote for a job, now or many turns later. */
  answer(job: Job, summary: string, usage: SummaryUsage = {}): Fit {
    return JSON.parse(this.#native.answer(job.id, summary, usage.inputTokens ?? 0, usage.outputTokens ?? 0)) as Fit;
  }

  /** Says that a job came to nothing; what it covers waits for the next. */
  fail(job: Job, reason: string): Fit {
    return JSON.parse(this.#native.fail(job.id, reason)) as Fit;
  }

  /** Runs a job with a model of the caller's, and takes what it writes; a model that throws makes it fail. */
  async condense(job: Job, summarize: (job: Job) => PromiseLike<string> | string): Promise<Fit> {
    try {
      return this.answer(job, await summarize(job));
    } catch (error) {
      return this.fail(job, error instanceof Error ? error.message : String(error));
    }
  }

  /** The job that waits for its answer. */
  get openJob(): Job | null {
    const job = this.#native.openJob();
    return job ? (JSON.parse(job) as Job) : null;
  }

  /**
   * What was appended since there were so many records: lines from which `open` gives the window back. A `RecordError` where the
   * history was changed since: then all of them have to be saved again.
   */
  records(since = 0): string[] {
    return guarded(() => this.#native.records(since));
  }

  /** Everything that was left out or changed, as it came in. */
  leftOut(): { index: number; message: unknown }[] {
    return this.#at(this.#native.leftOut());
  }

  /** The messages behind an address such as `12` or `[louver:3-17]`, as they came in. */
  recall(address: string): { index: number; message: unknown }[] {
    return this.#at(guarded(() => this.#native.recall(address)));
  }

  #at(indices: number[]): { index: number; message: unknown }[] {
    return indices.map((index) => ({ index, message: this.#objects[index] }));
  }

  /** Every message that was pushed. */
  get log(): unknown[] {
    return [...this.#objects];
  }

  /** How many messages were pushed. */
  get length(): number {
    return this.#native.length;
  }

  /** What is sent now, in tokens, system and tools included. */
  get tokens(): number {
    return this.#native.tokens;
  }

  /** What sending everything would come to. */
  get logTokens(): number {
    return this.#native.logTokens;
  }

  /** What the budget allows, where the policy has one. */
  get allowedTokens(): number | null {
    return this.#native.allowedTokens;
  }

  /** The wire format. */
  get format(): Format {
    return this.#native.format as Format;
  }

  /** The policy that decides. */
  get policy(): string {
    return this.#native.policy;
  }

  /** The summary that stands in the view. */
  get summary(): string | null {
    return this.#native.summary;
  }

  /** What the catalogue did not know of the model. */
  get warning(): string | null {
    return this.#native.warning;
  }
}

/** A model by its name, or among the settings. */
export function said(model?: string | Settings, settings?: Settings): Settings {
  return typeof model === "string" ? { model, ...settings } : { ...model, ...settings };
}
