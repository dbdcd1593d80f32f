/** Conversations to test with, the real parts that the tests talk to, and what a long conversation must have come to. */

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";

export const WINDOW = 20_000;
export const TURNS = 200;
export const SCHEMA = { type: "object" as const, properties: { path: { type: "string" } }, required: ["path"] };
export const TASK = "Read every file.";

const LOUVER = process.env["LOUVER_BIN"] ?? "";
assert.ok(LOUVER, "LOUVER_BIN names no command line: faces/node/test.sh builds one");

export interface ChatMessage {
  role: string;
  content: string;
  tool_calls?: { id: string; type: "function"; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

/** A task and so many calls with their results, as the Chat Completions API has them. */
export function toolTurns(turns: number, size = 400): ChatMessage[] {
  const messages: ChatMessage[] = [
    { role: "system", content: "Be brief." },
    { role: "user", content: "Read everything." },
  ];
  for (let turn = 0; turn < turns; turn++) {
    const call = { name: "read_file", arguments: `{"path":"${turn}.txt"}` };
    const id = `call_${turn}`;
    messages.push({ role: "assistant", content: `Step ${turn}.`, tool_calls: [{ id, type: "function", function: call }] });
    messages.push({ role: "tool", tool_call_id: id, content: readFile(`${turn}.txt`, size) });
  }
  return messages;
}

/** An image of 300 kB, as far as anybody looks into it: 1,024 pixels each way. */
export function picture(): Buffer {
  const head = Buffer.from("89504e470d0a1a0a0000000d4948445200000400000004000806000000", "hex");
  return Buffer.concat([head, Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 7_919) % 251))]);
}

/** What the tool gives: lines with names that come once. */
export function readFile(path: string, size = 1_500): string {
  const line = `${path} has a line that says something about it`;
  return Array.from({ length: Math.floor(size / line.length) }, (_, number) => `${line}: ${number}`).join("\n");
}

/** What the sandbox noted about a request. */
interface Entry {
  status: number;
  violations: unknown[];
  input_tokens: number;
  messages: number;
}

export class Sandbox {
  constructor(readonly url: string) {}

  async journal(): Promise<Entry[]> {
    return (await (await fetch(`${this.url}/_sandbox/journal`)).json()) as Entry[];
  }

  /** Nothing was refused, and more was said than the window holds. */
  async assertKeptInside(said = 2 * TURNS, requests = TURNS + 1): Promise<void> {
    const journal = await this.journal();
    assert.deepEqual(journal.filter(({ status, violations }) => status !== 200 || violations.length > 0), []);
    assert.equal(journal.length, requests);
    assert.ok(Math.max(...journal.map(({ input_tokens }) => input_tokens)) <= WINDOW);
    const last = journal.at(-1)?.messages ?? 0;
    assert.ok(last < said / 2, `the last request would have had everything: ${last}`);
    console.log(`# ${requests} requests, 0 refused, ${said} messages said, ${last} in the last request`);
  }
}

/** A model that calls a tool 200 times and then answers, behind a window that a tenth of it fills. */
export async function sandbox(test: TestContext): Promise<Sandbox> {
  const call = { name: "read_file", arguments: { path: "a.txt" } };
  const turns: object[] = Array.from({ length: TURNS }, (_, turn) => ({ text: `Step ${turn}.`, calls: [call] }));
  const scenario = join(mkdtempSync(join(tmpdir(), "louver-")), "scenario.json");
  writeFileSync(scenario, JSON.stringify({ name: "long", turns: [...turns, { text: "All is read." }] }));
  const arguments_ = ["sandbox", "--scenario", scenario, "--context-window", String(WINDOW)];
  const process_ = spawn(LOUVER, arguments_, { stdio: ["ignore", "pipe", "inherit"] });
  test.after(() => process_.kill());
  for await (const line of createInterface(process_.stdout)) {
    return new Sandbox(line.startsWith("http") ? line : `http://${line}`);
  }
  throw new Error("the sandbox does not start");
}

/** The command line, with an input. */
export function louver(arguments_: string[], input: string | Uint8Array): { status: number; stdout: Buffer; stderr: string } {
  const done = spawnSync(LOUVER, arguments_, { input, maxBuffer: 1 << 28 });
  return { status: done.status ?? -1, stdout: done.stdout, stderr: done.stderr.toString() };
}

/** Settings as flags of the command line. */
export function flags(settings: object): string[] {
  const dashed = (name: string): string => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  return Object.entries(settings).flatMap(([name, value]) => [dashed(name), String(value)]);
}
