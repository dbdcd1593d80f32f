// Elements, and figures as people read them. Text becomes text and never markup.

const SVG = "http://www.w3.org/2000/svg";

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** An element with attributes, listeners (`onclick`) and children. */
export const el = (name, attributes, ...children) => filled(document.createElement(name), attributes, children);

/** The same of a drawing. */
export const draw = (name, attributes, ...children) => filled(document.createElementNS(SVG, name), attributes, children);

/** Text that is read out and not seen. */
export const unseen = (text) => el("span", { class: "unseen" }, text);

/** A table that stays one for screen readers where it is laid out as cards. */
export function table(caption, headings, rows, attributes = {}) {
  const heading = ([text, kind]) => el("th", { role: "columnheader", scope: "col", class: kind }, text);
  return el("table", { role: "table", ...attributes },
    el("caption", { class: "unseen" }, caption),
    el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, headings.map(heading))),
    el("tbody", { role: "rowgroup" }, rows));
}

/** A row; the first cell names it. Cells are `[content, kind, label]`. */
export function row(cells, attributes = {}) {
  const cell = ([content, kind, label], at) => {
    const shared = { class: kind, "data-label": label };
    return at === 0
      ? el("th", { role: "rowheader", scope: "row", ...shared }, content)
      : el("td", { role: "cell", ...shared }, content);
  };
  return el("tr", { role: "row", ...attributes }, cells.map(cell));
}

/** Tokens or characters: 940, 31k, 1.2M. */
export function amount(number) {
  if (number === null || number === undefined) return "–";
  if (number < 1_000) return String(number);
  if (number < 9_950) return `${(number / 1_000).toFixed(1)}k`;
  if (number < 999_500) return `${Math.round(number / 1_000)}k`;
  return `${(number / 1_000_000).toFixed(number < 9_950_000 ? 1 : 0)}M`;
}

export const count = (number) => (number ?? 0).toLocaleString("en-US");

/** Dollars, with as many decimals as the largest of their column needs. */
export function dollars(usd, largest = Math.abs(usd ?? 0)) {
  if (usd === null || usd === undefined) return "–";
  const decimals = largest >= 1 ? 2 : largest >= 0.01 ? 3 : 4;
  const text = Math.abs(usd).toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  return `${usd < 0 && Number(text) !== 0 ? "−" : ""}$${text}`;
}

export const percent = (share) => (share === null || share === undefined ? "–" : `${Math.round(share * 100)} %`);

export const plural = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });

/** When something was, as short as it can be said. */
export function moment(ms) {
  const date = new Date(ms);
  const isToday = date.toDateString() === new Date().toDateString();
  return el("time", { datetime: date.toISOString(), title: date.toString() }, (isToday ? clock : day).format(date));
}

export function ago(ms) {
  const seconds = Math.max(0, Math.round((Date.now() - ms) / 1_000));
  if (seconds < 5) return "just now";
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ago`;
  return `${plural(Math.floor(seconds / 86_400), "day")} ago`;
}

const REASONS = {
  "token limit": "the window was full",
  "message cap": "more messages than the cap",
  "condense threshold": "the window filled up",
  "old results": "old tool results",
  "pays off": "leaving old messages out pays",
  "cold cache": "the cache was cold, so a cut cost nothing",
  "price step": "the next request would have cost more per token",
};

/** Why a cut was made. */
export function reason(trigger) {
  if (!trigger) return "follows from an earlier cut";
  const words = trigger.replace(/[-_]/g, " ");
  return REASONS[words] ?? words;
}

/** Says something to whoever listens rather than looks. */
export function announce(text) {
  document.getElementById("status").textContent = text;
}

/** What stands where there is nothing yet: what to do about it. */
export const empty = (title, ...children) => el("div", { class: "empty" }, el("p", { class: "title" }, title), children);

/** The heading of a view; it is focused when the view is shown. */
export const heading = (text, ...beside) => el("h1", { tabindex: "-1" }, text, beside);

/** A few figures in a row: `[name, value, remark]`. */
export const figures = (list) => el("dl", { class: "figures" },
  list.map(([name, value, remark]) => el("div", null, el("dt", null, name), el("dd", null, value,
    remark ? el("small", null, remark) : null))));
