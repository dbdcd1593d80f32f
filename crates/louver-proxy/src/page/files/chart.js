// Charts, drawn by hand: sizes over requests, and money over days.

import { amount, count, draw, el, reason } from "./dom.js";

const HEIGHT = 260;
const ROOM = { top: 22, right: 12, bottom: 26, left: 48 };

/** A round number of steps up to a value. */
function steps(largest, wanted = 4) {
  const rough = Math.max(largest, 1e-9) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * power).find((one) => one >= rough);
  const list = [];
  for (let at = 0; at <= largest + step * 0.001; at += step) list.push(at);
  if (list.at(-1) < largest) list.push(list.at(-1) + step);
  return list;
}

/** What is said of a request. */
export function told(request, number) {
  const sizes = request.tokens ? `${amount(request.tokens.sent)} of ${amount(request.tokens.held)} tokens sent` : "not counted";
  const parts = [`Request ${count(number)}: ${sizes}`];
  if (isCut(request)) parts.push(`${request.outcome === "rescued" ? "refused, then cut" : "cut"}: ${reason(request.cut)}`);
  if (request.cache_break) parts.push(`cache lost: ${request.cache_break}`);
  if (["refused", "none"].includes(request.outcome)) parts.push(request.outcome === "none" ? "nothing was sent" : "refused");
  return parts.join(" · ");
}

export const isCut = (request) => ["cut", "rescued"].includes(request.outcome) && !request.repeat;

/** A break that is not the cut's own. */
const isBreak = (request) => request.cache_break && !isCut(request);

/**
 * Sizes over requests. One stop for the keyboard: arrows go from request to request, with Shift to the next cut or break,
 * Enter opens a cut.
 */
export class SizeChart {
  constructor(requests, onOpen) {
    Object.assign(this, { requests, onOpen, at: requests.length - 1, width: 0 });
    this.drawing = draw("svg", { class: "chart", "aria-hidden": "true" });
    this.plot = el("div", {
      class: "plot", role: "slider", tabindex: "0", "aria-label": "Requests of this conversation",
      onkeydown: (event) => this.key(event), onpointermove: (event) => this.point(event), onclick: (event) => { this.point(event); this.open(); },
    }, this.drawing);
    this.readout = el("p", { class: "readout" });
    const key = (kind, text) => el("span", { class: `key ${kind}` }, text);
    this.node = el("figure", { class: "sizes" },
      el("figcaption", null, "Tokens, request by request",
        el("span", { class: "keys" }, key("held", "held by the client"), key("sent", "sent"), key("cut", "cut"), key("break", "cache lost"))),
      this.plot, this.readout);
    new ResizeObserver(() => this.paint()).observe(this.plot);
  }

  add(request) {
    const wasLast = this.at === this.requests.length - 1;
    this.requests.push(request);
    if (wasLast) this.at = this.requests.length - 1;
    this.paint();
  }

  x(at) {
    const inner = this.width - ROOM.left - ROOM.right;
    return ROOM.left + (this.requests.length < 2 ? inner / 2 : (at / (this.requests.length - 1)) * inner);
  }

  paint() {
    this.width = Math.max(240, this.plot.clientWidth);
    const sizes = this.requests.map((request) => request.tokens);
    const largest = sizes.reduce((most, one) => Math.max(most, one?.held ?? 0, one?.sent ?? 0), 1);
    const marks = steps(largest);
    const top = marks.at(-1);
    const y = (tokens) => ROOM.top + (1 - tokens / top) * (HEIGHT - ROOM.top - ROOM.bottom);
    this.y = y;
    const floor = y(0).toFixed(1);
    const line = (key) => {
      let path = "";
      sizes.forEach((one, at) => { if (one) path += `${path ? "L" : "M"}${this.x(at).toFixed(1)} ${y(one[key]).toFixed(1)}`; });
      return path;
    };
    const counted = sizes.map((one, at) => (one ? at : -1)).filter((at) => at >= 0);
    const area = (path) => path && `${path}L${this.x(counted.at(-1)).toFixed(1)} ${floor}L${this.x(counted[0]).toFixed(1)} ${floor}Z`;
    const [held, sent] = [line("held"), line("sent")];
    let cuts = "";
    let ticks = "";
    let breaks = "";
    this.requests.forEach((request, at) => {
      const x = this.x(at).toFixed(1);
      if (isCut(request)) {
        ticks += `M${x} ${ROOM.top}V${floor}`;
        cuts += `M${x} ${ROOM.top - 14}l5 6l-5 6l-5 -6Z`;
      }
      if (isBreak(request)) breaks += `M${x} ${floor}l-4.5 8h9Z`;
    });
    const label = (attributes, text) => draw("text", attributes, text);
    const wide = this.requests.length / Math.max(2, Math.floor(this.width / 90));
    const between = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000].find((step) => step >= wide) ?? 100_000;
    const under = [];
    for (let at = between - 1; at < this.requests.length; at += between) under.push(at);
    this.cursor = draw("g", { class: "cursor" }, draw("path"), draw("circle", { r: 4 }));
    this.drawing.setAttribute("viewBox", `0 0 ${this.width} ${HEIGHT}`);
    this.drawing.replaceChildren(
      ...marks.map((tokens) => draw("path", { class: "grid", d: `M${ROOM.left} ${y(tokens).toFixed(1)}H${this.width - ROOM.right}` })),
      ...marks.map((tokens) => label({ class: "tick", x: ROOM.left - 8, y: y(tokens) + 4, "text-anchor": "end" }, amount(Math.round(tokens)))),
      ...under.map((at) => label({ class: "tick", x: this.x(at), y: HEIGHT - 4, "text-anchor": this.x(at) > this.width - 30 ? "end" : "middle" }, count(at + 1))),
      draw("path", { class: "held area", d: area(held) }), draw("path", { class: "held line", d: held }),
      draw("path", { class: "cuts", d: ticks }),
      draw("path", { class: "sent area", d: area(sent) }), draw("path", { class: "sent line", d: sent }),
      draw("path", { class: "cut-marks", d: cuts }), draw("path", { class: "break-marks", d: breaks }), this.cursor);
    this.show();
  }

  show() {
    const request = this.requests[this.at];
    if (!request) return;
    const words = told(request, this.at + 1);
    this.readout.textContent = isCut(request) ? `${words} · Enter or click shows what changed` : words;
    for (const [name, value] of [["min", 1], ["max", this.requests.length], ["now", this.at + 1], ["text", words]]) {
      this.plot.setAttribute(`aria-value${name}`, value);
    }
    if (!this.cursor) return;
    const x = this.x(this.at).toFixed(1);
    this.cursor.firstChild.setAttribute("d", `M${x} ${ROOM.top}V${this.y(0).toFixed(1)}`);
    this.cursor.lastChild.setAttribute("cx", x);
    this.cursor.lastChild.setAttribute("cy", this.y(request.tokens?.sent ?? 0).toFixed(1));
  }

  go(at) {
    this.at = Math.min(this.requests.length - 1, Math.max(0, at));
    this.show();
  }

  point(event) {
    const box = this.plot.getBoundingClientRect();
    const inner = this.width - ROOM.left - ROOM.right;
    const share = (event.clientX - box.left - ROOM.left) / inner;
    let at = Math.round(share * (this.requests.length - 1));
    // A mark is easier to hit than one request among thousands.
    const perPixel = (this.requests.length - 1) / inner;
    const near = Math.ceil(perPixel * 5);
    for (let off = 0; off <= near; off += 1) {
      const hit = [at - off, at + off].find((one) => this.requests[one] && isCut(this.requests[one]));
      if (hit !== undefined) { at = hit; break; }
    }
    this.go(at);
  }

  open() {
    const request = this.requests[this.at];
    if (request && isCut(request)) this.onOpen(request, this.at);
  }

  key(event) {
    const page = Math.max(1, Math.round(this.requests.length / 10));
    const marked = (step) => {
      for (let at = this.at + step; this.requests[at]; at += step) {
        if (isCut(this.requests[at]) || isBreak(this.requests[at])) return at;
      }
      return this.at;
    };
    const forward = event.shiftKey ? () => marked(1) : () => this.at + 1;
    const back = event.shiftKey ? () => marked(-1) : () => this.at - 1;
    const moves = {
      ArrowRight: forward, ArrowUp: forward, ArrowLeft: back, ArrowDown: back,
      PageUp: () => this.at + page, PageDown: () => this.at - page, Home: () => 0, End: () => this.requests.length - 1,
    };
    if (event.key === "Enter") this.open();
    else if (moves[event.key]) this.go(moves[event.key]());
    else return;
    event.preventDefault();
  }
}

/** Money by day: what was spent, and above it what was saved. */
export function dayChart(days) {
  const node = el("div", { class: "plot days", role: "img", "aria-label": "Money spent and saved by day; the table below has the figures" });
  const paint = () => {
    const width = Math.max(240, node.clientWidth);
    const height = 200;
    const largest = days.reduce((most, one) => Math.max(most, one.cost_usd, one.baseline_usd), 1e-6);
    const marks = steps(largest, 3);
    const decimals = Math.max(0, -Math.floor(Math.log10(marks[1]) + 1e-9));
    const inner = width - ROOM.left - ROOM.right;
    const y = (usd) => 10 + (1 - usd / marks.at(-1)) * (height - 10 - ROOM.bottom);
    const slot = inner / days.length;
    const thick = Math.max(2, Math.min(28, slot * 0.7));
    const bars = days.flatMap((one, at) => {
      const x = ROOM.left + slot * at + (slot - thick) / 2;
      const bar = (kind, from, to) => draw("rect", { class: kind, x, y: y(to), width: thick, height: Math.max(0, y(from) - y(to)), rx: 1.5 });
      return [one.baseline_usd > one.cost_usd ? bar("saved", one.cost_usd, one.baseline_usd) : null, bar("spent", 0, one.cost_usd)];
    });
    const every = Math.ceil(days.length / Math.max(2, Math.floor(width / 90)));
    const names = days.map((one, at) => [one, at]).filter(([, at]) => (days.length - 1 - at) % every === 0);
    const drawing = draw("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" },
      marks.map((usd) => draw("path", { class: "grid", d: `M${ROOM.left} ${y(usd).toFixed(1)}H${width - ROOM.right}` })),
      marks.map((usd) => draw("text", { class: "tick", x: ROOM.left - 8, y: y(usd) + 4, "text-anchor": "end" }, `$${usd.toFixed(decimals)}`)),
      names.map(([one, at]) => draw("text", { class: "tick", x: Math.min(ROOM.left + slot * (at + 0.5), width - 22), y: height - 6, "text-anchor": "middle" }, one.name.slice(5))),
      bars);
    node.replaceChildren(drawing);
  };
  new ResizeObserver(paint).observe(node);
  return node;
}
