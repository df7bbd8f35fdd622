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

// Changes some parameters of the page in place, without a new step in the history.
function change(params) {
  const { view, params: old } = readState();
  history.replaceState(null, "", addressOf(view, { ...old, ...params }));
  return paint();
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
  if (painted !== view) window.scrollTo(0, 0);
  painted = view;
  document.title = `${find(`[data-tab="${view}"]`).textContent} · ${TITLE}`;
  const restoreFocus = focusIn(find(`[data-view="${view}"]`));
  if (painters[view]) await painters[view](params);
  restoreFocus();
  document.documentElement.dataset.painted = view;
}
