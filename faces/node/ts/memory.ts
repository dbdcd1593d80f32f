/** What was handed over before: a message that still holds the same is not written again. */

import { joinedOf, type Joined } from "./text.js";

/** How many histories are remembered at once: those of agents that take turns. */
const HISTORIES = 8;
/** What no message is the same as. */
const UNKNOWN = Symbol("unknown");

/** Where a history goes on. */
export interface Known {
  /** The history of those that are remembered. */
  readonly slot: number;
  /** How many messages at its beginning are as they were. */
  readonly common: number;
}

/**
 * The messages of the last histories, taken apart. Frameworks hand over their whole list at each turn, and nearly all of it
 * is as it was: to look whether it is costs less than to write it. Everything is looked at, so what was changed in place is
 * noticed.
 */
export class Memory {
  readonly #histories: unknown[][] = [];
  readonly #most: number;
  #next = 0;

  /** So many histories at once. */
  constructor(histories = HISTORIES) {
    this.#most = histories;
  }

  /** Tells only what is not known of a history, and remembers it as it is now, unless that was not taken. */
  told<T>(history: readonly unknown[], tell: (known: Known, rest: Joined) => T): T {
    const known = this.#meet(history);
    const { slot, common } = known;
    const copies = (this.#histories[slot] ?? []).slice(0, common);
    this.#histories[slot] = [];
    const rest = joinedOf(history, common);
    const told = tell(known, rest);
    for (let index = common; index < history.length; index++) copies.push(copyOf(history[index]));
    this.#histories[slot] = copies;
    return told;
  }

  /** The history that this one goes on with, and how far; one that is new takes the place of another. */
  #meet(history: readonly unknown[]): Known {
    let best = { slot: -1, common: 0 };
    for (const [slot, known] of this.#histories.entries()) {
      const common = commonOf(history, known);
      if (common > best.common) best = { slot, common };
    }
    // What has only its first messages in common with another is a conversation of its own.
    if (best.common * 2 > (this.#histories[best.slot]?.length ?? 0)) return best;
    const slot = this.#next;
    this.#next = (slot + 1) % this.#most;
    return { slot, common: 0 };
  }
}

function commonOf(history: readonly unknown[], known: readonly unknown[]): number {
  const most = Math.min(history.length, known.length);
  let common = 0;
  while (common < most && isSame(history[common], known[common])) common++;
  return common;
}

/** A copy that later changes do not reach; nothing that is the same as anything, where it cannot be told by its parts. */
function copyOf(value: unknown): unknown {
  if (typeof value === "function") return UNKNOWN;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copyOf);
  if (!isPlain(value)) return UNKNOWN;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) copy[key] = copyOf((value as Record<string, unknown>)[key]);
  return copy;
}

/** Whether a value is written as its copy was: the same values under the same names in the same order. */
function isSame(value: unknown, known: unknown): boolean {
  if (typeof value !== "object" || value === null) return Object.is(value, known);
  if (typeof known !== "object" || known === null) return false;
  if (Array.isArray(value)) {
    return Array.isArray(known) && value.length === known.length && value.every((item, at) => isSame(item, known[at]));
  }
  if (Array.isArray(known) || !isPlain(value)) return false;
  const [names, knownNames] = [Object.keys(value), Object.keys(known)];
  const isSameMember = (name: string, at: number): boolean =>
    name === knownNames[at] && isSame((value as Record<string, unknown>)[name], (known as Record<string, unknown>)[name]);
  return names.length === knownNames.length && names.every(isSameMember);
}

/** Whether an object is written as its members are. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
