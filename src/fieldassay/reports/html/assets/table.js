// A table of any length in the page's own scroll: only the rows near the window are in the page.
const ROW_HEIGHT = 40;
const AROUND = 12;
const BELOW_HEAD = 110;
const shownGrids = new Map();

const drawGrids = () => { for (const [target, { drawRows }] of shownGrids) if (target.offsetParent !== null) drawRows(); };

// `columns`: [{key, label, size, num}]; `rowAt(i)` returns the cells of row i; `open(i)` is called for a chosen row.
function rowGrid(target, { label, columns, count, rowAt, open, sorted, onSort, least }) {
  const body = el("div", { class: "body", role: "rowgroup" });
  body.style.height = `${Math.max(1, count) * ROW_HEIGHT}px`;
  const head = el("div", { class: "head", role: "row", "aria-rowindex": "1" }, columns.map((column) => {
    const arrow = sorted.key === column.key ? (sorted.down ? " ↓" : " ↑") : "";
    const order = sorted.key === column.key ? (sorted.down ? "descending" : "ascending") : "none";
    return el("div", { class: `cell${column.num ? " num" : ""}`, role: "columnheader", "aria-sort": order },
      el("button", { type: "button", text: column.label + arrow, title: `Sort by ${column.label}`, on: { click: () => onSort(column.key) } }));
  }));
  const over = el("div", { class: "over", tabindex: "0", role: "table", "aria-label": label, "aria-rowcount": count + 1 }, head, el("div", { class: "body-box", role: "presentation" }, body));
  const grid = el("div", { class: "rows", vars: { columns: columns.map((column) => column.size).join(" "), least: least || "100%" } }, over);
  const note = el("p", { class: "small", hidden: true });
  replace(target, grid, note);
  over.classList.toggle("fits", head.scrollWidth <= over.clientWidth);
  let at = -1;
  let rows = new Map();
  const rowOf = (place) => {
    const row = el("div", { class: `row${place === at ? " at" : ""}`, role: "row", "aria-rowindex": place + 2, on: { click: () => open(place) } },
      rowAt(place).map((cell, number) => el("div", { class: `cell${columns[number].num ? " num" : ""}`, role: "cell" }, cell)));
    row.style.top = `${place * ROW_HEIGHT}px`;
    return row;
  };
  // Rows that stay are kept as they are, and with them the focus.
  const drawRows = () => {
    const { top } = body.getBoundingClientRect();
    const first = isPrinting ? 0 : Math.max(0, Math.floor(-top / ROW_HEIGHT) - AROUND);
    const last = isPrinting ? Math.min(count, mostPrinted) : Math.min(count, Math.ceil((window.innerHeight - top) / ROW_HEIGHT) + AROUND);
    note.hidden = !isPrinting || last === count;
    note.textContent = `These are the first ${last.toLocaleString("en-US")} of ${count.toLocaleString("en-US")} rows.`;
    const near = new Map();
    for (let place = first; place < last; place += 1) near.set(place, rows.get(place) || rowOf(place));
    for (const [place, row] of rows) if (!near.has(place)) row.remove();
    let before = null;
    for (const row of near.values()) {
      if (!row.isConnected) before ? before.after(row) : body.prepend(row);
      before = row;
    }
    rows = near;
  };
  const mark = (place) => {
    rows.get(at)?.classList.remove("at");
    at = place;
    rows.get(at)?.classList.add("at");
  };
  const move = (step) => {
    if (!count) return;
    const next = Math.min(count - 1, Math.max(0, at + step));
    const top = body.getBoundingClientRect().top + next * ROW_HEIGHT;
    if (top < BELOW_HEAD) window.scrollBy(0, top - BELOW_HEAD);
    else if (top + 2 * ROW_HEIGHT > window.innerHeight) window.scrollBy(0, top + 2 * ROW_HEIGHT - window.innerHeight);
    drawRows();
    mark(next);
    find("a", rows.get(at))?.focus({ preventScroll: true });
  };
  const rowWith = (href) => [...rows].find(([, row]) => findAll("a", row).some((link) => link.getAttribute("href") === href));
  const found = { count, move, drawRows, open: () => open(at < 0 ? 0 : at), isMarked: () => at >= 0, markLink: (href) => { const entry = rowWith(href); if (entry) { mark(entry[0]); find("a", entry[1]).focus({ preventScroll: true }); } } };
  shownGrids.set(target, found);
  drawRows();
  return found;
}
