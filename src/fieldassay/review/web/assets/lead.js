// Rulings where two sheets differ, and progress.
async function adjudicateScreen() {
  const { documents } = await ask("GET", "/api/adjudicate");
  replace(find("main"), el("div", { class: "wrap" }, el("h1", { text: "Adjudicate" }),
    el("p", { class: "lead", text: documents.length ? "Two people labeled these documents differently. Decide by the page." : "No document waits for you." }),
    el("ul", {}, documents.map((one) => el("li", {}, el("a", { href: `/adjudicate/${one.id}` }, showText(one.name)), ` ${showCount(one.open, "difference")}`))),
    el("p", {}, el("a", { href: "/", text: "Back" }))));
}

const ruling = {
  document: null,
  async start(number) {
    const found = await ask("GET", `/api/adjudicate/${number}`);
    this.document = found.document;
    document.title = `${found.document.name} · Adjudicate`;
    replace(find("main"),
      el("div", { class: "bar" }, el("h1", { class: "document-name" }, showText(found.document.name)), el("span", { class: "bar-right" }, el("a", { href: "/adjudicate", text: "All documents" }))),
      el("p", { id: "told", class: "told", role: "alert" }),
      el("div", { class: "desk" },
        el("section", { class: "page-side", "aria-label": "Document" }, pageTools(), el("div", { id: "page", tabindex: "0", role: "region", "aria-label": "Page" })),
        el("section", { id: "values", "aria-label": "Differences" }, found.differences.map((one) => this.element(one)))));
    await viewer.open(found.document);
    find("#values button")?.focus();
  },
  element(one) {
    const isList = one.options.some((side) => side.rows.length);
    const typed = el("input", { type: "text", "aria-label": `Another value of ${one.node}`, dir: "auto" });
    const box = el("fieldset", { class: `row ${one.is_ruled ? "is-value" : ""}` }, el("legend", { class: "row-name" }, breakable(one.node)));
    const button = (choice, ...what) => el("button", { type: "button", class: "button answer", on: { click: () => this.rule(one, choice, typed.value, box) } }, ...what);
    box.append(button("first", "A: ", answerOf(one.options[0])), button("second", "B: ", answerOf(one.options[1])));
    if (!isList) box.append(button("both", "Both are right"), el("div", { class: "other" }, typed, button("other", "Another value")), button("absent", "Absent"));
    box.append(button("illegible", "Illegible"), button("guideline", "The guideline is silent"));
    return box;
  },
  async rule(one, choice, text, box) {
    try {
      const { waiting } = await ask("POST", "/api/rulings", { document: this.document.id, node: one.node, choice, text, note: "" });
      box.className = "row is-value";
      tell(waiting.length ? `${showCount(waiting.length, "difference")} left.` : "You have ruled on every difference in this document.");
      box.nextElementSibling?.querySelector("button")?.focus();
    } catch (error) {
      tell(error.message);
    }
  },
};

function answerOf(side) {
  if (!side.rows.length) return side.state === "value" ? showText(side.text) : `(${side.state})`;
  return el("span", { class: "answer-rows" }, side.rows.map((cells) => el("span", { class: "answer-row" }, Object.values(cells).map((text, at) => [at ? " | " : "", showText(text)]))));
}

async function progressScreen() {
  const found = await ask("GET", "/api/progress");
  replace(find("main"), el("div", { class: "wrap" }, el("h1", { text: "Progress" }), el("pre", { tabindex: "0", text: found.text }),
    el("h2", { text: "People" }),
    el("table", { class: "keys" }, el("thead", {}, el("tr", {}, ["Alias", "Name", "Role", "Sheets"].map((text) => el("th", { scope: "col", text })))),
      el("tbody", {}, found.people.map((one) => el("tr", {}, el("td", { text: one.alias }), el("td", {}, one.name ? showText(one.name) : "—"), el("td", { text: one.disabled ? `${one.role}, disabled` : one.role }), el("td", { text: String(one.sheets) }))))),
    el("p", {}, el("a", { href: "/", text: "Back" }))));
}
