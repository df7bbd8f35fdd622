// What changed since an earlier run, value by value: gold, before, after.
let changeGrid = null;

painters.changes = async (params) => {
  const all = await block("changes");
  const chosen = Math.max(0, all.findIndex((one) => one.title === params.of));
  const data = all[chosen];
  if (!data.columns.doc) return replace(find("#changes-count"), `Not known: ${data.reason}.`);
  const rows = chooseChanges(data, params);
  drawChangeTools(all, data, params, rows);
  drawChanges(data, rows);
};

const wordAt = (data, name, at) => data.names[name][data.columns[name][at]] ?? "";

function chooseChanges(data, params) {
  const wanted = ["change", "field", "kind"].filter((name) => params[name]);
  const query = (params.q || "").toLowerCase();
  const found = (at) => ["gold", "before", "after"].some((side) => (sideOf(data, side, at) || "").toLowerCase().includes(query)) || ["doc", "path"].some((name) => wordAt(data, name, at).toLowerCase().includes(query));
  return data.columns.doc.map((_, at) => at).filter((at) => wanted.every((name) => wordAt(data, name, at) === params[name]) && (!query || found(at)));
}

function sideOf(data, side, at) {
  const code = data.columns[side][at];
  return code < 0 ? null : bare(data.texts[code]);
}

function drawChangeTools(all, data, params, rows) {
  const from = document.activeElement === find("#change-search") ? find("#change-search").selectionStart : null;
  const search = el("input", { type: "search", id: "change-search", placeholder: "Search  ( / )", "aria-label": "Search changed values", value: params.q || "" });
  search.addEventListener("input", () => change({ q: search.value }));
  const choose = (name, label) => {
    const counts = new Map();
    for (const at of data.columns[name]) counts.set(at, (counts.get(at) || 0) + 1);
    const select = el("select", { id: `change-${name}` });
    fillSelect(select, [["", "any"], ...data.names[name].map((word, at) => [word, `${plain(name === "kind" ? say("kinds", word) : word, 40)} (${counts.get(at)})`])], params[name] || "", (event) => change({ [name]: event.target.value }));
    return el("label", {}, `${label} `, select);
  };
  const of = el("select", { id: "change-of" });
  fillSelect(of, all.map((one) => [one.title, plain(one.title, 60)]), data.title, (event) => change({ of: event.target.value }));
  const lines = () => rows.map((at) => ({ ...Object.fromEntries(["change", "doc", "path", "field", "kind"].map((name) => [name, wordAt(data, name, at)])), ...Object.fromEntries(["gold", "before", "after"].map((side) => [side, sideOf(data, side, at)])) }));
  replace(find("#changes-tools"), search, all.length > 1 ? el("label", {}, "comparison ", of) : null, choose("change", "change"), choose("field", "field"), choose("kind", "kind of error"),
    el("button", { type: "button", class: "button", text: "CSV", on: { click: () => download("changes.csv", toCsv(["change", "doc", "path", "field", "kind", "gold", "before", "after"], lines())) } }));
  if (from !== null) { find("#change-search").focus(); find("#change-search").setSelectionRange(from, from); }
}

function drawChanges(data, rows) {
  const side = (name) => (at) => {
    const [gold, text] = [sideOf(data, "gold", at), sideOf(data, name, at)];
    if (name === "gold") return text === null ? el("span", { class: "none", text: "nothing" }) : showText(text);
    const outcome = wordAt(data, `outcome_${name}`, at);
    const isRight = ["match", "right", "absent"].includes(outcome);
    const sign = el("span", { class: `sign sign-${isRight ? "match" : outcome}`, role: "img", "aria-label": isRight ? "right" : outcome });
    return [sign, text === null ? el("span", { class: "none", text: isRight && gold !== null ? "right" : "nothing" }) : gold === null || isRight ? showText(text) : showPrediction(gold, text)];
  };
  const columns = [
    { key: "change", label: "change", size: "6.5rem", cell: (at) => el("b", { class: `change-${wordAt(data, "change", at).replace(" ", "-")}`, text: wordAt(data, "change", at) }) },
    { key: "doc", label: "document", size: "minmax(6rem, 1fr)", cell: (at) => el("a", { href: addressOf("documents", { doc: wordAt(data, "doc", at), field: wordAt(data, "field", at) }), on: { click: (event) => event.stopPropagation() } }, el("bdi", { text: plain(wordAt(data, "doc", at), 80) })) },
    { key: "path", label: "field", size: "minmax(8rem, 1.3fr)", cell: (at) => el("bdi", { text: plain(wordAt(data, "path", at), 80) }) },
    ...["gold", "before", "after"].map((name) => ({ key: name, label: name, size: "minmax(7rem, 1.4fr)", cell: side(name) })),
    { key: "kind", label: "kind of error", size: "minmax(10.5rem, 1.2fr)", cell: (at) => plain(say("kinds", wordAt(data, "kind", at)), 40) },
  ];
  changeGrid = rowGrid(find("#changes-grid"), { label: "Changed values", columns, count: rows.length, rowAt: (place) => columns.map((column) => column.cell(rows[place])), open: (place) => go("documents", { doc: wordAt(data, "doc", rows[place]), field: wordAt(data, "field", rows[place]) }), sorted: {}, onSort: () => null, least: "60rem" });
  const count = (name) => data.columns.change.filter((code) => data.names.change[code] === name).length;
  replace(find("#changes-count"), `${rows.length === data.columns.doc.length ? "" : `${rows.length.toLocaleString("en-US")} of `}${showCount(data.columns.doc.length, "value")}: ${count("broken")} broken, ${count("fixed")} fixed, ${count("still wrong")} still wrong.`, data.total > data.columns.doc.length ? ` The first of ${data.total.toLocaleString("en-US")} are in this file; \`fieldassay diff --out FILE.csv\` has all.` : "");
}
