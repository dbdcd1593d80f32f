"use strict";
// A click on a heading sorts; the first one puts the largest number, or the first name, on top.
for (const table of document.querySelectorAll("table.sortable")) {
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    heading.querySelector("button").addEventListener("click", () => {
      const isNumber = heading.classList.contains("number");
      const before = heading.getAttribute("aria-sort");
      const first = isNumber ? "descending" : "ascending";
      const order = before === first ? (first === "ascending" ? "descending" : "ascending") : first;
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      const value = (row) => row.cells[column].dataset.value;
      const compare = (a, b) => {
        if (value(a) === "" || value(b) === "") return (value(a) === "") - (value(b) === "");
        return sign * (isNumber ? Number(value(a)) - Number(value(b)) : value(a).localeCompare(value(b)));
      };
      const rows = [...table.tBodies[0].rows].sort(compare);
      table.tBodies[0].append(...rows);
    });
  });
}

// The sizes of one conversation's requests, in hundreds of tokens: a panel per policy, all on one scale.
const sizes = JSON.parse(document.getElementById("sizes").textContent);
const chosen = document.getElementById("conversation");
const thousands = (hundreds) => `${(hundreds / 10).toFixed(hundreds < 100 ? 1 : 0)}k`;

function points(line) {
  const found = [];
  for (let at = 0; at < line.length; at += 2) found.push([line[at], line[at + 1]]);
  return found;
}

function draw() {
  const one = sizes[Number(chosen.value)];
  if (!one) return;
  const largest = Math.max(1, ...one.lines.flatMap((line) => points(line).map(([, size]) => size)));
  const across = (request) => ((request - 1) / Math.max(1, one.requests - 1)) * 100;
  const up = (size) => 100 - (size / largest) * 96;
  const place = ([request, size]) => `${across(request).toFixed(2)} ${up(size).toFixed(2)}`;
  const path = (line) => points(line).map((point, at) => (at ? "L" : "M") + place(point)).join("");
  // What everything takes is the line that is nowhere below another.
  const all = one.lines.reduce((most, line) => ((line.at(-1) ?? 0) > (most.at(-1) ?? 0) ? line : most), []);
  for (const panel of document.querySelectorAll("#panels .panel")) {
    const line = one.lines[Number(panel.dataset.policy)] ?? [];
    const set = (name, d) => panel.querySelector(`path.${name}`).setAttribute("d", d);
    set("window", one.window < largest ? `M0 ${up(one.window)}L100 ${up(one.window)}` : "");
    set("all", path(all));
    set("line", path(line));
    // A line of no length with round ends is a dot that keeps its shape.
    set("cuts", points(one.cuts[Number(panel.dataset.policy)] ?? []).map((point) => `M${place(point)}h0.01`).join(""));
    panel.querySelector(".most").textContent = thousands(Math.max(0, ...points(line).map(([, size]) => size)));
  }
  const scale = document.getElementById("scale");
  scale.textContent = `${one.file}: ${one.requests} requests; the panels are ${thousands(largest)} tokens high, the window holds ${thousands(one.window)}; beside each name is its largest request.`;
}
chosen.addEventListener("change", draw);
draw();
