// A cut as a difference: what was sent before, what is sent since, and everything that was left out.

import * as api from "./api.js";
import { cutAddress } from "./conversation.js";
import { amount, count, el, empty, figures, heading, moment, plural, reason, row, table, unseen } from "./dom.js";

const LONGEST = 1_500;

// How many messages of a run are shown at a time.
const STEP = 100;

export async function showCut(root, { parts: [id, sequence], signal }) {
  const [found, all] = await Promise.all([api.cut(id, sequence, {}, signal), api.cuts(id, null, signal)]);
  const { cut } = found;
  const at = all.cuts.findIndex((one) => one.sequence === cut.sequence);
  const [before, after] = [all.cuts[at - 1], at >= 0 ? all.cuts[at + 1] : undefined];
  const link = (words, one, rel) => (one ? el("a", { href: cutAddress(id, one), rel }, words) : null);
  root.append(
    el("p", { class: "crumbs" }, el("a", { href: "#/" }, "Conversations"), " · ", el("a", { href: `#/c/${encodeURIComponent(id)}` }, el("code", null, id.slice(0, 8)))),
    heading(at >= 0 ? `Cut ${at + 1}` : "Cut", el("small", null, reason(cut.trigger), cut.at === null ? null : [" · ", moment(cut.at)])),
    el("p", { class: "pager" }, link("← the cut before", before, "prev"), link("the next cut →", after, "next")),
    figures([
      ["Left out", count(cut.left_out), `of ${plural(cut.messages, "message")}`],
      ["Shortened", count(cut.edited), "or without some part"],
      ["Decided by", cut.policy, cut.is_rescue ? "after the provider refused" : cut.model],
    ]),
    ...notice(found.text),
    el("section", { "aria-labelledby": "ledger" }, el("h2", { id: "ledger" }, "Sent in their place"), ledger(found)),
    el("section", { "aria-labelledby": "messages" }, el("h2", { id: "messages" }, "Messages, before and after"), messages(id, sequence, found)));
}

function notice(text) {
  if (text === "kept") return [];
  const words = text === "not kept"
    ? ["The words of this conversation are not kept here, so messages have numbers only. Start the proxy with ", el("code", null, "--archive full"), " to keep them from then on."]
    : ["What was said here is for whoever said it: open the page with their token. Records hold no text, so messages have numbers only."];
  return [el("p", { class: "note" }, words)];
}

function ledger({ ours }) {
  const text = (list) => list.map((one) => one.text).join("\n\n");
  if (ours.after.length === 0) return empty("Nothing stands in their place", el("p", null, "What was left out had no words worth keeping, or was shortened where it stood."));
  const [before, after] = [text(ours.before), text(ours.after)];
  const isShortened = ours.after.some((one) => one.is_shortened);
  return [
    before ? el("p", { class: "soft" }, "Lines that are new since the cut before are marked with +, those that left with −.") : null,
    el("div", { class: "diff", tabindex: "0", role: "region", "aria-label": "The ledger, line by line" }, lines(before, after).map(([sign, words]) =>
      el("div", { class: sign === "+" ? "new" : sign === "−" ? "old" : null },
        el("span", { class: "sign", "aria-hidden": "true" }, before ? sign : ""),
        before && sign !== " " ? unseen(sign === "+" ? "new: " : "gone: ") : null, words || "\u00a0"))),
    isShortened ? el("p", { class: "soft" }, "Only the beginning is shown.") : null,
  ];
}

/** Which lines stayed, came and left. */
function lines(before, after) {
  const a = before ? before.split("\n") : [];
  const b = after.split("\n");
  if (a.length > LONGEST || b.length > LONGEST) {
    const known = new Set(a);
    return b.map((line) => [known.has(line) ? " " : "+", line]);
  }
  const width = b.length + 1;
  const common = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      common[i * width + j] = a[i] === b[j] ? common[(i + 1) * width + j + 1] + 1 : Math.max(common[(i + 1) * width + j], common[i * width + j + 1]);
    }
  }
  const found = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) { found.push([" ", b[j]]); i += 1; j += 1; }
    else if (i < a.length && (j === b.length || common[(i + 1) * width + j] >= common[i * width + j + 1])) { found.push(["−", a[i]]); i += 1; }
    else { found.push(["+", b[j]]); j += 1; }
  }
  return found;
}

function messages(id, sequence, found) {
  const list = table("Messages, before and after this cut", [["Message"], ["Before"], ["After"], ["What it says"], ["Size", "number"]], [], { class: "cards messages" });
  const body = list.tBodies[0];
  const { chain } = found.cut;
  const opened = (one) => api.cut(id, sequence, { after: one.number, rows: Math.min(one.count, STEP), each: 1 });
  const lines = (page) => page.rows.flatMap((one) => line(id, chain, one, opened));
  const add = (page) => body.append(...lines(page));
  add(found);
  let { next } = found;
  const button = el("button", { type: "button", hidden: !next, async onclick() {
    button.disabled = true;
    const page = await api.cut(id, sequence, { after: next }).catch(() => null);
    button.disabled = false;
    if (!page) return;
    const first = body.rows.length;
    add(page);
    next = page.next;
    button.hidden = !next;
    body.rows[first]?.querySelector("button")?.focus();
  } }, "Show more");
  return [list, el("p", { class: "more" }, button)];
}

const kindOf = { "left out": "gone", edited: "edited", "thinking left out": "edited", sent: "" };
const state = (words) => (words ? el("span", { class: `state ${kindOf[words] ?? ""}` }, words === "edited" ? "shortened" : words) : el("span", { class: "soft" }, "–"));

/** Messages that this cut has not changed, in one line that opens. */
function run(id, chain, one, opened) {
  const they = one.count === 1 ? "it" : "they";
  const words = { sent: `sent as ${they} came`, "left out": one.before ? "left out by an earlier cut" : "left out", edited: "shortened" }[one.after] ?? one.after;
  const button = one.number === undefined ? null : el("button", { type: "button", class: "show", async onclick() {
    button.disabled = true;
    const page = await opened(one).catch(() => null);
    button.disabled = false;
    if (!page) return;
    const rows = page.rows.flatMap((each) => line(id, chain, each, opened));
    const left = one.count - page.rows.length;
    const rest = left > 0 ? [run(id, chain, { ...one, from: page.rows.at(-1).index + 1, count: left, number: one.number + page.rows.length, chars: undefined }, opened)] : [];
    node.replaceWith(...rows, ...rest);
    rows[0].querySelector("button").focus();
  } }, unseen(`Messages ${one.from} to ${one.to} `), "Show");
  const name = one.from === one.to ? `${one.from}` : `${one.from}–${one.to}`;
  const node = row([
    [[name, button], "name"], [state(one.before), "", "Before"], [state(one.after), "", "After"],
    [el("span", { class: "soft" }, `${plural(one.count, "message")} ${words}`), "wide", ""],
    [one.chars === undefined ? "" : amount(one.chars), "number", one.chars === undefined ? null : "Size"],
  ], { class: "run" });
  return node;
}

function line(id, chain, one, opened) {
  if (one.count !== undefined) return [run(id, chain, one, opened)];
  const holder = el("td", { role: "cell", colspan: "5" });
  const whole = el("tr", { role: "row", class: "whole", hidden: true }, holder);
  const button = el("button", { type: "button", class: "show", "aria-expanded": "false", onclick: () => toggle(id, one.index, chain, button, whole, holder) }, unseen(`Message ${one.index} `), "Show");
  const says = [el("span", { class: "who" }, `${one.role}, ${one.kind}`), el("span", { class: "preview" }, one.preview || "(nothing to read)"),
    one.sent ? el("span", { class: "preview sent" }, el("b", null, "now sent: "), one.sent) : null];
  const line = row([[[String(one.index), button], "name"], [state(one.before), "", "Before"], [state(one.after), "", "After"], [says, "wide", ""], [amount(one.chars), "number", "Size"]],
    { class: one.after === "left out" ? "out" : null, "data-index": one.index });
  return [line, whole];
}

async function toggle(id, index, chain, button, whole, holder) {
  whole.hidden = !whole.hidden;
  button.setAttribute("aria-expanded", String(!whole.hidden));
  button.lastChild.textContent = whole.hidden ? "Show" : "Hide";
  if (whole.hidden || holder.firstChild) return;
  holder.append(wholeMessage(id, index, chain));
}

/** A message whole, piece by piece where it is long. */
export function wholeMessage(id, index, chain) {
  const text = el("pre", { tabindex: "0", role: "region", "aria-label": `Message ${index}` }, "…");
  const more = el("button", { type: "button", hidden: true }, "Show more of it");
  let offset = 0;
  const load = async () => {
    more.disabled = true;
    try {
      const piece = await api.message(id, index, chain, offset || null);
      if (offset === 0) text.textContent = "";
      text.append(piece.text || "(nothing to read)");
      offset = piece.next_offset;
      more.hidden = !offset;
    } catch (error) {
      text.textContent = error instanceof api.Refused ? "This message is not kept." : "The proxy does not answer.";
    }
    more.disabled = false;
  };
  more.addEventListener("click", load);
  load();
  return el("div", { class: "message" }, text, more);
}
