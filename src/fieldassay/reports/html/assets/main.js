// Starts the page.
painters.gates = () => {};

painters.methods = (params) => {
  const target = params.metric ? document.getElementById(`metric-${params.metric}`) : params.about ? document.getElementById(`about-${params.about}`) : null;
  if (target) {
    target.scrollIntoView({ block: "center" });
    target.tabIndex = -1;
    target.focus({ preventScroll: true });
  }
};

function followLinks(event) {
  const link = event.target.closest("a[data-document], a[data-field], a.skip");
  if (!link) return;
  event.preventDefault();
  if (link.classList.contains("skip")) find("#main").focus();
  else if (link.dataset.document !== undefined) go("documents", { doc: link.dataset.document, field: link.dataset.in, system: link.dataset.system });
  else go("fields", { field: link.dataset.field });
}

async function start() {
  restoreTheme();
  CORE = await block("core");
  document.addEventListener("click", followLinks);
  document.addEventListener("keydown", onKey);
  find("#theme").addEventListener("click", nextTheme);
  find("#print").addEventListener("click", printAll);
  find("#help").addEventListener("click", () => find("#help-box").showModal());
  history.scrollRestoration = "manual";
  numberStep();
  window.addEventListener("hashchange", (event) => followHash(new URL(event.oldURL).hash));
  window.addEventListener("scroll", () => requestAnimationFrame(() => { drawGrids(); rememberPlace(); }), { passive: true });
  window.addEventListener("beforeprint", () => printWhole(true));
  window.addEventListener("afterprint", () => printWhole(false));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
  let width = window.innerWidth;
  window.addEventListener("resize", () => { if (window.innerWidth !== width) { width = window.innerWidth; redrawAll(); } });
  await paint();
}

if (typeof DecompressionStream === "undefined") {
  find("#main").prepend(el("p", { class: "verdict tone-unsure", text: "This browser cannot unpack the report's data. The summary, the gates and the methods can be read; for the rest use a browser of 2023 or later." }));
} else start();
