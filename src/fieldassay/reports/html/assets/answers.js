// Answers that failed or had to be repaired: what happened, and how they begin.
// How answers were repaired before they could be read, and how such a raw answer begins.
function repairNotes(data, place) {
  const repaired = data.systems.map((system, at) => [system, at]).filter(([system]) => (own(system.claims, "is_repaired") || []).includes(place));
  const notes = repaired.map(([system, at]) => {
    const [, repairs, start] = answerAt(system, place);
    return el("p", { class: "note" }, el("bdi", { text: plain(CORE.systems[at], 30) }), `: ${ANSWERS.is_repaired}`, repairs ? ` (${plain(repairs.replaceAll(" | ", ", "), 200)})` : "", start ? [". The answer begins: ", el("q", {}, el("bdi", { text: plain(start, 500) }))] : "");
  });
  return notes.length ? el("div", { class: "answers" }, notes) : null;
}

const answerAt = (system, place) => own(system.answers || {}, String(place)) || ["", "", ""];

// Why a system has no value at all in a document; null if its answer could be read.
function failedAnswer(data, place, at, rows) {
  const system = data.systems[at];
  const claim = Object.keys(CLAIMS).find((name) => (own(system.claims, name) || []).includes(place));
  const values = rows.filter((row) => row.system === at && row.kind === "value");
  if (!claim || values.some((row) => row.pred !== null)) return null;
  const [problem, , start] = answerAt(system, place);
  const others = own(system.claims, claim).length - 1;
  return { at, claim, problem, start, others, missing: values.filter((row) => row.outcome === "missing").length };
}

// One cell over all rows of a system whose answer failed: what happened, and how the raw answer begins.
function failedCell({ at, claim, problem, start, others, missing }, rows) {
  const kind = CLAIMS[claim];
  const told = problem && !problem.startsWith(kind) ? `${kind}: ${problem}` : problem || kind;
  const more = others ? el("a", { href: addressOf("documents", { system: CORE.systems[at], answer: claim }), text: `${showCount(others, "other answer")} failed like this` }) : null;
  return el("td", { class: "failed-answer", rowspan: rows, "data-label": plain(CORE.systems[at], 40) }, el("b", {}, "✕ No answer: ", el("bdi", { text: plain(told, 500) })),
    el("p", {}, missing === 1 ? "The one value counts as missing. " : `All ${showCount(missing, "value")} count as missing. `, more),
    start ? el("details", {}, el("summary", { text: "The answer begins" }), el("pre", { tabindex: "0" }, el("bdi", { text: plain(start, 500) }))) : null);
}
