/** Keeps LLM conversations inside the context window: cheaply, legally, and without losing anything. */

export { wrap } from "./adapters/sdk.js";
export { Conversations, type Turn } from "./conversations.js";
export { InputError, LouverError, RecordError, RepairError, SettingsError, WindowOverflow } from "./errors.js";
export { check, inspect, recall, repair, repairReport, trim, trimReport, type Conversation } from "./functions.js";
export { replay, type Recorded } from "./replay.js";
export type { Origin } from "./text.js";
export type {
  Change,
  Counter,
  Fit,
  Format,
  Inspection,
  Job,
  Message,
  Policy,
  Recalled,
  Replay,
  ReplayRow,
  ReplaySettings,
  Report,
  Settings,
  Verdict,
  Violation,
} from "./types.js";
export { Window, type Counted, type SummaryUsage } from "./window.js";
