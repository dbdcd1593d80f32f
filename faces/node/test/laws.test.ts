/** The laws, on this face: whatever the history, whatever the policy. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import * as louver from "louver";
import type { ChatMessage } from "./talks.js";

const TEXT = fc.string({ unit: "grapheme", minLength: 1, maxLength: 300 }).filter((text) => text.trim() !== "");

interface DrawnTurn {
  answer: string;
  results: string[];
  next: string | null;
}

const TURN: fc.Arbitrary<DrawnTurn> = fc.record({
  answer: TEXT,
  results: fc.array(TEXT, { maxLength: 3 }),
  next: fc.option(TEXT),
});

/** Legal conversations with single and parallel calls. */
const HISTORIES = fc.tuple(TEXT, fc.array(TURN, { maxLength: 12 }), TEXT).map(([first, turns, filler]) => {
  const messages: ChatMessage[] = [{ role: "user", content: first }];
  turns.forEach(({ answer, results, next }, turn) => {
    const ids = results.map((_, call) => `c${turn}_${call}`);
    const calls = ids.map((id) => ({ id, type: "function" as const, function: { name: "look", arguments: "{}" } }));
    messages.push({ role: "assistant", content: answer, ...(calls.length > 0 ? { tool_calls: calls } : {}) });
    results.forEach((content, call) => messages.push({ role: "tool", tool_call_id: ids[call] ?? "", content }));
    if (results.length === 0 || next !== null) messages.push({ role: "user", content: next ?? filler });
  });
  return messages;
});

const POLICIES = fc.constantFrom(
  ...(["ladder", "ladder-lean", "tokens", "messages", "both", "newest", "full-cut", "mask"] as const),
);

/** As frameworks do: the whole history before each answer. */
function handedOver(window: louver.Window, history: ChatMessage[]): unknown[] {
  history.forEach(({ role }, index) => {
    if (role === "assistant") window.viewOf(history.slice(0, index));
  });
  return window.viewOf(history);
}

function pushed(window: louver.Window, history: ChatMessage[]): unknown[] {
  window.extend(history);
  window.fit();
  return window.view();
}

function assertLaws(history: ChatMessage[], settings: louver.Settings, whole: boolean): void {
  const before = structuredClone(history);
  const window = new louver.Window(settings);
  let view: unknown[];
  try {
    view = whole ? handedOver(window, history) : pushed(window, history);
  } catch (error) {
    assert.ok(error instanceof louver.WindowOverflow && error.floorTokens > error.allowedTokens, String(error));
    return;
  }
  assert.deepEqual(history, before, "what came in stays as it is");
  assert.deepEqual(louver.check(view, { format: "openai-chat" }), [], "legal in, legal out");
  const places = new Map<unknown, number>(history.map((message, index) => [message, index]));
  const kept = view.map((message) => places.get(message)).filter((place) => place !== undefined);
  assert.deepEqual(kept, [...new Set(kept)].sort((a, b) => a - b), "order");
  const all = [...kept, ...window.leftOut().map(({ index }) => index)].sort((a, b) => a - b);
  assert.deepEqual(all, history.map((_, index) => index), "nothing is lost, nothing is both left out and sent");
  assert.deepEqual(window.view(), view);
  assert.ok(!window.fit().isCut, "nothing appended, nothing changes");
  assert.deepEqual(louver.Window.open(window.records(), settings).view(), view, "recorded decisions hold");
}

test("the laws hold", () => {
  const property = fc.property(HISTORIES, POLICIES, fc.integer({ min: 300, max: 3_000 }), fc.boolean(), (...drawn) => {
    const [history, policy, room, whole] = drawn;
    const sizes = { contextWindow: room + 200, maxOutput: 200, maxMessages: 8 };
    assertLaws(history, { format: "openai-chat", policy, counter: "chars4", ...sizes }, whole);
  });
  fc.assert(property, { numRuns: 300 });
});
