// Keys, the theme, and the help.
let rowAt = -1;

function moveRow(step) {
  const rows = findAll("tr[data-row]").filter((row) => row.offsetParent !== null || row.getClientRects().length);
  if (!rows.length) return;
  rowAt = Math.min(rows.length - 1, Math.max(0, rowAt + step));
  rows.forEach((row, at) => row.classList.toggle("at", at === rowAt));
  rows[rowAt].scrollIntoView({ block: "nearest" });
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.closest && event.target.closest("input, select, textarea");
  if (typing && event.key === "Escape") {
    if (event.target.type === "search" && readState().params.q) change({ q: "" });
    return event.target.blur();
  }
  if (typing || find("#help-box").open) return;
  const { view, params } = readState();
  const isList = view === "documents" && !params.doc;
  const rows = isList ? grid : view === "errors" ? errorGrid : view === "changes" ? changeGrid : null;
  const act = {
    "/": () => { if (isList) find("#search").focus(); else if (view === "errors") find("#error-search")?.focus(); else if (view === "changes") find("#change-search")?.focus(); else { go("documents"); wants = "#search"; } },
    f: () => { if (isList) openFilters(); else { go("documents"); wants = "#filters select"; } },
    "?": () => find("#help-box").showModal(),
    j: () => (rows ? rows.move(1) : moveRow(1)),
    k: () => (rows ? rows.move(-1) : moveRow(-1)),
    Enter: () => { if (rows && event.target.closest("a, button") === null) rows.open(); else if (view === "fields" && rowAt >= 0 && event.target.closest("a, button") === null) find("tr.at .button-row")?.click(); },
    n: () => moveWrong(1),
    p: () => moveWrong(-1),
    "[": () => find("#doc-before")?.click(),
    "]": () => find("#doc-after")?.click(),
    Escape: () => { if (view === "documents" && params.doc) find("#doc-back").click(); },
  }[event.key];
  if (act) {
    if (event.key !== "Enter" && event.key !== "Escape") event.preventDefault();
    act();
  } else if (/^[1-9]$/.test(event.key) && VIEWS[Number(event.key) - 1]) go(VIEWS[Number(event.key) - 1]);
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
