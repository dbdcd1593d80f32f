/** The README's examples run as they stand. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sandbox } from "./talks.js";

const folder = join(import.meta.dirname, "..");
const readme = readFileSync(join(folder, "README.md"), "utf8");
const examples = [...readme.matchAll(/^```js\n(.*?)^```/gms)].map((match) => match[1] ?? "");

test("the first example has five lines", () => {
  assert.equal(examples[0]?.trim().split("\n").length, 5);
});

examples.forEach((example, number) => {
  test(`example ${number} runs`, async (context) => {
    const { url } = await sandbox(context);
    const file = join(folder, `example${number}.mjs`);
    writeFileSync(file, example);
    const env = { ...process.env, ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "key" };
    const [status] = (await once(spawn(process.execPath, [file], { env, stdio: "inherit" }), "exit")) as [number];
    assert.equal(status, 0);
  });
});
