// A sandbox, a proxy before it, and conversations through both, for whoever looks at the proxy's page.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

const started = [];

/** A `louver` command that prints its address first. */
export async function serve(louver, args, environment = {}) {
  const child = spawn(louver, args, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...environment } });
  started.push(child);
  let log = "";
  child.stderr.on("data", (data) => { log += data; });
  const lines = createInterface({ input: child.stdout });
  const url = await new Promise((resolve, reject) => {
    lines.once("line", resolve);
    child.once("exit", (code) => reject(new Error(`louver ${args.join(" ")} ended with ${code}: ${log}`)));
  });
  child.removeAllListeners("exit");
  return { url, child, log: () => log };
}

export async function stop(server) {
  const ended = new Promise((resolve) => server.child.once("exit", resolve));
  server.child.kill("SIGTERM");
  return ended;
}

process.on("exit", () => started.forEach((child) => child.kill("SIGKILL")));

const WORDS = "gate river signal parser open token yellow stone branch quiet module seven window paper north loop early bridge copper".split(" ");

/** A file that nobody wrote, the same for the same number. */
export function file(number, lines = 34) {
  let state = number * 7_919 + 17;
  const word = () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return WORDS[state % WORDS.length];
  };
  const rows = Array.from({ length: lines }, (_, line) => `    let ${word()}_${number}_${line} = ${word()}.${word()}(${word()}, "${word()} ${word()}"); // ${word()} ${word()}`);
  return `//! Module ${number}: the ${word()} of the ${word()}.\n\nfn value_of_${number}() -> u32 {\n${rows.join("\n")}\n    ${1_000 + number}\n}\n`;
}

/** What the model says: one file after the other. */
export function scenario(folder, turns) {
  const script = Array.from({ length: turns }, (_, number) => ({
    text: `Module ${number} is next: I want to see value_of_${number}.`,
    calls: [{ name: "read_file", arguments: { path: `src/module_${number}.rs` } }],
  }));
  const path = join(folder, "scenario.json");
  writeFileSync(path, JSON.stringify({ name: "page", turns: [...script, { text: "That is all." }] }));
  return path;
}

const tools = [{ name: "read_file", description: "Reads a file.", input_schema: { type: "object", properties: { path: { type: "string" } } } }];

/** A client of Anthropic's that goes on for as long as it is told to. */
export class Talk {
  constructor(proxy, run, { model = "claude-sonnet-4-5", headers = {}, ask = "Go through the modules and say what they are for." } = {}) {
    Object.assign(this, { proxy, run, model, headers, turns: 0, outcomes: [] });
    this.messages = [{ role: "user", content: ask }];
  }

  async turn(change = {}) {
    const answer = await fetch(`${this.proxy}/v1/messages`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": "k", "anthropic-version": "2023-06-01", "x-sandbox-run": this.run, "x-louver-session": this.run, ...this.headers },
      body: JSON.stringify({ model: this.model, max_tokens: 500, system: "You are careful.", tools, messages: marked(this.messages), ...change }),
    });
    const body = await answer.json();
    assert.equal(answer.status, 200, JSON.stringify(body));
    this.outcomes.push(answer.headers.get("x-louver-outcome"));
    this.conversation = answer.headers.get("x-louver-conversation");
    this.messages.push({ role: "assistant", content: body.content });
    const results = body.content.filter((part) => part.type === "tool_use").map((part) => ({ type: "tool_result", tool_use_id: part.id, content: file(this.turns) }));
    if (results.length) this.messages.push({ role: "user", content: results });
    this.turns += 1;
  }

  async run_for(turns) {
    for (let turn = 0; turn < turns; turn += 1) await this.turn();
    return this;
  }

  get cuts() {
    return this.outcomes.filter((outcome) => outcome === "cut").length;
  }
}

/** The last message with a cache mark, as clients send it. */
function marked(messages) {
  const last = messages.at(-1);
  const content = typeof last.content === "string" ? [{ type: "text", text: last.content }] : last.content;
  const parts = content.map((part, at) => (at === content.length - 1 ? { ...part, cache_control: { type: "ephemeral" } } : part));
  return [...messages.slice(0, -1), { ...last, content: parts }];
}
