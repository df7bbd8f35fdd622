// Systems side by side: differences, slices, cost, latency.
painters.systems = async (params) => {
  const data = await block("systems");
  const figures = Object.fromEntries(findAll('[data-view="systems"] [data-chart]').map((figure) => [`${figure.dataset.chart}${figure.dataset.key || ""}`, figure]));
  if (figures.forest) await drawForest(figures.forest, data.differences, params);
  for (const figure of Object.values(figures)) if (figure.dataset.chart === "slices") await drawSlices(figure, data);
  const known = ["cost", "latency"].filter((name) => data[name].length);
  for (const name of known) find(`[data-if="${name}"]`).hidden = false;
  for (const name of known) await (name === "cost" ? drawCost(figures.cost, data) : drawLatency(figures.latency, data));
};

function drawForest(figure, own, params) {
  const metrics = [...new Set(own.map((row) => row.metric))];
  const slices = ["", ...new Set(own.map((row) => row.slice).filter(Boolean))];
  const metric = metrics.includes(params.metric) ? params.metric : metrics[0];
  const slice = slices.includes(params.slice) ? params.slice : "";
  const choose = (name) => (event) => change({ [name]: event.target.value });
  fillSelect("#forest-metric", metrics.map((name) => [name, name]), metric, choose("metric"));
  fillSelect("#forest-slice", slices.map((name) => [name, name === "" ? "all documents" : `each ${plain(name, 30)}`]), slice, choose("slice"));
  const rows = own.filter((row) => row.metric === metric && row.slice === slice).map((row) => ({ ...row, p_adjusted: row.p, row: slice ? `${row.system} · ${row.group}` : row.system })).sort(byDifference(slice));
  replace(find("#forest-words"), rows.map((row) => el("li", { text: `${row.said}.` })));
  const [first] = rows;
  if (!first) return replace(figure, el("p", { class: "note", text: "Nothing was compared here." }));
  const points = AS_POINTS[first.unit] ? "points" : unitTitle(first.unit);
  const title = `${metric}: difference to ${plain(first.reference, 40)} (${points}${first.better === "lower" ? ", lower is better" : ""})`;
  const columns = ["metric", "slice", "group", "reference", "system", "difference", "low", "high", "p_adjusted", "verdict", "wins", "losses", "ties", "documents"];
  return drawChart(figure, { title, name: "differences", columns, rows, make: forestSpec(rows, `difference in ${points}`, first.unit) });
}

// The best first; within slices as they come, so that a system's slices stay together.
const byDifference = (slice) => (one, other) => (slice ? 0 : (one.better === "lower" ? -1 : 1) * ((other.difference ?? 0) - (one.difference ?? 0)));

function fillSelect(selector, choices, chosen, onChange) {
  const select = typeof selector === "string" ? find(selector) : selector;
  replace(select, choices.map(([value, label, isDisabled]) => option(value, label, chosen, isDisabled)));
  select.onchange = onChange;
}

function drawSlices(figure, { main, slices }) {
  if (drawn.has(figure)) return redraw(figure);
  const key = decodeURIComponent(figure.dataset.key);
  const rows = slices.filter((row) => row.slice === key && row.value !== null);
  if (!rows.length) return figure.remove();
  const columns = ["slice", "group", "system", "value", "low", "high", "n", "documents"];
  const title = `${main.label} by ${plain(key, 40)}, with intervals`;
  return drawChart(figure, { title, name: `slices-${plain(key, 20)}`, columns, rows, make: slicesSpec(rows, main.label, main.unit) });
}

function drawCost(figure, { main, cost }) {
  if (drawn.has(figure)) return redraw(figure);
  const columns = ["system", "cost", "value", "low", "high", "documents"];
  return drawChart(figure, { title: `${main.label} against cost`, name: "cost", columns, rows: cost, make: costSpec(cost, main.label, main.unit) });
}

function drawLatency(figure, { latency }) {
  if (drawn.has(figure)) return redraw(figure);
  const columns = ["system", "min", "p50", "p90", "p95", "p99", "max", "n"];
  return drawChart(figure, { title: "Time per document (thin: all, thick: median to 95th percentile)", name: "latency", columns, rows: latency, make: latencySpec(latency) });
}
