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

function option(value, label, chosen, isDisabled = false) {
  const made = el("option", { value, text: label, disabled: isDisabled });
  made.selected = String(chosen) === String(value);
  return made;
}

// What an object really has under a name: names come from documents and may be those of built-in properties.
const own = (object, name) => (object && Object.hasOwn(object, name) ? object[name] : undefined);

const minus = (text) => text.replace("-", "−");

const rounders = new Map();

// A number with so many decimals, rounded as everywhere in fieldassay: what is exactly in the middle goes to the even digit.
function fixed(value, digits, useGrouping = false) {
  const key = `${digits}${useGrouping}`;
  if (!rounders.has(key)) rounders.set(key, new Intl.NumberFormat("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits, useGrouping, roundingMode: "halfEven" }));
  return rounders.get(key).format(value);
}

// A score with two decimals; 1.00 and 0.00 are those values and nothing beside them.
function showScore(value) {
  const text = value.toFixed(2);
  if (value < 1 && text === "1.00") return "0.99…";
  return value > 0 && text === "0.00" ? "0.00…" : text;
}

// Percent with one decimal; 100.0 and 0.0 are those values, but for the rounding of sums, and nothing beside them.
function showPercent(value) {
  const text = fixed(value, 1);
  if (value < 100 * (1 - 1e-9) && text === "100.0") return "99.9…";
  return value > 1e-7 && text === "0.0" ? "0.0…" : text;
}

// A number as the report shows it: shares of one in percent.
function showNumber(value, unit = "ratio") {
  if (value === null || value === undefined) return "—";
  if (unit === "ratio" || unit === "percent") return minus(`${showPercent(unit === "ratio" ? 100 * value : value)}%`);
  if (unit === "ms") return minus(`${value === 0 ? 0 : fixed(value / 1000, Math.min(6, Math.max(0, 1 - Math.floor(Math.log10(Math.abs(value / 1000))))), true)} s`);
  if (unit === "usd") return minus(`${value < 0 ? "-" : ""}$${value === 0 ? 0 : fixed(Math.abs(1000 * value), 2, true)}`);
  const digits = { tokens: 0, count: 0, "documents/min": 1 }[unit] ?? 3;
  const suffix = { tokens: " tokens", "documents/min": "/min" }[unit] ?? "";
  return value === 0 ? `0${suffix}` : minus(fixed(value, digits, true) + suffix);
}

// A difference as the report shows it, with its sign; shares of one in points.
const showDifference = (value, unit) => (value === null || value === undefined ? "—" : `${value > 0 ? "+" : ""}${showNumber(value, unit).replace(/%$/, " points")}`);

// A name that may be broken behind its separators, not within its words.
const breakable = (text) => text.split(/(?<=[/_.\]-])(?=[^/_.\]-])/).flatMap((part, at) => (at ? [el("wbr"), part] : [part]));

const showCount = (count, word, plural) => `${count.toLocaleString("en-US")} ${count === 1 ? word : plural || `${word}s`}`;
const say = (kind, name) => own(CORE.words[kind], name) ?? name.replaceAll("_", " ");
