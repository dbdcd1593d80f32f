// Invents two conversations in which an agent reads files and comes back to earlier ones.
import { writeFileSync } from "node:fs";
import { join } from "node:path";

const folder = process.argv[2];
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
    const body = `fn value_of_${turn}() -> u32 {\n    ${1000 + turn}\n}\n`;
    messages.push({ role: "tool", tool_call_id: id, content: body + "// padding\n".repeat(100) });
  }
  messages.push({ role: "assistant", content: "That is all." });
  writeFileSync(join(folder, `turns-${turns}.json`), JSON.stringify({ model: "gpt-5.2", messages }));
}
