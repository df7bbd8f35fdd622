// One document: gold and every system side by side, in a tree.
const SHOWN_SYSTEMS = 3;
const MOST_ROWS = 500;

async function drawDocument(target, data, params) {
  const place = data.ids.indexOf(params.doc);
  if (place < 0) return replace(target, crumbs(data, params, -1), el("p", { class: "note", text: `There is no document ${plain(params.doc, 100)} in this run.` }));
  const rows = await rowsOf(place);
  const head = [crumbs(data, params, place), el("h1", {}, el("bdi", { text: plain(params.doc, 120) })), groupLine(data, place), documentLink(data, place), repairNotes(data, place)];
  if (rows === null) return replace(target, head, el("p", { class: "note", text: `The values of this document are not in this file.${keptNote(data)}` }));
  rows.forEach((row) => { row.link = own(data.links, String(place)); });
  const systems = chosenSystems(rows, params);
  const nodes = joinNodes(rows, systems);
  const tables = tablesOf(nodes);
  const inTables = new Set([...tables.values()].flatMap((table) => [...table.inside]));
  const isWhole = params.rows === "all" || Boolean(params.field);
  const failed = new Map(systems.map((at) => [at, failedAnswer(data, place, at, rows)]).filter(([, answer]) => answer));
  const onlyWrong = (params.only || (isWrongAt(nodes, params.field, failed) ? "wrong" : "all")) === "wrong";
  const shown = { onlyWrong, isWhole };
  const answered = systems.filter((at) => !failed.has(at));
  replace(target, head, documentTools(rows, systems, params, onlyWrong), treeOf(nodes.filter((node) => !inTables.has(node)), systems, failed, { ...shown, place, data, tables }), listSections(rows, nodes, tables, answered, shown));
  markWanted(target, params);
}

// Marks what is of the field that was asked for, and leads to it: to the value of the system, where that is wrong.
function markWanted(target, { field, system }) {
  const wanted = field ? findAll("[data-row]", target).filter((one) => one.dataset.row === field) : [];
  wanted.forEach((one) => one.classList.add("at"));
  const own = wanted.find((one) => one.dataset.wrong === String(CORE.systems.indexOf(system)));
  if (wanted.length) (own || wanted[0]).scrollIntoView({ block: "center" });
}

// The next wrong value of the document, or the one before.
function moveWrong(step) {
  const cells = findAll("#document-one [data-wrong]");
  if (!cells.length) return;
  const at = cells.indexOf(document.activeElement.closest("[data-wrong]"));
  const next = cells[Math.min(cells.length - 1, Math.max(0, at < 0 ? 0 : at + step))];
  next.tabIndex = -1;
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "center" });
}

function crumbs(data, params, place) {
  const { doc, ...rest } = params;
  const at = listed.indexOf(place);
  const step = (by, label) => {
    const next = at < 0 ? undefined : listed[at + by];
    return el("button", { type: "button", class: "button", text: label, id: by < 0 ? "doc-before" : "doc-after", disabled: next === undefined, on: { click: () => go("documents", { ...params, doc: data.ids[next] }) } });
  };
  return el("nav", { class: "crumbs", "aria-label": "Documents" }, el("a", { href: addressOf("documents", { ...rest, only: "", shown: "", rows: "" }), id: "doc-back", text: "← all documents" }), step(-1, "‹ previous"), step(1, "next ›"), at < 0 ? null : el("span", { class: "interval", text: `${at + 1} of ${listed.length.toLocaleString("en-US")}` }));
}

function groupLine(data, place) {
  const groups = Object.entries(data.groups).map(([key, group]) => [key, group.values[group.codes[place]]]).filter(([, value]) => value !== undefined && value !== null);
  return groups.length ? el("p", { class: "lead" }, groups.slice(0, 4).map(([key, value], at) => [at ? " · " : "", el("bdi", { text: `${plain(key, 24)}: ${plain(value, 60)}` })])) : null;
}

function chosenSystems(rows, params) {
  const given = (params.shown || "").split("|").map((name) => CORE.systems.indexOf(name)).filter((at) => at >= 0);
  if (given.length) return given;
  const focus = CORE.systems.indexOf(params.system);
  const all = CORE.systems.map((_, at) => at);
  return (focus >= 0 ? [focus, ...all.filter((at) => at !== focus)] : all).slice(0, SHOWN_SYSTEMS);
}

function documentTools(rows, systems, params, onlyWrong) {
  const wrong = (at) => rows.filter((row) => row.system === at && row.kind === "value" && isWrong(row)).length;
  const toggle = (at) => {
    const next = systems.includes(at) ? systems.filter((one) => one !== at) : [...systems, at].sort((one, other) => one - other);
    if (next.length) change({ shown: next.map((one) => CORE.systems[one]).join("|") });
  };
  return el("div", { class: "chips", role: "group", "aria-label": "What is shown" },
    el("button", { type: "button", class: "button", "aria-pressed": String(onlyWrong), text: "only what is wrong", on: { click: () => change({ only: onlyWrong ? "all" : "wrong" }) } }),
    CORE.systems.map((system, at) => el("button", { type: "button", class: "button", "aria-pressed": String(systems.includes(at)), on: { click: () => toggle(at) } }, el("bdi", { text: plain(system, 30) }), ` (${wrong(at)} wrong)`)));
}

const isWrong = (row) => ["partial", "mismatch", "missing", "spurious", "failed"].includes(row.outcome);

// Joins the rows of all systems by the place in gold; what only a prediction has stands at its place in the prediction, marked with +.
function joinNodes(rows, systems) {
  const nodes = new Map();
  for (const at of systems) {
    const own = rows.filter((row) => row.system === at);
    const moved = own.filter((row) => row.kind === "item" && row.goldPath !== null && row.predPath !== null).map((row) => [row.predPath, row.goldPath]);
    for (const row of own) {
      if (isOutside(row)) continue;
      const path = row.goldPath ?? goldPlace(row.predPath ?? row.field, moved, nodes);
      if (!nodes.has(path)) nodes.set(path, { path, field: row.field, kind: row.kind, type: row.type, critical: row.critical, cells: new Map(), gold: null, rows, inside: new Map() });
      const node = nodes.get(path);
      if (node.kind === "value" && row.kind !== "value") node.kind = row.kind;
      if (row.gold !== null) node.gold = row;
      const known = node.cells.get(at);
      if (!known || known.kind !== "value") node.cells.set(at, row);
    }
  }
  return [...nodes.values()].sort(comparePaths);
}

// Both sides have an item without this field: it has no place in a list, and there is nothing to see.
const isOutside = (row) => row.outcome === "absent" && row.goldPath === null && row.predPath === null && row.field.includes("[]");

function goldPlace(path, moved) {
  const found = moved.filter(([from]) => path.startsWith(from) && /^[.[]|^$/.test(path.slice(from.length))).sort((one, other) => other[0].length - one[0].length)[0];
  return found ? found[1] + path.slice(found[0].length) : path.replace(/\[(\d+)\](?!.*\[\d+\])/, "[+$1]");
}

const stepsOf = (path) => path.match(/\[\+?\d+\]|\["(?:[^"\\]|\\.)*"\]|[^.[\]]+/g) || [path];
const rankOf = (step) => { const match = /^\[(\+?)(\d+)\]$/.exec(step); return match ? Number(match[2]) + (match[1] ? 1e9 : 0) : null; };
const fieldRank = (path) => { const at = CORE.names.field.indexOf(path); return at < 0 ? 1e6 : at; };

function comparePaths(one, other) {
  const [left, right] = [stepsOf(one.path), stepsOf(other.path)];
  for (let at = 0; at < Math.min(left.length, right.length); at += 1) {
    if (left[at] === right[at]) continue;
    const [first, second] = [rankOf(left[at]), rankOf(right[at])];
    if (first !== null && second !== null) return first - second;
    const order = fieldRank(prefixField(left, at)) - fieldRank(prefixField(right, at));
    return order || fieldRank(one.field) - fieldRank(other.field) || (left[at] < right[at] ? -1 : 1);
  }
  return left.length - right.length;
}

const prefixField = (steps, at) => steps.slice(0, at + 1).map((step) => (step.startsWith('["') ? step : step.startsWith("[") ? "[]" : `.${step}`)).join("").replace(/^\./, "");

// Whether a field that was asked for has something wrong, or none was asked for.
const isWrongAt = (nodes, field, failed) => !field || nodes.some((node) => node.field === field && hasError(node, failed));

// Whether any system has something wrong here. An answer that failed has it everywhere: it counts only where no other is shown.
function hasError(node, failed) {
  const cells = [...node.cells.values()];
  const answered = cells.filter((row) => !failed.has(row.system));
  return (answered.length ? answered : cells).some((row) => isWrong({ outcome: toldOutcome(row, node) }));
}

function treeOf(nodes, systems, failed, { onlyWrong, isWhole, place, data, tables }) {
  const found = onlyWrong ? nodes.filter((node) => hasError(node, failed)) : nodes;
  const shown = isWhole ? found : found.slice(0, MOST_ROWS);
  const heads = [el("bdi", { text: "field" }), el("bdi", { text: "gold" }), ...systems.map((at) => [el("bdi", { text: plain(CORE.systems[at], 40) }), el("span", { class: "score" }, showNumber(scoresAt(data, place)[at]), meter(scoresAt(data, place)[at]))])];
  const tree = el("div", { class: `tree${systems.length <= SHOWN_SYSTEMS && window.innerWidth > 1040 ? " fits" : ""}`, tabindex: "0", role: "region", "aria-label": "Values", vars: { least: `${10 + 13 * (systems.length + 1)}rem` } }, el("table", {},
    el("thead", {}, el("tr", {}, heads.map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, shown.map((node, at) => nodeRow(node, systems, failed, { rows: at ? 0 : shown.length, hasTable: tables.has(node.path) })))));
  return shown.length ? [tree, moreRows(found.length, shown.length, "rows")] : el("p", { class: "note", text: onlyWrong ? "Nothing is wrong in this document." : "There is nothing to show." });
}

function moreRows(found, shown, word) {
  const more = el("button", { type: "button", class: "button", text: `Show all ${found.toLocaleString("en-US")} ${word}`, on: { click: () => change({ rows: "all" }) } });
  return found > shown ? el("p", { class: "more" }, `These are the first ${MOST_ROWS} ${word}. `, more) : null;
}

// A row of the tree; the first one, which stands above `rows` rows, has the cells of answers that failed.
function nodeRow(node, systems, failed, { rows, hasTable }) {
  const steps = stepsOf(node.path);
  const label = stepWords(steps.at(-1));
  const isGroup = node.kind !== "value";
  const below = hasTable ? find("#document-one").querySelector.bind(find("#document-one"), `[data-list="${CSS.escape(node.path)}"]`) : null;
  const toTable = () => below()?.scrollIntoView({ block: "start" });
  const name = el("bdi", { text: plain(label, 80) });
  const head = el("th", { scope: "row", vars: { depth: steps.length - 1 }, title: plain(node.path, 200) }, hasTable ? el("button", { type: "button", class: "link", on: { click: toTable } }, name) : isGroup ? name : el("a", { href: addressOf("fields", { field: node.field }) }, el("bdi", { text: plain(label, 80) })), node.critical ? el("span", { class: "type", text: " critical" }) : null);
  const gold = isGroup && !node.gold ? el("td", { "data-label": "gold", text: itemsOf(node) }) : el("td", { "data-label": "gold", "data-side": "gold" }, node.gold ? goldValue(node.gold, node) : el("span", { class: "none", text: "nothing" }));
  return el("tr", { class: isGroup ? "group" : null, "data-row": node.field }, head, gold, systems.map((at) => {
    if (failed.has(at)) return rows ? failedCell(failed.get(at), rows) : null;
    const row = node.cells.get(at);
    return el("td", { "data-label": plain(CORE.systems[at], 40), "data-side": "pred", "data-row": node.field, "data-wrong": row && row.kind === "value" && isWrong(row) ? at : null }, predValue(row, isGroup, node));
  }));
}

// The number of items of a list of gold.
function itemsOf(node) {
  const [row] = node.cells.values();
  const { found, missing } = node.kind === "list" && row ? insideOf(row, node) : { found: 0, missing: 0 };
  return found + missing && CORE.kept === "all" ? showCount(found + missing, "item") : "";
}

function stepWords(step) {
  const rank = rankOf(step);
  if (rank === null) return step.startsWith('["') ? JSON.parse(step.slice(1, -1)) : step;
  return rank >= 1e9 ? `predicted item ${rank - 1e9 + 1}, not in gold` : `item ${rank + 1}`;
}

function goldValue(row, node) {
  const wrong = [...node.cells.values()].filter((cell) => cell.outcome !== "match" && cell.gold === row.gold && cell.pred !== null);
  return [showGold(bare(row.gold), wrong.map((cell) => bare(cell.pred))), cutNote(row.goldCut, row.gold), readNote(row.gold, row.goldValue)];
}

const cutNote = (whole, text) => (whole ? el("span", { class: "cut", text: ` … ${(whole - text.length).toLocaleString("en-US")} more characters are in evidence.parquet` }) : null);
// How a value was read, unless that is the same number, perhaps with the currency of the spec.
const isSameReading = (given, read) => read === given || (given !== "" && read.startsWith(`${given} `)) || (given.trim() !== "" && Number(given) === Number(read));
const readNote = (given, read) => (read !== null && given !== null && !isSameReading(bare(given), read) ? el("span", { class: "why", text: `read as ${plain(read, 120)}` }) : null);

// Whether a prediction is right, and written as in gold.
const isAsGiven = (row) => !row || row.outcome === "absent" || (row.outcome === "match" && bare(row.gold) === bare(row.pred));

const outcomeSign = (outcome) => el("span", { class: `sign sign-${outcome}`, title: say("outcomes", outcome), role: "img", "aria-label": outcome });

function predValue(row, isGroup, node) {
  if (!row) return el("span", { class: "none", text: isGroup ? "" : CORE.kept === "errors" ? "no error" : "–" });
  const outcome = isGroup && row.kind !== "value" ? toldOutcome(row, node) : row.outcome;
  const sign = outcomeSign(outcome);
  if (isGroup && row.kind !== "value") return [sign, el("span", { class: "why" }, groupWords(row, node))];
  if (row.outcome === "absent") return [sign, el("span", { class: "none", text: "nothing" })];
  const run = row.repeat === null ? null : el("span", { class: "why", text: `run ${row.repeat} ` });
  if (row.pred === null) return [sign, run, row.outcome === "missing" ? null : el("span", { class: "none", text: "nothing" }), why(row)];
  if (isAsGiven(row)) return el("div", { class: "same" }, sign, run, " same");
  const value = row.outcome === "match" || row.gold === null ? showText(bare(row.pred)) : showPrediction(bare(row.gold), bare(row.pred));
  return el("div", {}, sign, run, value, cutNote(row.predCut, row.pred), readNote(row.pred, row.predValue), why(row), sourceNote(row));
}

// Where a wrong value stands in its document, if its system is an extraction.
const sourceNote = (row) => (row.source === null ? null : [el("span", { class: "why", text: `source: ${plain(row.source, 500)}` }), cropOf(row)]);

const elsewhere = (href) => ({ href, target: "_blank", rel: "noopener noreferrer" });

function documentLink(data, place) {
  const link = own(data.links, String(place));
  return link ? el("p", {}, el("a", { ...elsewhere(link), text: "open the document" })) : null;
}

// The part of the page where a wrong value was read, linked to the page; or why it is not shown.
function cropOf(row) {
  if (row.picture === null) return null;
  if (typeof row.picture === "string") return el("span", { class: "why", text: `no picture: ${plain(row.picture, 300)}` });
  const [page, width, height, png] = row.picture;
  const picture = el("img", { class: "crop", src: `data:image/png;base64,${png}`, width, height, alt: plain(row.source, 500) });
  return row.link ? el("a", elsewhere(`${row.link}#page=${page}`), picture) : picture;
}

// What is inside a list, item or object of one system: items of gold and of the prediction, and values that are wrong in what was found.
function insideOf(row, node) {
  const key = row.system;
  if (!node.inside.has(key)) node.inside.set(key, countInside(row, node.rows.filter((one) => one.system === key)));
  return node.inside.get(key);
}

function countInside(row, rows) {
  const starts = (path, prefix) => path !== null && prefix !== null && path.startsWith(prefix) && /^[.[]/.test(path.slice(prefix.length));
  const values = rows.filter((one) => one.kind === "value" && one.outcome !== "absent" && (one.goldPath === null ? starts(one.predPath, row.predPath) : starts(one.goldPath, row.goldPath)));
  const pairs = row.kind === "list" && row.goldPath !== null ? alignmentOf(rows, row.goldPath) : [];
  const count = (isWanted) => pairs.filter(isWanted).length;
  const isLone = (one) => one.flags.includes("lone_parent") || ((one.outcome === "missing" || one.outcome === "spurious") && pairs.some((pair) => pair.row === one));
  return {
    values: values.length, wrong: values.filter((one) => isWrong(one) && !isLone(one)).length,
    found: count((pair) => pair.gold !== null && pair.pred !== null), missing: count((pair) => pair.pred === null), extra: count((pair) => pair.gold === null),
  };
}

// The outcome of a node by what is inside it; a node without a partner keeps its own.
function toldOutcome(row, node) {
  if (row.kind === "value" || !["match", "partial"].includes(row.outcome)) return row.outcome;
  const { values, wrong, missing, extra } = insideOf(row, node);
  if (!wrong && !missing && !extra) return "match";
  return wrong && wrong === values && row.kind !== "list" ? "mismatch" : "partial";
}

function groupWords(row, node) {
  const moved = row.kind === "item" ? movedWords(row) : "";
  const flags = row.flags.filter((flag) => flag !== "lone_parent").map((flag) => say("flags", flag));
  if (!["match", "partial"].includes(row.outcome)) return [{ missing: "missing", spurious: "not in gold" }[row.outcome] ?? row.outcome, ...flags].join(" · ");
  const { values, wrong, found, missing, extra } = insideOf(row, node);
  const items = row.kind === "list" && (found || missing || extra) ? [CORE.kept === "all" ? `${found} of ${showCount(found + missing, "item")} found` : "", missing ? `${missing} missing` : "", extra ? `${extra} not in gold` : ""] : [];
  const inner = wrong ? (row.kind === "list" || CORE.kept !== "all" ? `${showCount(wrong, "value")} wrong` : `${wrong} of ${showCount(values, "value")} wrong`) : row.kind === "list" ? "" : "all values right";
  return [[...items, inner].filter(Boolean).join(", "), moved, ...flags].filter(Boolean).join(" · ");
}

const PLAIN_REASONS = ["different", "missing", "spurious", "equal"];

// Why a value was judged as it was: the kind of error, then what the comparison says beyond that.
function why(row) {
  if (row.outcome === "match") return el("span", { class: "why", text: say("reasons", row.reason) });
  const [main, ...others] = row.diagnoses;
  const rest = PLAIN_REASONS.includes(row.reason) || row.reason === main ? [] : [say("reasons", row.reason)];
  if (row.otherField) rest.push(`it is the value of ${plain(row.otherField, 60)}`);
  if (row.score > 0 && row.score < 1) rest.push(`score ${showScore(row.score)}`);
  const also = others.filter((name) => name !== row.outcome && name !== "near").map((name) => name.replaceAll("_", " "));
  if (also.length) rest.push(`also ${also.join(", ")}`);
  rest.push(...row.flags.filter((flag) => !["lone_parent", "under_wrong_kind", "unreadable_pred"].includes(flag)).map((flag) => say("flags", flag)));
  if (row.confidence !== null && row.confidence !== undefined) rest.push(`confidence ${showScore(row.confidence)}`);
  const head = main && main !== row.outcome ? say("diagnoses", main) : row.outcome;
  return el("span", { class: "why" }, el("a", { href: addressOf("errors", { field: row.field, diagnosis: row.flags.includes("lone_parent") ? "" : main ?? row.reason, system: CORE.systems[row.system] }), title: "All values like this", text: head }), rest.length ? ` · ${rest.join(" · ")}` : "");
}
