/** From values to JSON text, and back to the objects that they came from. */

import type { View } from "../native/index.js";
import { InputError } from "./errors.js";

/** A message as JSON text. */
export function textOf(message: unknown, path: string): string {
  if (typeof message === "string") return message;
  if (message instanceof Uint8Array) return decoded(message, path);
  return written(message, path);
}

/** Any value as JSON text. */
export function written(value: unknown, path: string): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    throw new InputError(`${path}: ${error instanceof Error ? error.message : String(error)}`, path);
  }
  if (text === undefined) throw new InputError(`${path}: a value of type ${typeof value} is no part of a message`, path);
  return text;
}

function decoded(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new InputError(`${path}: not UTF-8`, path);
  }
}

/** A history as one text: a list as it is written, or texts with what no JSON holds between them. */
export interface Joined {
  readonly text: string;
  readonly isList: boolean;
}

/** Messages of a history from one on as one text: crossing over to the addon costs more than the bytes. */
export function joinedOf(history: readonly unknown[], from = 0): Joined {
  const messages = history.slice(from);
  if (messages.every((message) => typeof message === "object" && !(message instanceof Uint8Array))) {
    try {
      return { text: JSON.stringify(messages), isList: true };
    } catch {
      // Which message it is, is told below.
    }
  }
  return { text: messages.map((message, index) => joinable(message, `$[${from + index}]`)).join("\0"), isList: false };
}

function joinable(message: unknown, path: string): string {
  const text = textOf(message, path);
  // What is written here has none; what came as text may.
  if (typeof message === "object" && !(message instanceof Uint8Array)) return text;
  if (text.includes("\0")) throw new InputError(`${path}: a NUL is no part of JSON`, path);
  return text;
}

/** Settings as the engine names them. */
export function settingsText(settings: object): string {
  const named = Object.entries(settings).map(([name, value]) => [snake(name), value] as const);
  return JSON.stringify(Object.fromEntries(named));
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** What a message of a view is: as it came in at this place, changed from there, or ours. */
export interface Origin {
  /** The message of the history that it is or was. */
  readonly index: number | null;
  /** Whether it is as it was. */
  readonly isKept: boolean;
}

/** Where each message of a view comes from. */
export function originsOf(places: readonly number[]): Origin[] {
  return places.map((place) => ({ index: place >= 0 ? place : place < -1 ? -2 - place : null, isKept: place >= 0 }));
}

/** The messages of a view: the same objects for those that stay, the form of the others for those that are ours. */
export function messagesOf(view: View, objects: readonly unknown[], origins = originsOf(view.places)): unknown[] {
  let next = 0;
  return origins.map(({ index, isKept }) => {
    if (isKept && index !== null) return objects[index];
    const text = view.texts[next++] ?? "null";
    return inForm(text, index === null ? objects[0] : objects[index]);
  });
}

/** JSON text in the form of another message. */
function inForm(text: string, like: unknown): unknown {
  if (typeof like === "string") return text;
  if (like instanceof Uint8Array) return bytesLike(text, like);
  return JSON.parse(text);
}

/** Bytes of the kind that others are. */
export function bytesLike(text: string, like: Uint8Array): Uint8Array {
  return Buffer.isBuffer(like) ? Buffer.from(text) : new TextEncoder().encode(text);
}

/** A list of messages, or a request with what stands around its history. */
export interface Request {
  readonly history: readonly unknown[];
  /** The request without its history, as JSON text. */
  readonly frame: string | undefined;
}

/** Takes a list of messages or a request apart. */
export function requestOf(given: unknown, key: string): Request {
  if (Array.isArray(given)) return { history: given, frame: undefined };
  if (typeof given !== "object" || given === null || given instanceof Uint8Array) {
    throw new TypeError("expected a list of messages, or a request as an object (`trim` takes text and bytes)");
  }
  const history = (given as Record<string, unknown>)[key];
  const frame = written({ ...given, [key]: [] }, "$");
  return { history: Array.isArray(history) ? history : [], frame };
}

/** The same form with another history. */
export function withHistory<T>(given: T, key: string, history: unknown[]): T {
  if (Array.isArray(given)) return history as T;
  const body = given as Record<string, unknown>;
  return (Array.isArray(body[key]) ? { ...body, [key]: history } : { ...body }) as T;
}
