// All conversations: size sent against size held, cuts, hit rate, money.

import * as api from "./api.js";
import { ago, amount, count, dollars, draw, el, empty, figures, heading, percent, plural, row, table } from "./dom.js";

const ROWS = 100;

// Sums are over all requests of a month, so they are asked for less often.
const SUMS_MS = 10_000;
const ORDERS = [["newest", "Newest"], ["dearest", "Dearest"], ["most-saved", "Most saved"]];

export async function showConversations(root, { query, signal }) {
  const order = ORDERS.some(([name]) => name === query.get("order")) ? query.get("order") : "newest";
  const [about, first] = await Promise.all([api.about(signal), api.conversations(order, null, ROWS, signal)]);
  root.append(heading("Conversations"));
  if (first.rows.length === 0) {
    root.append(nothing(about));
    // What is not kept is heard of all the same: the page is drawn anew once there is something to show.
    const look = async () => {
      const { rows } = await api.conversations(order, null, 1, signal).catch(() => ({ rows: [] }));
      if (rows.length > 0 && !signal.aborted) dispatchEvent(new HashChangeEvent("hashchange"));
    };
    return { request: look, refresh: look };
  }
  const sums = el("div", { class: "sums" });
  sum(sums, signal);
  const list = new List(about, order, first);
  root.append(sums, orders(order), list.table, list.more);
  let timer = null;
  let summed = Date.now();
  const refresh = () => {
    // Many requests at once are one question.
    timer ??= setTimeout(async () => {
      timer = null;
      if (!signal.aborted) await list.refresh(signal).catch(() => {});
      if (signal.aborted || Date.now() - summed < SUMS_MS) return;
      summed = Date.now();
      sum(sums, signal);
    }, 600);
  };
  return { request: refresh, refresh };
}

async function sum(root, signal) {
  const money = await api.money(30, signal).catch(() => null);
  if (!money) return;
  const [cost, baseline, requests] = ["cost_usd", "baseline_usd", "requests"].map((key) =>
    money.days.reduce((sum, day) => sum + day[key], 0));
  if (requests === 0) return;
  const saved = baseline - cost;
  const list = figures([
    ["Spent in 30 days", dollars(cost), plural(requests, "request")],
    ["Saved", dollars(saved, baseline), "against sending everything until it does not fit"],
    ["Of the uncut bill", percent(baseline > 0 ? saved / baseline : null), "saved"],
  ]);
  root.replaceChildren(list);
}

function nothing(about) {
  const address = location.origin;
  const code = (text) => el("pre", null, el("code", null, text));
  return empty("No conversation yet",
    el("p", null, "Point a client here, and its conversations appear while it works:"),
    code(`ANTHROPIC_BASE_URL=${address} claude`),
    code(`OPENAI_BASE_URL=${address}/v1 your-program`),
    about.archive === "off" ? el("p", null, "This proxy runs with --archive off: requests are not kept, so nothing will be listed.") : null,
    about.is_owner ? null : el("p", null, "Send your token with it, as the header x-louver-token: everybody sees their own conversations."));
}

function orders(chosen) {
  const option = ([name, words]) => el("a", {
    href: name === "newest" ? "#/" : `#/?order=${name}`,
    "aria-current": name === chosen ? "true" : null,
  }, words);
  return el("nav", { class: "switch", "aria-label": "Order of conversations" }, ORDERS.map(option));
}

class List {
  constructor(about, order, { rows, next }) {
    Object.assign(this, { about, order, next, rows: new Map() });
    const headings = [["Conversation"], ["Sent of held"], ["Requests", "number"], ["Cuts", "number"], ["Cache hits", "number"], ["Spent", "number"], ["Saved", "number"]];
    this.table = table("Conversations", headings, [], { class: "cards conversations" });
    this.more = el("p", { class: "more" }, el("button", { type: "button", onclick: () => this.append() }, "Show more"), el("span", { class: "soft" }));
    this.body = this.table.tBodies[0];
    this.put(rows);
    this.finish();
  }

  put(list) {
    this.largest = Math.max(this.largest ?? 0, ...list.map((one) => Math.max(one.cost_usd, Math.abs(one.baseline_usd - one.cost_usd))));
    for (const one of list) this.rows.set(one.id, { one, line: this.line(one) });
    this.body.append(...list.map((one) => this.rows.get(one.id).line));
  }

  line(one) {
    const last = one.last_tokens;
    const saved = one.baseline_usd - one.cost_usd;
    return row([
      [[
        el("a", { href: `#/c/${encodeURIComponent(one.id)}` }, one.model || "unknown model"),
        el("small", null, one.parent ? "fork · " : "", el("code", null, one.id.slice(0, 8)), ` · ${ago(one.last)}`,
          this.about.is_owner && one.reader !== this.about.reader ? [" · ", el("b", null, one.reader)] : null),
      ], "name"],
      [last ? [meter(last), el("span", null, `${amount(last.sent)} of ${amount(last.held)}`)] : el("span", { class: "soft" }, "too small to count"), "size", "Sent of held"],
      [count(one.requests), "number", "Requests"],
      [[count(one.cuts), one.rescued ? el("small", null, `${one.rescued} rescued`) : null], "number", "Cuts"],
      [percent(one.hit_rate), "number", "Cache hits"],
      [dollars(one.cost_usd, this.largest), "number", "Spent"],
      [dollars(saved, this.largest), saved > 0 ? "number good" : "number", "Saved"],
    ], { "data-id": one.id });
  }

  async append() {
    const button = this.more.querySelector("button");
    button.disabled = true;
    const page = await api.conversations(this.order, this.next, ROWS).catch(() => null);
    button.disabled = false;
    if (!page) return;
    const { rows, next } = page;
    const first = rows.find((one) => !this.rows.has(one.id));
    this.put(rows.filter((one) => !this.rows.has(one.id)));
    this.next = next;
    this.finish();
    if (first) this.rows.get(first.id).line.querySelector("a").focus();
  }

  finish() {
    this.more.querySelector("button").hidden = !this.next;
    this.more.querySelector("span").textContent = this.next ? `${count(this.rows.size)} shown` : plural(this.rows.size, "conversation");
  }

  // The first rows as they are now, in their order; lines that are the same stay, and with them the focus.
  async refresh(signal) {
    const { rows } = await api.conversations(this.order, null, ROWS, signal);
    let before = null;
    for (const one of rows) {
      const known = this.rows.get(one.id);
      let line = known?.line;
      if (!known || JSON.stringify(known.one) !== JSON.stringify(one)) {
        line = this.line(one);
        line.classList.add("fresh");
        if (known?.line.contains(document.activeElement)) {
          known.line.replaceWith(line);
          line.querySelector("a").focus();
        } else known?.line.remove();
        this.rows.set(one.id, { one, line });
      }
      const wanted = before ? before.nextSibling : this.body.firstChild;
      if (wanted !== line && !line.contains(document.activeElement)) this.body.insertBefore(line, wanted);
      before = line;
    }
    this.finish();
  }
}

/** How much of what a client holds is sent. */
export function meter({ sent, held }) {
  const share = held > 0 ? Math.min(100, (sent / held) * 100) : 100;
  return draw("svg", { class: "meter", viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" },
    draw("rect", { class: "held", width: 100, height: 6 }),
    draw("rect", { class: "sent", width: share, height: 6 }));
}
