// How the items of a list were paired: gold on the left, predicted on the right, lines between partners.
const ITEM_HEIGHT = 30;
const MOST_ITEMS = 60;

// Where the prediction has a list of gold: elsewhere, if the list is in an item that moved.
const predictedList = (rows, list) => rows.find((row) => row.kind === "list" && row.goldPath === list)?.predPath ?? list;

function alignmentOf(rows, list) {
  const predicted = predictedList(rows, list);
  const inList = (path, prefix) => path !== null && path.startsWith(`${prefix}[`) && /^\[\d+\]$/.test(path.slice(prefix.length));
  const belongs = (row) => (row.goldPath === null ? inList(row.predPath, predicted) : inList(row.goldPath, list));
  const items = rows.filter((row) => belongs(row) && (row.kind === "item" || row.kind === "value"));
  return items.map((row) => ({ gold: indexOf(row.goldPath), pred: indexOf(row.predPath), score: row.score, outcome: row.outcome, row }));
}

function indexOf(path) {
  const match = path === null ? null : /\[(\d+)\]$/.exec(path);
  return match ? Number(match[1]) : null;
}

// An item in a few words: its first values.
function itemWords(rows, prefix, side, letters) {
  const path = side === "gold" ? "goldPath" : "predPath";
  const values = rows.filter((row) => row.kind === "value" && row[path] !== null && row[path].startsWith(prefix) && row[side] !== null).slice(0, 3);
  return plain(values.map((row) => bare(row[side])).join(" · ") || "(empty)", letters);
}

function drawAlignment(rows, list, pairs, system) {
  const side = (name) => [...new Set(pairs.map((pair) => pair[name]).filter((at) => at !== null))].sort((one, other) => one - other);
  const [allLeft, allRight] = [side("gold"), side("pred")];
  const predicted = predictedList(rows, list);
  const [left, right] = [allLeft.slice(0, MOST_ITEMS), allRight.slice(0, MOST_ITEMS)];
  const height = Math.max(left.length, right.length, 1) * ITEM_HEIGHT + 26;
  const width = Math.max(300, Math.min(640, find("#main").clientWidth - 40));
  const box = (width - 80) / 2;
  const letters = Math.floor((box - 40) / 7.3);
  const [leftOf, rightOf] = [new Map(left.map((at, place) => [at, place])), new Map(right.map((at, place) => [at, place]))];
  const y = (place) => 26 + place * ITEM_HEIGHT + 13;
  const lines = pairs.filter((pair) => leftOf.has(pair.gold) && rightOf.has(pair.pred)).map((pair) => {
    const [from, to] = [y(leftOf.get(pair.gold)), y(rightOf.get(pair.pred))];
    return svg("path", { d: `M ${box + 2} ${from} C ${width / 2} ${from}, ${width / 2} ${to}, ${width - box - 2} ${to}`, class: pair.score !== null && pair.score < 0.5 ? "weak" : null },
      svg("title", { text: `gold item ${pair.gold + 1}, predicted item ${pair.pred + 1}: similarity ${pair.score === null ? "unknown" : showScore(pair.score)}` }));
  });
  const partners = (name) => new Set(pairs.filter((pair) => pair.gold !== null && pair.pred !== null).map((pair) => pair[name]));
  const boxes = (indexes, name, x, has) => indexes.map((at, place) => svg("g", { class: has.has(at) ? null : "lone" },
    svg("rect", { class: "box", x, y: y(place) - 12, width: box, height: 24, rx: 5 }),
    svg("text", { x: x + 8, y: y(place) + 4, text: `${at + 1}  ${has.has(at) ? "" : name === "gold" ? "− " : "+ "}${itemWords(rows, `${name === "gold" ? list : predicted}[${at}]`, name, letters)}` })));
  const matched = pairs.filter((pair) => pair.gold !== null && pair.pred !== null).length;
  const rest = Math.max(allLeft.length, allRight.length) > MOST_ITEMS ? `; the first ${MOST_ITEMS} of each side are drawn` : "";
  const note = `${plain(system, 40)}: ${matched.toLocaleString("en-US")} of ${showCount(allLeft.length, "gold item")} paired, ${allLeft.length - matched} missing, ${allRight.length - matched} spurious${rest}`;
  return el("figure", {}, el("figcaption", { text: note }), svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": note },
    svg("text", { x: 2, y: 14, text: "gold" }), svg("text", { x: width - box, y: 14, text: "predicted" }),
    lines, boxes(left, "gold", 2, partners("gold")), boxes(right, "pred", width - box - 2, partners("pred"))));
}
