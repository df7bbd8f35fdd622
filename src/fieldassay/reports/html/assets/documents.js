// The documents: sorted, filtered, searched; one of them in full when the address names it.
let grid = null;
let listed = [];
let listKey = "";
const MOST_COLUMNS = 4;

painters.documents = async (params) => {
  const data = await block("documents");
  const isOne = params.doc !== undefined && params.doc !== "";
  find("#documents-list").hidden = isOne;
  find("#document-one").hidden = !isOne;
  const key = JSON.stringify([params.q, params.sort, params.down, params.group, params.value, params.system, params.field, params.diagnosis, params.outcome, params.answer]);
  if (!isOne || !listed.length || key !== listKey) listed = await chooseDocuments(data, params);
  if (isOne) return drawDocument(find("#document-one"), data, params);
  if (key !== listKey || !grid) await drawTools(data, params);
  listKey = key;
  await drawList(data, params);
};

const scoresAt = (data, place) => data.systems.map((system) => (system.score ? system.score[place] : null));

function meanScore(data, place) {
  const known = scoresAt(data, place).filter((score) => score !== null);
  return known.length ? known.reduce((sum, score) => sum + score, 0) / known.length : null;
}

function wrongAt(data, place) {
  return data.systems.reduce((sum, system) => sum + (system.leaves ? (system.leaves[place] || 0) - (system.matches[place] || 0) : 0), 0);
}

function sortValue(data, key) {
  if (key === "id") return (place) => data.ids[place];
  if (key === "wrong") return (place) => wrongAt(data, place);
  if (key === "mean") return (place) => meanScore(data, place) ?? 2;
  if (key.startsWith("group:")) return (place) => { const group = own(data.groups, key.slice(6)); return group ? group.values[group.codes[place]] ?? "" : ""; };
  const at = CORE.systems.indexOf(key.slice(7));
  return (place) => (at < 0 ? 0 : scoresAt(data, place)[at] ?? 2);
}

// How many documents each value of each filter would leave, all other filters as they are.
let filterCounts = {};
const ERROR_FILTERS = ["field", "diagnosis", "outcome", "system"];
const FILTERS = ["q", "value", ...ERROR_FILTERS, "answer"];

async function chooseDocuments(data, params) {
  const query = (params.q || "").toLowerCase();
  const group = params.value ? own(data.groups, params.group) : null;
  const inGroup = (place) => !group || group.values[group.codes[place]] === params.value;
  const fitsAnswer = (place) => !params.answer || hasAnswer(data, place, params);
  const searched = data.ids.map((_, place) => place).filter((place) => data.ids[place].toLowerCase().includes(query));
  const { found, counts } = await documentsWith(params, new Set(searched.filter((place) => inGroup(place) && fitsAnswer(place))));
  const hasErrors = (place) => !found || found.has(place);
  const places = searched.filter((place) => inGroup(place) && fitsAnswer(place) && hasErrors(place));
  filterCounts = { ...counts, answer: Object.fromEntries(Object.keys(ANSWERS).map((answer) => [answer, searched.filter((place) => inGroup(place) && hasErrors(place) && hasAnswer(data, place, { ...params, answer })).length])) };
  for (const [name, { values, codes }] of Object.entries(data.groups)) {
    const ofGroup = (filterCounts[`group:${name}`] = Object.fromEntries(values.map((value) => [value, 0])));
    for (const place of searched) if (fitsAnswer(place) && hasErrors(place) && codes[place] >= 0) ofGroup[values[codes[place]]] += 1;
  }
  const key = params.sort || "mean";
  const value = sortValue(data, key);
  const sign = params.down === "1" ? -1 : 1;
  if (key === "mean" && sign === 1) return places;
  const keys = new Map(places.map((place) => [place, value(place)]));
  return places.sort((one, other) => {
    const [left, right] = [keys.get(one), keys.get(other)];
    return sign * (left < right ? -1 : left > right ? 1 : 0) || one - other;
  });
}

// Whether the answer of any system, or of the chosen one, is as the filter says.
function hasAnswer(data, place, { answer, system }) {
  return data.systems.some((of, at) => (!system || CORE.systems[at] === system) && claimed(of, answer).has(place));
}

function claimed(system, claim) {
  system.sets ||= new Map();
  if (!system.sets.has(claim)) system.sets.set(claim, new Set(claim === "failed" ? Object.keys(CLAIMS).flatMap((name) => own(system.claims, name) || []) : own(system.claims, claim) || []));
  return system.sets.get(claim);
}

// The documents with a wrong value as the filters say (null: there is no such filter), and for each value of each filter their number.
async function documentsWith(params, allowed) {
  if (CORE.kept === "none") return { found: null, counts: {} };
  const { fields, diagnoses, outcomes, columns } = await block("errors");
  const names = { field: fields, diagnosis: diagnoses, outcome: outcomes, system: CORE.systems };
  const filters = ERROR_FILTERS.map((name) => ({ name, codes: columns[name] || [], wanted: params[name] && !(name === "system" && params.answer) ? names[name].indexOf(params[name]) : null, last: new Int32Array(names[name].length).fill(-1), counts: new Uint32Array(names[name].length) }));
  const active = filters.filter(({ wanted }) => wanted !== null);
  const found = active.length ? new Set() : null;
  const docs = columns.doc || [];
  for (let at = 0; at < docs.length; at += 1) {
    if (!allowed.has(docs[at])) continue;
    const missed = active.filter(({ codes, wanted }) => codes[at] !== wanted);
    if (!missed.length && found) found.add(docs[at]);
    // Rows are in the order of documents, so that each is counted once.
    for (const one of missed.length ? (missed.length === 1 ? missed : []) : filters) {
      const code = one.codes[at];
      if (one.last[code] !== docs[at]) { one.last[code] = docs[at]; one.counts[code] += 1; }
    }
  }
  return { found, counts: Object.fromEntries(filters.map(({ name, counts }) => [name, Object.fromEntries(names[name].map((value, at) => [value, counts[at]]))])) };
}

async function drawTools(data, params) {
  const errors = CORE.kept === "none" ? { fields: [], diagnoses: [], outcomes: [] } : await block("errors");
  const search = el("input", { type: "search", id: "search", placeholder: "Search ids  ( / )", "aria-label": "Search ids of documents", value: params.q || "" });
  search.addEventListener("input", () => change({ q: search.value }).then(() => find("#search").focus()));
  const entries = (values, counts, chosen, words) => [["", "any"], ...values.map((value) => [value, `${words(value)} (${(own(counts || {}, value) || 0).toLocaleString("en-US")})`])].map(([value, label]) => [value, label, value !== "" && value !== chosen && !own(counts || {}, value)]);
  const choose = (name, label, values, chosen, words = (value) => plain(value, 40)) => {
    if (!values.length) return null;
    const select = el("select", { id: `filter-${name}` });
    fillSelect(select, entries(values, filterCounts[name], chosen, words), chosen || "", (event) => change({ [name]: event.target.value }));
    return el("label", {}, `${label} `, select);
  };
  const kindOf = (value) => plain(say("kinds", value), 40);
  const groups = Object.entries(data.groups).slice(0, 2).map(([key, group]) => {
    const select = el("select", { "aria-label": plain(key, 40) });
    fillSelect(select, entries(group.values.slice(0, 200), filterCounts[`group:${key}`], params.group === key ? params.value : "", (value) => plain(value, 40)), params.group === key ? params.value : "", (event) => change(event.target.value ? { group: key, value: event.target.value } : { group: "", value: "" }));
    return el("label", {}, `${plain(key, 24)} `, select);
  });
  const active = ["q", "group", "field", "diagnosis", "outcome", "answer", "system"].some((name) => params[name]);
  const clear = active ? el("button", { type: "button", class: "button", text: "Clear filters", on: { click: () => change({ q: "", group: "", value: "", field: "", diagnosis: "", outcome: "", answer: "", system: "" }) } }) : null;
  const focused = document.activeElement && document.activeElement.id;
  const from = document.activeElement === find("#search") ? find("#search").selectionStart : null;
  const known = find("#filters");
  const opened = known ? known.open : window.innerWidth > 700;
  const count = ["value", "field", "diagnosis", "outcome", "answer", "system"].filter((name) => params[name]).length;
  const filters = el("details", { id: "filters", open: opened || count > 0 }, el("summary", { text: count ? `Filters (${count})` : "Filters" }), el("div", { class: "bar-of-tools" }, groups,
    choose("field", "wrong in field", errors.fields, params.field), choose("diagnosis", "kind of error", errors.diagnoses, params.diagnosis, kindOf),
    choose("outcome", "outcome", errors.outcomes, params.outcome), choose("answer", "answer", Object.keys(ANSWERS).filter((claim) => data.systems.some((system) => claimed(system, claim).size)), params.answer, (claim) => ANSWERS[claim]), CORE.systems.length > 1 && errors.fields.length ? choose("system", "wrong by", CORE.systems, params.system) : null));
  replace(find("#documents-tools"), search, clear, el("button", { type: "button", class: "button", text: "CSV", on: { click: () => download("documents.csv", documentsCsv(data)) } }), filters);
  if (focused && find(`#${CSS.escape(focused)}`)) find(`#${CSS.escape(focused)}`).focus();
  if (from !== null) find("#search").setSelectionRange(from, from);
}

function documentsCsv(data) {
  const rows = listed.map((place) => ({ document: data.ids[place], ...Object.fromEntries(CORE.systems.map((system, at) => [`score: ${system}`, scoresAt(data, place)[at]])), wrong: wrongAt(data, place) }));
  return toCsv(["document", ...CORE.systems.map((system) => `score: ${system}`), "wrong"], rows);
}

// The systems that have a column of their own: all where they are few, else the one that is filtered by.
function columnSystems(params, few) {
  if (few && CORE.systems.length > 1) return CORE.systems.map((_, at) => at);
  const chosen = CORE.systems.indexOf(params.system);
  return chosen < 0 || CORE.systems.length === 1 || window.innerWidth <= 700 ? [] : [chosen];
}

// What an earlier run had: values fixed and broken in each document.
async function changesByDocument() {
  if (!VIEWS.includes("changes")) return null;
  const found = new Map();
  for (const one of await block("changes")) {
    for (const [at, code] of (one.columns.change || []).entries()) {
      const [name, word] = [wordAt(one, "doc", at), one.names.change[code]];
      const counts = found.get(name) || { fixed: 0, broken: 0 };
      if (word in counts) counts[word] += 1;
      found.set(name, counts);
    }
  }
  return found;
}

function drawChange(counts) {
  if (!counts || !(counts.fixed + counts.broken)) return "";
  return [counts.fixed ? el("span", { class: "change-fixed", text: `${counts.fixed} fixed ` }) : null, counts.broken ? el("span", { class: "change-broken", text: `${counts.broken} broken` }) : null];
}

async function drawList(data, params) {
  const changes = await changesByDocument();
  const narrow = window.innerWidth <= 700;
  const few = CORE.systems.length <= MOST_COLUMNS && !narrow;
  const groupKey = narrow ? undefined : Object.keys(data.groups)[0];
  const columns = [
    { key: "id", label: "document", size: narrow ? "minmax(7rem, 1fr)" : "minmax(9rem, 2fr)" },
    groupKey ? { key: `group:${groupKey}`, label: plain(groupKey, 20), size: "minmax(7rem, 1fr)" } : null,
    { key: "mean", label: CORE.systems.length === 1 || narrow ? "score" : "mean score", size: narrow ? "5.4rem" : "minmax(9rem, 1fr)", num: true },
    ...columnSystems(params, few).map((at) => CORE.systems[at]).map((system) => ({ key: `system:${system}`, label: plain(system, 18), size: "minmax(5.5rem, 1fr)", num: true })),
    changes && !narrow ? { key: "changes", label: "since the earlier run", size: "minmax(9rem, 1fr)" } : null,
    { key: "wrong", label: narrow ? "wrong" : few ? "wrong values" : "wrong, all systems", size: narrow ? "4.8rem" : "minmax(7rem, 1fr)", num: true },
  ].filter(Boolean);
  const cells = (place) => {
    const mean = meanScore(data, place);
    const link = el("a", { href: addressOf("documents", { ...params, doc: data.ids[place] }), on: { click: (event) => event.stopPropagation() } }, el("bdi", { text: plain(data.ids[place], 120) }));
    const group = groupKey ? data.groups[groupKey] : null;
    return [
      [link, ...claimsAt(data, place)],
      groupKey ? [el("bdi", { text: plain(group.values[group.codes[place]] ?? "—", 40) })] : null,
      [showNumber(mean), meter(mean)],
      ...columnSystems(params, few).map((at) => [showNumber(scoresAt(data, place)[at])]),
      changes && !narrow ? [drawChange(changes.get(data.ids[place]))] : null,
      [wrongAt(data, place).toLocaleString("en-US")],
    ].filter(Boolean);
  };
  const sort = params.sort || "mean";
  const onSort = (key) => (key === "changes" ? null : change(sort === key ? { down: params.down === "1" ? "" : "1" } : { sort: key, down: key === "wrong" ? "1" : "" }));
  grid = rowGrid(find("#documents-grid"), { label: "Documents", columns, count: listed.length, rowAt: (at) => cells(listed[at]), open: (at) => go("documents", { ...params, doc: data.ids[listed[at]] }), sorted: { key: sort, down: params.down === "1" }, onSort, least: narrow ? "100%" : `${columns.length * 7 + 3}rem` });
  const all = listed.length === data.ids.length;
  if (!listed.length && data.ids.length) return drawHints(find("#documents-count"), "document", { params, names: FILTERS, wordOf: (name) => (name === "diagnosis" ? say("kinds", params[name]) : params[name]), countWithout: async (other) => (await chooseDocuments(data, other)).length });
  replace(find("#documents-count"), all ? `${showCount(data.ids.length, "document")}. ` : `${listed.length.toLocaleString("en-US")} of ${showCount(data.ids.length, "document")}. `, sort === "mean" && params.down !== "1" ? "The worst come first." : "", keptNote(data));
}

function keptNote(data) {
  const shown = CORE.spans.length ? CORE.spans.at(-1)[1] : 0;
  const more = data.total > data.ids.length ? ` This file lists the worst of ${showCount(data.total, "document")}.` : "";
  if (CORE.kept === "none") return more + " The run kept no evidence: documents cannot be opened.";
  const part = more + (shown < data.ids.length ? ` Values of the ${shown.toLocaleString("en-US")} worst documents are in this file; evidence.parquet has all.` : "");
  return part + (CORE.kept === "errors" ? " The run kept wrong values only." : "");
}

const CLAIMS = { has_prediction: "no prediction", is_invalid: "unreadable answer", has_error: "error", is_timeout: "timeout" };
const ANSWERS = { failed: "failed", ...CLAIMS, is_repaired: "repaired" };

// The answers of a document that failed, and whose they were.
function claimsAt(data, place) {
  const found = new Map();
  data.systems.forEach((system, at) => {
    for (const claim of Object.keys(CLAIMS)) if (claimed(system, claim).has(place)) found.set(claim, [...(found.get(claim) || []), CORE.systems[at]]);
  });
  return [...found].map(([claim, systems]) => {
    const more = systems.length > 2 ? ` and ${systems.length - 2} more` : "";
    const whose = CORE.systems.length === 1 ? "" : `${systems.slice(0, 2).map((name) => plain(name, 18)).join(", ")}${more}: `;
    return el("span", { class: "few", title: systems.map((name) => plain(name, 60)).join(", ") }, el("bdi", { text: whose + CLAIMS[claim] }));
  });
}

function meter(value) {
  const bar = el("i");
  bar.style.width = `${100 * Math.max(0, value || 0)}%`;
  return el("span", { class: "meter", "aria-hidden": "true" }, bar);
}
