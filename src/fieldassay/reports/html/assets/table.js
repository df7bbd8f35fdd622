// A table of any length: only the rows in view are in the page.
const ROW_HEIGHT = 40;
const AROUND = 12;

// `columns`: [{key, label, size, num, sort}]; `rowAt(i)` returns the cells of row i; `open(i)` is called for a chosen row.
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
  replace(target, grid);
  let at = -1;
  const drawRows = () => {
    const first = Math.max(0, Math.floor(over.scrollTop / ROW_HEIGHT) - AROUND);
    const last = Math.min(count, Math.ceil((over.scrollTop + over.clientHeight) / ROW_HEIGHT) + AROUND);
    const made = [];
    for (let place = first; place < last; place += 1) made.push(rowOf(place));
    replace(body, made);
  };
  const rowOf = (place) => {
    const row = el("div", { class: `row${place === at ? " at" : ""}`, role: "row", "aria-rowindex": place + 2, on: { click: () => open(place) } },
      rowAt(place).map((cell, number) => el("div", { class: `cell${columns[number].num ? " num" : ""}`, role: "cell" }, cell)));
    row.style.top = `${place * ROW_HEIGHT}px`;
    return row;
  };
  over.addEventListener("scroll", () => requestAnimationFrame(drawRows), { passive: true });
  const move = (step) => {
    if (!count) return;
    at = Math.min(count - 1, Math.max(0, at + step));
    const top = at * ROW_HEIGHT;
    if (top < over.scrollTop) over.scrollTop = top;
    if (top + 2 * ROW_HEIGHT > over.scrollTop + over.clientHeight) over.scrollTop = top + 2.5 * ROW_HEIGHT - over.clientHeight;
    drawRows();
  };
  drawRows();
  return { move, open: () => at >= 0 && open(at), drawRows };
}
