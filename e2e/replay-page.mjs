// What a reader does with the page, in light and dark.
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [page_file, shots] = process.argv.slice(2);
const address = pathToFileURL(page_file).href;
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
const papers = {};
try {
  for (const colorScheme of ["light", "dark"]) {
    const page = await browser.newPage({ colorScheme, viewport: { width: 1200, height: 900 } });
    const errors = [];
    const requests = [];
    page.on("pageerror", (error) => errors.push(String(error)));
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
    page.on("request", (request) => requests.push(request.url()));
    await page.goto(address);
    await finds_the_charts(page);
    await sorts_the_table(page);
    await switches_conversations(page);
    assert.deepEqual(requests, [address], "the page is one file and asks for nothing else");
    assert.deepEqual(errors, []);
    papers[colorScheme] = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    if (shots) await page.screenshot({ path: `${shots}/replay-${colorScheme}.png`, fullPage: true });
    await page.close();
  }
} finally {
  await browser.close();
}
assert.notEqual(papers.light, papers.dark, "dark is another page than light");
console.log("the page has its charts, sorts, switches, and asks for nothing");

async function finds_the_charts(page) {
  const policies = await page.locator(".legend .key").count();
  assert.ok(policies >= 7);
  assert.match(await page.locator(".note").innerText(), /off-policy/);
  assert.equal(await page.locator("#frontier svg").count(), 2);
  assert.equal(await page.locator("#frontier svg >> nth=0 >> circle.dot").count(), policies);
  assert.match(await page.locator("#frontier path.frontier").first().getAttribute("d"), /^M.+/);
  assert.equal(await page.locator("#costs rect").count(), policies * 4);
  assert.equal(await page.locator("#context .conversation >> nth=0 >> g.series path").count(), policies);
  assert.ok((await page.locator("#context .conversation >> nth=0 >> g.series circle").count()) > 0, "cuts are marked");
  assert.equal(await page.locator("#age g.series").count(), policies * 2);
  const colors = await page.locator("#context .conversation >> nth=0 >> g.series path").evaluateAll((paths) =>
    paths.map((path) => getComputedStyle(path).stroke),
  );
  assert.equal(new Set(colors).size, policies, "every policy has its own colour");
}

async function sorts_the_table(page) {
  const column = () => page.locator("#totals tbody tr td:nth-child(2)").evaluateAll((cells) =>
    cells.map((cell) => Number(cell.dataset.value)),
  );
  const heading = page.locator("#totals th").nth(1);
  await heading.locator("button").click();
  const falling = await column();
  assert.deepEqual(falling, [...falling].sort((a, b) => b - a));
  assert.equal(await heading.getAttribute("aria-sort"), "descending");
  await heading.locator("button").click();
  const rising = await column();
  assert.deepEqual(rising, [...rising].sort((a, b) => a - b));
  assert.notDeepEqual(rising, falling);
  await page.locator("#totals th").first().locator("button").click();
  const names = await page.locator("#totals tbody tr td:first-child").allInnerTexts();
  assert.deepEqual(names, [...names].sort());
}

async function switches_conversations(page) {
  const charts = page.locator("#context .conversation");
  assert.ok(await charts.nth(0).isVisible());
  await page.locator("#conversation").selectOption("1");
  assert.ok(!(await charts.nth(0).isVisible()) && (await charts.nth(1).isVisible()));
}
