// Elements are made here and nowhere else: text goes in as text, never as markup.
const SVG_SPACE = "http://www.w3.org/2000/svg";

function fill(node, props, children) {
  for (const [name, value] of Object.entries(props || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "text") node.textContent = value;
    else if (name === "on") for (const [event, handler] of Object.entries(value)) node.addEventListener(event, handler);
    else if (name === "vars") for (const [key, number] of Object.entries(value)) node.style.setProperty(`--${key}`, number);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

const el = (tag, props, ...children) => fill(document.createElement(tag), props, children);
const svg = (tag, props, ...children) => fill(document.createElementNS(SVG_SPACE, tag), props, children);
const find = (selector, within = document) => within.querySelector(selector);
const findAll = (selector, within = document) => [...within.querySelectorAll(selector)];

function replace(node, ...children) {
  node.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

function option(value, label, chosen) {
  const made = el("option", { value, text: label });
  made.selected = String(chosen) === String(value);
  return made;
}

// What an object really has under a name: names come from documents and may be those of built-in properties.
const own = (object, name) => (object && Object.hasOwn(object, name) ? object[name] : undefined);

const minus = (text) => text.replace("-", "−");

// A number as the report shows it: shares of one in percent.
function showNumber(value, unit = "ratio") {
  if (value === null || value === undefined) return "—";
  if (unit === "ratio") return minus(`${(100 * value).toFixed(1)} %`);
  if (unit === "percent") return minus(`${value.toFixed(1)} %`);
  const digits = { ms: 0, count: 0, usd: 5, "documents/min": 1 }[unit] ?? 3;
  const suffix = { ms: " ms", usd: " USD", "documents/min": "/min" }[unit] ?? "";
  return minus(value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits }) + suffix);
}

const showCount = (count, word, plural) => `${count.toLocaleString("en-US")} ${count === 1 ? word : plural || `${word}s`}`;
const say = (kind, name) => own(CORE.words[kind], name) ?? name.replaceAll("_", " ");
