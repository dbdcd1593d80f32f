// What a reader does with the page, in light and dark, on a telephone and on a desk.
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [page_file, shots] = process.argv.slice(2);
const address = pathToFileURL(page_file).href;
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
const papers = {};
try {
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [390, 800, 1400]) {
      const page = await browser.newPage({ colorScheme, viewport: { width, height: 900 } });
      const errors = [];
      const requests = [];
      page.on("pageerror", (error) => errors.push(String(error)));
      page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
      page.on("request", (request) => requests.push(request.url()));
      await page.goto(address);
      await can_be_read(page, width);
      await finds_the_charts(page);
      await marks_every_place(page);
      await shows_all_of_the_ages(page, width);
      await keeps_scales_inside(page, width);
      await shows_its_lines(page, colorScheme);
      await says_what_the_columns_mean(page);
      await sorts_the_table(page);
      await draws_any_conversation(page);
      await runs_no_other_script(page);
      assert.deepEqual(requests, [address], "the page is one file and asks for nothing else");
      assert.deepEqual(errors.filter((error) => !error.includes("Content Security Policy")), []);
      papers[colorScheme] = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      if (shots) await page.screenshot({ path: `${shots}/replay-${colorScheme}-${width}.png`, fullPage: true });
      await page.close();
    }
  }
} finally {
  await browser.close();
}
assert.notEqual(papers.light, papers.dark, "dark is another page than light");
console.log("the page has its charts at three widths, sorts, draws any conversation, and asks for nothing");

// Nothing is wider than the page but tables that scroll, no letter is too small, and no two labels of a chart touch.
async function can_be_read(page, width) {
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(overflow <= 0, `${overflow} pixels wider than ${width}`);
  const smallest = await page.evaluate(() => {
    const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
    let least = Infinity;
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const parent = node.parentElement;
      if (node.textContent.trim() && !parent.closest("script, noscript, .badge") && parent.getClientRects().length) {
        least = Math.min(least, parseFloat(getComputedStyle(parent).fontSize));
      }
    }
    return least;
  });
  assert.ok(smallest >= 12, `letters of ${smallest} pixels at ${width}`);
  const touching = await page.evaluate(() => {
    const pairs = [];
    for (const plot of document.querySelectorAll(".plot")) {
      for (const kind of [".dots", ".tick.left", ".tick.under"]) {
        const boxes = [...plot.querySelectorAll(kind)].map((label) => [label, label.getBoundingClientRect()]);
        for (const [at, [one, a]] of boxes.entries()) {
          for (const [other, b] of boxes.slice(at + 1)) {
            const apart = a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
            if (!apart) pairs.push(`${one.textContent} and ${other.textContent}`);
          }
        }
      }
    }
    return pairs;
  });
  assert.deepEqual(touching, [], `labels touch at ${width}`);
}

async function finds_the_charts(page) {
  const policies = await page.locator("#totals tbody tr").count();
  assert.ok(policies >= 7);
  assert.match(await page.locator(".lead").innerText(), /\$[\d.,]+ .*\$[\d.,]+/);
  assert.match(await page.locator(".note").innerText(), /off-policy/);
  assert.equal(await page.locator("#frontier figure").count(), 2, "by lines and by passages");
  const first = page.locator("#frontier figure").first();
  const named = (await first.locator(".dot").count()) + (await first.locator(".beyond .key").count());
  assert.equal(named, policies, "every policy is a dot, or named outside");
  assert.match(await first.locator("path.frontier").getAttribute("d"), /^M.+/);
  assert.match(await first.innerText(), /still seen[^]*saving/, "both axes have a name");
  const letters = await page.locator("#frontier .keys .badge").allInnerTexts();
  assert.equal(new Set(letters).size, policies, "every policy has its own letter");
  assert.equal(await page.locator("#costs .bar").count(), policies);
  assert.equal(await page.locator("#costs .bar >> nth=0 >> .track > i").count(), 4);
  assert.ok((await page.locator("#bills .bar").count()) >= 1, "recorded against simulated");
  assert.match(await page.locator("#bills .value").first().innerText(), /\$[\d.]+ × [\d.]+/);
  // A session is known by its day and its project, not by the name of its file.
  assert.match(await page.locator("#bills .key").first().innerText(), /^2026-03-01 shop session$/);
  assert.match((await page.locator("#conversation option").allInnerTexts()).join(), /2026-03-01 shop session \(12 requests\)/);
  assert.equal(await page.locator("#age table").count(), 2);
  assert.equal(await page.locator("#age table >> nth=0 >> tbody tr").count(), policies);
  const conditions = await page.locator("#conditions").innerText();
  assert.match(conditions, /louver replay/);
  for (const word of ["overhead", "prices", "counter", "window", "cache life"]) assert.ok(conditions.includes(word), word);
  // One unit per column: all dollars of a column have the same number of decimals.
  const cells = await page.locator("#totals tbody tr td:nth-child(2)").allInnerTexts();
  assert.equal(new Set(cells.map((cell) => cell.split(".")[1]?.length ?? 0)).size, 1, cells.join(" "));
}

// Letters that share a place stand beside it in a frame, so that a row of letters is no row of values.
async function marks_every_place(page) {
  const plots = await page.locator("#frontier .plot").evaluateAll((plots) => plots.map((plot) => ({
    shared: [...plot.querySelectorAll(".dots")].map((dots) => dots.querySelectorAll(".dot").length).filter((many) => many > 1),
    framed: [...plot.querySelectorAll(".dots.many")].map((dots) => dots.querySelectorAll(".dot").length),
    points: plot.querySelectorAll("i.point").length,
  })));
  assert.ok(plots.some(({ shared }) => shared.length), "some policies do the same here");
  for (const { shared, framed, points } of plots) {
    assert.deepEqual(framed, shared, "letters in one place have a frame");
    assert.equal(points, shared.reduce((sum, many) => sum + many, 0), "each has its point");
  }
}

// What is lost first is what is old, and that is the last column.
async function shows_all_of_the_ages(page, width) {
  const hidden = await page.locator("#age .scroll").evaluateAll((boxes) => boxes.map((box) => box.scrollWidth - box.clientWidth));
  assert.deepEqual(hidden, [0, 0], `pixels of the tables by age are hidden at ${width}`);
}

// No number of a scale sticks out of what its section has for content.
async function keeps_scales_inside(page, width) {
  const out = await page.locator(".plot .tick").evaluateAll((ticks) => ticks.filter((tick) => {
    const figure = tick.closest("figure").getBoundingClientRect();
    const box = tick.getBoundingClientRect();
    return box.left < figure.left || box.right > figure.right;
  }).map((tick) => tick.textContent));
  assert.deepEqual(out, [], `numbers of a scale stick out at ${width}`);
}

// A line that nobody sees is not there: at least 2 to 1 against its card, by the WCAG's formula.
async function shows_its_lines(page, scheme) {
  const faint = await page.evaluate(() => {
    const channel = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    const light = (colour) => {
      const [red, green, blue] = colour.match(/[\d.]+/g).map((value) => channel(Number(value) / 255));
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const card = light(getComputedStyle(document.querySelector("section")).backgroundColor);
    const contrast = (line) => (Math.max(line, card) + 0.05) / (Math.min(line, card) + 0.05);
    return [".all", ".line", ".window", ".cuts"].filter((kind) =>
      contrast(light(getComputedStyle(document.querySelector(`#panels ${kind}`)).stroke)) < 2,
    );
  });
  assert.deepEqual(faint, [], `lines that are too faint in ${scheme}`);
}

// On a telephone and with a keyboard nobody hovers over a heading.
async function says_what_the_columns_mean(page) {
  await page.locator("#numbers .meanings summary").focus();
  await page.keyboard.press("Enter");
  const said = await page.locator("#numbers .meanings p").innerText();
  for (const heading of await page.locator("#totals th.number").allInnerTexts()) {
    assert.ok(said.includes(`${heading.trim()}: `), `${heading} is not in ${said}`);
  }
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
  const names = await page.locator("#totals tbody tr td:first-child").evaluateAll((cells) => cells.map((cell) => cell.dataset.value));
  assert.deepEqual(names, [...names].sort((a, b) => a.localeCompare(b)));
}

async function draws_any_conversation(page) {
  const options = await page.locator("#conversation option").count();
  const sessions = await page.evaluate(() => JSON.parse(document.getElementById("sizes").textContent).length);
  assert.equal(options, sessions, "every conversation can be chosen");
  const policies = await page.locator("#totals tbody tr").count();
  const drawn = () => page.locator("#panels path.line").evaluateAll((paths) => paths.map((path) => path.getAttribute("d")));
  await page.locator("#conversation").selectOption("0");
  const first = await drawn();
  assert.ok(first.length === policies && first.every((d) => d.startsWith("M")));
  const cuts = await page.locator("#panels path.cuts").evaluateAll((paths) => paths.filter((path) => path.getAttribute("d")).length);
  assert.ok(cuts > 0, "cuts are marked");
  await page.locator("#conversation").selectOption(String(options - 1));
  assert.notDeepEqual(await drawn(), first);
}

// A text that passed for markup could still not run.
async function runs_no_other_script(page) {
  const ran = await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "window.ran = true";
    document.body.append(script);
    return window.ran === true;
  });
  assert.ok(!ran, "the content security policy lets another script run");
}
