/** The functions say what the command line says, byte for byte. */

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import * as louver from "louver";
import { flags, louver as run, toolTurns } from "./talks.js";

const POLICIES = ["ladder", "tokens", "messages", "newest"] as const;
const VECTORS = join(process.env["LOUVER_ROOT"] ?? "", "crates/louver/tests/data/vectors");
// Every conversation of the corpus under one of the policies; under all of them where there is time.
const IS_FULL = process.env["LOUVER_FULL"] === "1";
const REPORT = join(mkdtempSync(join(tmpdir(), "louver-")), "report.json");

type Body = unknown[] | Record<string, unknown>;

function historyOf(body: Body): unknown[] {
  if (Array.isArray(body)) return body;
  const key = ["messages", "input", "contents"].find((name) => name in body) ?? "";
  return body[key] as unknown[];
}

/** Bytes, text, objects and the command line decide alike. */
function assertAlike(bytes: Buffer, settings: louver.Settings): void {
  const done = run(["trim", ...flags(settings), "--report", REPORT], bytes);
  let trimmed: ReturnType<typeof louver.trimReport<Buffer>>;
  try {
    trimmed = louver.trimReport(bytes, settings);
  } catch (error) {
    assert.ok(error instanceof louver.LouverError, String(error));
    assert.ok(done.status === 2 && done.stderr.includes(error.message.split(";")[0] ?? "?"), done.stderr);
    return;
  }
  assert.equal(done.status, 0, done.stderr);
  assert.ok(trimmed.conversation.equals(done.stdout));
  assert.ok(Buffer.isBuffer(trimmed.conversation));
  assert.equal(louver.trim(bytes.toString(), settings), done.stdout.toString());
  const report = JSON.parse(readFileSync(REPORT, "utf8")) as louver.Report;
  assert.deepEqual({ ...trimmed.report, warnings: [] }, { ...report, warnings: [] });
  // Numbers that JavaScript cannot hold are others as objects; decisions are by text.
  const body = JSON.parse(bytes.toString()) as Body;
  const objects = louver.trim(body, settings);
  const own = new Set(historyOf(objects));
  const kept = report.kept.filter((index) => !report.edited.includes(index));
  assert.ok(kept.every((index) => own.has(historyOf(body)[index])));
  assert.deepEqual(objects, JSON.parse(trimmed.conversation.toString()));
  assert.deepEqual(body, JSON.parse(bytes.toString()));
}

for (const policy of POLICIES) {
  test(`generated conversations are trimmed alike: ${policy}`, () => {
    const room = policy === "messages" ? {} : { contextWindow: 4_000, maxOutput: 500 };
    for (const turns of [0, 3, 40, 120]) {
      const text = JSON.stringify({ model: "gpt-4", messages: toolTurns(turns) }, undefined, 1);
      assertAlike(Buffer.from(text), { policy, counter: "chars4", ...room });
    }
  });
}

interface Case {
  messages: number;
  max_messages: number;
  preserve_first_n: number;
  preserve_last_n: number;
  kept: number[];
  evicted: number[];
  metrics: object;
}

test("the vectors are decided as they say", () => {
  const { cases } = JSON.parse(readFileSync(join(VECTORS, "message_window.json"), "utf8")) as { cases: Case[] };
  assert.ok(cases.length > 10);
  for (const vector of cases) {
    const settings: louver.Settings = {
      policy: "messages",
      format: "openai-chat",
      counter: "chars4",
      maxMessages: vector.max_messages,
      preserveFirst: vector.preserve_first_n,
      preserveLast: vector.preserve_last_n,
    };
    const message = (_: unknown, i: number): object => ({ role: i % 2 ? "assistant" : "user", content: `Message ${i}` });
    const messages = Array.from({ length: vector.messages }, message);
    const { report } = louver.trimReport(messages, settings);
    assert.deepEqual([report.kept, report.evicted, report.metrics], [vector.kept, vector.evicted, vector.metrics]);
    assertAlike(Buffer.from(JSON.stringify(messages)), settings);
  }
  console.log(`# ${cases.length} vectors`);
});

const corpus = process.env["LOUVER_CORPUS"];
test("the corpus is trimmed alike", { skip: corpus ? false : "LOUVER_CORPUS names no folder" }, () => {
  const folder = corpus ?? "";
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".json"));
  assert.ok(names.length > 10);
  names.sort().forEach((name, number) => {
    const policies = IS_FULL ? POLICIES : [POLICIES[number % POLICIES.length] ?? "ladder"];
    for (const policy of policies) {
      const room = policy === "messages" ? {} : { contextWindow: 16_000, maxOutput: 2_000 };
      assertAlike(readFileSync(join(folder, name)), { policy, counter: "chars4", ...room });
    }
  });
  console.log(`# ${names.length} conversations of the corpus, each under ${IS_FULL ? POLICIES.length : 1} of the policies`);
});

const BROKEN = [
  { role: "user", content: "Hi" },
  { role: "tool", tool_call_id: "nobody", content: "?" },
  { role: "assistant", content: "Hello" },
];

test("check and repair say the same", () => {
  const text = JSON.stringify(BROKEN);
  const format = { format: "openai-chat" } as const;
  const found = JSON.parse(run(["check", "--json", "--format", "openai-chat"], text).stdout.toString()) as unknown[];
  assert.ok(found.length > 0);
  for (const given of [text, Buffer.from(text), BROKEN]) assert.deepEqual(louver.check(given, format), found);
  const mended = run(["repair", "--format", "openai-chat"], text).stdout;
  assert.ok(louver.repair(Buffer.from(text), format).equals(mended));
  const { conversation, changes } = louver.repairReport(BROKEN, format);
  assert.deepEqual(conversation, JSON.parse(mended.toString()));
  assert.deepEqual(changes.map(({ change }) => change), ["removed"]);
  assert.ok(conversation[0] === BROKEN[0] && BROKEN.length === 3);
  const legal = toolTurns(2);
  assert.ok(louver.repair(legal) === legal && louver.trim(legal, { model: "gpt-5" }) === legal);
});

test("what cannot be mended is handed over as far as it goes", () => {
  const system = Array.from({ length: 5 }, () => ({ type: "text", text: "x", cache_control: { type: "ephemeral" } }));
  const messages = [{ role: "user", content: "Hi" }];
  const body = { model: "claude-sonnet-5-5", max_tokens: 9, system, messages };
  assert.throws(() => louver.repair(body), (error) => {
    assert.ok(error instanceof louver.RepairError);
    assert.deepEqual(error.repaired, body);
    return error.left.length > 0;
  });
});

test("inspect and recall say the same", () => {
  const history = toolTurns(60);
  const text = JSON.stringify(history);
  const settings = { policy: "ladder", contextWindow: 4_000, maxOutput: 500, counter: "chars4" } as const;
  const shown = run(["inspect", "--json", ...flags(settings)], text);
  assert.deepEqual(louver.inspect(text, settings), JSON.parse(shown.stdout.toString()));
  for (const wanted of ["3-4", "17.txt"]) {
    const found = run(["recall", wanted, "--json", ...flags(settings), "-"], text);
    const rows = louver.recall(wanted, text, settings);
    assert.ok(rows.length > 0);
    assert.deepEqual(rows, JSON.parse(found.stdout.toString()));
  }
  assert.equal(louver.recall("3", history)[0]?.message, history[3]);
  assert.deepEqual(louver.recall("999", history), []);
  assert.equal(louver.recall("step", history, { ...settings, limit: 2 }).length, 2);
  assert.throws(() => louver.recall("[louver:x]", history), louver.SettingsError);
});
