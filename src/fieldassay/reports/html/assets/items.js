// Lists of objects as tables: a row for each item of gold, and below it one for each system with something wrong.

const isInside = (path, list) => path.startsWith(list) && path[list.length] === "[";
const itemOf = (path, list) => list + (/^\[\+?\d+\]/.exec(path.slice(list.length)) || [""])[0];

// The lists of objects without a list in them: their items are rows. Path -> its items, in order, and the columns of their fields.
function tablesOf(nodes) {
  const tables = new Map();
  for (const { path } of nodes.filter((node) => node.kind === "list")) {
    const inside = nodes.filter((node) => isInside(node.path, path));
    const items = new Map(inside.filter((node) => node.kind === "item").map((node) => [node.path, { node, cells: new Map() }]));
    if (!items.size || inside.some((node) => node.kind === "list" || !items.has(itemOf(node.path, path)))) continue;
    const columns = new Map();
    for (const node of inside.filter((one) => one.kind === "value")) {
      const item = itemOf(node.path, path);
      const name = node.path.slice(item.length).replace(/^\./, "");
      if (name) columns.set(name, node.field);
      items.get(item).cells.set(name, node);
    }
    if (columns.size) tables.set(path, { path, inside: new Set(inside), items: [...items.values()], columns: inColumnOrder(columns) });
  }
  return tables;
}

const inColumnOrder = (columns) => [...columns].sort(([, one], [, other]) => fieldRank(one) - fieldRank(other));

// What one system has in an item: nothing wrong, single values, or the item as a whole.
function itemState(item, at) {
  const row = item.node.cells.get(at);
  const isWhole = Boolean(row) && !["match", "partial", "spurious"].includes(row.outcome);
  const isExtra = Boolean(row) && row.outcome === "spurious";
  const wrong = [...item.cells.values()].some((node) => node.cells.has(at) && isWrong(node.cells.get(at)));
  return { row, isWhole, isExtra, isWrong: isWhole || isExtra || wrong };
}

function itemTable({ path, items, columns }, systems, { onlyWrong, isWhole }) {
  const states = items.map((item) => ({ item, states: systems.map((at) => ({ at, ...itemState(item, at) })) }));
  const found = states.filter(({ states: all }) => !onlyWrong || all.some((state) => state.isWrong));
  const shown = isWhole ? found : found.slice(0, MOST_ROWS);
  const name = plain(path, 80);
  const head = ["item", "", ...columns.map(([column]) => plain(column, 40))];
  return [el("div", { class: `tree items${onlyWrong ? " brief" : ""}`, tabindex: "0", role: "region", "aria-label": `Items of ${name}`, vars: { least: `${15 + 8 * columns.length}rem` } }, el("table", {},
    el("thead", {}, el("tr", {}, head.map((label, at) => el("th", { scope: "col" }, label ? el("bdi", { text: label }) : el("span", { class: "unseen", text: at ? "of" : "" }))))),
    shown.map((one) => itemRows(one, columns, onlyWrong)))),
  moreRows(found.length, shown.length, "items")];
}

// An item: gold, then the systems that have something wrong in it, or all systems.
function itemRows({ item, states }, columns, onlyWrong) {
  const { node } = item;
  const told = states.filter((state) => (onlyWrong ? state.isWrong : state.row || state.isWrong));
  const right = states.filter((state) => !told.includes(state) && state.row && ["match", "partial"].includes(state.row.outcome)).map((state) => plain(CORE.systems[state.at], 30));
  const hasGold = [...item.cells.values()].some((one) => one.gold);
  const head = el("th", { scope: "rowgroup", rowspan: told.length + (hasGold ? 1 : 0) }, stepWords(stepsOf(node.path).at(-1)), right.length ? el("span", { class: "why", text: `✓ ${right.join(", ")}` }) : null);
  const gold = hasGold ? [el("tr", { class: "gold", "data-row": node.field }, head, el("td", { class: "of", text: "gold" }), columns.map(([name]) => goldCell(item.cells.get(name), name)))] : [];
  return el("tbody", {}, gold, told.map((state, place) => systemRow(item, state, columns, hasGold || place ? null : head)));
}

function goldCell(node, name) {
  return el("td", { "data-label": plain(name, 40), "data-side": "gold", "data-row": node ? node.field : null }, node && node.gold ? goldValue(node.gold, node) : el("span", { class: "none", text: "–" }));
}

function systemRow({ node, cells }, { at, row, isWhole, isExtra, isWrong: hasWrong }, columns, head) {
  const moved = row && !isWhole && !isExtra ? movedWords(row) : "";
  const label = el("td", { class: "of" }, el("bdi", { text: plain(CORE.systems[at], 30) }), moved ? el("span", { class: "why", text: moved }) : null);
  const whole = (content, isError) => el("td", { colspan: columns.length, class: isError ? "lone" : null, "data-wrong": isError ? at : null, "data-row": isError ? node.field : null }, content);
  if (isWhole) return el("tr", { "data-row": node.field }, head, label, whole(predValue(row, true, node), true));
  if (!hasWrong && [...cells.values()].every((one) => isAsGiven(one.cells.get(at)))) return el("tr", { "data-row": node.field }, head, label, whole(el("div", { class: "same" }, outcomeSign("match"), " all values right"), false));
  return el("tr", { class: isExtra ? "lone" : null, "data-row": node.field }, head, label, columns.map(([name]) => valueCell(cells.get(name), name, at)));
}

function valueCell(node, name, at) {
  const row = node && node.cells.get(at);
  const isError = Boolean(row) && isWrong(row);
  return el("td", { "data-label": plain(name, 40), "data-side": "pred", "data-row": node ? node.field : null, "data-wrong": isError ? at : null }, predValue(row, false, node));
}

const movedWords = (row) => (row.predPath !== null && row.goldPath !== null && row.predPath !== row.goldPath ? `predicted as item ${indexOf(row.predPath) + 1}` : "");

// The lists of a document: what is in their items, and how these were paired.
function listSections(rows, nodes, tables, systems, shown) {
  const lists = nodes.filter((node) => node.kind === "list");
  return lists.map((list) => {
    const table = tables.get(list.path);
    const isRight = shown.onlyWrong && !hasError(list, new Map());
    const drawing = isRight ? null : pairings(rows, list.path, systems);
    if (!systems.length || isRight || (!table && !drawing)) return null;
    return el("section", { class: "list", "data-list": list.path }, table ? [el("h2", {}, el("bdi", { text: plain(list.path, 80) })), itemTable(table, systems, shown)] : null, drawing);
  });
}

function pairings(rows, list, systems) {
  const found = systems.map((at) => [at, rows.filter((row) => row.system === at)]).map(([at, own]) => [at, own, alignmentOf(own, list)]).filter(([, , pairs]) => pairs.length);
  if (!found.length) return null;
  return el("details", {}, el("summary", {}, "How the items of ", el("bdi", { text: plain(list, 80) }), " were paired"),
    el("div", { class: "align" }, found.map(([at, own, pairs]) => drawAlignment(own, list, pairs, CORE.systems[at]))));
}
