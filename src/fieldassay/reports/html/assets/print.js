// Paper: a page stands in full, tables with all their rows up to a number that is said; or all pages that a reader takes along.
const PRINTED = ["summary", "systems", "fields", "gates", "errors"];
const MOST_ON_PAPER = 500;
const MOST_OF_ALL = 20;
let isPrinting = false;
let mostPrinted = MOST_ON_PAPER;

function printWhole(isNow) {
  isPrinting = isNow;
  drawGrids();
}

async function printAll() {
  const { view } = readState();
  const root = document.documentElement;
  mostPrinted = MOST_OF_ALL;
  root.classList.add("print-all");
  for (const name of PRINTED) {
    find(`[data-view="${name}"]`).hidden = false;
    if (painters[name] && name !== view) await painters[name]({});
  }
  window.addEventListener("afterprint", () => { root.classList.remove("print-all"); mostPrinted = MOST_ON_PAPER; paint(); }, { once: true });
  window.print();
}
