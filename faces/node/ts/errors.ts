/** What can go wrong, and what the engine knows about it. */

import type { Violation } from "./types.js";

/** Anything that Louver refuses to do. */
export class LouverError extends Error {
  override name = "LouverError";
}

/** Text that cannot be read, or a value that is no message. */
export class InputError extends LouverError {
  override name = "InputError";

  constructor(
    message: string,
    /** Where, as a JSON path such as `$.messages[3].content`. */
    readonly path: string = "$",
    /** The same in bytes, where there was a text. */
    readonly offset: number | null = null,
  ) {
    super(message);
  }
}

/** Settings that nothing can be done with. */
export class SettingsError extends LouverError {
  override name = "SettingsError";
}

/** Records that are not of this window. */
export class RecordError extends LouverError {
  override name = "RecordError";
}

/** A history that cannot be made to fit. Nothing has changed. */
export class WindowOverflow extends LouverError {
  override name = "WindowOverflow";

  constructor(
    message: string,
    /** The least that has to be sent: system, tools, what is pinned, and the last turn. */
    readonly floorTokens: number,
    /** What the budget allows. */
    readonly allowedTokens: number,
    /** The largest message in it; nothing where system and tools alone are too large. */
    readonly largest: { index: number; tokens: number } | null,
  ) {
    super(message);
  }
}

/** A history that cannot be made legal. */
export class RepairError extends LouverError {
  override name = "RepairError";

  constructor(
    message: string,
    /** The history as far as it could be mended, in the form it came in. */
    readonly repaired: unknown,
    /** What is still refused in it. */
    readonly left: Violation[],
  ) {
    super(message);
  }
}

/** What the addon says about a fault. */
interface Fault {
  kind: "input" | "settings" | "usage" | "record" | "overflow";
  message: string;
  rest: { path: string; offset: number | null } & Pick<WindowOverflow, "floorTokens" | "allowedTokens" | "largest">;
}

/** Runs something of the addon's, and throws what it refuses as the exception that says it. */
export function guarded<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw thrown(error);
  }
}

/** The same for what is done later. */
export async function guardedLater<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw thrown(error);
  }
}

function thrown(error: unknown): unknown {
  const fault = faultOf(error);
  switch (fault?.kind) {
    case "input":
      return new InputError(fault.message, fault.rest.path, fault.rest.offset);
    case "settings":
      return new SettingsError(idiomatic(fault.message));
    case "usage":
      return new TypeError(idiomatic(fault.message));
    case "record":
      return new RecordError(fault.message);
    case "overflow":
      return new WindowOverflow(fault.message, fault.rest.floorTokens, fault.rest.allowedTokens, fault.rest.largest);
    default:
      return error;
  }
}

function faultOf(error: unknown): Fault | undefined {
  if (!(error instanceof Error) || !error.message.startsWith('{"kind"')) return undefined;
  return JSON.parse(error.message) as Fault;
}

/** Settings are named as they are written here. */
function idiomatic(message: string): string {
  return message.replace(/`([a-z]+(?:_[a-z]+)+)`/g, (_, name: string) => `\`${camel(name)}\``);
}

function camel(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
