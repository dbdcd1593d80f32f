// Which view is shown, and what happens meanwhile.

import * as api from "./api.js";
import { announce, el, empty, heading } from "./dom.js";
import { showConversation } from "./conversation.js";
import { showConversations } from "./conversations.js";
import { showCut } from "./cut.js";
import { showMoney } from "./money.js";
import { showSearch } from "./search.js";

const main = document.getElementById("main");
const words = document.getElementById("words");

// What happens at other replicas is not heard here; a list that is looked at is asked for again now and then.
const ELSEWHERE_MS = 15_000;

let current = { stop: new AbortController(), view: null, path: null };

const ROUTES = [
  [/^\/?$/, "conversations", () => showConversations],
  [/^\/money$/, "money", () => showMoney],
  [/^\/search$/, "search", () => showSearch],
  [/^\/c\/([^/]+)$/, "conversations", () => showConversation],
  [/^\/c\/([^/]+)\/cut\/(\d+)$/, "conversations", () => showCut],
];

function parsed() {
  const [path, search] = location.hash.replace(/^#/, "").split("?");
  for (const [pattern, name, show] of ROUTES) {
    const match = pattern.exec(path);
    if (match) return { path: location.hash, name, show: show(), parts: match.slice(1).map(decodeURIComponent), query: new URLSearchParams(search) };
  }
  return null;
}

async function navigate() {
  if (location.hash === "#main") {
    main.focus();
    return;
  }
  const route = parsed();
  const isSame = current.path === location.hash;
  current.stop.abort();
  const stop = new AbortController();
  current = { stop, view: null, path: location.hash };
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.view === route?.name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const root = el("div", { class: "view" });
  main.setAttribute("aria-busy", "true");
  try {
    if (!route) throw new api.Refused("There is no such view.");
    const view = await route.show(root, { parts: route.parts, query: route.query, signal: stop.signal });
    if (stop.signal.aborted) return;
    current.view = view ?? {};
  } catch (error) {
    if (stop.signal.aborted) return;
    root.replaceChildren(heading("That did not work"), empty(error instanceof api.Refused ? error.message : "The proxy does not answer.",
      el("p", null, el("a", { href: "#/" }, "All conversations"))));
    if (!(error instanceof api.Refused) && !(error instanceof TypeError)) console.error(error);
  }
  main.replaceChildren(root);
  main.removeAttribute("aria-busy");
  const title = root.querySelector("h1");
  document.title = title ? `${title.firstChild.textContent} – Louver` : "Louver";
  // Whoever does not see that the page has changed hears it.
  if (isFirst) isFirst = false;
  else if (!isSame) title?.focus({ preventScroll: true });
  if (!isSame) scrollTo(0, 0);
  performance.mark(`louver:${route?.name ?? "none"}`);
}
let isFirst = true;

addEventListener("hashchange", navigate);

document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});

document.getElementById("find").addEventListener("submit", (event) => {
  event.preventDefault();
  if (words.value.trim()) location.hash = `#/search?${new URLSearchParams({ q: words.value.trim() })}`;
});

addEventListener("keydown", (event) => {
  const isTyping = event.target.matches?.("input, select, textarea");
  if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    words.focus();
  }
});

const live = document.getElementById("live");
api.listen({
  request(event) {
    current.view?.request?.(event);
    if (event.request.cut && !event.request.repeat) announce(`A conversation was cut: ${event.conversation}`);
  },
  reset() {
    current.view?.refresh?.();
  },
  state(state) {
    if (live.dataset.state === state) return;
    live.dataset.state = state;
    document.getElementById("live-words").textContent = state === "live" ? "live" : "connection lost";
  },
});
setInterval(() => {
  if (!document.hidden) current.view?.refresh?.();
}, ELSEWHERE_MS);

navigate();
