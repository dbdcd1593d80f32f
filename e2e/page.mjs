// What somebody does with the proxy's page: at a desk and on a telephone, by light and in the dark, with and without a mouse.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { Talk, scenario, serve, stop } from "./page-world.mjs";

const [louver, shots] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "louver-page-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

const TURNS = 60;
const tokens = { PAGE_OWNER: "owner-token" };
const sandbox = await serve(louver, ["sandbox", "--scenario", scenario(folder, TURNS + 40), "--context-window=24000"]);
const proxy = await serve(louver, [
  "proxy", "--listen=127.0.0.1:0", `--store=${join(folder, "store.db")}`, `--upstream=anthropic=${sandbox.url}`,
  "--context-window=24000", "--archive=full", "--token-env=PAGE_OWNER",
], tokens);

const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
try {
  await says_what_to_do_where_nothing_is();
  const talk = await new Talk(proxy.url, "main").run_for(TURNS);
  assert.ok(talk.cuts >= 2, talk.outcomes.join(" "));
  // Another tool is another beginning: the provider's cache is lost, and the page says why.
  await talk.turn({ system: "You are careful and brief." });
  await new Talk(proxy.url, "small", { model: "claude-opus-4-5", ask: "Only the first two." }).run_for(2);
  const papers = {};
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [390, 1280]) {
      const page = await opened({ colorScheme, width });
      await lists_conversations(page, talk);
      await is_readable(page, width);
      await shot(page, `list-${colorScheme}-${width}`);
      await draws_one(page, talk);
      await is_readable(page, width);
      await shot(page, `conversation-${colorScheme}-${width}`);
      await shows_a_cut(page, talk);
      await is_readable(page, width);
      await shot(page, `cut-${colorScheme}-${width}`);
      await finds_words(page);
      await is_readable(page, width);
      await shot(page, `search-${colorScheme}-${width}`);
      await adds_up_money(page);
      await is_readable(page, width);
      await shot(page, `money-${colorScheme}-${width}`);
      papers[colorScheme] = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      await closed(page);
    }
  }
  assert.notEqual(papers.light, papers.dark, "dark is another page than light");
  await hears_what_happens(talk);
  await needs_no_mouse();
  await runs_no_other_script();
  await survives_a_restart(talk);
} finally {
  await browser.close();
}
await stop(proxy);
await stop(sandbox);
console.log("the page lists, draws, compares, finds, adds up and hears, at two widths and in two colours, without a mouse");
process.exit(0);

async function opened({ colorScheme = "light", width = 1280 } = {}) {
  const page = await browser.newPage({ colorScheme, viewport: { width, height: 900 }, reducedMotion: "reduce" });
  page.problems = [];
  page.hosts = new Set();
  page.on("pageerror", (error) => page.problems.push(String(error)));
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && page.problems.push(message.text()));
  page.on("request", (request) => page.hosts.add(new URL(request.url()).origin));
  await page.goto(`${proxy.url}/louver/?token=${encodeURIComponent(tokens.PAGE_OWNER)}`);
  assert.ok(!page.url().includes("token"), "the token does not stay in the address");
  await page.locator("h1").waitFor();
  return page;
}

async function closed(page) {
  assert.deepEqual(page.problems, []);
  assert.deepEqual([...page.hosts].filter((host) => host !== "null"), [proxy.url], "nothing is asked of anybody else");
  await page.close();
}

async function shot(page, name) {
  if (shots) await page.screenshot({ path: `${shots}/page-${name}.png`, fullPage: true });
}

async function says_what_to_do_where_nothing_is() {
  const page = await opened({ width: 390 });
  assert.match(await page.locator(".empty").innerText(), /No conversation yet[\s\S]*ANTHROPIC_BASE_URL=http:\/\/127/);
  await shot(page, "empty-light-390");
  // The first conversation takes its place.
  await new Talk(proxy.url, "first", { ask: "Hello." }).run_for(1);
  await page.locator("table.conversations tbody tr").waitFor();
  await closed(page);
}

// Nothing is wider than the page, and no letter too small.
async function is_readable(page, width) {
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(overflow <= 0, `${overflow} pixels wider than ${width}: ${page.url()}`);
  const smallest = await page.evaluate(() => Math.min(...[...document.querySelectorAll("main *")]
    .filter((node) => node.getClientRects().length && [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim()))
    .map((node) => parseFloat(getComputedStyle(node).fontSize))));
  assert.ok(smallest >= 12, `letters of ${smallest} pixels at ${width}`);
}

async function lists_conversations(page, talk) {
  await page.locator(`tr[data-id="${talk.conversation}"]`).waitFor();
  const line = page.locator(`tr[data-id="${talk.conversation}"]`);
  assert.match(await line.innerText(), /claude-sonnet-4-5/);
  assert.match(await line.locator(".size").innerText(), /^[\d.]+k of [\d.]+k$/m);
  const cells = await line.locator("td.number").allInnerTexts();
  assert.equal(Number(cells[0].match(/\d+$/)[0]), talk.turns);
  assert.match(cells[2], /\d+ %/, "cache hits");
  assert.match(cells[3], /\$\d/);
  await page.locator(".figures dd").first().waitFor();
  assert.match(await page.locator(".sums").innerText(), /Spent in 30 days\s+\$/);
  await page.getByRole("link", { name: "Dearest" }).click();
  await page.locator('.switch a[aria-current]', { hasText: "Dearest" }).waitFor();
  assert.equal(await page.locator("tbody tr").first().getAttribute("data-id"), talk.conversation);
  await page.getByRole("link", { name: "Newest" }).click();
  await page.locator('.switch a[aria-current]', { hasText: "Newest" }).waitFor();
  assert.notEqual(await page.locator("tbody tr").first().getAttribute("data-id"), talk.conversation);
}

async function draws_one(page, talk) {
  await page.locator(`tr[data-id="${talk.conversation}"] a`).click();
  await page.locator(".sizes .sent.line").waitFor({ state: "attached" });
  const points = await page.locator(".sizes .sent.line").evaluate((path) => path.getAttribute("d").split(/[ML]/).length - 1);
  assert.ok(points >= talk.turns - 8, `${points} of ${talk.turns} requests are drawn`);
  const marks = await page.locator(".sizes .cut-marks").evaluate((path) => path.getAttribute("d").split("M").length - 1);
  assert.equal(marks, talk.cuts, "every cut has its mark");
  const breaks = await page.locator(".sizes .break-marks").evaluate((path) => path.getAttribute("d").split("M").length - 1);
  assert.equal(breaks, 1, "the changed system prompt lost the cache");
  const slider = page.getByRole("slider", { name: "Requests of this conversation" });
  await slider.focus();
  await page.keyboard.press("End");
  assert.match(await slider.getAttribute("aria-valuetext"), /cache lost: the system prompt changed/);
  assert.match(await page.locator(".readout").innerText(), /cache lost: the system prompt changed/);
  // The same in words.
  await page.getByText("All requests as a table").click();
  await page.locator("table.requests tbody tr").last().waitFor();
  assert.equal(await page.locator("table.requests tbody tr").count(), talk.turns);
  assert.match(await page.locator("table.requests tbody tr").last().innerText(), /the system prompt changed/);
  await page.getByText("All requests as a table").click();
  assert.equal(await page.locator("section", { has: page.locator("#cuts") }).locator("tbody tr").count(), talk.cuts);
}

async function shows_a_cut(page, talk) {
  // A mark in the chart leads to its cut.
  const slider = page.getByRole("slider");
  await slider.focus();
  await page.keyboard.press("End");
  await page.keyboard.press("Shift+ArrowLeft");
  await page.keyboard.press("Enter");
  await page.locator("h1", { hasText: `Cut ${talk.cuts}` }).waitFor();
  assert.ok((await page.locator(".diff .new").count()) > 0, "lines that are new since the cut before");
  assert.match(await page.locator(".diff").innerText(), /\[Conversation Ledger\]/);
  const out = page.locator("tr.out").first();
  const index = Number(await out.getAttribute("data-index"));
  await out.getByRole("button", { name: `Message ${index} Show` }).click();
  const whole = page.locator("tr.whole:not([hidden]) pre");
  const said = JSON.stringify(talk.messages[index].content);
  const word = said.match(/value_of_\d+|[a-z]+_\d+_\d+/)?.[0] ?? "modules";
  await page.locator("tr.whole:not([hidden]) pre", { hasText: word }).waitFor();
  assert.ok((await whole.innerText()).length > 20);
  await page.getByRole("link", { name: "the cut before" }).click();
  await page.locator("h1", { hasText: `Cut ${talk.cuts - 1}` }).waitFor();
  await page.goBack();
  await page.locator("h1", { hasText: `Cut ${talk.cuts}` }).waitFor();
  await page.locator("tr.out").first().getByRole("button").click();
  await page.locator("tr.whole:not([hidden]) pre", { hasText: word }).waitFor();
}

async function finds_words(page) {
  const field = page.getByRole("searchbox", { name: "Search what was left out" });
  await field.fill("value_of_3");
  await field.press("Enter");
  await page.locator(".hits li").first().waitFor();
  assert.ok((await page.locator(".hits mark", { hasText: "value_of_3" }).count()) > 0);
  assert.ok((await page.locator(".hits .state.gone").count()) > 0, "some of it was left out");
  await page.locator(".hits li").first().getByRole("button").click();
  await page.locator(".hits li").first().locator(".message pre", { hasText: "value_of_3" }).waitFor();
}

async function adds_up_money(page) {
  await page.getByRole("link", { name: "Money" }).click();
  await page.locator(".days rect.spent").last().waitFor({ state: "attached" });
  const tallest = await page.locator(".days rect.spent").evaluateAll((bars) => Math.max(...bars.map((bar) => Number(bar.getAttribute("height")))));
  assert.ok(tallest > 1, "today has a bar");
  for (const [name, rows] of [["Money by model", 2], ["Money by reader", 1]]) {
    assert.equal(await page.getByRole("table", { name }).locator("tbody tr").count(), rows, name);
  }
}

// A request that is made while the page is open shows without anybody doing anything.
async function hears_what_happens(talk) {
  const list = await opened();
  await list.locator('.live[data-state="live"]').waitFor();
  const one = await opened();
  await one.locator(`tr[data-id="${talk.conversation}"] a`).click();
  await one.locator(".sizes .sent.line").waitFor({ state: "attached" });
  await one.evaluate(() => { window.stayed = true; });
  const points = () => one.locator(".sizes .sent.line").evaluate((path) => path.getAttribute("d").split(/[ML]/).length - 1);
  const before = await points();
  const cuts = await one.locator("section[aria-labelledby=cuts] tbody tr").count();
  assert.ok(cuts > 0);
  await talk.run_for(3);
  await list.locator("tbody tr").first().and(list.locator(`[data-id="${talk.conversation}"]`)).waitFor();
  await list.locator(`tr[data-id="${talk.conversation}"] td.number`, { hasText: new RegExp(`^${talk.turns}$`) }).waitFor();
  await one.locator("dl.figures", { hasText: String(talk.turns) }).waitFor();
  assert.equal(await points(), before + 3);
  assert.ok(await one.evaluate(() => window.stayed), "without loading the page again");
  assert.ok((await one.locator("section[aria-labelledby=cuts] tbody tr").count()) >= cuts, "the cuts are still listed");
  await closed(list);
  await closed(one);
}

async function needs_no_mouse() {
  const page = await opened();
  await page.locator("tbody tr a").first().waitFor();
  const focused = () => page.evaluate(() => {
    const node = document.activeElement;
    const style = getComputedStyle(node);
    return { name: (node.getAttribute("aria-label") ?? node.textContent ?? "").trim(), tag: node.tagName, outline: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0 };
  });
  const reached = [];
  for (let stop = 0; stop < 40; stop += 1) {
    await page.keyboard.press("Tab");
    const now = await focused();
    if (now.tag === "BODY") break;
    assert.ok(now.outline, `${now.tag} ${now.name} shows no focus`);
    reached.push(now.name);
  }
  assert.equal(reached[0], "Skip to the content");
  for (const name of ["Louver", "Conversations", "Money", "Newest", "Dearest", "Most saved", "claude-sonnet-4-5"]) {
    assert.ok(reached.some((one) => one === name), `${name} is not among ${reached.join(", ")}`);
  }
  for (const role of ["banner", "main", "search"]) assert.equal(await page.getByRole(role).count(), 1, role);
  assert.equal(await page.getByRole("navigation", { name: "Views" }).count(), 1);
  assert.equal(await page.locator('[aria-live="polite"]').count(), 1);
  assert.equal(await page.getByRole("columnheader", { name: "Cache hits" }).count(), 1);
  // A view that comes is announced by its heading.
  await page.locator("tbody tr a").first().focus();
  await page.keyboard.press("Enter");
  await page.locator(".sizes").waitFor();
  await page.waitForFunction(() => document.activeElement.tagName === "H1");
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.id), "words");
  await closed(page);
}

// A text that passed for markup could still not run.
async function runs_no_other_script() {
  const page = await opened();
  const talk = await new Talk(proxy.url, "odd", { ask: "<img src=x onerror=alert(1)><script>window.ran = true</script> marzipan" }).run_for(1);
  await page.goto(`${proxy.url}/louver/#/search?q=marzipan`);
  await page.locator(".hits li", { hasText: "<script>window.ran" }).first().waitFor();
  assert.ok(talk.conversation);
  assert.equal(await page.evaluate(() => window.ran), undefined);
  assert.equal(await page.locator(".hits img, .hits script").count(), 0);
  await closed(page);
  const other = await browser.newPage();
  const refused = await other.goto(`${proxy.url}/louver/`);
  assert.equal(refused.status(), 401);
  assert.match(await other.locator("body").innerText(), /needs a token/);
  await other.close();
  const forced = await opened();
  const ran = await forced.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "window.ran = true";
    document.body.append(script);
    return window.ran === true;
  });
  assert.ok(!ran, "the content security policy lets another script run");
  await forced.close();
}

// Where the proxy is started anew, the page says so and goes on.
async function survives_a_restart(talk) {
  const page = await opened();
  await page.locator('.live[data-state="live"]').waitFor();
  const port = new URL(proxy.url).port;
  await stop(proxy);
  await page.locator('.live[data-state="away"]').waitFor();
  const again = await serve(louver, [
    "proxy", `--listen=127.0.0.1:${port}`, `--store=${join(folder, "store.db")}`, `--upstream=anthropic=${sandbox.url}`,
    "--context-window=24000", "--archive=full", "--token-env=PAGE_OWNER",
  ], tokens);
  Object.assign(proxy, again);
  await page.locator('.live[data-state="live"]').waitFor({ timeout: 20_000 });
  const turns = talk.turns;
  await talk.run_for(1);
  await page.locator(`tr[data-id="${talk.conversation}"] td.number`, { hasText: new RegExp(`^${turns + 1}$`) }).waitFor();
  await page.close();
}
