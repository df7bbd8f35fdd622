// Lists of objects and of values as tables; a row keeps its name, and its labels, while others come and go.
function gridElement(list, rows, act) {
  const columns = list.columns;
  const short = (path) => (path === `${list.field}[]` ? list.field : path.slice(list.field.length + 3) || path);
  const head = el("tr", {}, el("th", { scope: "col", text: "#" }), columns.map((path) => el("th", { scope: "col" }, breakable(short(path)))));
  const body = act.items(list.field).map((item, at) => el("tr", {}, el("th", { scope: "row", text: String(at + 1) }), columns.map((path) => {
    const node = item + path.slice(`${list.field}[]`.length);
    const row = rows.get(node);
    return row ? cellElement(row, act) : el("td", { class: "cell is-empty" });
  })));
  const table = el("table", {}, el("thead", {}, head), el("tbody", {}, body));
  table.style.setProperty("min-width", `${3 + 6 * columns.length}rem`);
  return el("section", { class: "grid", "aria-label": list.field },
    el("div", { class: "row-head" }, el("span", { class: "row-name", text: list.field }), el("span", { class: "row-type", text: "list" })),
    el("div", { class: "grid-scroll", tabindex: "-1" }, table),
    el("button", { type: "button", class: "button", on: { click: () => act.addItem(list.field) } }, "Add a row ", el("kbd", { text: "Insert" })));
}

function cellElement(row, act) {
  if (row.isContext) return el("td", { class: "cell is-context" }, showText(row.given ?? ""));
  row.input = el("input", { type: "text", autocomplete: "off", spellcheck: "false", dir: "auto", "aria-label": row.node, "aria-describedby": "reading" });
  row.input.value = standing(row);
  row.input.addEventListener("focus", () => act.enter(row, true));
  row.input.addEventListener("input", () => act.type(row));
  row.mark = el("span", { class: "mark-state" });
  row.box = el("td", { class: "cell", tabindex: "-1", "data-row": row.node }, row.input, row.mark);
  row.box.addEventListener("focus", () => act.enter(row, false));
  drawMark(row);
  return row.box;
}
