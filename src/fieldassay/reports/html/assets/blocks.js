// The data of the page: deflated JSON in script elements, unpacked when it is first asked for.
let CORE = null;
const unpacked = new Map();
const MOST_KEPT = 12;

async function unpackText(name) {
  const source = find(`script[data-block="${name}"]`);
  if (!source) throw new Error(`this file has no part ${name}`);
  const letters = atob(source.textContent);
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < letters.length; at += 1) bytes[at] = letters.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).text();
}

function block(name) {
  if (!unpacked.has(name)) unpacked.set(name, unpackText(name).then(JSON.parse));
  return unpacked.get(name);
}

// Rows of the documents around one: the chunk that holds it. Only a few chunks are kept.
async function rowsOf(place) {
  const number = CORE.spans.findIndex(([first, last]) => place >= first && place < last);
  if (number < 0) return null;
  const name = `rows-${number}`;
  const chunk = await block(name);
  unpacked.delete(name);
  unpacked.set(name, Promise.resolve(chunk));
  const kept = [...unpacked.keys()].filter((key) => key.startsWith("rows-"));
  if (kept.length > MOST_KEPT) [kept[0], kept[0].replace("rows-", "crops-")].forEach((key) => unpacked.delete(key));
  const rows = pickRows(chunk, place - CORE.spans[number][0]);
  if (rows.some((row) => row.crop >= 0)) {
    const pictures = await block(`crops-${number}`);
    rows.forEach((row) => { row.picture = row.crop < 0 ? null : pictures[row.crop]; });
  }
  return rows;
}

const SAME = -2;
const cellOf = (column, at) => (Array.isArray(column) ? column[at] : column);

function pickRows(chunk, local) {
  const { columns, texts, cut } = chunk;
  const text = (name, at) => textAt(columns, texts, name, at);
  const word = (name, at) => {
    const code = cellOf(columns[name], at);
    return code === null || code < 0 ? "" : CORE.names[name][code];
  };
  const rows = [];
  for (let at = 0; at < chunk.rows; at += 1) {
    if (cellOf(columns.doc, at) !== local) continue;
    rows.push({
      system: cellOf(columns.system, at), field: word("field", at), kind: word("kind", at), type: word("type", at),
      outcome: word("outcome", at), reason: word("reason", at),
      diagnoses: word("diagnoses", at).split("|").filter(Boolean), flags: word("flags", at).split("|").filter(Boolean),
      goldPath: text("gold_path", at), predPath: text("pred_path", at), gold: text("gold", at), pred: text("pred", at),
      goldValue: text("gold_value", at), predValue: text("pred_value", at), otherField: text("other_field", at),
      goldCut: cutAt(columns, cut, "gold", at), predCut: cutAt(columns, cut, "pred", at),
      score: cellOf(columns.score, at), similarity: columns.similarity === undefined ? null : cellOf(columns.similarity, at),
      confidence: columns.confidence === undefined ? null : cellOf(columns.confidence, at), critical: Boolean(cellOf(columns.critical, at)),
      source: columns.source === undefined ? null : text("source", at),
      crop: columns.crop === undefined ? -1 : cellOf(columns.crop, at), picture: null,
      repeat: columns.repeat === undefined ? null : cellOf(columns.repeat, at),
    });
  }
  return rows;
}

const STANDS_FOR = { pred: "gold", pred_path: "gold_path", gold_value: "gold", pred_value: "pred" };

function codeAt(columns, name, at) {
  const code = cellOf(columns[name], at);
  return code === SAME ? codeAt(columns, STANDS_FOR[name], at) : code;
}

function textAt(columns, texts, name, at) {
  const code = cellOf(columns[name], at);
  if (code === SAME && name.endsWith("_value")) return bare(textAt(columns, texts, STANDS_FOR[name], at));
  const found = codeAt(columns, name, at);
  return found < 0 ? null : texts[found];
}

function cutAt(columns, cut, name, at) {
  const code = codeAt(columns, name, at);
  return code < 0 ? 0 : cut[code] || 0;
}

// A JSON text as a reader wants to see it: strings without their quotes.
function bare(json) {
  if (json === null || json.length < 2 || json[0] !== '"') return json;
  try {
    const value = JSON.parse(json);
    return typeof value === "string" ? value : json;
  } catch {
    return json.slice(1);
  }
}
