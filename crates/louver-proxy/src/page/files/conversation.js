// One conversation over time.

import * as api from "./api.js";
import { SizeChart, isCut, told } from "./chart.js";
import { amount, count, dollars, el, empty, figures, heading, moment, percent, plural, reason, row, table } from "./dom.js";

const PAGE = 1_000;
const LINES = 200;

export async function showConversation(root, { parts: [id], signal }) {
  const [one, cuts] = await Promise.all([api.conversation(id, null, PAGE, signal), api.cuts(id, null, signal)]);
  const requests = one.request_list;
  let next = one.next;
  while (next) {
    const page = await api.conversation(id, next, PAGE, signal);
    requests.push(...page.request_list);
    next = page.next;
  }
  const top = el("div", null, summary(one));
  const chart = new SizeChart(requests, (request) => {
    const found = nearest(cuts.cuts, request);
    if (found) location.hash = cutAddress(id, found);
  });
  const cutList = el("div", null, cutRows(id, cuts));
  const lines = new Lines(requests);
  root.append(
    el("p", { class: "crumbs" }, el("a", { href: "#/" }, "Conversations"), one.parent ? [" · fork of ", el("a", { href: `#/c/${encodeURIComponent(one.parent)}` }, one.parent.slice(0, 8))] : null),
    heading(one.model || "Conversation", el("code", { class: "id" }, one.id)), top,
    el("section", { "aria-label": "Sizes" }, requests.length ? chart.node : empty("No requests are kept of this conversation"), lines.node),
    el("section", { "aria-labelledby": "cuts" }, el("h2", { id: "cuts" }, "Cuts"), cutList));
  const seen = new Set(requests.map(named));
  let timer = null;
  const refresh = () => {
    timer ??= setTimeout(async () => {
      timer = null;
      const [fresh, list] = await Promise.all([api.conversation(id, null, 1, signal), api.cuts(id, null, signal)]).catch(() => []);
      if (!fresh || signal.aborted) return;
      top.replaceChildren(summary(fresh));
      cuts.cuts = list.cuts;
      if (!cutList.contains(document.activeElement)) cutList.replaceChildren(...[cutRows(id, list)].flat().filter(Boolean));
    }, 600);
  };
  return {
    request({ conversation, request }) {
      if (conversation !== id || seen.has(named(request))) return;
      seen.add(named(request));
      chart.add(request);
      lines.grow();
      refresh();
    },
    refresh,
  };
}

// What tells a request from others: it can be heard of twice, by asking and by listening.
const named = (request) => [request.at, request.milliseconds, request.tokens?.held, request.outcome].join(" ");

export const cutAddress = (id, cut) => `#/c/${encodeURIComponent(id)}/cut/${cut.sequence}`;

/** The cut that was decided at a request: decisions are made while a request is on its way. */
function nearest(cuts, request) {
  const distance = (cut) => (cut.at === null ? Infinity : Math.abs(cut.at - request.at));
  const sorted = [...cuts].sort((a, b) => distance(a) - distance(b));
  return sorted[0];
}

function summary(one) {
  const saved = one.baseline_usd - one.cost_usd;
  return figures([
    ["Sent now", one.last_tokens ? amount(one.last_tokens.sent) : "–", one.last_tokens ? `of ${amount(one.last_tokens.held)} tokens held` : "not counted"],
    ["Requests", count(one.requests), plural(one.cuts, "cut") + (one.rescued ? `, ${one.rescued} rescued` : "")],
    ["Cache hits", percent(one.hit_rate), "of all prompt tokens"],
    ["Spent", dollars(one.cost_usd), "at list prices"],
    ["Saved", dollars(saved, one.baseline_usd), `uncut: ${dollars(one.baseline_usd)}`],
  ]);
}

function cutRows(id, { cuts, next }) {
  if (cuts.length === 0) {
    return empty("Nothing was cut", el("p", null, "Everything that the client holds is sent. Older messages are left out when the window fills up, or when keeping them costs more than leaving them out."));
  }
  const line = (cut, at) => row([
    [el("a", { href: cutAddress(id, cut) }, `Cut ${at + 1}`), "name"],
    [cut.at === null ? "earlier" : moment(cut.at), "", "When"],
    [[reason(cut.trigger), cut.is_rescue ? " (after a refusal)" : "", cut.is_taken_over ? " (taken over)" : "", cut.is_left_alone ? " (left alone from here on)" : ""], "", "Why"],
    [`${count(cut.left_out)} of ${count(cut.messages)}`, "number", "Left out"],
    [count(cut.edited), "number", "Shortened"],
  ]);
  return [
    table("Cuts of this conversation", [["Cut"], ["When"], ["Why"], ["Left out", "number"], ["Shortened", "number"]], cuts.map(line), { class: "cards two" }),
    next ? el("p", { class: "soft" }, "Only the first are listed; the chart has all.") : null,
  ];
}

/** The same as the chart, in words: made when somebody opens it. */
class Lines {
  constructor(requests) {
    Object.assign(this, { requests, shown: 0 });
    const headings = [["Request"], ["When"], ["Outcome"], ["Sent", "number"], ["Held", "number"], ["Spent", "number"], ["What happened"]];
    this.table = table("All requests", headings, [], { class: "cards requests" });
    this.button = el("button", { type: "button", onclick: () => this.more() }, "Show more");
    this.node = el("details", { ontoggle: () => { if (this.node.open && this.shown === 0) this.more(); } },
      el("summary", null, "All requests as a table"), this.table, el("p", { class: "more" }, this.button));
  }

  more() {
    const end = Math.min(this.shown + LINES, this.requests.length);
    const largest = this.requests.reduce((most, one) => Math.max(most, one.cost_usd ?? 0), 0);
    const lines = [];
    for (let at = this.shown; at < end; at += 1) {
      const one = this.requests[at];
      const words = told(one, at + 1).split(" · ").slice(1).join(" · ");
      lines.push(row([
        [count(at + 1), "name"], [moment(one.at), "", "When"], [one.outcome, isCut(one) ? "good" : "", "Outcome"],
        [amount(one.tokens?.sent), "number", "Sent"], [amount(one.tokens?.held), "number", "Held"],
        [dollars(one.cost_usd, largest), "number", "Spent"], [words, "wide", words ? "What happened" : null],
      ]));
    }
    this.table.tBodies[0].append(...lines);
    this.shown = end;
    this.button.hidden = end >= this.requests.length;
  }

  // A request more: it is shown if all before it are.
  grow() {
    if (this.node.open && this.shown === this.requests.length - 1) this.more();
  }
}
