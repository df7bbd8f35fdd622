// One field: what is wrong, confusions, how far off numbers are, its numbers, and the distribution of its scores.
async function drawField(target, field, data, params) {
  if (!field) return replace(target);
  const name = field.field;
  replace(target, el("section", { class: "detail", "aria-label": plain(name, 120) },
    mistakesOf(name, data),
    own(data.confusions, name) ? confusionOf(own(data.confusions, name), params) : null,
    own(data.residuals, name) && own(data.residuals, name).some((entry) => entry.pairs.length) ? el("figure", { class: "chart", "data-chart": "residuals" }) : null,
    el("h2", { text: "All numbers" }), fieldNumbers(name, data),
    own(data.scores, name) ? el("figure", { class: "chart", "data-chart": "scores" }) : null));
  const residuals = find('[data-chart="residuals"]', target);
  if (residuals) await drawResiduals(residuals, name, own(data.residuals, name));
  const scores = find('[data-chart="scores"]', target);
  if (scores) await drawScores(scores, name, own(data.scores, name));
}

function fieldNumbers(name, data) {
  const measures = Object.keys(data.measures).filter((measure) => own(data.measures[measure], name));
  const row = (system, at) => el("tr", {}, el("th", { scope: "row" }, el("bdi", { text: plain(system, 60) })), measures.map((measure) => {
    const cell = own(data.measures[measure], name)[at];
    const [, unit] = own(data.better, measure) || ["higher", "ratio"];
    if (!cell || cell[0] === null) return el("td", { class: "num", text: "—" });
    const interval = cell[1] === null ? `n = ${cell[3]}` : `${showNumber(cell[1], unit).replace("%", "")} to ${showNumber(cell[2], unit).replace("%", "")}`;
    return el("td", { class: "num" }, el("span", { class: "number", text: showNumber(cell[0], unit), title: `n = ${cell[3]}` }), el("span", { class: "interval", text: interval }));
  }));
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Numbers of ${plain(name, 60)}` }, el("table", { class: "wide" },
    el("thead", {}, el("tr", {}, el("th", { scope: "col", text: "system" }), measures.map((measure) => el("th", { scope: "col", class: "num" }, el("a", { href: addressOf("methods", { metric: measure }), text: metricLabel(measure), title: meaningOf(measure) }))))),
    el("tbody", {}, CORE.systems.map(row))));
}

function mistakesOf(name, data) {
  const kinds = own(data.mistakes, name) || [];
  const title = el("h2", { text: "What is wrong" });
  if (CORE.kept === "none") return [title, el("p", { class: "note", text: "This run kept no judged values." })];
  if (!kinds.length) return [title, el("p", { class: "note", text: "Nothing: every value is right." })];
  return [title, el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Kinds of error" }, el("table", { class: "wide" },
    el("thead", {}, el("tr", {}, el("th", { scope: "col", text: "kind of error" }), CORE.systems.map((system) => el("th", { scope: "col", class: "num" }, el("bdi", { text: HEADS().get(system) }))), el("th", { scope: "col", text: "for example" }))),
    el("tbody", {}, kinds.map((kind) => el("tr", {},
      el("th", { scope: "row" }, el("a", { href: addressOf("errors", { field: name, diagnosis: kind.diagnosis }), text: say("kinds", kind.diagnosis) }), el("span", { class: "why", text: say("diagnoses", kind.diagnosis) })),
      kind.counts.map((count, at) => el("td", { class: "num" }, count ? el("a", { href: addressOf("errors", { field: name, diagnosis: kind.diagnosis, system: CORE.systems[at] }), text: count.toLocaleString("en-US") }) : "·")),
      el("td", { class: "roomy" }, examplesOf(kind, name))))))), csvLink("What is wrong", `wrong-${plain(name, 30)}`, ["field", "diagnosis", ...CORE.systems], kinds.map((kind) => ({ field: name, diagnosis: kind.diagnosis, ...Object.fromEntries(CORE.systems.map((system, at) => [system, kind.counts[at]])) })))];
}

function examplesOf(kind, name) {
  const chosen = [];
  const seen = new Set();
  for (const one of kind.examples) if (!seen.has(one[0]) && chosen.length < 3) { seen.add(one[0]); chosen.push(one); }
  return chosen.map(([system, doc, gold, pred]) => el("div", { class: "why" },
    el("a", { href: addressOf("documents", { doc, field: name, system: CORE.systems[system] }), text: plain(doc, 40) }), " ", el("span", { text: `${plain(CORE.systems[system], 24)}: ` }),
    pairOf(gold, pred)));
}

// Gold and prediction in one line, both as they are.
function pairOf(gold, pred, most = 160) {
  const nothing = () => el("span", { class: "none", text: "nothing" });
  const [left, right] = [gold, pred].map((side) => (side === null ? null : shorten(bare(side), most)));
  return [left === null ? nothing() : right === null ? showText(left) : showGold(left, [right]), " → ", right === null ? nothing() : left === null ? showText(right) : showPrediction(left, right)];
}

const shorten = (text, most) => (text.length > most ? `${text.slice(0, most)}…` : text);

function confusionOf({ labels: names, systems }, params) {
  const known = CORE.systems.filter((system) => own(systems, system));
  const chosen = known.includes(params.of) ? params.of : known[0];
  const counts = new Map((own(systems, chosen) || []).map(([gold, pred, count]) => [`${gold}/${pred}`, count]));
  const others = (own(systems, chosen) || []).some(([gold, pred]) => gold === -1 || pred === -1);
  const heads = [...names.map((name, at) => [String(at), plain(name, 24)]), ...(others ? [["-1", "other"]] : []), ["null", "nothing"]];
  const select = el("select", { "aria-label": "system" });
  fillSelect(select, known.map((system) => [system, plain(system, 40)]), chosen, (event) => change({ of: event.target.value }));
  const row = ([gold, label]) => el("tr", {}, el("th", { scope: "row", text: label }), heads.map(([pred, column]) => {
    const count = counts.get(`${gold}/${pred}`) || 0;
    const right = gold === pred && gold !== "-1";
    return el("td", { class: count ? (right ? "right" : "wrong") : null, title: `gold ${label}, predicted ${column}: ${count}`, text: count ? `${right ? "✓ " : ""}${count}` : "·" });
  }));
  return [el("h2", { text: `Gold against prediction${CORE.kept === "all" ? "" : ", wrong values only"}` }), el("div", { class: "bar-of-tools" }, el("label", {}, "system ", select)),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Gold against prediction" }, el("table", { class: "confusion" },
      el("thead", {}, el("tr", {}, el("th", { scope: "col", text: "gold ↓ predicted →" }), heads.map(([, label]) => el("th", { scope: "col", class: "num", text: label })))),
      el("tbody", {}, heads.map(row)))),
    csvLink("Gold against prediction", "confusion", ["system", "gold", "predicted", "count"], known.flatMap((system) => own(systems, system).map(([gold, pred, count]) => ({ system, gold: labelOf(names, gold), predicted: labelOf(names, pred), count }))))];
}

const labelOf = (names, code) => (code === null ? "" : code < 0 ? "other" : names[code]);

function drawResiduals(figure, name, entries) {
  const rows = entries.flatMap((entry, at) => entry.pairs.map(([document, gold, prediction]) => ({ system: CORE.systems[at], document, gold, prediction, difference: prediction - gold, ratio: gold !== 0 && prediction / gold > 0 ? prediction / gold : null })));
  const shown = rows.filter((row) => row.ratio !== null);
  const hidden = rows.length - shown.length;
  const equal = entries.map((entry, at) => `${plain(CORE.systems[at], 30)} ${entry.equal} of ${entry.equal + entry.other}`).slice(0, 4).join(", ");
  const notes = [CORE.kept === "all" ? `equal: ${equal}` : "", hidden ? `${hidden} not drawn: zero, or of the other sign` : ""].filter(Boolean);
  const columns = ["system", "document", "gold", "prediction", "difference", "ratio"];
  return drawChart(figure, { title: `How far off numbers are that differ${notes.length ? ` (${notes.join("; ")})` : ""}`, name: `residuals-${plain(name, 30)}`, columns, rows, make: shown.length ? residualSpec(shown) : null });
}

function drawScores(figure, name, counts) {
  const rows = counts.flatMap((bins, at) => bins.map((count, bin) => ({ system: CORE.systems[at], from: bin / 20, range: bin === 20 ? "1" : `${bin / 20} to ${(bin + 1) / 20}`, count })));
  return drawChart(figure, { title: `Distribution of scores (1 is right${CORE.kept === "all" ? "" : "; the run kept wrong values only"})`, name: `scores-${plain(name, 30)}`, columns: ["system", "range", "count"], rows, make: scoreSpec(rows) });
}
