// Lists as tables, one widget each; a row keeps its name, and its labels, while others come and go.
const fieldOf = (node) => node.replace(/\[\d+\]/g, "[]");

function gridElement(node, list, rows, act) {
  const columns = list.columns.filter((path) => !act.form.get(path)?.is_grid);
  const whole = rows.get(node);
  const short = (path) => (path === `${list.field}[]` ? list.field.split(".").pop() : path.slice(list.field.length + 3) || path);
  const items = act.items(node);
  const widths = columns.map((path) => columnWidth(items.map((item) => rows.get(item + path.slice(`${list.field}[]`.length)))));
  const head = el("tr", {}, el("th", { scope: "col", text: "#" }), columns.map((path, at) => {
    const cell = el("th", { scope: "col" }, breakable(short(path)));
    cell.style.setProperty("width", `${widths[at]}rem`);
    return cell;
  }));
  const body = items.map((item, at) => el("tr", {}, el("th", { scope: "row", text: String(at + 1) }), columns.map((path) => {
    const row = rows.get(item + path.slice(`${list.field}[]`.length));
    return row ? cellElement(row, act) : el("td", { class: "cell is-empty" });
  })));
  const table = el("table", {}, el("thead", {}, head), el("tbody", {}, body));
  table.style.setProperty("min-width", `${widths.reduce((sum, width) => sum + width, 3)}rem`);
  const mark = el("span", { class: "mark-state" });
  const box = el("section", { class: "grid", "aria-label": node },
    el("div", { class: "row-head" }, el("span", { class: "row-name" }, breakable(nameOfList(node, act))), el("span", { class: "row-type", text: "list" }), mark),
    items.length && columns.length ? el("div", { class: "grid-scroll", tabindex: "-1" }, table) : null,
    el("button", { type: "button", class: "button", on: { click: () => act.addItem(node) } }, "Add a row ", el("kbd", { text: "Insert" })));
  if (whole && !items.length) {
    Object.assign(whole, { box, mark, kind: "grid", isList: true, input: box.querySelector("button") });
    box.tabIndex = -1;
    box.dataset.row = node;
    box.addEventListener("focus", () => act.enter(whole, false));
    drawMark(whole);
  }
  return box;
}

// As wide as the longest value, in rem, within bounds: what stands in most cells is read without a click.
function columnWidth(cells) {
  const longest = cells.reduce((most, row) => Math.max(most, row ? String((row.isContext ? row.given : standing(row)) ?? "").length : 0), 0);
  return Math.min(14, Math.max(5.75, 2 + 0.55 * longest));
}

// A list in a row is named by the place of its row, as it is shown.
function nameOfList(node, act) {
  return node.replace(/^(.*)\[(\d+)\](.*)$/, (_, list, number, rest) => `${list}[${act.items(list).indexOf(`${list}[${number}]`) + 1}]${rest}`);
}

function cellElement(row, act) {
  if (row.isContext) return el("td", { class: "cell is-context" }, showText(row.given ?? ""));
  row.input = el("input", { type: "text", autocomplete: "off", spellcheck: "false", dir: "auto", "aria-label": row.node, "aria-describedby": "reading" });
  row.input.value = standing(row);
  row.input.placeholder = row.isLeftBlank ? "left blank on purpose" : "";
  row.input.addEventListener("focus", () => act.enter(row, true));
  row.input.addEventListener("input", () => act.type(row));
  row.mark = el("span", { class: "mark-state" });
  row.kind = "cell";
  row.box = el("td", { class: "cell", tabindex: "-1", "data-row": row.node }, row.input, row.mark);
  row.box.addEventListener("focus", () => act.enter(row, false));
  drawMark(row);
  return row.box;
}

// A field for what a map or a tree has and nothing shows: the key of a value, or its path where keys hold more.
const QUOTED = /[.[\]"\u0000-\u001f\u007f]|^\s|\s$|^\*?$/;

function keyElement(tree, whole, act) {
  const isFlat = Boolean(act.form.get(`${fieldOf(tree)}.*`)?.choices);
  const input = el("input", { type: "text", class: "note-input", autocomplete: "off", spellcheck: "false", dir: "auto", "data-tree": tree, "aria-label": `A key to add to ${tree}`, placeholder: isFlat ? "a key that is not shown" : "a path that is not shown, such as size.height" });
  const add = () => {
    const text = input.value.trim();
    if (!text) return tell("Type the name of a key that the document has.");
    const step = isFlat && QUOTED.test(text) ? `[${JSON.stringify(text)}]` : text.startsWith("[") && !isFlat ? text : `${tree ? "." : ""}${text}`;
    return act.addKey(tree, tree + step, isFlat ? `${fieldOf(tree)}.*` : fieldOf(tree + step));
  };
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") { event.preventDefault(); add(); }
    if (event.key === "Escape") act.at?.box.focus();
  });
  const mark = el("span", { class: "mark-state" });
  const box = el("div", { class: "row", role: "group", "aria-label": `More of ${tree}` },
    el("div", { class: "row-head" }, el("span", { class: "row-name" }, breakable(tree || "(the record)")), el("span", { class: "row-type", text: isFlat ? "map" : "tree" }), mark),
    input, el("button", { type: "button", class: "button", on: { click: add } }, "Add a key"));
  if (whole) {
    Object.assign(whole, { box, mark, kind: "row", isList: true, isTree: true, input });
    box.tabIndex = -1;
    box.dataset.row = tree;
    box.addEventListener("focus", () => act.enter(whole, false));
    drawMark(whole);
  }
  return box;
}
