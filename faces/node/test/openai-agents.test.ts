/** The OpenAI Agents SDK against the sandbox: 200 tool turns past the window, and its session stays whole. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, MemorySession, OpenAIResponsesModel, Runner, tool, type AgentInputItem } from "@openai/agents";
import { louverFilter } from "louver/openai-agents";
import OpenAI from "openai";
import { z } from "zod";
import { picture, readFile, sandbox, TASK, TURNS, WINDOW, type Sandbox } from "./talks.js";

const reader = tool({
  name: "read_file",
  description: "Reads a file.",
  parameters: z.object({ path: z.string() }),
  execute: async ({ path }) => readFile(path),
});

/** Every result, as the tool gave it. */
function assertWhole(items: AgentInputItem[]): void {
  const results = items.filter((item) => item.type === "function_call_result");
  assert.equal(results.length, TURNS);
  for (const { output } of results) {
    assert.equal(typeof output === "object" && "text" in output ? output.text : output, readFile("a.txt"));
  }
}

function agentOf({ url }: Sandbox): Agent {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "key", maxRetries: 0 });
  const model = new OpenAIResponsesModel(client as never, "gpt-5");
  return new Agent({ name: "Reader", instructions: "Be brief.", model, tools: [reader], modelSettings: { store: false } });
}

test("a run stays inside and its session whole", async (context) => {
  const box = await sandbox(context);
  const session = new MemorySession();
  const callModelInputFilter = louverFilter({ contextWindow: WINDOW });
  const runner = new Runner({ callModelInputFilter, tracingDisabled: true });
  const result = await runner.run(agentOf(box), TASK, { session, maxTurns: 2 * TURNS });
  assert.equal(result.finalOutput, "All is read.");
  assertWhole(result.history);
  assertWhole(await session.getItems());
  await box.assertKeptInside();
});

/** So many calls with their results, as a session has them. */
function stored(turns: number): AgentInputItem[] {
  return Array.from({ length: turns }, (_, turn): AgentInputItem[] => {
    const call = { callId: `call_${turn}`, name: "read_file", status: "completed" } as const;
    return [
      { type: "function_call", ...call, arguments: `{"path":"${turn}.txt"}` },
      { type: "function_call_result", ...call, output: { type: "text", text: readFile(`${turn}.txt`) } },
    ];
  }).flat();
}

test("a history that their session callback cuts is refused, with ours the whole one is not", async (context) => {
  const box = await sandbox(context);
  const initialItems: AgentInputItem[] = [{ role: "user", content: TASK }, ...stored(100)];
  const newest = (history: AgentInputItem[], more: AgentInputItem[]): AgentInputItem[] => [...history.slice(-9), ...more];
  const session = new MemorySession({ initialItems });
  const runner = new Runner({ tracingDisabled: true });
  const theirs = runner.run(agentOf(box), TASK, { session, sessionInputCallback: newest });
  await assert.rejects(theirs, /No tool call found for function call output/);
  const inside = new Runner({ tracingDisabled: true, callModelInputFilter: louverFilter({ contextWindow: WINDOW }) });
  await inside.run(agentOf(box), TASK, { session: new MemorySession({ initialItems }), maxTurns: 2 * TURNS });
  assert.equal((await box.journal()).filter(({ status }) => status !== 200).length, 1);
});

test("images in results are shown as images", async () => {
  const image = { data: new Uint8Array(picture()), mediaType: "image/png" };
  const call = { callId: "a", name: "see", status: "completed" } as const;
  const shown = { type: "image", image } as const;
  const result = (output: object): AgentInputItem =>
    ({ type: "function_call_result", ...call, output }) as unknown as AgentInputItem;
  const input = (output: object): AgentInputItem[] => [
    { role: "user", content: TASK },
    { type: "function_call", ...call, arguments: "{}" },
    result(output),
  ];
  const filter = louverFilter({ contextWindow: 12_000, maxOutput: 500, counter: "chars4" });
  const agent = new Agent({ name: "Seer", model: "gpt-5" });
  const fitted = async (output: object): Promise<{ output?: unknown }> => {
    const modelData = { input: input(output), instructions: "Be brief." };
    return (await filter({ modelData, agent: agent as never, context: undefined })).input.at(-1) as { output?: unknown };
  };
  assert.equal((await fitted(shown)).output, shown);
  const [text, other] = (await fitted([{ type: "input_text", text: "word ".repeat(9_000) }, shown])).output as { text: string }[];
  assert.ok(Object.is(other, shown) && text !== undefined && text.text.length > 1_000 && text.text.length < 40_000);
});
