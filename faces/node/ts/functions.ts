/** One decision over a whole input: the command line's, as functions. */

import { NativeInput, type NativeOutput, type Wanted } from "../native/index.js";
import { guarded, RepairError } from "./errors.js";
import { messagesOf, settingsText, textOf, withHistory, written } from "./text.js";
import type { Change, Format, Inspection, Recalled, Report, Settings, Violation } from "./types.js";

/** A conversation: bytes, text, a list of messages, or a request as an object. */
export type Conversation = string | object;

/** An input, and how to give it back in the form it came in. */
class Input<T extends Conversation> {
  readonly native: NativeInput;
  readonly wanted: Wanted;

  constructor(
    readonly given: T,
    format: Format | undefined,
  ) {
    if (given instanceof Uint8Array) {
      this.wanted = "Bytes";
      this.native = guarded(() => NativeInput.ofBytes(given, format));
    } else {
      this.wanted = typeof given === "string" ? "Text" : "Objects";
      const text = typeof given === "string" ? given : jsonOf(given);
      this.native = guarded(() => NativeInput.ofText(text, format));
    }
  }

  /** Where the history stands in a request; empty for a bare list. */
  get key(): string {
    return this.native.historyPath.replace(/^\$\.?/, "");
  }

  /** The objects of the history, where they are any. */
  get objects(): readonly unknown[] {
    const { given } = this;
    if (typeof given === "string" || given instanceof Uint8Array) return [];
    if (Array.isArray(given)) return given;
    const list = (given as Record<string, unknown>)[this.key];
    return Array.isArray(list) ? list : [];
  }

  /** The same form with another history. */
  giveBack(output: NativeOutput): T {
    if (output.json != null) return output.json as T;
    if (output.bytes != null) {
      const { buffer, byteOffset, length } = output.bytes;
      return (Buffer.isBuffer(this.given) ? output.bytes : new Uint8Array(buffer, byteOffset, length)) as unknown as T;
    }
    return output.view ? withHistory(this.given, this.key, messagesOf(output.view, this.objects)) : this.given;
  }
}

/** A list or a request as text; the messages of a list may be texts already. */
function jsonOf(given: object): string {
  if (!Array.isArray(given)) return written(given, "$");
  return `[${given.map((message, index) => textOf(message, `$[${index}]`)).join(",")}]`;
}

/** Leaves messages out until the conversation fits, and gives it back in the form it came in. */
export function trim<T extends Conversation>(conversation: T, settings: Settings = {}): T {
  return trimReport(conversation, settings).conversation;
}

/** The same, with what was decided. */
export function trimReport<T extends Conversation>(
  conversation: T,
  settings: Settings = {},
): { conversation: T; report: Report } {
  const input = new Input(conversation, settings.format);
  const output = guarded(() => input.native.trim(settingsText(settings), input.wanted));
  return { conversation: input.giveBack(output), report: JSON.parse(output.report) as Report };
}

/** Every rule that the provider would refuse this conversation for, in its own words. */
export function check(conversation: Conversation, options: { format?: Format } = {}): Violation[] {
  const input = new Input(conversation, options.format);
  return JSON.parse(guarded(() => input.native.check())) as Violation[];
}

/** The smallest legal history, in the form it came in. */
export function repair<T extends Conversation>(conversation: T, options: { format?: Format } = {}): T {
  return repairReport(conversation, options).conversation;
}

/** The same, with each change. */
export function repairReport<T extends Conversation>(
  conversation: T,
  options: { format?: Format } = {},
): { conversation: T; changes: Change[] } {
  const input = new Input(conversation, options.format);
  const output = guarded(() => input.native.repair(input.wanted));
  const mended = input.giveBack(output);
  if (output.refused != null) {
    throw new RepairError(output.refused, mended, JSON.parse(output.left ?? "[]") as Violation[]);
  }
  return { conversation: mended, changes: JSON.parse(output.report) as Change[] };
}

/** What fills the window: a row per message, and totals. */
export function inspect(conversation: Conversation, settings: Settings = {}): Inspection {
  const input = new Input(conversation, settings.format);
  return JSON.parse(guarded(() => input.native.inspect(settingsText(settings)))) as Inspection;
}

/** What was left out: by its address, or by words that stand in it. */
export function recall(
  wanted: string,
  conversation: Conversation,
  options: Settings & { limit?: number } = {},
): Recalled[] {
  const { limit = 5, ...settings } = options;
  const input = new Input(conversation, settings.format);
  const rows = JSON.parse(guarded(() => input.native.recall(wanted, limit, settingsText(settings)))) as Recalled[];
  return rows.map((row) => (row.text === undefined ? { ...row, message: messageAt(input, row.index) } : row));
}

function messageAt(input: Input<Conversation>, index: number): unknown {
  const { objects } = input;
  return index in objects ? objects[index] : JSON.parse(input.native.message(index) ?? "null");
}
