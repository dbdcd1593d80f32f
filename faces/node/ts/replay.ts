/** Recorded conversations under any policy: what each costs and forgets. */

import { replayAll } from "../native/index.js";
import { guardedLater } from "./errors.js";
import { settingsText } from "./text.js";
import type { Replay, ReplaySettings } from "./types.js";

/** Files and folders, or what was recorded by the name that it has in reports. */
export type Recorded = string | readonly string[] | Readonly<Record<string, string | Uint8Array>>;

/** A row per conversation and policy, and what they come to: what `louver replay --json` writes. Runs on other threads. */
export async function replay(conversations: Recorded, settings: ReplaySettings = {}): Promise<Replay> {
  const paths = typeof conversations === "string" ? [conversations] : Array.isArray(conversations) ? conversations : undefined;
  const records = paths ? {} : (conversations as Readonly<Record<string, string | Uint8Array>>);
  const bytes = Object.values(records).map((record) => Buffer.from(record as Uint8Array));
  const names = Object.keys(records);
  const report = await guardedLater(async () => replayAll(paths as string[], names, bytes, settingsText(settings)));
  return JSON.parse(report) as Replay;
}
