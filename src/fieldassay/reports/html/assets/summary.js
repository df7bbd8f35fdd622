// The summary is in the file as it is; only its chart of many systems is drawn.
painters.summary = async () => {
  const figure = find('[data-view="summary"] [data-chart="intervals"]');
  if (figure) await drawIntervals(figure);
};

async function drawIntervals(figure) {
  if (drawn.has(figure)) return redraw(figure);
  const { main, intervals } = await block("systems");
  const sign = main.better === "lower" ? 1 : -1;
  const rows = intervals.filter((row) => row.value !== null).sort((one, other) => sign * (one.value - other.value));
  const columns = ["system", "value", "low", "high", "n", "documents"];
  return drawChart(figure, { title: `${main.label} with intervals`, name: "systems", columns, rows, make: intervalSpec(rows, main.label, main.unit) });
}
