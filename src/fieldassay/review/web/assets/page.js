// The page beside the values: its picture or its text, the words on it, and the places of values.
const viewer = {
  document: null,
  pages: [],
  words: new Map(),
  number: 1,
  zoom: 1,
  regions: [],
  active: null,
  onPick: () => {},

  async open(document) {
    this.document = document;
    if (!document.has_pages) {
      replace(find("#page"), el("p", { class: "note", text: "This review has no document files." }));
      return;
    }
    try {
      this.pages = (await ask("GET", `/api/pages/${document.id}`)).pages;
      await this.show(1);
    } catch (error) {
      replace(find("#page"), el("p", { class: "note", text: `The pages cannot be shown: ${error.message}` }));
    }
  },
  async show(number) {
    if (!this.pages.length) return;
    this.number = Math.min(Math.max(1, number), this.pages.length);
    const page = this.pages[this.number - 1];
    const sheet = el("div", { class: "paper" });
    if (page.text !== null) sheet.append(el("pre", { class: "page-text", tabindex: "0", text: page.text }));
    else {
      const name = `Page ${this.number} of ${this.pages.length}`;
      sheet.append(page.is_drawn ? el("div", { class: "drawn", role: "img", "aria-label": name }) : el("img", { src: `/api/pages/${this.document.id}/${this.number}`, alt: name, draggable: "false" }), el("div", { class: "over" }));
      sheet.style.setProperty("aspect-ratio", `${page.width} / ${page.height}`);
      this.listen(sheet);
    }
    sheet.style.setProperty("width", `${100 * this.zoom}%`);
    replace(find("#page"), sheet);
    find("#page-number").textContent = `${this.number} / ${this.pages.length}`;
    this.outline();
    await this.loadWords(this.number);
    if (page.is_drawn && page === this.pages[this.number - 1]) replace(find(".drawn"), this.words.get(this.number).map((word) => this.drawn(word, page)));
    if (this.number < this.pages.length) new Image().src = `/api/pages/${this.document.id}/${this.number + 1}`;
  },
  async loadWords(number) {
    if (!this.words.has(number)) this.words.set(number, (await ask("GET", `/api/pages/${this.document.id}/${number}/words`)).words);
    return this.words.get(number);
  },
  setZoom(zoom) {
    this.zoom = Math.min(4, Math.max(0.5, zoom));
    find(".paper")?.style.setProperty("width", `${100 * this.zoom}%`);
  },
  // `regions` are the places of all labels, `active` those of the current value.
  async point(regions, active) {
    this.regions = regions;
    this.active = active;
    if (active && active.page !== this.number && this.pages.length) await this.show(active.page);
    else this.outline();
  },
  outline() {
    const over = find("#page .over");
    if (!over) return;
    const boxes = [...this.regions.map((one) => [one, "faint"]), ...(this.active ? [[this.active, "active"]] : [])].filter(([one]) => one.page === this.number);
    replace(over, boxes.map(([one, kind]) => this.box(one.box, kind)));
    this.reveal(find("#page .over .active"));
  },
  // Scrolls within the pane alone: on a narrow screen the value that is asked for must stay in sight.
  reveal(box) {
    if (!box) return;
    const pane = find("#page");
    const [inner, outer] = [box.getBoundingClientRect(), pane.getBoundingClientRect()];
    pane.scrollTop += inner.top - outer.top - (outer.height - inner.height) / 2;
    if (inner.left < outer.left || inner.right > outer.right) pane.scrollLeft += inner.left - outer.left;
  },
  // A word of plain text at its place; ten twelfths of a line's height is the font whose letters are as wide as a column.
  drawn([text, x0, y0, , y1], page) {
    const made = el("span", {}, visiblePieces(text));
    made.style.setProperty("left", `${100 * x0}%`);
    made.style.setProperty("top", `${100 * y0}%`);
    made.style.setProperty("font-size", `${((y1 - y0) * page.height * 1000) / 12 / page.width}cqw`);
    return made;
  },
  box([x0, y0, x1, y1], kind) {
    const made = el("div", { class: `region ${kind}` });
    Object.entries({ left: x0, top: y0, width: x1 - x0, height: y1 - y0 }).forEach(([name, share]) => made.style.setProperty(name, `${100 * share}%`));
    return made;
  },
  listen(sheet) {
    let from = null;
    const at = (event) => {
      const box = sheet.getBoundingClientRect();
      return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
    };
    sheet.addEventListener("pointerdown", (event) => { from = at(event); event.preventDefault(); });
    sheet.addEventListener("pointerup", (event) => {
      if (from) this.pick(from, at(event));
      from = null;
    });
  },
  pick(from, to) {
    const [x0, x1] = [from[0], to[0]].sort((a, b) => a - b);
    const [y0, y1] = [from[1], to[1]].sort((a, b) => a - b);
    const chosen = (this.words.get(this.number) || []).filter(([, a, b, c, d]) => a <= x1 && c >= x0 && b <= y1 && d >= y0);
    if (!chosen.length) {
      // A scan has no words: the place alone is kept, and the value is typed. A click is no place.
      const box = [x0, y0, x1, y1].map((side) => Math.min(1, Math.max(0, side)));
      if (x1 - x0 > 0.005 && y1 - y0 > 0.005) this.onPick({ page: this.number, box, text: "" });
      return;
    }
    const box = [1, 2, 3, 4].map((side) => (side < 3 ? Math.min : Math.max)(...chosen.map((word) => word[side])));
    this.onPick({ page: this.number, box, text: chosen.map((word) => word[0]).join(" ") });
  },
};

// The part of the page around a region, above the field.
function crop(region) {
  const page = region && viewer.pages[region.page - 1];
  if (!page || page.text !== null || page.is_drawn) return null;
  const [x0, y0, x1, y1] = region.box;
  const wide = Math.min(1, Math.max(0.5, x1 - x0 + 0.16));
  const left = Math.min(Math.max(0, (x0 + x1 - wide) / 2), 1 - wide);
  const right = left + wide;
  const high = Math.min((0.3 * wide * page.width) / page.height, Math.max(2.2 * (y1 - y0), 0.03));
  const top = Math.min(Math.max(0, (y0 + y1 - high) / 2), 1 - high);
  const bottom = top + high;
  const image = el("img", { src: `/api/pages/${viewer.document.id}/${region.page}`, alt: "" });
  const made = el("div", { class: "crop" }, image);
  made.style.setProperty("aspect-ratio", `${(right - left) * page.width} / ${(bottom - top) * page.height}`);
  image.style.setProperty("width", `${100 / (right - left)}%`);
  image.style.setProperty("left", `${(-100 * left) / (right - left)}%`);
  image.style.setProperty("top", `${(-100 * top) / (bottom - top)}%`);
  return made;
}
