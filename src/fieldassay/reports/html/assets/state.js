// What is shown is in the address: #view?name=value. The pages are drawn from it, so links and the back button work.
const VIEWS = findAll("[data-tab]").map((tab) => tab.dataset.tab);
const painters = {};

function readState() {
  const [view, query = ""] = location.hash.slice(1).split("?", 2);
  const params = Object.fromEntries(new URLSearchParams(query));
  return { view: VIEWS.includes(view) ? view : "summary", params };
}

function addressOf(view, params) {
  const kept = Object.entries(params).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const query = new URLSearchParams(kept).toString();
  return `#${view}${query ? `?${query}` : ""}`;
}

const go = (view, params = {}) => {
  location.hash = addressOf(view, params);
};

// Where each step of the history was scrolled to. A step that has a number was here before: Back or Forward led to it.
const places = new Map();
let lastStep = 0;
const rememberPlace = () => places.set(history.state?.step, window.scrollY);

function numberStep() {
  const isKnown = history.state?.step !== undefined;
  if (!isKnown) history.replaceState({ step: lastStep + 1 }, "");
  lastStep = history.state.step;
  return isKnown;
}

// A link leads to the top of another page; Back leads to the place and the row that were left.
async function followHash(left) {
  rowAt = -1;
  const isKnown = numberStep();
  const top = places.get(lastStep);
  await paint();
  focusWanted();
  if (!isKnown || top === undefined) return;
  window.scrollTo(0, top);
  drawGrids();
  shownGrid()?.markLink(left);
}

// Changes some parameters of the page in place, without a new step in the history.
function change(params) {
  const { view, params: old } = readState();
  history.replaceState(history.state, "", addressOf(view, { ...old, ...params }));
  return paint();
}

// Nothing fits all filters: which of them to clear, and how many rows that leaves.
async function drawHints(target, word, { params, names, wordOf, countWithout }) {
  const active = names.filter((name) => params[name]);
  const counts = [];
  for (const name of active) counts.push([name, await countWithout({ ...params, [name]: "" })]);
  const useful = counts.filter(([, count]) => count);
  replace(target, `No ${word} fits all filters. `, useful.length ? useful.map(([name, count], at) => [at ? ", " : "", el("button", { type: "button", class: "link", text: `Clear “${plain(wordOf(name), 40)}”: ${showCount(count, word)}`, on: { click: () => change({ [name]: "" }) } })]) : "Clear two of them.", useful.length ? "." : "");
}

let painted = "";
const TITLE = document.title;
const CONTROLS = "a[href], button, select, input, summary, [tabindex]";

// Where the focus is within a page, as the number of the control; what is drawn anew loses it.
function focusIn(section) {
  const at = findAll(CONTROLS, section).indexOf(document.activeElement);
  const tag = document.activeElement?.tagName;
  return () => {
    const again = at < 0 ? undefined : findAll(CONTROLS, section)[at];
    if (again && again.tagName === tag && document.activeElement === document.body) again.focus({ preventScroll: true });
  };
}

async function paint() {
  const { view, params } = readState();
  for (const section of findAll("[data-view]")) section.hidden = section.dataset.view !== view;
  for (const tab of findAll("[data-tab]")) {
    if (tab.dataset.tab === view) {
      tab.setAttribute("aria-current", "page");
      tab.parentElement.scrollLeft = tab.offsetLeft - tab.parentElement.offsetLeft - 40;
    } else tab.removeAttribute("aria-current");
  }
  const page = `${view}${view === "documents" ? params.doc || "" : ""}`;
  if (painted !== page) window.scrollTo(0, 0);
  painted = page;
  document.title = `${find(`[data-tab="${view}"]`).textContent} · ${TITLE}`;
  const restoreFocus = focusIn(find(`[data-view="${view}"]`));
  if (painters[view]) await painters[view](params);
  addCopyButtons(find(`[data-view="${view}"]`));
  restoreFocus();
  document.documentElement.dataset.painted = view;
}
