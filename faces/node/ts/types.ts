/** The shapes of what goes in and comes out. */

/** A wire format. */
export type Format = "anthropic" | "openai-chat" | "openai-responses" | "gemini";

/** What decides about a window. */
export type Policy =
  | "ladder"
  | "ladder-lean"
  | "ladder-careful"
  | "ladder-full"
  | "messages"
  | "tokens"
  | "both"
  | "everything"
  | "newest"
  | "clear-tools"
  | "mask"
  | "full-cut";

/** What counts tokens. */
export type Counter = "auto" | "chars4" | "o200k" | "cl100k";

/** What can be said about a window: the flags of the command line. */
export interface Settings {
  /** By default the model of the request. */
  model?: string | undefined;
  /** By default that of the model's provider, or what the conversation itself shows. */
  format?: Format | undefined;
  /** By default `ladder` where the context window is known, else `messages`. */
  policy?: Policy | undefined;
  /** In tokens, in place of the catalogue's. */
  contextWindow?: number | undefined;
  /** The reply length to keep free, in place of the request's. */
  maxOutput?: number | undefined;
  counter?: Counter | undefined;
  maxMessages?: number | undefined;
  preserveFirst?: number | undefined;
  preserveLast?: number | undefined;
  /** What the provider reported for all but the last message. */
  totalTokens?: number | undefined;
  profile?: string | undefined;
  /** Whether what leaves is to be summarised: `Fit.job` then asks for it. */
  summarize?: boolean | undefined;
  condensingPrompt?: string | undefined;
  keepRecentTokens?: number | undefined;
  ledgerTokens?: number | undefined;
  /** Messages that hold one of these texts stay (`ladder`). */
  pin?: string[] | undefined;
  /** Calls of these tools stay, with their results (`ladder`). */
  pinTools?: string[] | undefined;
}

/** A message of a conversation: an object, or its JSON text. */
export type Message = object | string | Uint8Array;

/** A summary to be had: nothing has been called yet. */
export interface Job {
  readonly id: number;
  /** The whole prompt. */
  readonly prompt: string;
  /** The reply length to ask for. */
  readonly maxTokens: number;
  /** The messages that it covers, as indices of the log. */
  readonly covers: readonly number[];
}

/** What a fit, or the arrival of a summary, did. */
export interface Fit {
  /** Why, if anything was done or asked for. */
  readonly trigger: string | null;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Messages that left now, as indices of the log. */
  readonly evicted: readonly number[];
  /** Messages that were changed now. */
  readonly edited: readonly number[];
  /** Whether the view changed. */
  readonly isCut: boolean;
  /** A summary to be had, if one is wanted. */
  readonly job: Job | null;
  /** Why a summary was not taken; nothing where it was, or where none arrived. */
  readonly rejected: string | null;
  readonly warnings: readonly string[];
  /** What went wrong with condensing. */
  readonly error: string | null;
}

/** What became of a provider's count. */
export type Verdict = "used" | "too-small" | "unbelievable" | "outlier" | "unknown";

/** A rule that the provider would refuse a conversation for, in its own words. */
export interface Violation {
  path: string;
  rule: string;
  index: number;
  message: string;
}

/** One change that made a history legal. */
export interface Change {
  index: number;
  change: "removed" | "changed" | "inserted before";
  reason: string;
}

/** What was decided, as `louver trim --report` writes it. */
export interface Report {
  policy: string;
  format: Format;
  action: "none" | "truncate" | "condense";
  trigger: string | null;
  metrics: {
    total_messages: number;
    preserved_messages: number;
    evicted_messages: number;
    estimated_tokens: number;
  };
  tokens: { before: number; after: number; allowed: number | null };
  kept: number[];
  evicted: number[];
  edited: number[];
  prev_context_tokens: number;
  new_context_tokens: number;
  summary: string | null;
  cost: number | null;
  error: string | null;
  warnings: string[];
}

/** What fills a window, as `louver inspect --json` prints it. */
export interface Inspection {
  format: Format;
  model: string | null;
  counter: Record<string, unknown>;
  context_window: number | null;
  allowed_tokens: number | null;
  fill_of: string;
  policy: string;
  overhead: Record<string, unknown>[];
  messages: Record<string, unknown>[];
  units: number;
  totals: Record<string, number>;
  total_tokens: number;
}

/** A message that was had back, as `louver recall --json` prints it. */
export interface Recalled {
  index: number;
  role: string;
  parts: Record<string, unknown>[];
  /** The passage or the excerpt that was found, where words were searched for. */
  text?: string;
  /** The message, where it was asked for by its address: the object itself, if it came as one. */
  message?: unknown;
}

/** How recorded conversations are replayed: the flags of `louver replay`. */
export interface ReplaySettings {
  /** The policies to compare; by default all but `both` and `ladder-full`. */
  policy?: Policy | Policy[] | undefined;
  /** Whose prices, window and counter hold; by default the recorded one. */
  model?: string | undefined;
  contextWindow?: number | undefined;
  maxOutput?: number | undefined;
  counter?: Counter | undefined;
  /** What system and tools cost where a record has neither them nor what was billed, in tokens. */
  overhead?: number | undefined;
  /** Cache write and read prices as multiples of the input price, such as `1.25/0.1`. */
  prices?: string | undefined;
  /** One pause between all requests, in seconds, instead of the recorded times. */
  gap?: number | undefined;
  coldEvery?: number | undefined;
  timings?: boolean | undefined;
  /** Only conversations that went on after this day or time. */
  since?: string | undefined;
  project?: string | undefined;
  /** All cores where nobody says. */
  threads?: number | undefined;
}

/** One conversation under one policy; `louver replay --json` has the other fields, too. */
export interface ReplayRow {
  file: string;
  format: Format;
  model: string;
  policy: string;
  requests: number;
  cost_usd: number;
  baseline_usd: number;
  saving: number | null;
  overflows: number;
  illegal: number;
  cuts: number;
  recall_line: number | null;
  [field: string]: unknown;
}

/** What recorded conversations come to. */
export interface Replay {
  note: string;
  assumed: string;
  runs: ReplayRow[];
  totals: Record<string, unknown>[];
  copies: number;
  skipped: { file: string; reason: string }[];
  [field: string]: unknown;
}
