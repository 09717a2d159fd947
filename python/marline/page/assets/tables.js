// SPDX-License-Identifier: Apache-2.0
// What every page has: a choice of light and dark, and tables that sort by a click on a column's name.

function followTheme(redraw) {
  const names = ["system", "light", "dark"],
    button = byId("theme");
  let at = 0;
  button.addEventListener("click", () => {
    at = (at + 1) % names.length;
    if (at) document.documentElement.dataset.theme = names[at];
    else delete document.documentElement.dataset.theme;
    button.textContent = `Theme: ${names[at]}`;
    redraw();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
}

function sortTables() {
  for (const table of document.querySelectorAll("table.sortable"))
    table
      .querySelectorAll("thead button")
      .forEach((button, column) => button.addEventListener("click", () => sortBy(table, column)));
}

function sortBy(table, column) {
  const head = table.querySelectorAll("thead th")[column],
    body = table.tBodies[0];
  const falls =
    (head.getAttribute("aria-sort") !== "descending" && head.classList.contains("n")) ||
    head.getAttribute("aria-sort") === "ascending";
  const key = (row) => {
    const cell = row.cells[column];
    return cell.dataset.key === undefined ? cell.textContent : Number(cell.dataset.key);
  };
  const rows = [...body.rows].sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
  body.append(...(falls ? rows.reverse() : rows));
  table.querySelectorAll("thead th").forEach((one) => one.removeAttribute("aria-sort"));
  head.setAttribute("aria-sort", falls ? "descending" : "ascending");
}
