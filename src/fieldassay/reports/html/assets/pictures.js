// Charts as files of pictures: drawn anew with their title on the color of the page, the same at every width of the window.
const PICTURE_WIDTH = 720;
const LETTERS_IN_LINE = 95;
const PNG_SCALE = 2;

function linesOf(text, most) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (longer.length > most && lines.at(-1)) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

async function drawPicture(title, make) {
  await loadLibraries();
  const heading = { text: linesOf(title, LETTERS_IN_LINE), anchor: "start", color: color("text"), fontSize: 14, fontWeight: 600, lineHeight: 18, offset: 14 };
  const drawing = viewOf({ ...make(PICTURE_WIDTH), title: heading }, PICTURE_WIDTH, { background: color("surface"), padding: 16 }, "none");
  return drawing.runAsync();
}

const PICTURE_KINDS = {
  SVG: async (view) => new Blob([await view.toSVG()], { type: "image/svg+xml;charset=utf-8" }),
  PNG: async (view) => {
    const canvas = await view.toCanvas(PNG_SCALE);
    return new Promise((resolve) => { canvas.toBlob(resolve, "image/png"); });
  },
};

// A button for each kind of picture.
function pictureButtons({ title, name, make }) {
  const save = async (kind) => {
    const view = await drawPicture(title, make);
    saveFile(`${name}.${kind.toLowerCase()}`, await PICTURE_KINDS[kind](view));
    view.finalize();
  };
  return Object.keys(PICTURE_KINDS).map((kind) => el("button", { type: "button", class: "link", text: kind, "aria-label": `Save “${title}” as ${kind}`, on: { click: () => save(kind) } }));
}

// The ranking of the summary is drawn without the libraries; they draw its picture.
painters.summary = async () => {
  const tools = find("#ranking-tools");
  if (tools.childElementCount) return;
  const { main, intervals, gate } = await block("systems");
  const rows = intervals.filter((row) => row.value !== null);
  const columns = ["system", "value", "low", "high", "n", "documents"];
  const chart = { title: `${main.label}, with intervals`, name: "ranking", make: rankingSpec(rows, main, gate) };
  if (rows.length) tools.append(csvButton(chart.title, chart.name, columns, rows), ...pictureButtons(chart));
};
