// SPDX-License-Identifier: Apache-2.0
// What every page has: a choice of light and dark, and tables that sort by a click on a column's name.

// Returns the choice: {theme: "" | "light" | "dark"}.
function followTheme(redraw) {
  const names = ["system", "light", "dark"],
    button = byId("theme");
  const chosen = { theme: "" };
  let at = 0;
  button.addEventListener("click", () => {
    at = (at + 1) % names.length;
    chosen.theme = at ? names[at] : "";
    setTheme(chosen.theme);
    button.textContent = `Theme: ${names[at]}`;
    redraw();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  return chosen;
}

function setTheme(name) {
  if (name) document.documentElement.dataset.theme = name;
  else delete document.documentElement.dataset.theme;
}

// Paper is white: what is drawn on canvases has to be, too. `redraw` draws at once.
function printInLight(chosen, redraw) {
  addEventListener("beforeprint", () => {
    setTheme("light");
    redraw();
  });
  addEventListener("afterprint", () => {
    setTheme(chosen.theme);
    redraw();
  });
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
