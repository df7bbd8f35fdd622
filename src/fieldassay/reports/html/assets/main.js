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

function skip(event) {
  if (!event.target.closest("a.skip")) return;
  event.preventDefault();
  find("#main").focus();
}

async function start() {
  restoreTheme();
  CORE = await block("core");
  document.addEventListener("click", skip);
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
  find("#main").prepend(el("p", { class: "verdict tone-unsure", text: "This browser cannot unpack the report's data. You can read the summary, the gates and the methods; for the rest use a browser from 2023 or later." }));
} else start();
