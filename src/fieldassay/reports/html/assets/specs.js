// The specifications of all charts. Values come in as data only, never as names or expressions.
const AS_POINTS = { ratio: 100, percent: 1 };
const SCALES = { ...AS_POINTS, ms: 0.001, usd: 1000 };
const unitTitle = (unit) => ({ ratio: "%", percent: "%", ms: "seconds", usd: "$ for 1,000 documents" })[unit] || unit;
// About one tick in 90 pixels, so that labels never touch.
const ticks = (width) => ({ tickCount: Math.max(3, Math.floor(width / 90)), labelOverlap: true });
function labels(rows, name = "system") {
  const names = shortNames(rows.map((row) => row[name]), window.innerWidth <= 700 ? 22 : 40);
  return rows.map((row) => ({ ...row, label: names.get(row[name]) }));
}

const tips = (...pairs) => pairs.map(([field, title, format]) => ({ field, title, ...(format ? { format } : { type: "nominal" }) }));

// Numbers in the unit of the axis, and under `…Said` as the pages say them: a chart would round otherwise.
function scaled(rows, unit, names, told = showNumber) {
  const factor = SCALES[unit] || 1;
  const both = (row, name) => [[name, row[name] === null || row[name] === undefined ? null : factor * row[name]], [`${name}Said`, told(row[name], unit)]];
  return rows.map((row) => ({ ...row, ...Object.fromEntries(names.flatMap((name) => both(row, name))) }));
}

// The scale of an axis. Numbers that are all equal get room around them: an axis from a number to itself has one tick only.
function scaleOf(numbers, unit, more = { zero: false }) {
  const known = numbers.filter((number) => Number.isFinite(number));
  const [low, high] = [Math.min(...known), Math.max(...known)];
  if (!known.length || high > low) return more;
  const isShare = AS_POINTS[unit] !== undefined;
  return { ...more, nice: true, domain: isShare ? [Math.max(0, low - 5), Math.min(100, low + 5)] : low === 0 ? [0, 1] : [Math.min(0, 2 * low), Math.max(0, 2 * low)] };
}

// An order is given as a domain: an order given as `sort` would put the names into an expression.
const inOrder = (rows, name = "label") => ({ sort: null, scale: { domain: [...new Set(rows.map((row) => row[name]))] } });
const yOrder = (rows) => ({ field: "label", type: "nominal", title: null, ...inOrder(rows), axis: { ticks: false, domain: false } });

const VERDICTS = { better: "better", worse: "worse", no_difference_shown: "no difference shown", identical: "the same", undefined: "undefined" };

function forestSpec(rows, title, unit) {
  const values = labels(scaled(rows, unit, ["difference", "low", "high"], showDifference), "row").map((row) => ({ ...row, said: VERDICTS[row.verdict] || row.verdict, pSaid: row.p === null ? "—" : row.p < 0.001 ? "< .001" : row.p.toFixed(3).replace("0.", ".") }));
  const shades = { domain: ["better", "worse", "no difference shown", "the same", "undefined"], range: [color("good"), color("bad"), color("muted"), color("muted"), color("muted")] };
  const shapes = { domain: shades.domain, range: ["triangle-up", "triangle-down", "circle", "square", "cross"] };
  const tooltip = tips(["label", "system"], ["differenceSaid", "difference"], ["lowSaid", "from"], ["highSaid", "to"], ["said", "verdict"], ["pSaid", "p, adjusted"], ["documents", "documents", ",d"]);
  const isFlat = values.every((row) => !row.difference && !row.low && !row.high);
  const axis = { field: "low", type: "quantitative", title, scale: isFlat ? { domain: [-1, 1] } : { zero: true, nice: true } };
  return (width) => ({
    data: { values }, height: { step: 30 }, encoding: { y: yOrder(values), tooltip },
    layer: [
      { data: { values: [{ zero: 0 }] }, mark: { type: "rule", strokeDash: [4, 3], tooltip: false }, encoding: { x: { field: "zero", type: "quantitative" }, y: null, color: { value: color("line-strong") }, tooltip: null } },
      { mark: { type: "rule", strokeWidth: 2 }, encoding: { x: { ...axis, axis: ticks(width) }, x2: { field: "high" }, color: { field: "said", type: "nominal", scale: shades, legend: null } } },
      { mark: { type: "point", filled: true, size: 110, opacity: 1 }, encoding: { x: { field: "difference", type: "quantitative" }, color: { field: "said", type: "nominal", scale: shades, legend: null }, shape: { field: "said", type: "nominal", scale: shapes, legend: null } } },
    ],
  });
}

function rankingSpec(rows, { label, unit, better }, gate) {
  const sign = better === "lower" ? 1 : -1;
  const values = labels(scaled(rows, unit, ["value", "low", "high"])).sort((one, other) => sign * (one.value - other.value));
  const limit = gate === null ? [] : scaled([{ gate }], unit, ["gate"]);
  const x = { type: "quantitative", title: `${label} (${unitTitle(unit)})`, scale: scaleOf([...values.flatMap((row) => [row.low, row.value, row.high]), ...limit.map((row) => row.gate)], unit) };
  return (width) => ({
    data: { values }, height: { step: 36 }, encoding: { y: yOrder(values) },
    layer: [
      { mark: { type: "rule", strokeWidth: 5, opacity: 0.4, color: color("accent") }, encoding: { x: { ...x, field: "low", axis: ticks(width) }, x2: { field: "high" } } },
      { mark: { type: "point", filled: true, size: 80, opacity: 1, color: color("accent") }, encoding: { x: { ...x, field: "value" } } },
      { mark: { type: "text", dy: -12, fontSize: 11, color: color("text") }, encoding: { x: { ...x, field: "value" }, text: { field: "valueSaid" } } },
      { data: { values: limit }, mark: { type: "rule", strokeDash: [4, 3], strokeWidth: 1.5, color: color("bad") }, encoding: { x: { ...x, field: "gate" }, y: null } },
      { data: { values: limit }, mark: { type: "text", align: "right", dx: -4, dy: 8, baseline: "top", fontSize: 11, color: color("bad") }, encoding: { x: { ...x, field: "gate" }, y: { value: 0 }, text: { value: "gate" } } },
    ],
  });
}

const MOST_COLORS = 7;

// What stands on the axis, and what is told by color within it: systems in each slice, or slices in each system, or, with many of both, neither.
function sidesOf(values) {
  const count = (name) => new Set(values.map((row) => row[name])).size;
  if (count("label") <= MOST_COLORS) return ["place", "label"];
  return count("place") <= MOST_COLORS ? ["label", "place"] : ["both", null];
}

function slicesSpec(rows, title, unit) {
  const groups = shortNames(rows.map((row) => row.group), 28);
  const values = labels(scaled(rows, unit, ["value", "low", "high"])).map((row) => ({ ...row, place: groups.get(row.group), both: `${groups.get(row.group)} · ${row.label}` }));
  const [across, split] = sidesOf(values);
  const y = { ...yOrder(values), field: across, ...inOrder(values, across) };
  const tooltip = tips(["label", "system"], ["place", "slice"], ["valueSaid", title], ["lowSaid", "from"], ["highSaid", "to"], ["documents", "documents", ",d"]);
  const x = { type: "quantitative", title: `${title} (${unitTitle(unit)})`, scale: scaleOf(values.flatMap((row) => [row.low, row.value, row.high]), unit) };
  const shade = split ? { color: { field: split, type: "nominal", ...inOrder(values, split), title: null, legend: { symbolOpacity: 1 } }, yOffset: { field: split, ...inOrder(values, split) } } : { color: { value: color("accent") } };
  return (width) => ({
    data: { values }, height: { step: split ? 14 : 22 }, encoding: { y, tooltip, ...shade },
    layer: [
      { mark: { type: "rule", strokeWidth: 4, opacity: 0.4 }, encoding: { x: { ...x, field: "low", axis: ticks(width) }, x2: { field: "high" } } },
      { mark: { type: "point", filled: true, size: 60, opacity: 1 }, encoding: { x: { ...x, field: "value" }, ...(split ? { shape: { field: split, type: "nominal", ...inOrder(values, split), title: null } } : {}) } },
    ],
  });
}

const LABEL_WIDTH = 150;
const LABEL_STEPS = [0, -14, 14, -28, 28, -42, 42, -56, 56];

// Where labels of points stand: beside their point, or above or below that, so that none lies on another or leaves the drawing.
function placeLabels(values, width, height) {
  const scale = (low, high, most) => (value) => (high > low ? (most * (value - low)) / (high - low) : most / 2);
  const ends = (numbers) => [Math.min(...numbers), Math.max(...numbers)];
  const known = (numbers) => numbers.filter((number) => number !== null && number !== undefined);
  const x = scale(...ends(values.map((row) => row.cost)), width);
  const y = scale(...ends(known(values.flatMap((row) => [row.low, row.value, row.high]))), height);
  const taken = values.map((row) => ({ left: x(row.cost) - 6, right: x(row.cost) + 6, middle: -y(row.value) }));
  return [...values].sort((one, other) => one.cost - other.cost).map((row) => {
    const long = 9 + Math.min(LABEL_WIDTH, 7 * row.label.length);
    const boxes = LABEL_STEPS.flatMap((dy) => [1, -1].map((side) => ({ dy, side, left: x(row.cost) + (side > 0 ? 7 : -long), right: x(row.cost) + (side > 0 ? long : -7), middle: dy - y(row.value) })));
    const inside = boxes.filter((box) => box.left >= -20 && box.right <= width);
    const box = inside.find((one) => !taken.some((other) => one.left < other.right && other.left < one.right && Math.abs(one.middle - other.middle) < 13)) || inside[0] || boxes[0];
    taken.push(box);
    return { ...row, labelX: 9 * box.side, labelY: box.dy, labelSide: box.side > 0 ? "left" : "right" };
  });
}

function costSpec(rows, title, unit) {
  const values = labels(scaled(scaled(rows, unit, ["value", "low", "high"]), "usd", ["cost"]));
  const tooltip = tips(["label", "system"], ["costSaid", "cost of 1,000 documents"], ["valueSaid", title], ["lowSaid", "from"], ["highSaid", "to"]);
  const x = { field: "cost", type: "quantitative", title: "cost of 1,000 documents ($)", scale: scaleOf(values.map((row) => row.cost), "usd", {}), axis: { tickCount: 5, labelOverlap: true, format: "~g" } };
  const y = { type: "quantitative", title: `${title} (${unitTitle(unit)})`, scale: scaleOf(values.flatMap((row) => [row.low, row.value, row.high]), unit) };
  return (width) => ({
    data: { values: placeLabels(values, width - 70, 240) }, height: 260, encoding: { x, tooltip },
    layer: [
      { mark: { type: "rule", strokeWidth: 4, opacity: 0.35, color: color("accent") }, encoding: { y: { ...y, field: "low" }, y2: { field: "high" } } },
      { mark: { type: "point", filled: true, size: 80, opacity: 1, color: color("accent") }, encoding: { y: { ...y, field: "value" } } },
      { mark: { type: "text", align: { expr: "datum.labelSide" }, dx: { expr: "datum.labelX" }, dy: { expr: "datum.labelY" }, fontSize: 12, color: color("text"), limit: LABEL_WIDTH }, encoding: { y: { ...y, field: "value" }, text: { field: "label" } } },
    ],
  });
}

function latencySpec(rows) {
  const values = labels(scaled(rows, "ms", ["min", "p50", "p90", "p95", "max"]));
  const tooltip = tips(["label", "system"], ["minSaid", "shortest"], ["p50Said", "median"], ["p90Said", "90th percentile"], ["p95Said", "95th percentile"], ["maxSaid", "longest"], ["n", "documents", ",d"]);
  // One very slow answer would squeeze all others.
  const isSkewed = Math.max(...values.map((row) => row.max ?? 0)) > 3 * Math.max(...values.map((row) => row.p95 ?? row.p50)) && values.every((row) => (row.min ?? row.p50) > 0);
  const x = { type: "quantitative", title: `seconds per document${isSkewed ? ", on a logarithmic scale" : ""}`, scale: isSkewed ? { type: "log" } : scaleOf(values.flatMap((row) => [row.min, row.p50, row.p95, row.max]), "ms", {}) };
  return (width) => ({
    data: { values }, height: { step: 36 }, encoding: { y: yOrder(values), tooltip },
    layer: [
      { mark: { type: "rule", strokeWidth: 1.5, opacity: 0.7, color: color("accent") }, encoding: { x: { ...x, field: "min", axis: ticks(width) }, x2: { field: "max" } } },
      { mark: { type: "rule", strokeWidth: 8, opacity: 0.4, color: color("accent") }, encoding: { x: { ...x, field: "p50" }, x2: { field: "p95" } } },
      { mark: { type: "point", filled: true, size: 80, opacity: 1, color: color("accent") }, encoding: { x: { ...x, field: "p50" } } },
      { mark: { type: "tick", thickness: 2, size: 16, color: color("accent") }, encoding: { x: { ...x, field: "p95" } } },
    ],
  });
}

function scoreSpec(rows) {
  const named = labels(rows);
  const systems = [...new Set(named.map((row) => row.label))];
  const values = named.map((row) => ({ ...row, order: systems.indexOf(row.label) }));
  return (width) => ({
    data: { values }, autosize: { type: "pad" }, columns: Math.max(1, Math.floor((width + 40) / 260)),
    facet: { field: "label", type: "nominal", title: null, sort: { field: "order", op: "min" } },
    spec: {
      width: Math.min(200, width - 70), height: 90, mark: { type: "bar", color: color("accent"), tooltip: true },
      encoding: {
        x: { field: "from", type: "ordinal", title: "score", axis: { values: [0, 0.25, 0.5, 0.75, 1], labelAngle: 0 } },
        y: { field: "count", type: "quantitative", title: null, axis: { tickCount: 3, format: "~s" } },
        tooltip: tips(["label", "system"], ["range", "score"], ["count", "values", ",d"]),
      },
    },
    resolve: { scale: { y: "shared" } },
  });
}

function residualSpec(rows) {
  const values = labels(rows);
  const tooltip = tips(["label", "system"], ["document", "document"], ["gold", "gold", ",.6~g"], ["prediction", "predicted", ",.6~g"], ["ratio", "predicted / gold", ".4~g"]);
  return () => ({
    data: { values }, height: { step: 44 },
    encoding: { y: yOrder(values), tooltip },
    layer: [
      { data: { values: [{ one: 1 }] }, mark: { type: "rule", strokeDash: [4, 3], tooltip: false, color: color("line-strong") }, encoding: { x: { field: "one", type: "quantitative" }, y: null, tooltip: null } },
      { mark: { type: "point", filled: false, size: 60, opacity: 0.75, color: color("accent"), strokeWidth: 1.5 }, encoding: { x: { field: "ratio", type: "quantitative", title: "predicted / gold", scale: { type: "log" }, axis: { format: "~g", tickCount: 6, labelOverlap: true } } } },
    ],
  });
}
