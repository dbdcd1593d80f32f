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
const conversation = document.getElementById("conversation");
conversation?.addEventListener("change", () => {
  for (const chart of document.querySelectorAll(".conversation")) {
    chart.hidden = chart.dataset.number !== conversation.value;
  }
});
