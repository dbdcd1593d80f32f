/** Replay's rows are the command line's. */

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import * as louver from "louver";
import { louver as run, toolTurns } from "./talks.js";

const POLICY: louver.Policy[] = ["everything", "newest", "ladder"];
// Every so many conversations of the corpus, the smaller ones of them; all where there is time.
const [SLICE, MAX_BYTES] = process.env["LOUVER_FULL"] === "1" ? [1, Infinity] : [12, 300_000];

/** Recorded conversations: generated ones, and some of the corpus where there is one. */
function files(): string[] {
  const folder = mkdtempSync(join(tmpdir(), "louver-"));
  const own = [3, 40].map((turns) => {
    const path = join(folder, `${turns}.json`);
    const messages = [...toolTurns(turns), { role: "assistant", content: `${turns} read.` }];
    writeFileSync(path, JSON.stringify({ model: "gpt-5", messages }));
    return path;
  });
  const corpus = process.env["LOUVER_CORPUS"];
  if (!corpus) return own;
  const names = readdirSync(corpus, { recursive: true, encoding: "utf8" }).filter((name) => /\.jsonl?$/.test(name));
  const small = names.map((name) => join(corpus, name)).filter((path) => statSync(path).size < MAX_BYTES);
  return [...own, ...small.sort().filter((_, number) => number % SLICE === 0)];
}

test("the report is the command line's", async () => {
  const paths = files();
  const done = run(["replay", ...paths, "--policy", POLICY.join(","), "--json", "-"], "");
  const { command, ...told } = JSON.parse(done.stdout.toString()) as louver.Replay;
  assert.ok(command);
  const replayed = await louver.replay(paths, { policy: POLICY });
  assert.deepEqual(replayed, told);
  const texts = Object.fromEntries(paths.map((path) => [path, readFileSync(path)]));
  const skipped = { "broken.json": Buffer.from([0xff, 0xfe]) };
  const again = await louver.replay({ ...texts, ...skipped }, { policy: POLICY });
  assert.deepEqual(again.runs, told.runs);
  assert.ok(again.skipped.some(({ file, reason }) => file === "broken.json" && reason.includes("UTF-8")));
  console.log(`# ${replayed.runs.length} rows of ${paths.length} files`);
});

test("settings are those of the command line", async () => {
  const text = { "a.json": JSON.stringify([...toolTurns(3), { role: "assistant", content: "Read." }]) };
  const tight = await louver.replay(text, { policy: "newest", contextWindow: 4_000, maxOutput: 500, coldEvery: 2 });
  assert.deepEqual(tight.runs.map((row) => row["context_window"]), [4_000]);
  await assert.rejects(louver.replay(text, { policy: "best" as louver.Policy }), louver.SettingsError);
  await assert.rejects(louver.replay(text, { coldEvery: 0 }), /`coldEvery`/);
  await assert.rejects(louver.replay(mkdtempSync(join(tmpdir(), "louver-"))), louver.SettingsError);
});
