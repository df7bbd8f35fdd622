// The specifications of all charts. Values come in as data only, never as names or expressions.
const AS_POINTS = { ratio: 100, percent: 1 };
const unitTitle = (unit) => ({ ratio: "%", percent: "%", ms: "milliseconds", usd: "USD" })[unit] || unit;
// About one tick in 90 pixels, so that labels never touch.
const ticks = (width) => ({ tickCount: Math.max(3, Math.floor(width / 90)), labelOverlap: true });
function labels(rows, name = "system") {
  const names = shortNames(rows.map((row) => row[name]), window.innerWidth <= 700 ? 22 : 40);
  return rows.map((row) => ({ ...row, label: names.get(row[name]) }));
}

const tips = (...pairs) => pairs.map(([field, title, format]) => ({ field, title, ...(format ? { format } : { type: "nominal" }) }));

function scaled(rows, unit, names) {
  const factor = AS_POINTS[unit] || 1;
  return rows.map((row) => ({ ...row, ...Object.fromEntries(names.map((name) => [name, row[name] === null || row[name] === undefined ? null : factor * row[name]])) }));
}

// An order is given as a domain: an order given as `sort` would put the names into an expression.
const inOrder = (rows, name = "label") => ({ sort: null, scale: { domain: [...new Set(rows.map((row) => row[name]))] } });
const yOrder = (rows) => ({ field: "label", type: "nominal", title: null, ...inOrder(rows), axis: { ticks: false, domain: false } });

function intervalSpec(rows, title, unit) {
  const values = labels(scaled(rows, unit, ["value", "low", "high"]));
  const tooltip = tips(["label", "system"], ["value", title, ".1f"], ["low", "from", ".1f"], ["high", "to", ".1f"], ["documents", "documents", ",d"]);
  return (width) => ({
    data: { values }, height: { step: 28 }, encoding: { y: yOrder(values), tooltip },
    layer: [
      { mark: { type: "rule", strokeWidth: 6, opacity: 0.35, strokeCap: "round", color: color("accent") }, encoding: { x: { field: "low", type: "quantitative", title: `${title} (${unitTitle(unit)})`, scale: { zero: false, nice: true }, axis: ticks(width) }, x2: { field: "high" } } },
      { mark: { type: "point", filled: true, size: 70, opacity: 1, color: color("accent") }, encoding: { x: { field: "value", type: "quantitative" } } },
    ],
  });
}

const VERDICTS = { better: "better", worse: "worse", no_difference_shown: "no difference shown", identical: "the same", undefined: "undefined" };

function forestSpec(rows, title, unit) {
  const values = labels(scaled(rows, unit, ["difference", "low", "high"]), "row").map((row) => ({ ...row, said: VERDICTS[row.verdict] || row.verdict, pSaid: row.p === null ? "—" : row.p < 0.001 ? "< .001" : row.p.toFixed(3).replace("0.", ".") }));
  const shades = { domain: ["better", "worse", "no difference shown", "the same", "undefined"], range: [color("good"), color("bad"), color("muted"), color("muted"), color("muted")] };
  const shapes = { domain: shades.domain, range: ["triangle-up", "triangle-down", "circle", "square", "cross"] };
  const tooltip = tips(["label", "system"], ["difference", "difference", "+.1f"], ["low", "from", "+.1f"], ["high", "to", "+.1f"], ["said", "verdict"], ["pSaid", "p, adjusted"], ["documents", "documents", ",d"]);
  const axis = { field: "low", type: "quantitative", title, scale: { zero: true, nice: true } };
  return (width) => ({
    data: { values }, height: { step: 30 }, encoding: { y: yOrder(values), tooltip },
    layer: [
      { data: { values: [{ zero: 0 }] }, mark: { type: "rule", strokeDash: [4, 3], tooltip: false }, encoding: { x: { field: "zero", type: "quantitative" }, y: null, color: { value: color("line-strong") }, tooltip: null } },
      { mark: { type: "rule", strokeWidth: 2 }, encoding: { x: { ...axis, axis: ticks(width) }, x2: { field: "high" }, color: { field: "said", type: "nominal", scale: shades, legend: null } } },
      { mark: { type: "point", filled: true, size: 110, opacity: 1 }, encoding: { x: { field: "difference", type: "quantitative" }, color: { field: "said", type: "nominal", scale: shades, legend: null }, shape: { field: "said", type: "nominal", scale: shapes, legend: null } } },
    ],
  });
}

function slicesSpec(rows, title, unit) {
  const groups = shortNames(rows.map((row) => row.group), 28);
  const values = labels(scaled(rows, unit, ["value", "low", "high"])).map((row) => ({ ...row, place: groups.get(row.group) }));
  const systems = [...new Set(values.map((row) => row.label))];
  const few = systems.length <= 7;
  const y = few ? { field: "place", type: "nominal", title: null, ...inOrder(values, "place") } : yOrder(values);
  const tooltip = tips(["label", "system"], ["place", "slice"], ["value", title, ".1f"], ["low", "from", ".1f"], ["high", "to", ".1f"], ["documents", "documents", ",d"]);
  const x = { type: "quantitative", title: `${title} (${unitTitle(unit)})`, scale: { zero: false } };
  const shade = few ? { color: { field: "label", type: "nominal", ...inOrder(values), title: null, legend: { symbolOpacity: 1 } }, yOffset: { field: "label", ...inOrder(values) } } : {};
  return (width) => ({
    data: { values }, height: { step: few ? 14 : 22 }, encoding: { y, tooltip, ...shade },
    layer: [
      { mark: { type: "rule", strokeWidth: 4, opacity: 0.4 }, encoding: { x: { ...x, field: "low", axis: ticks(width) }, x2: { field: "high" } } },
      { mark: { type: "point", filled: true, size: 60, opacity: 1 }, encoding: { x: { ...x, field: "value" }, ...(few ? { shape: { field: "label", type: "nominal", ...inOrder(values), title: null } } : {}) } },
    ],
  });
}

function costSpec(rows, title, unit) {
  const values = labels(scaled(rows, unit, ["value", "low", "high"]));
  const tooltip = tips(["label", "system"], ["cost", "USD per document", ".5f"], ["value", title, ".1f"], ["low", "from", ".1f"], ["high", "to", ".1f"]);
  const x = { field: "cost", type: "quantitative", title: "cost per document (USD)", axis: { tickCount: 5, labelOverlap: true, format: "~g" } };
  const y = { type: "quantitative", title: `${title} (${unitTitle(unit)})`, scale: { zero: false } };
  return () => ({
    data: { values }, height: 260, encoding: { x, tooltip },
    layer: [
      { mark: { type: "rule", strokeWidth: 4, opacity: 0.35, color: color("accent") }, encoding: { y: { ...y, field: "low" }, y2: { field: "high" } } },
      { mark: { type: "point", filled: true, size: 80, opacity: 1, color: color("accent") }, encoding: { y: { ...y, field: "value" } } },
      { mark: { type: "text", align: "left", dx: 9, fontSize: 12, color: color("text"), limit: 130 }, encoding: { y: { ...y, field: "value" }, text: { field: "label" } } },
    ],
  });
}

function latencySpec(rows) {
  const values = labels(rows);
  const tooltip = tips(["label", "system"], ["min", "shortest", ",.0f"], ["p50", "median", ",.0f"], ["p90", "90th percentile", ",.0f"], ["p95", "95th percentile", ",.0f"], ["max", "longest", ",.0f"], ["n", "documents", ",d"]);
  const x = { type: "quantitative", title: "milliseconds per document" };
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
