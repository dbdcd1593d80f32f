// Words in what was left out.

import * as api from "./api.js";
import { wholeMessage } from "./cut.js";
import { announce, el, empty, heading, plural } from "./dom.js";

export async function showSearch(root, { query, signal }) {
  const words = query.get("q") ?? "";
  document.getElementById("words").value = words;
  root.append(heading("Search"));
  if (!words) {
    root.append(empty("What are you looking for?", el("p", null, "Type words, a file's name or an error into the field above.")));
    return;
  }
  const [about, { hits }] = await Promise.all([api.about(signal), api.search(words, query.get("conversation"), signal)]);
  announce(plural(hits.length, "passage"));
  if (hits.length === 0) {
    root.append(empty(`Nothing was found for “${words}”`, el("p", null, about.archive === "full"
      ? "Your own words are searched, as far as they are kept: whole words, names of files and pieces of them."
      : ["This proxy keeps no words of conversations. Start it with ", el("code", null, "--archive full"), " to have something to search in."])));
    return;
  }
  root.append(el("p", { class: "soft" }, `${plural(hits.length, "passage")}, the best first`), el("ol", { class: "hits" }, hits.map(hit)));
}

function hit(one) {
  const holder = el("div", { hidden: true });
  const button = el("button", { type: "button", class: "show", "aria-expanded": "false", onclick() {
    holder.hidden = !holder.hidden;
    button.setAttribute("aria-expanded", String(!holder.hidden));
    button.textContent = holder.hidden ? "Show the whole message" : "Hide it";
    if (!holder.firstChild) holder.append(wholeMessage(one.conversation, one.index, one.chain));
  } }, "Show the whole message");
  const state = { true: el("span", { class: "state gone" }, "left out"), false: el("span", { class: "state" }, "still sent") }[String(one.is_left_out)];
  return el("li", null,
    el("p", { class: "where" }, el("a", { href: `#/c/${encodeURIComponent(one.conversation)}` }, el("code", null, one.conversation.slice(0, 8))), `message ${one.index}`, state ?? null, button),
    el("pre", { class: "passage" }, one.pieces.map((piece) => (piece.is_mark ? el("mark", null, piece.text) : piece.text))), holder);
}
