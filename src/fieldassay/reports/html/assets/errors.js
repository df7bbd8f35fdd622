// Every wrong value: filtered by facets whose counts follow the filter, searched, grouped, each a way to its document.
const FACETS = [["system", "system"], ["diagnosis", "kind of error"], ["field", "field"], ["type", "type"], ["only", "only"]];
const ONLY = {
  single: "this system alone is wrong", agreed: "all systems that answered agree, and differ from gold",
  failed: "the whole answer failed", critical: "critical fields",
};
const GROUPS = { diagnosis: "kind of error", field: "field", system: "system", pair: "same gold and prediction" };
const MOST_FACETS = 12;
let errorGrid = null;
let chosenErrors = [];

painters.errors = async (params) => {
  const data = await block("values");
  if (CORE.kept === "none" || !data.columns.doc) return replace(find("#errors-count"), "This run kept no judged values.");
  const documents = await block("documents");
  prepareErrors(data);
  const { rows, counts } = chooseErrors(data, documents, params);
  chosenErrors = sortErrors(data, documents, rows, params);
  drawErrorTools(data, documents, params);
  drawFacets(data, params, counts);
  drawErrors(data, documents, params);
};

// The codes of claims, once: bits by row.
function prepareErrors(data) {
  if (data.only) return;
  const { columns } = data;
  const answers = new Set(data.kinds.map((name, at) => (name.startsWith("answer_") ? at : -1)));
  data.only = { critical: new Uint8Array(columns.doc.length), agreed: new Uint8Array(columns.doc.length), single: new Uint8Array(columns.doc.length), failed: new Uint8Array(columns.doc.length) };
  for (const at of columns.critical) data.only.critical[at] = 1;
  for (const at of columns.agreed) data.only.agreed[at] = 1;
  for (let at = 0; at < columns.doc.length; at += 1) {
    data.only.failed[at] = answers.has(columns.diagnosis[at]) ? 1 : 0;
    data.only.single[at] = CORE.systems.length > 1 && columns.also[at] === 2 ** columns.system[at] ? 1 : 0;
  }
}

// The name of a value of a facet in words: kinds of error have their own.
const groupWord = (facet, name) => (facet === "diagnosis" ? say("kinds", name) : String(name));

const namesOf = (data, facet) => ({ system: CORE.systems, diagnosis: data.kinds, field: data.fields, type: data.types })[facet];

// The rows that every filter lets through, and for each facet how many rows each of its values has under all other filters.
function chooseErrors(data, documents, params) {
  const { columns } = data;
  const fits = searchErrors(data, documents, params.q);
  const coded = FACETS.filter(([facet]) => facet !== "only").map(([facet]) => ({ facet, codes: columns[facet], wanted: params[facet] ? namesOf(data, facet).indexOf(params[facet]) : null, counts: new Uint32Array(namesOf(data, facet).length + 1) }));
  const only = own(data.only, params.only);
  const onlyCounts = Object.fromEntries(Object.keys(ONLY).map((name) => [name, 0]));
  const rows = [];
  for (let at = 0; at < columns.doc.length; at += 1) {
    if (fits && !fits(at)) continue;
    const isOnly = !only || only[at] === 1;
    let [missed, failed] = [0, null];
    for (const one of coded) if (one.wanted !== null && one.codes[at] !== one.wanted) { missed += 1; failed = one; }
    if (missed === 0) {
      for (const name in onlyCounts) onlyCounts[name] += data.only[name][at];
      if (isOnly) { rows.push(at); for (const one of coded) if (one.codes[at] >= 0) one.counts[one.codes[at]] += 1; }
    } else if (missed === 1 && isOnly && failed.codes[at] >= 0) failed.counts[failed.codes[at]] += 1;
  }
  return { rows, counts: { ...Object.fromEntries(coded.map(({ facet, counts }) => [facet, counts])), only: onlyCounts } };
}

// A test of rows for a searched text in gold, prediction, path, field and id: each distinct text is looked at once.
function searchErrors(data, documents, query) {
  if (!query) return null;
  const wanted = query.toLowerCase();
  const found = (texts) => Uint8Array.from(texts, (text) => (text.toLowerCase().includes(wanted) ? 1 : 0));
  const [texts, paths, fields, ids] = [data.texts, data.paths, data.fields, documents.ids].map(found);
  const { gold, pred, read, path, field, doc } = data.columns;
  return (at) => texts[gold[at]] || texts[pred[at]] || texts[read[at]] || paths[path[at]] || fields[field[at]] || ids[doc[at]];
}

// Sorted by a column, or by group with the largest group first; in a group the order stays.
function sortErrors(data, documents, rows, { sort, down, group }) {
  const { columns } = data;
  const named = { doc: documents.ids, field: data.fields, diagnosis: data.kinds };
  const values = own(named, sort) ? ranked(columns[sort], named[sort]) : ["system", "confidence"].includes(sort) ? columns[sort] : null;
  if (values) {
    const sign = down === "1" ? -1 : 1;
    rows.sort((one, other) => sign * ((values[one] ?? -1) - (values[other] ?? -1)) || one - other);
  }
  if (!own(GROUPS, group)) return rows;
  const groups = new Map();
  for (const at of rows) {
    const name = groupOf(data, at, group);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(at);
  }
  return [...groups].sort((one, other) => other[1].length - one[1].length).flatMap(([, members]) => [{ at: members[0], count: members.length }, ...members]);
}

// Codes of names as places of these in their order, so that rows are sorted by numbers.
function ranked(codes, names) {
  const order = names.map((_, code) => code).sort((one, other) => (names[one] < names[other] ? -1 : 1));
  const places = new Uint32Array(names.length);
  order.forEach((code, place) => { places[code] = place; });
  return codes.map((code) => places[code]);
}

const groupOf = ({ columns, texts }, at, group) => (group === "pair" ? (columns.gold[at] + 1) * (texts.length + 1) + columns.pred[at] + 1 : columns[group][at]);
const textOf = (data, name, at) => { const code = data.columns[name][at]; return code < 0 ? null : data.texts[code]; };
const pathOf = (data, at) => { const code = data.columns.path[at]; return code < 0 ? data.fields[data.columns.field[at]] : data.paths[code]; };

function drawErrorTools(data, documents, params) {
  const focused = document.activeElement === find("#error-search") ? find("#error-search").selectionStart : null;
  const search = el("input", { type: "search", id: "error-search", placeholder: "Search  ( / )", "aria-label": "Search wrong values", value: params.q || "" });
  search.addEventListener("input", () => change({ q: search.value }));
  const chips = [...FACETS.map(([facet]) => facet), "q"].filter((facet) => params[facet]).map((facet) => el("button", { type: "button", class: "button chip", text: `${plain(facet === "only" ? own(ONLY, params.only) ?? params.only : groupWord(facet, params[facet]), 40)} ✕`, "aria-label": `Clear the filter ${plain(params[facet], 40)}`, on: { click: () => change({ [facet]: "" }) } }));
  const group = el("select", { id: "error-group" });
  fillSelect(group, [["", "nothing"], ...Object.entries(GROUPS)], params.group || "", (event) => change({ group: event.target.value }));
  replace(find("#errors-tools"), search, chips, el("label", {}, "group by ", group), el("button", { type: "button", class: "button", text: "CSV", on: { click: () => download("errors.csv", errorsCsv(data, documents)) } }));
  if (focused !== null) { find("#error-search").focus(); find("#error-search").setSelectionRange(focused, focused); }
}

function drawFacets(data, params, counts) {
  const box = find("#errors-facets");
  if (!box.dataset.drawn) { box.open = window.innerWidth > 900; box.dataset.drawn = "1"; }
  const value = (facet, name, label, count) => {
    const isChosen = params[facet] === name;
    return el("li", {}, el("button", { type: "button", class: "facet", "aria-pressed": String(isChosen), disabled: !count && !isChosen, on: { click: () => change({ [facet]: isChosen ? "" : name }) } }, el("bdi", { text: label }), el("span", { class: "count", text: count.toLocaleString("en-US") })));
  };
  const listOf = ([facet, title]) => {
    if (facet === "system" && CORE.systems.length === 1) return null;
    const entries = facet === "only" ? Object.entries(ONLY).map(([name, label]) => [name, label, counts.only[name]]) : namesOf(data, facet).map((name, at) => [name, plain(groupWord(facet, name), 40), counts[facet][at]]);
    const shown = entries.filter(([name, , count]) => (facet === "only" ? count || params.only === name : true)).sort((one, other) => (facet === "system" ? 0 : other[2] - one[2]));
    if (!shown.length) return null;
    const items = shown.map((entry) => value(facet, ...entry));
    const more = items.splice(MOST_FACETS);
    return [el("h2", { text: title }), el("ul", {}, items), more.length ? el("details", {}, el("summary", { text: `${more.length} more` }), el("ul", {}, more)) : null];
  };
  replace(find("div", box), FACETS.map(listOf));
}

function drawErrors(data, documents, params) {
  const { columns } = data;
  const narrow = window.innerWidth <= 700;
  const wide = window.innerWidth > 1350;
  const many = CORE.systems.length > 1;
  const systemNames = shortNames(CORE.systems, 13);
  const nameWidth = Math.max(4, 1.2 + 0.6 * Math.max(...[...systemNames.values()].map((name) => name.length)));
  const confident = columns.confidence.some((one) => one !== null && one !== undefined);
  const list = [
    { key: "doc", label: "document", size: "minmax(6rem, 0.9fr)", cell: (at) => el("a", { href: addressOf("documents", { doc: documents.ids[columns.doc[at]], field: data.fields[columns.field[at]], system: CORE.systems[columns.system[at]] }), on: { click: (event) => event.stopPropagation() } }, el("bdi", { text: plain(documents.ids[columns.doc[at]], 80) })) },
    { key: "field", label: "field", size: "minmax(9rem, 1.4fr)", cell: (at) => el("bdi", { text: plain(pathOf(data, at), 80), title: plain(pathOf(data, at), 200) }) },
    { key: "gold", label: "gold", size: "minmax(7rem, 1.5fr)", cell: (at) => errorSide(data, at, "gold") },
    { key: "pred", label: "predicted", size: "minmax(7rem, 1.5fr)", cell: (at) => errorSide(data, at, "pred") },
    !wide ? null : { key: "read", label: "read as", size: "minmax(5rem, 0.8fr)", cell: (at) => el("bdi", { class: "interval", text: textOf(data, "read", at) === null ? "" : plain(textOf(data, "read", at), 60) }) },
    { key: "diagnosis", label: "kind of error", size: "minmax(11.5rem, 1.2fr)", cell: (at) => el("span", { title: say("diagnoses", data.kinds[columns.diagnosis[at]]), text: plain(say("kinds", data.kinds[columns.diagnosis[at]]), 40) }) },
    many ? { key: "system", label: "system", size: `minmax(${nameWidth}rem, 0.7fr)`, cell: (at) => el("bdi", { title: plain(CORE.systems[columns.system[at]], 200), text: systemNames.get(CORE.systems[columns.system[at]]) }) } : null,
    confident && wide ? { key: "confidence", label: "confidence", size: "6.2rem", num: true, cell: (at) => (columns.confidence[at] === null || columns.confidence[at] === undefined ? "" : showScore(columns.confidence[at])) } : null,
    many && CORE.systems.length <= 8 && !narrow ? { key: "also", label: "others", size: `${Math.max(4.6, 1.2 * CORE.systems.length)}rem`, cell: (at) => othersAt(data, at) } : null,
  ].filter(Boolean);
  const head = (entry) => {
    const name = params.group === "pair" ? [errorSide(data, entry.at, "gold"), " → ", errorSide(data, entry.at, "pred")] : el("bdi", { text: plain(groupWord(params.group, namesOf(data, params.group)[columns[params.group][entry.at]]), 80) });
    return [el("b", {}, name, ` ${entry.count.toLocaleString("en-US")} ×`)];
  };
  const rowAt = (place) => (typeof chosenErrors[place] === "number" ? list.map((column) => column.cell(chosenErrors[place])) : head(chosenErrors[place]));
  const open = (given) => { const place = typeof chosenErrors[given] === "number" ? given : given + 1; const at = chosenErrors[place]; if (typeof at === "number") go("documents", { doc: documents.ids[columns.doc[at]], field: data.fields[columns.field[at]], system: CORE.systems[columns.system[at]] }); };
  const onSort = (key) => (["gold", "pred", "read", "also"].includes(key) ? null : change(params.sort === key ? { down: params.down === "1" ? "" : "1" } : { sort: key, down: "" }));
  errorGrid = rowGrid(find("#errors-grid"), { label: "Wrong values", columns: list, count: chosenErrors.length, rowAt, open, sorted: { key: params.sort, down: params.down === "1" }, onSort, least: narrow ? "48rem" : wide ? "62rem" : "48rem" });
  const shown = chosenErrors.filter((one) => typeof one === "number").length;
  if (!shown && columns.doc.length) return drawHints(find("#errors-count"), "wrong value", { params, names: [...FACETS.map(([facet]) => facet), "q"], wordOf: (name) => (name === "only" ? own(ONLY, params.only) ?? params.only : groupWord(name, params[name])), countWithout: (other) => chooseErrors(data, documents, other).rows.length });
  const whole = columns.doc.length;
  const cut = data.total > whole ? ` This file lists the ${whole.toLocaleString("en-US")} of the worst documents, of ${showCount(data.total, "wrong value")}; evidence.parquet has all.` : "";
  replace(find("#errors-count"), shown ? `${shown === whole ? "" : `${shown.toLocaleString("en-US")} of `}${showCount(whole, "wrong value")}.${params.sort ? "" : " The worst documents come first."}` : "Nothing is wrong: every value is right.", cut);
}

// One side of a wrong value in a line, with what the other side lacks marked.
function errorSide(data, at, side) {
  const [gold, pred] = ["gold", "pred"].map((name) => textOf(data, name, at));
  const text = side === "gold" ? gold : pred;
  if (text === null) return el("span", { class: "none", text: "nothing" });
  const other = side === "gold" ? pred : gold;
  const cell = other === null ? showText(bare(text)) : side === "gold" ? showGold(bare(gold), [bare(pred)]) : showPrediction(bare(gold), bare(pred));
  cell.title = plain(bare(text), 300);
  return cell;
}

// Which systems are right in the same place of gold, in the order of the systems.
function othersAt(data, at) {
  const also = data.columns.also[at];
  if (!also) return "";
  return CORE.systems.map((system, place) => {
    if (place === data.columns.system[at]) return null;
    const isWrongToo = Math.floor(also / 2 ** place) % 2 === 1;
    return el("span", { class: `sign sign-${isWrongToo ? "mismatch" : "match"}`, role: "img", title: `${plain(system, 40)}: ${isWrongToo ? "wrong too" : "right"}`, "aria-label": `${plain(system, 40)}: ${isWrongToo ? "wrong too" : "right"}` });
  });
}

function errorsCsv(data, documents) {
  const { columns } = data;
  const side = (name, at) => { const text = textOf(data, name, at); return text === null ? null : bare(text); };
  const rows = chosenErrors.filter((one) => typeof one === "number").map((at) => ({ document: documents.ids[columns.doc[at]], path: pathOf(data, at), field: data.fields[columns.field[at]], gold: side("gold", at), predicted: side("pred", at), read_as: side("read", at), kind: data.kinds[columns.diagnosis[at]], system: CORE.systems[columns.system[at]], confidence: columns.confidence[at] }));
  return toCsv(["document", "path", "field", "gold", "predicted", "read_as", "kind", "system", "confidence"], rows);
}
