// Fields by systems: a table whose cells are shaded by how far they are from perfect.
painters.fields = async (params) => {
  const data = await block("fields");
  const measures = Object.keys(data.measures);
  const measure = measures.includes(params.measure) ? params.measure : measures[0];
  const sort = params.sort || "worst";
  fillSelect("#measure", measures.map((name) => [name, metricLabel(name)]), measure, (event) => change({ measure: event.target.value }));
  find("#field-sort").value = sort;
  find("#field-sort").onchange = (event) => change({ sort: event.target.value });
  if (!measure) return replace(find("#heat"), el("caption", { text: "This run has no metric of single fields." }));
  const [better, unit] = own(data.better, measure) || ["higher", "ratio"];
  const cells = data.measures[measure];
  replace(find("#measure-meaning"), el("a", { href: addressOf("methods", { metric: measure }), text: metricLabel(measure) }), ": ", meaningOf(measure), better === "lower" ? " The redder a cell, the worse it is, which here is higher." : " The redder a cell, the worse it is.");
  const rows = sortFields(data.fields.filter((field) => own(cells, field.field)), cells, sort, better);
  drawHeat(rows, cells, { measure, better, unit, chosen: params.field });
  find("#fields-csv").onclick = () => download(`fields-${measure}.csv`, heatCsv(rows, cells, measure));
  const chosen = data.fields.find((field) => field.field === params.field);
  if (params.field && !chosen) return replace(find("#field-detail"), el("p", { class: "note", text: `There is no field ${plain(params.field, 100)} in this run.` }));
  await drawField(find("#field-detail"), chosen, data, params);
  if (chosen && drawnField !== params.field) find("#field-detail").scrollIntoView({ block: "start" });
  drawnField = params.field;
};

// The field whose details were last shown: a link to another one leads to them.
let drawnField;

const metricLabel = (name) => (own(CORE.metrics, name) ? CORE.metrics[name][0] : name.replaceAll("_", " "));
const meaningOf = (name) => (own(CORE.metrics, name) ? `${CORE.metrics[name][1]} (${CORE.metrics[name][2]})` : "Defined by the spec.");

const HEADS = () => shortNames(CORE.systems, 36);

function badness(cell, better) {
  if (!cell || cell[0] === null) return null;
  const value = Math.min(1, Math.max(0, cell[0]));
  return better === "lower" ? value : 1 - value;
}

function sortFields(fields, cells, sort, better) {
  const worst = (field) => Math.max(-1, ...cells[field.field].map((cell) => badness(cell, better) ?? -1));
  if (sort === "worst") return [...fields].sort((one, other) => worst(other) - worst(one));
  if (sort === "name") return [...fields].sort((one, other) => one.field.localeCompare(other.field));
  return fields;
}

function drawHeat(rows, cells, { measure, better, unit, chosen }) {
  const open = (field) => () => change({ field: field.field }).then(() => find("#field-detail").scrollIntoView({ block: "start" }));
  const head = el("tr", {}, el("th", { scope: "col", text: "field" }), CORE.systems.map((system) => el("th", { scope: "col", class: "num", title: plain(system, 200) }, el("bdi", {}, breakable(HEADS().get(system))))));
  const body = rows.map((field) => el("tr", { class: field.field === chosen ? "at" : null, "data-row": "" },
    el("th", { scope: "row" }, el("button", { type: "button", class: "button-row", on: { click: open(field) } }, el("bdi", {}, breakable(plain(field.field, 80)))), " ", el("span", { class: "type", text: `${field.type || ""}${field.critical ? " · critical" : ""}` })),
    cells[field.field].map((cell, at) => heatCell(cell, { field, at, better, unit, open }))));
  replace(find("#heat"), el("caption", { class: "small", text: `${metricLabel(measure)} of each field; open a cell to see what is wrong` }), el("thead", {}, head), el("tbody", {}, body));
}

function heatCell(cell, { field, at, better, unit, open }) {
  if (!cell || cell[0] === null) return el("td", {}, el("div", { class: "empty", title: "undefined: nothing to judge", text: "—" }));
  const [value, low, high, n, failed, marks] = cell;
  const shown = showNumber(value, unit);
  const interval = low === null ? "" : `, interval ${showNumber(low, unit)} to ${showNumber(high, unit)}`;
  const title = `${plain(field.field, 60)}, ${plain(CORE.systems[at], 60)}: ${shown}${interval}, n = ${n}${failed ? `, ${failed} failed` : ""}${marks.includes("few_documents") ? ", few documents" : ""}`;
  const heat = ["ratio", "percent"].includes(unit) ? `${Math.round(55 * badness(cell, better) ** 0.75)}%` : "0%";
  return el("td", {}, el("button", { type: "button", title, "aria-label": title, vars: { heat }, text: shown, tabindex: "-1", on: { click: open(field) } }));
}

function heatCsv(rows, cells, measure) {
  const lines = rows.flatMap((field) => CORE.systems.map((system, at) => {
    const [value, low, high, n, failed] = cells[field.field][at] || [];
    return { field: field.field, type: field.type, system, metric: measure, value, low, high, n, failed };
  }));
  return toCsv(["field", "type", "system", "metric", "value", "low", "high", "n", "failed"], lines);
}
