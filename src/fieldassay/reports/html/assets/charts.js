// Charts: Vega-Lite specifications with their data, drawn when their page is opened; a table and a CSV file behind each.
let libraries = null;
const drawn = new Map();

function loadLibraries() {
  libraries ||= unpackText("charts").then((text) => {
    document.head.append(el("script", { text }));
    if (!window.vega || !window.vegaLite) throw new Error("the charts could not be loaded");
  });
  return libraries;
}

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

function chartConfig() {
  const [text, muted, line, accent] = ["text", "muted", "line", "accent"].map(color);
  return {
    background: null, font: getComputedStyle(document.body).fontFamily, padding: 4,
    view: { stroke: null }, mark: { color: accent, tooltip: true }, text: { fill: text }, rule: { color: text },
    axis: {
      labelColor: text, titleColor: muted, gridColor: line, domainColor: line, tickColor: line, labelFontSize: 12, titleFontSize: 12,
      titleFontWeight: "normal", labelLimit: 280, titlePadding: 8, labelPadding: 6,
    },
    legend: { labelColor: text, titleColor: muted, labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal", orient: "top", labelLimit: 280 },
    header: { labelColor: text, titleColor: muted, labelFontSize: 12, labelFontWeight: 600, labelLimit: 280 },
    range: { category: SYSTEM_COLORS() },
  };
}

// Colors that people with the usual kinds of color blindness can tell apart; shapes and labels say the same.
const SYSTEM_COLORS = () => ["#2f7fb8", "#d5762b", "#2f9e74", "#b8609a", "#8d7a1e", "#6a6fd0", "#8b8f94"];

// Draws into a figure; `make` gets the width and returns the specification, `rows` and `columns` are the table behind it.
async function drawChart(figure, { title, name, columns, rows, make, alt }) {
  const plot = el("div", { class: "plot", role: "img", "aria-label": alt || title });
  const table = el("details", {}, el("summary", { text: "Table" }));
  table.addEventListener("toggle", () => table.open && table.childElementCount === 1 && table.append(rowTable(title, columns, rows)));
  const markdown = () => toMarkdown(columns, rows.map((row) => columns.map((column) => shownCell(row[column]))), (at) => rows.every((row) => typeof (row[columns[at]] ?? 0) === "number"));
  const tools = [copyButton(title, markdown), csvButton(`the table behind ${title}`, name, columns, rows), make ? pictureButtons({ title, name, make }) : null];
  replace(figure, el("figcaption", { text: title }), plot, el("div", { class: "chart-tools" }, table, tools));
  drawn.set(figure, { plot, make });
  await redraw(figure);
}

const shownCell = (value) => (typeof value === "number" ? String(+value.toPrecision(6)) : plain(value ?? "—", 200));

function rowTable(title, columns, rows, most = 300) {
  const cell = (value) => el("td", { class: typeof value === "number" ? "num" : null, text: shownCell(value) });
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Table: ${title}` }, el("table", {},
    el("thead", {}, el("tr", {}, columns.map((name) => el("th", { scope: "col", text: name })))),
    el("tbody", {}, rows.slice(0, most).map((row) => el("tr", {}, columns.map((name) => cell(row[name])))))),
  rows.length > most ? el("p", { class: "small", text: `The first ${most} of ${rows.length} rows; the CSV file has all.` }) : null);
}

async function redraw(figure) {
  const { plot, make, view } = drawn.get(figure);
  if (!figure.isConnected || !figure.clientWidth) return;
  if (!make) return void replace(plot, el("p", { class: "note", text: "None of them can be drawn; the table has them all." }));
  try {
    await loadLibraries();
    await drawView(figure, plot, make, view);
  } catch (problem) {
    replace(plot, el("p", { class: "note", text: `The chart cannot be drawn: ${problem.message}. The table and the CSV file have its numbers.` }));
  }
}

// A specification as a view of Vega; `more` goes beside the page's own configuration.
function viewOf(made, width, more, renderer) {
  const spec = { $schema: "https://vega.github.io/schema/vega-lite/v6.json", autosize: { type: "fit-x", contains: "padding" }, width, ...made, config: { ...chartConfig(), ...more } };
  const quiet = window.vega.logger(window.vega.Error);
  return new window.vega.View(window.vega.parse(window.vegaLite.compile(spec, { logger: quiet }).spec, null, { ast: true }), {
    expr: window.vega.expressionInterpreter, renderer, hover: renderer !== "none", logger: quiet, tooltip: showTip,
    loader: { load: () => Promise.reject(new Error("nothing is loaded")), sanitize: () => Promise.reject(new Error("no links")) },
  });
}

async function drawView(figure, plot, make, view) {
  const width = Math.max(240, figure.clientWidth - 40);
  const made = viewOf(make(width), width, {}, "svg");
  if (view) view.finalize();
  replace(plot);
  drawn.get(figure).view = made;
  await made.initialize(plot).runAsync();
  const drawing = find("svg", plot);
  if (drawing) drawing.setAttribute("aria-hidden", "true");
}

function redrawAll() {
  for (const figure of [...drawn.keys()]) if (figure.isConnected) redraw(figure); else drawn.delete(figure);
}

let tip = null;

function showTip(handler, event, item, value) {
  if (tip) tip.remove();
  tip = null;
  if (!value) return;
  const lines = typeof value === "object" ? Object.entries(value) : [["", value]];
  tip = el("div", { class: "tip", role: "presentation" }, el("dl", {}, lines.map(([name, text]) => el("div", {}, el("dt", { text: name }), el("dd", { text: plain(text, 300) })))));
  document.body.append(tip);
  const { width, height } = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, window.innerWidth - width - 6))}px`;
  tip.style.top = `${event.clientY + height + 20 > window.innerHeight ? event.clientY - height - 10 : event.clientY + 14}px`;
}
