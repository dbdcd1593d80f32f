// Invents two conversations in which an agent reads files and comes back to earlier ones, and a session of Claude Code
// that says what it was billed.
import { writeFileSync } from "node:fs";
import { join } from "node:path";

const folder = process.argv[2];
const file = (turn) => `fn value_of_${turn}() -> u32 {\n    ${1000 + turn}\n}\n` + "// padding\n".repeat(100);
for (const turns of [80, 30]) {
  const messages = [{ role: "user", content: "Go through the files and say what they do." }];
  for (let turn = 0; turn < turns; turn += 1) {
    const id = `call_${turn}`;
    const back = Math.floor(turn / 3);
    const call = { name: "read_file", arguments: JSON.stringify({ path: `src/module_${turn}.rs` }) };
    messages.push({
      role: "assistant",
      content: `src/module_${back}.rs had value_of_${back}.`,
      tool_calls: [{ id, type: "function", function: call }],
    });
    messages.push({ role: "tool", tool_call_id: id, content: file(turn) });
  }
  messages.push({ role: "assistant", content: "That is all." });
  writeFileSync(join(folder, `turns-${turns}.json`), JSON.stringify({ model: "gpt-5.2", messages }));
}

const lines = [];
let parent = null;
let read = 0;
let chars = 0;
const add = (type, uuid, message) => {
  const timestamp = new Date(Date.UTC(2026, 2, 1, 10, 0, lines.length)).toISOString();
  lines.push({ type, uuid, parentUuid: parent, sessionId: "s", cwd: "/work/shop", isSidechain: false, timestamp, message });
  parent = uuid;
};
for (let turn = 0; turn < 12; turn += 1) {
  const asked = turn
    ? [{ type: "tool_result", tool_use_id: `t${turn - 1}`, content: file(turn) }]
    : "Go through the files.";
  add("user", `u${turn}`, { role: "user", content: asked });
  chars += JSON.stringify(asked).length;
  const tokens = 18_000 + Math.round(chars / 4);
  const usage = { input_tokens: 4, cache_read_input_tokens: read, cache_creation_input_tokens: tokens - read, output_tokens: 60 };
  const content = [
    { type: "text", text: `src/module_${turn}.rs has value_of_${turn}.` },
    { type: "tool_use", id: `t${turn}`, name: "Read", input: { path: `src/module_${turn + 1}.rs` } },
  ];
  add("assistant", `a${turn}`, { id: `msg_${turn}`, role: "assistant", model: "claude-opus-4-5", content, usage });
  chars += JSON.stringify(content).length;
  read = tokens;
}
writeFileSync(join(folder, "session.jsonl"), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
