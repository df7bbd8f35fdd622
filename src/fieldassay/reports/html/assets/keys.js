// Keys, the theme, and the help.
let rowAt = -1;

function moveRow(step) {
  const rows = findAll("tr[data-row]").filter((row) => row.offsetParent !== null || row.getClientRects().length);
  if (!rows.length) return;
  rowAt = Math.min(rows.length - 1, Math.max(0, rowAt + step));
  rows.forEach((row, at) => row.classList.toggle("at", at === rowAt));
  rows[rowAt].scrollIntoView({ block: "nearest" });
  find("button, a", rows[rowAt])?.focus({ preventScroll: true });
}

const SEARCHES = { documents: "#search", errors: "#error-search", changes: "#change-search" };

// The table of the page that is shown, if it has one.
function shownGrid() {
  const { view, params } = readState();
  return view === "documents" && !params.doc ? grid : view === "errors" ? errorGrid : view === "changes" ? changeGrid : null;
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.closest && event.target.closest("input, select, textarea");
  if (typing) return onTypedKey(event);
  if (find("#help-box").open) return;
  const { view, params } = readState();
  const rows = shownGrid();
  const isOne = view === "documents" && Boolean(params.doc);
  const onControl = event.target.closest("a, button, summary") !== null;
  const step = (by) => () => (rows ? rows.move(by) : moveRow(by));
  const act = {
    "/": () => { const box = rows && find(SEARCHES[view]); if (box) box.focus(); else { go("documents"); wants = "#search"; } },
    f: () => { if (view === "documents" && !isOne) openFilters(); else if (view === "errors") { find("#errors-facets").open = true; find("#errors-facets button")?.focus(); } else { go("documents"); wants = "#filters select"; } },
    "?": () => find("#help-box").showModal(),
    j: step(1), k: step(-1), ArrowDown: rows || view === "fields" ? step(1) : null, ArrowUp: rows || view === "fields" ? step(-1) : null,
    n: () => moveWrong(1), p: () => moveWrong(-1),
    "[": () => find("#doc-before")?.click(), "]": () => find("#doc-after")?.click(), u: () => find("#doc-back")?.click(),
    Enter: onControl ? null : () => { if (rows?.isMarked()) rows.open(); },
    Escape: isOne ? () => (lastStep > 1 ? history.back() : find("#doc-back").click()) : null,
  }[event.key];
  if (act) {
    if (event.key !== "Escape") event.preventDefault();
    act();
  } else if (/^[1-9]$/.test(event.key) && VIEWS[Number(event.key) - 1]) go(VIEWS[Number(event.key) - 1]);
}

// In a box: Escape clears and leaves it, Enter opens the first row that was found.
function onTypedKey(event) {
  if (event.key === "Enter" && event.target.type === "search" && shownGrid()?.count) shownGrid().open();
  if (event.key !== "Escape") return;
  if (event.target.type === "search" && readState().params.q) change({ q: "" });
  event.target.blur();
}

function openFilters() {
  find("#filters").open = true;
  (find("#filters select") || find("#search")).focus();
}

let wants = null;

function focusWanted() {
  if (wants && wants.startsWith("#filters")) openFilters();
  else if (wants && find(wants)) find(wants).focus();
  wants = null;
}

function nextTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  keepTheme(root.dataset.theme);
  redrawAll();
}

// The theme stays for the next report, where the browser lets a page keep anything.
function keepTheme(name) {
  try {
    localStorage.setItem("fieldassay-theme", name);
  } catch {
    // nothing is kept
  }
}

function restoreTheme() {
  try {
    const kept = localStorage.getItem("fieldassay-theme");
    if (kept === "dark" || kept === "light") document.documentElement.dataset.theme = kept;
  } catch {
    // nothing was kept
  }
}
