// Money by day, by model and by reader.

import * as api from "./api.js";
import { dayChart } from "./chart.js";
import { count, dollars, el, empty, figures, heading, percent, plural, row, table } from "./dom.js";

const RANGES = [7, 30, 90, 365];

export async function showMoney(root, { query, signal }) {
  const days = RANGES.includes(Number(query.get("days"))) ? Number(query.get("days")) : 30;
  const money = await api.money(days, signal);
  const sum = (key) => money.days.reduce((sum, day) => sum + day[key], 0);
  const [cost, baseline, requests] = [sum("cost_usd"), sum("baseline_usd"), sum("requests")];
  const option = (range) => el("a", { href: `#/money?days=${range}`, "aria-current": range === days ? "true" : null }, `${range} days`);
  root.append(heading("Money"), el("nav", { class: "switch", "aria-label": "How many days" }, RANGES.map(option)));
  if (requests === 0) {
    root.append(empty(`Nothing was spent in ${days} days`, el("p", null, "What requests cost is computed from what the provider counts in its answers, at the catalogue's prices. It appears here with the first answer.")));
    return {};
  }
  const saved = baseline - cost;
  const key = (kind, text) => el("span", { class: `key ${kind}` }, text);
  root.append(
    figures([
      ["Spent", dollars(cost), plural(requests, "request")],
      ["Saved", dollars(saved, baseline), `uncut: ${dollars(baseline)}`],
      ["Of the uncut bill", percent(baseline > 0 ? saved / baseline : null), "saved"],
    ]),
    el("section", { "aria-labelledby": "days" },
      el("h2", { id: "days" }, "By day ", el("span", { class: "keys" }, key("spent", "spent"), key("saved", "saved"))), dayChart(money.days),
      el("details", null, el("summary", null, "Days as a table"), rows("Money by day (UTC)", "Day", [...money.days].reverse().filter((day) => day.requests > 0)))),
    el("section", { "aria-labelledby": "models" }, el("h2", { id: "models" }, "By model"), rows("Money by model", "Model", money.models)));
  if (money.readers.length > 0) {
    root.append(el("section", { "aria-labelledby": "readers" }, el("h2", { id: "readers" }, "By reader"), rows("Money by reader", "Reader", money.readers)));
  }
  root.append(el("p", { class: "soft" }, "Uncut is the practical baseline: everything is sent until it does not fit, then the client starts over. Days are UTC."));
  return {};
}

function rows(caption, name, list) {
  const largest = list.reduce((most, one) => Math.max(most, one.cost_usd, one.baseline_usd), 0);
  const line = (one) => {
    const saved = one.baseline_usd - one.cost_usd;
    return row([
      [one.name || "all others", "name"], [count(one.requests), "number", "Requests"], [dollars(one.cost_usd, largest), "number", "Spent"],
      [dollars(saved, largest), saved > 0 ? "number good" : "number", "Saved"], [percent(one.baseline_usd > 0 ? saved / one.baseline_usd : null), "number", "Share"],
    ]);
  };
  return table(caption, [[name], ["Requests", "number"], ["Spent", "number"], ["Saved", "number"], ["Share", "number"]], list.map(line), { class: "cards four" });
}
