// How long the page takes with many conversations and a long one: page-speed.mjs LOUVER STORE, a store that page-load.py filled.
// Prints, for several fresh openings, when the list and the chart were shown, the longest task of the page's own thread, and how
// long frames took while it was scrolled.
import { execFileSync } from "node:child_process";
import { chromium } from "playwright-core";
import { serve, stop } from "./page-world.mjs";

const [louver, store, generator] = process.argv.slice(2);
const ROUNDS = 7;
const start = () => serve(louver, ["proxy", "--listen=127.0.0.1:0", `--store=${store}`, "--token-env=PAGE_OWNER"], { PAGE_OWNER: "owner-token" });
let proxy = await start();
if (generator) {
  await stop(proxy);
  console.log(execFileSync("python3", [generator, store], { encoding: "utf8" }).trim());
  proxy = await start();
}
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
const told = { list: [], chart: [], dearest: [], money: [], longest: [], frame: [] };
for (let round = 0; round < ROUNDS; round += 1) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  await page.addInitScript(() => {
    window.tasks = [];
    new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map((entry) => entry.duration))).observe({ type: "longtask", buffered: true });
  });
  // The token becomes a cookie first: what is measured is the page.
  await context.request.get(`${proxy.url}/louver/?token=owner-token`);
  // From the start of the navigation until the rows have been painted.
  await page.goto(`${proxy.url}/louver/`, { waitUntil: "commit" });
  told.list.push(await page.evaluate(() => new Promise((resolve) => {
    const look = () => (document.querySelector("tbody tr") ? requestAnimationFrame(() => setTimeout(() => resolve(performance.now()))) : requestAnimationFrame(look));
    look();
  })));
  const timed = (act, selector) => page.evaluate(([hash, wanted]) => new Promise((resolve) => {
    const began = performance.now();
    location.hash = hash;
    const look = () => (document.querySelector(wanted) ? requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - began))) : requestAnimationFrame(look));
    look();
  }), [act, selector]);
  told.chart.push(await timed("#/c/long-conversation", ".sizes .sent.line"));
  // Arrow keys over the chart, and the table behind it: frames while somebody works.
  told.frame.push(await page.evaluate(() => new Promise((resolve) => {
    const slider = document.querySelector('[role="slider"]');
    slider.focus();
    const frames = [];
    let last = performance.now();
    let left = 90;
    const step = () => {
      const now = performance.now();
      frames.push(now - last);
      last = now;
      slider.dispatchEvent(new KeyboardEvent("keydown", { key: left % 2 ? "ArrowLeft" : "PageDown", bubbles: true }));
      scrollBy(0, left % 3 - 1);
      left -= 1;
      if (left > 0) requestAnimationFrame(step);
      else resolve(frames.slice(1).sort((a, b) => a - b)[Math.floor(frames.length * 0.95) - 1]);
    };
    requestAnimationFrame(step);
  })));
  told.dearest.push(await timed("#/?order=dearest", '.switch a[aria-current][href*="dearest"]'));
  told.money.push(await timed("#/money", ".days rect.spent"));
  told.longest.push(await page.evaluate(() => Math.max(0, ...window.tasks)));
  await context.close();
}
await browser.close();
await stop(proxy);
const NAMES = {
  list: "list shown after", chart: "chart of the long conversation after", dearest: "list by cost after", money: "money of 30 days after",
  longest: "longest task", frame: "a frame while keys are pressed (95 %)",
};
for (const [key, list] of Object.entries(told)) {
  const sorted = [...list].sort((a, b) => a - b);
  console.log(`${NAMES[key]}: median ${sorted[ROUNDS >> 1].toFixed(0)} ms, worst of ${ROUNDS} ${sorted.at(-1).toFixed(0)} ms`);
}
process.exit(0);
