// Which values need no review: coverage against risk, and whether confidences hold.
painters.confidence = async () => {
  const known = (await block("confidences")).filter((one) => one.points);
  const figures = findAll('[data-view="confidence"] [data-chart]');
  if (!known.length) return figures.forEach((figure) => figure.remove());
  const curves = known.flatMap(({ system, points }) => points.map(([coverage, risk, threshold, accepted, errors]) => ({ system, coverage, risk, threshold, accepted, errors })));
  const bins = known.flatMap((one) => one.bins.map(([confidence, right, n, low, high]) => ({ system: one.system, confidence, right, n, low, high })));
  for (const figure of figures) {
    if (drawn.has(figure)) await redraw(figure);
    else if (figure.dataset.chart === "risk") await drawChart(figure, { title: "Values accepted without review, and how many of them are wrong", name: "coverage-risk", columns: ["system", "threshold", "coverage", "risk", "accepted", "errors"], rows: curves, make: riskSpec(curves) });
    else await drawChart(figure, { title: "Confidence, and how often values of that confidence are right", name: "reliability", columns: ["system", "low", "high", "confidence", "right", "n"], rows: bins, make: reliabilitySpec(bins) });
  }
};

const percentAxis = (title) => ({ type: "quantitative", title: `${title} (%)` });
const bySystem = (values) => ({ color: { field: "label", type: "nominal", title: null, ...inOrder(values) } });

function riskSpec(rows) {
  const values = labels(scaled(rows, "ratio", ["coverage", "risk"]));
  const tooltip = tips(["label", "system"], ["threshold", "confidence at least", ".4~g"], ["coverageSaid", "accepted"], ["riskSaid", "of these wrong"], ["errors", "wrong values", ",d"]);
  return () => ({
    data: { values }, height: 280,
    encoding: { x: { field: "coverage", ...percentAxis("values accepted") }, y: { field: "risk", ...percentAxis("of these wrong"), scale: scaleOf(values.map((row) => row.risk), "percent", {}) }, ...bySystem(values), tooltip },
    layer: [{ mark: { type: "line", interpolate: "step-after", strokeWidth: 2, tooltip: false } }, { mark: { type: "point", filled: true, size: 25, opacity: 0.9 }, encoding: { shape: { field: "label", type: "nominal", title: null, ...inOrder(values) } } }],
  });
}

function reliabilitySpec(rows) {
  const values = labels(scaled(rows, "ratio", ["confidence", "right"]));
  const tooltip = tips(["label", "system"], ["confidenceSaid", "mean confidence"], ["rightSaid", "right"], ["n", "values", ",d"]);
  const ends = [0, 100].map((at) => ({ at }));
  return () => ({
    height: 280,
    layer: [
      { data: { values: ends }, mark: { type: "line", strokeDash: [4, 3], color: color("line-strong"), tooltip: false }, encoding: { x: { field: "at", ...percentAxis("mean confidence") }, y: { field: "at", ...percentAxis("right") } } },
      { data: { values }, mark: { type: "line", strokeWidth: 1.5, opacity: 0.5, tooltip: false }, encoding: { x: { field: "confidence", type: "quantitative" }, y: { field: "right", type: "quantitative" }, ...bySystem(values) } },
      { data: { values }, mark: { type: "point", filled: true, size: 70, opacity: 1 }, encoding: { x: { field: "confidence", type: "quantitative" }, y: { field: "right", type: "quantitative" }, ...bySystem(values), shape: { field: "label", type: "nominal", title: null, ...inOrder(values) }, tooltip } },
    ],
  });
}
