// What is shown is in the address: #view?name=value. The pages are drawn from it, so links and the back button work.
const VIEWS = ["summary", "systems", "fields", "documents", "gates", "methods"];
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
  if (painters[view]) await painters[view](params);
  document.documentElement.dataset.painted = view;
}
