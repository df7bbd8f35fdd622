// Fields by systems: a row each with every system's value on one axis and its main kinds of error; the details open below the row.
painters.fields = async (params) => {
  const data = await block("fields");
  const measures = Object.keys(data.measures);
  const measure = measures.includes(params.measure) ? params.measure : measures[0];
  fillSelect("#measure", measures.map((name) => [name, metricLabel(name)]), measure, (event) => change({ measure: event.target.value }));
  find("#field-sort").value = params.sort || "worst";
  find("#field-sort").onchange = (event) => change({ sort: event.target.value });
  const isKnown = data.fields.some((field) => field.field === params.field);
  replace(find("#field-problem"), params.field && !isKnown ? `There is no field ${plain(params.field, 100)} in this run.` : "");
  if (!measure) return replace(find("#measure-meaning"), "This run has no metric per field.");
  const [better, unit] = own(data.better, measure) || ["higher", "ratio"];
  const cells = data.measures[measure];
  const low = lowestOf(cells, unit);
  const rows = sortFields(data.fields.filter((field) => own(cells, field.field) || field.field === params.field), cells, params.sort || "worst", better);
  replace(find("#measure-meaning"), el("a", { href: addressOf("methods", { metric: measure }), text: metricLabel(measure) }), ": ", meaningOf(measure), low === null || !hasBars() ? "" : ` Bars go from ${Math.round(100 * low)}% to 100%.`, better === "lower" ? " Lower is better." : "");
  find("#fields-csv").onclick = () => download(`fields-${measure}.csv`, fieldsCsv(rows, cells, measure));
  const table = find("#field-rows");
  const chosen = rows.findIndex((field) => field.field === params.field);
  drawFields(table, rows, { data, cells, measure, unit, low, chosen });
  if (chosen >= 0) {
    await drawField(find("#field-detail"), rows[chosen], data, params);
    if (openedField !== params.field) find("tr.at", table).scrollIntoView({ block: "start" });
  }
  openedField = params.field;
};

// The field whose details were last shown: another one is led to.
let openedField;
const MOST_BARS = 4;
const MOST_KINDS = 3;

const metricLabel = (name) => (own(CORE.metrics, name) ? CORE.metrics[name][0] : name.replaceAll("_", " "));
const meaningOf = (name) => (own(CORE.metrics, name) ? CORE.metrics[name][1] : "Defined by the spec.");
const hasBars = () => CORE.systems.length <= MOST_BARS;
const HEADS = () => shortNames(CORE.systems, 36);

// Where the bars of all fields begin, in whole tenths; null: no shares of one.
function lowestOf(cells, unit) {
  if (unit !== "ratio") return null;
  const values = Object.values(cells).flat().filter((cell) => cell && cell[0] !== null).flatMap((cell) => [cell[0], cell[1] ?? 1]);
  return Math.min(0.9, Math.floor(10 * Math.min(1, ...values)) / 10);
}

function badness(cell, better) {
  if (!cell || cell[0] === null) return null;
  const value = Math.min(1, Math.max(0, cell[0]));
  return better === "lower" ? value : 1 - value;
}

function sortFields(fields, cells, sort, better) {
  const worst = (field) => Math.max(-1, ...(own(cells, field.field) || []).map((cell) => badness(cell, better) ?? -1));
  if (sort === "worst") return [...fields].sort((one, other) => worst(other) - worst(one));
  if (sort === "name") return [...fields].sort((one, other) => one.field.localeCompare(other.field));
  return fields;
}

function drawFields(table, rows, shown) {
  const { data, cells, measure, chosen } = shown;
  const few = hasBars();
  const heads = CORE.systems.map((system) => el("th", { scope: "col", title: plain(system, 200) }, el("bdi", {}, breakable(HEADS().get(system)))));
  const kindsHead = el("th", { scope: "col", text: "what is wrong" });
  const row = (field, place) => {
    const values = own(cells, field.field) || [];
    const isOpen = place === chosen;
    const systems = CORE.systems.map((_, at) => fieldCell(values[at], field, at, shown));
    const kinds = el("td", { class: "kinds", "data-label": "wrong" }, kindsOf(field.field, data));
    return [el("tr", { class: isOpen ? "at" : null, "data-row": field.field }, fieldHead(field, isOpen), few ? [systems, kinds] : [kinds, systems]),
      isOpen ? el("tr", { class: "opened" }, el("td", { colspan: CORE.systems.length + 2 }, fieldSteps(rows, place), el("div", { id: "field-detail" }))) : null];
  };
  table.classList.toggle("many", !few);
  replace(table, el("caption", { class: "unseen", text: `${metricLabel(measure)} of each field` }), el("thead", {}, el("tr", {}, el("th", { scope: "col", text: "field" }), few ? [heads, kindsHead] : [kindsHead, heads])), el("tbody", {}, rows.map(row)));
}

function fieldHead(field, isOpen) {
  return el("th", { scope: "row" }, el("button", { type: "button", class: "button-row", "aria-expanded": String(isOpen), on: { click: () => change({ field: isOpen ? "" : field.field }) } }, el("span", { class: "arrow", "aria-hidden": "true", text: isOpen ? "▾" : "▸" }), el("bdi", {}, breakable(plain(field.field, 80)))),
    el("span", { class: "type", text: `${field.type || ""}${field.critical ? " · critical" : ""}` }));
}

// One system's value with its interval, its number of values, its change, and its place between the ends of the axis.
function fieldCell(cell, field, at, { data, measure, unit, low }) {
  const label = { "data-label": plain(CORE.systems[at], 40) };
  if (!cell || cell[0] === null) return el("td", label, el("span", { class: "interval", title: "undefined: nothing to judge", text: "—" }));
  const [value, from, to, n, failed, marks] = cell;
  const interval = from === null ? "" : `${showNumber(from, unit)} to ${showNumber(to, unit)}`.replaceAll("%", "");
  const isWrong = (own(data.mistakes, field.field) || []).some((kind) => kind.counts[at]);
  const number = el(isWrong ? "a" : "span", { class: "number", href: isWrong ? addressOf("errors", { field: field.field, system: CORE.systems[at] }) : null, title: isWrong ? "All wrong values" : null, text: showNumber(value, unit) });
  const notes = [interval, `n\u00a0${n.toLocaleString("en-US")}`, failed ? `${failed} failed` : "", marks.includes("few_documents") ? "few documents" : ""].filter(Boolean);
  const change = own(own(data.changes || {}, measure) || {}, field.field)?.[at];
  return el("td", label, low === null || !hasBars() ? null : whisker(value, from, to, low), number, change ? el("span", { class: `change-${change[1]}`, title: "since the earlier run", text: ` ${change[0]}` }) : null, el("span", { class: "interval", text: notes.join(" · ") }));
}

function whisker(value, from, to, low) {
  const place = (number) => (100 * (Math.min(1, Math.max(low, number)) - low)) / (1 - low);
  const rect = (name, x, y, width, height) => svg("rect", { class: name, x: x.toFixed(2), y, width: width.toFixed(2), height });
  return svg("svg", { class: "whisker", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
    rect("track", 0, 4.6, 100, 0.8), from === null ? null : rect("span", place(from), 3, place(to) - place(from), 4), rect("point", Math.min(99, place(value)), 1, 1, 8));
}

// The main kinds of error with their counts, each a way to its values, and one example.
function kindsOf(name, data) {
  const kinds = own(data.mistakes, name) || [];
  if (!kinds.length) return el("span", { class: "none", text: CORE.kept === "none" ? "not kept" : "nothing" });
  const total = (kind) => kind.counts.reduce((sum, count) => sum + count, 0);
  const chips = kinds.slice(0, MOST_KINDS).map((kind) => el("a", { class: "kind", href: addressOf("errors", { field: name, diagnosis: kind.diagnosis }), title: say("diagnoses", kind.diagnosis) }, `${say("kinds", kind.diagnosis)} `, el("b", { text: total(kind).toLocaleString("en-US") })));
  const rest = kinds.slice(MOST_KINDS).reduce((sum, kind) => sum + total(kind), 0);
  const [, , gold, pred] = kinds.flatMap((kind) => kind.examples).find(([, , gold, pred]) => gold !== null && pred !== null) || [];
  return [chips, rest ? el("a", { class: "kind", href: addressOf("errors", { field: name }), text: `all ${kinds.reduce((sum, kind) => sum + total(kind), 0).toLocaleString("en-US")}` }) : null, gold ? el("span", { class: "why" }, pairOf(gold, pred, 40)) : null];
}

// The ways to the fields beside the open one.
function fieldSteps(rows, place) {
  const step = (at, text) => el("button", { type: "button", class: "button", text, disabled: !rows[at], on: { click: () => change({ field: rows[at].field }) } });
  return el("div", { class: "crumbs" }, step(place - 1, "‹ previous field"), step(place + 1, "next field ›"));
}

function fieldsCsv(rows, cells, measure) {
  const lines = rows.flatMap((field) => CORE.systems.map((system, at) => {
    const [value, low, high, n, failed] = (own(cells, field.field) || [])[at] || [];
    return { field: field.field, type: field.type, system, metric: measure, value, low, high, n, failed };
  }));
  return toCsv(["field", "type", "system", "metric", "value", "low", "high", "n", "failed"], lines);
}
