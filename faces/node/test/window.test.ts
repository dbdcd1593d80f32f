/** The window itself: what goes in comes out, the same objects, whatever their form. */

import assert from "node:assert/strict";
import { test } from "node:test";
import * as louver from "louver";
import { toolTurns } from "./talks.js";

const SMALL = { counter: "chars4", contextWindow: 3_000, maxOutput: 500 } as const;
const capped = (settings: louver.Settings = {}): louver.Window =>
  new louver.Window({ format: "openai-chat", maxMessages: 6, preserveLast: 2, ...settings });

test("kept messages are the same objects, and nothing is lost", () => {
  const history = toolTurns(20);
  const before = structuredClone(history);
  const window = capped();
  window.extend(history);
  const fit = window.fit();
  assert.ok(fit.isCut && fit.trigger === "message-cap" && fit.tokensAfter < fit.tokensBefore);
  const view = window.view();
  const own = new Set<unknown>(history);
  assert.ok(view.length < history.length && view.filter((message) => own.has(message)).length >= 4);
  assert.deepEqual(history, before);
  assert.deepEqual(louver.check(view), []);
  const left = window.leftOut();
  assert.ok(left.every(({ index, message }) => message === history[index]));
  const kept = view.filter((message) => own.has(message)).map((message) => (history as unknown[]).indexOf(message));
  assert.deepEqual([...left.map(({ index }) => index), ...kept].sort((a, b) => a - b), history.map((_, index) => index));
  assert.equal(window.recall(`[louver:${left[0]?.index}]`)[0]?.message, left[0]?.message);
  assert.deepEqual(window.log.map((message, index) => message === history[index]), history.map(() => true));
  assert.equal(window.length, history.length);
});

test("a model says format, window and policy", () => {
  const window = new louver.Window("claude-sonnet-5-5");
  assert.deepEqual([window.format, window.policy], ["anthropic", "ladder"]);
  assert.ok((window.allowedTokens ?? 0) > 100_000);
  assert.equal(new louver.Window("gpt-5").format, "openai-chat");
  assert.throws(() => new louver.Window("nobody-knows", { format: "anthropic" }), (error) => {
    assert.ok(error instanceof louver.SettingsError && error instanceof louver.LouverError);
    return /not in the catalogue.*`contextWindow`/.test(error.message);
  });
  assert.throws(() => new louver.Window(), louver.SettingsError);
  assert.throws(() => new louver.Window("gpt-5", { policy: "bouth" as "both" }), /unknown policy `bouth`/);
  assert.throws(() => new louver.Window("gpt-5", { maxMesages: 3 } as louver.Settings), (error) => {
    return error instanceof TypeError && /`maxMesages` is no setting/.test(error.message);
  });
  assert.throws(() => new louver.Window("gpt-5", { contextWindow: "large" as unknown as number }), TypeError);
});

for (const [name, form] of [
  ["objects", (message: object) => message],
  ["texts", (message: object) => JSON.stringify(message)],
  ["buffers", (message: object) => Buffer.from(JSON.stringify(message))],
  ["bytes", (message: object) => new TextEncoder().encode(JSON.stringify(message))],
] as const) {
  test(`messages come back in the form they came in: ${name}`, () => {
    const history = toolTurns(40).map((message): object | string => form(message));
    const view = new louver.Window("gpt-4", SMALL).viewOf(history);
    const kinds = new Set(view.map((message) => Object.prototype.toString.call(message) + Buffer.isBuffer(message)));
    assert.ok(view.length < history.length && kinds.size === 1);
    const own = new Set(history);
    assert.ok(view.some((message) => own.has(message)) && view.some((message) => !own.has(message)));
    assert.deepEqual(louver.check(view), []);
  });
}

test("what is mutated or replaced is noticed", () => {
  const history = toolTurns(30);
  const window = new louver.Window("gpt-4", SMALL);
  assert.deepEqual(window.viewOf(history), window.viewOf(history));
  const last = history.at(-1);
  assert.ok(last);
  last.content = "mutated in place";
  assert.equal(window.viewOf(history).at(-1), last);
  assert.match(window.records().at(-2) ?? "", /mutated in place/);
  history[1] = { role: "user", content: "Another task from the start." };
  assert.deepEqual(window.viewOf(history), new louver.Window("gpt-4", SMALL).viewOf(history));
  history.splice(4);
  assert.deepEqual(window.viewOf(history), history);
  assert.equal(window.length, 4);
});

test("what is changed deep inside is noticed", () => {
  const said = (window: louver.Window): unknown[] => {
    const lines = window.records().map((line) => JSON.parse(line) as { message?: string });
    return lines.flatMap(({ message }) => (message === undefined ? [] : [JSON.parse(message) as unknown]));
  };
  class Written {
    toJSON(): object {
      return { type: "text", text: `written ${(times += 1)}` };
    }
  }
  let times = 0;
  type Loose = any;
  const changes: ((history: Loose[]) => void)[] = [
    (history) => (history[2]!.tool_calls[0].function.arguments = "{}"),
    (history) => (history[2]!.tool_calls[0].index = 0),
    (history) => (history[2]!.tool_calls[0].index = -1.5),
    (history) => delete history[2]!.tool_calls[0].index,
    (history) => history[2]!.tool_calls.push({ ...history[2]!.tool_calls[0], id: "another" }),
    (history) => (history[3]!.content = [{ type: "text", text: "parts" }]),
    (history) => (history[3]!.content[0].text = "other parts"),
    (history) => (history[0]!.name = null),
    (history) => (history[0]!.name = undefined),
    (history) => (history[1] = { content: history[1]!.content, role: history[1]!.role }),
    (history) => (history[3]!.content = [new Date(0)].map((text) => ({ type: "text", text }))),
    (history) => history[3]!.content[0].text.setTime(5),
    (history) => (history[3]!.content = [{ type: "text", text: "plain" }]),
    (history) => (history[3]!.content = [new Written()]),
    (history) => history.splice(4),
  ];
  const history = toolTurns(3) as Loose[];
  const settings = { format: "openai-chat", policy: "everything", counter: "chars4", contextWindow: 90_000 } as const;
  const [window, both] = [new louver.Window(settings), new louver.Conversations(settings)];
  const fresh = (): unknown => new louver.Conversations(settings).fit(history).fit?.tokensBefore;
  for (const change of [() => {}, ...changes]) {
    change(history);
    for (let again = 0; again < 2; again++) {
      times = 0;
      assert.deepEqual(window.viewOf(history), history);
      times = 0;
      assert.deepEqual(said(window), JSON.parse(JSON.stringify(history)));
      times = 0;
      const counted = both.fit(history).fit?.tokensBefore;
      times = 0;
      assert.equal(counted, fresh());
    }
  }
  window.viewOf([new Written()].map((content) => ({ role: "user", content: [content] })));
  const [before] = said(window);
  window.viewOf([new Written()].map((content) => ({ role: "user", content: [content] })));
  assert.notDeepEqual(said(window), [before], "what writes itself is asked each time");
});

test("a request that cannot be taken leaves no trace in what is told next", () => {
  const history = toolTurns(3);
  const both = new louver.Conversations({ format: "openai-chat", counter: "chars4", contextWindow: 90_000 });
  const request = (): unknown => both.fit({ model: "gpt-5", messages: history }).fit?.tokensBefore;
  const counted = request();
  assert.throws(() => both.fit([...history, { role: "user", content: 5n }]), louver.InputError);
  assert.throws(() => both.fit([...history, "{"]), louver.InputError);
  assert.equal(request(), counted);
  const large = { role: "user", content: "word ".repeat(200_000) };
  assert.throws(() => both.fit({ model: "gpt-5", messages: [...history, large] }), louver.WindowOverflow);
  assert.equal(request(), counted);
});

test("agents that take turns are told apart", () => {
  const histories = Array.from({ length: 12 }, (_, number) => toolTurns(3 + number));
  const both = new louver.Conversations({ format: "openai-chat", counter: "chars4", contextWindow: 90_000 });
  const counted = (): unknown[] => histories.map((history) => both.fit(history).fit?.tokensBefore);
  const first = counted();
  assert.equal(new Set(first).size, histories.length);
  assert.deepEqual(counted(), first);
  assert.deepEqual(counted().reverse(), [...first].reverse());
});

test("a request is given back with another history only", () => {
  const body = { model: "gpt-4", max_tokens: 500, messages: toolTurns(200), tools: [] };
  const before = structuredClone(body);
  const sent = new louver.Window("gpt-4", { ...SMALL, contextWindow: 4_000 }).viewOf(body);
  assert.deepEqual(body, before);
  assert.deepEqual({ ...sent, messages: [] }, { ...body, messages: [] });
  assert.ok(sent.messages.length < body.messages.length);
  assert.deepEqual(louver.check(sent), []);
});

test("a history that the provider holds is left alone", () => {
  const input = Array.from({ length: 5 }, () => ({ role: "user", content: "x".repeat(9_000) }));
  const body = { model: "gpt-5", previous_response_id: "r", input };
  const settings = { format: "openai-responses", contextWindow: 5_000, maxOutput: 500 } as const;
  assert.equal(new louver.Window(settings).viewOf(body), body);
  assert.equal(new louver.Conversations(settings).fit(body).request, body);
});

test("summaries are jobs out and text in", async () => {
  const window = capped({ summarize: true });
  window.extend(Array.from({ length: 20 }, (_, turn) => ({ role: "user", content: `Note number ${turn}: nothing to do.` })));
  const { job } = window.fit();
  assert.ok(job && job.prompt.includes("Note number 3") && job.maxTokens === 1024 && job.covers.length > 0);
  assert.equal(window.openJob?.id, job.id);
  const taken = await window.condense(job, async ({ prompt }) => (prompt ? "Notes without consequence." : ""));
  assert.equal(taken.rejected, null);
  assert.equal(window.summary, "Notes without consequence.");
  assert.ok(JSON.stringify(window.view()).includes("Notes without consequence."));
  assert.equal(window.answer(job, "again").rejected, "no such job is open");
  const other = capped({ summarize: true });
  other.extend(window.log);
  const failing = other.fit().job;
  assert.ok(failing);
  const failed = await other.condense(failing, () => Promise.reject(new Error("no model")));
  assert.equal(failed.rejected, "no model");
});

test("a window is saved and opened again", () => {
  const window = new louver.Window("gpt-4", SMALL);
  const lines: string[] = [];
  for (const message of toolTurns(40)) {
    window.push(message);
    window.fit();
    lines.push(...window.records(lines.length));
  }
  const opened = louver.Window.open(lines, "gpt-4", SMALL);
  assert.deepEqual(opened.view(), window.view());
  assert.deepEqual(opened.records(), lines);
  assert.equal(opened.view()[0], opened.view()[0]);
  assert.throws(() => louver.Window.open(["{}"], "gpt-4"), louver.RecordError);
  assert.throws(() => louver.Window.open(lines, { format: "gemini", maxMessages: 9 }), /openai-chat/);
});

test("usage corrects counts", () => {
  const window = new louver.Window("gpt-4", { counter: "chars4", contextWindow: 8_000 });
  window.extend(toolTurns(30));
  window.fit();
  const counted = window.tokens;
  assert.equal(window.reportUsage({ usage: { prompt_tokens: Math.floor((counted * 5) / 4) } }), "used");
  assert.ok(window.tokens > counted);
  assert.equal(window.reportUsage({ nothing: 1 }), null);
  assert.equal(new louver.Window("gpt-4").reportUsage(7), "too-small");
});

test("errors say where and how much", () => {
  const window = new louver.Window("gpt-4", { ...SMALL, contextWindow: 2_000 });
  const input = (act: () => unknown): louver.InputError => {
    try {
      act();
    } catch (error) {
      assert.ok(error instanceof louver.InputError, String(error));
      return error;
    }
    return assert.fail("nothing was thrown");
  };
  assert.equal(input(() => window.extend([{ role: "user", content: "Hi" }, { role: 7 }])).path, "$.role");
  assert.equal(window.length, 0);
  assert.equal(input(() => window.viewOf([{ role: "user", content: "Hi" }, { role: 7 }])).path, "$[1].role");
  assert.equal(input(() => window.viewOf([{ role: "user", content: 1n }])).path, "$[0]");
  assert.equal(input(() => window.push(() => 1)).path, "$");
  assert.equal(input(() => window.viewOf(['{"role":"user","content":"Hi"}\0'])).path, "$[0]");
  assert.equal(input(() => window.push(Buffer.from([0xff, 0xfe]))).path, "$");
  const endless: { role: string; content?: unknown } = { role: "user" };
  endless.content = [endless];
  assert.match(input(() => window.push(endless)).message, /circular/);
  assert.throws(
    () => window.viewOf([{ role: "user", content: "x".repeat(40_000) }]),
    (error) => {
      assert.ok(error instanceof louver.WindowOverflow);
      assert.ok(error.floorTokens > error.allowedTokens && error.allowedTokens > 0);
      return error.largest?.index === 0 && error.largest.tokens >= 10_000;
    },
  );
  assert.equal(window.log.length, 1);
  assert.equal(input(() => louver.trim(Buffer.from('{"messages": [{"role": "user"}'))).offset, 30);
  assert.throws(() => window.viewOf(Buffer.from("[]")), /`trim` takes text and bytes/);
});

test("halves of surrogates pass", () => {
  const message = { role: "user", content: "half \ud83d of one", e: "é\u0001" };
  const window = new louver.Window("gpt-5");
  window.push(message);
  assert.equal(window.view()[0], message);
  const raw = (JSON.parse(window.records().at(-1) ?? "{}") as { message: string }).message;
  assert.deepEqual(JSON.parse(raw), message);
});

test("conversations find their own", () => {
  const both = new louver.Conversations({ format: "openai-chat", ...SMALL });
  const [one, two] = [toolTurns(30), toolTurns(30)];
  two[1] = { role: "user", content: "Something else." };
  const ids: string[] = [];
  for (let end = 4; end < 62; end += 2) {
    const turns = [one, two].map((history) => both.fit({ model: "gpt-4", messages: history.slice(0, end) }));
    ids.push(turns.map(({ conversation }) => conversation).join());
    assert.ok(turns.every(({ request }) => louver.check(request).length === 0));
  }
  assert.equal(new Set(ids).size, 1);
  // A branch begins where it leaves the path, and the path goes on.
  const branch = [...one.slice(0, 40), { role: "user", content: "Wait." }];
  assert.ok(!ids[0]?.split(",").includes(String(both.fit({ model: "gpt-4", messages: branch }).conversation)));
  const again = both.fit({ model: "gpt-4", messages: one });
  assert.equal(String(again.conversation), ids[0]?.split(",")[0]);
  assert.ok(!again.isUnchanged && both.fit({ model: "gpt-4", messages: one.slice(0, 2) }).isUnchanged);
  assert.equal(both.reportUsage(again, 5), "unbelievable");
  assert.equal(both.reportUsage({ conversation: 999 }, 5), null);
  const few = new louver.Conversations({ format: "openai-chat", maxMessages: 9, maxConversations: 2 });
  for (let number = 0; number < 5; number++) few.fit([{ role: "user", content: `Task ${number}` }]);
  assert.equal(few.size, 2);
});

test("memory is flat over many windows", async () => {
  const history = toolTurns(4);
  const windows = async (count: number): Promise<void> => {
    for (let number = 0; number < count; number++) {
      capped().viewOf(history);
      // Node lets go of what an addon holds between turns of its loop only.
      if (number % 500 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 10));
  };
  await windows(10_000);
  const before = process.memoryUsage().rss;
  await windows(100_000);
  const grown = (process.memoryUsage().rss - before) / 1024;
  console.log(`# 100,000 windows: ${Math.round(grown)} kB more than before`);
  assert.ok(grown < 32_000, `${grown} kB`);
});
