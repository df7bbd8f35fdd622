// The page beside the values: its picture or its text, the words on it, and the places of values.
const viewer = {
  document: null,
  pages: [],
  words: new Map(),
  number: 1,
  zoom: 1,
  regions: [],
  active: null,
  hint: null,
  onPick: () => {},
  onMove: null,
  onLeave: () => {},

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
    if (page.is_drawn && page === this.pages[this.number - 1]) this.draw(page);
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
  // `regions` are the places of all labels, `active` is that of the current value, `hint` where it probably is.
  async point(regions, active, hint = null) {
    this.regions = regions;
    this.active = active;
    this.hint = hint;
    const target = active || hint;
    if (target && target.page !== this.number && this.pages.length) await this.show(target.page);
    else this.outline();
  },
  outline() {
    const over = find("#page .over");
    if (!over) return;
    const boxes = [...this.regions.map((one) => [one, "faint"]), ...(this.active ? [[this.active, "active"]] : []), ...(this.hint ? [[this.hint, "hint"]] : [])].filter(([one]) => one.page === this.number);
    const isHeld = over.contains(document.activeElement);
    replace(over, boxes.map(([one, kind]) => (kind === "active" && this.onMove ? this.handled(one) : this.box(one.box, kind))));
    const active = find("#page .over .active");
    this.reveal(active || find("#page .over .hint"));
    if (isHeld) active?.focus({ preventScroll: true });
  },
  grasp() {
    const active = find("#page .over .active");
    if (active) active.focus({ preventScroll: true });
    else tell("No place is outlined: click a word of the page, or drag over the place.");
  },
  // The outline of the current value, with handles; its text is that of the words in it.
  handled(region) {
    const made = this.box(region.box, "active");
    made.tabIndex = 0;
    made.setAttribute("role", "group");
    made.setAttribute("aria-label", "Place of the value. Arrow keys move it, Shift and arrow keys change its size, F6 goes back.");
    const set = (box) => {
      region = { page: region.page, box, text: this.textIn(region.page, box) };
      this.place(made, box);
    };
    made.addEventListener("keydown", (event) => {
      if (["F6", "Escape", "Enter"].includes(event.key) && !event.ctrlKey) {
        event.preventDefault();
        event.stopPropagation();
        return this.onLeave();
      }
      const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (!by || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      event.stopPropagation();
      const [dx, dy] = by.map((one) => one * STEP);
      set(event.shiftKey ? changed(region.box, [0, 0, dx, dy]) : changed(region.box, [dx, dy, dx, dy]));
    });
    made.addEventListener("keyup", (event) => { if (event.key.startsWith("Arrow")) this.onMove(region); });
    for (const [name, sides] of [["move", [1, 1, 1, 1]], ["nw", [1, 1, 0, 0]], ["ne", [0, 1, 1, 0]], ["sw", [1, 0, 0, 1]], ["se", [0, 0, 1, 1]]]) {
      const handle = el("div", { class: `handle ${name}` });
      let from = null;
      handle.addEventListener("pointerdown", (event) => {
        event.preventDefault();
        event.stopPropagation();
        handle.setPointerCapture(event.pointerId);
        from = [event.clientX, event.clientY, region.box];
      });
      handle.addEventListener("pointermove", (event) => {
        if (!from) return;
        const paper = find(".paper").getBoundingClientRect();
        const by = [(event.clientX - from[0]) / paper.width, (event.clientY - from[1]) / paper.height];
        set(changed(from[2], sides.map((side, at) => side * by[at % 2])));
      });
      handle.addEventListener("pointerup", (event) => {
        event.stopPropagation();
        const isMoved = from && region.box !== from[2];
        from = null;
        if (isMoved) return this.onMove(region);
        const paper = find(".paper").getBoundingClientRect();
        const at = [(event.clientX - paper.left) / paper.width, (event.clientY - paper.top) / paper.height];
        this.pick(at, at);
      });
      made.append(handle);
    }
    return made;
  },
  textIn(page, [x0, y0, x1, y1]) {
    const inside = ([, a, b, c, d]) => (a + c) / 2 >= x0 && (a + c) / 2 <= x1 && (b + d) / 2 >= y0 && (b + d) / 2 <= y1;
    return (this.words.get(page) || []).filter(inside).map((word) => word[0]).join(" ");
  },
  // Scrolls within the pane alone: on a narrow screen the value that is asked for must stay in sight.
  reveal(box) {
    if (!box) return;
    const pane = find("#page");
    const [inner, outer] = [box.getBoundingClientRect(), pane.getBoundingClientRect()];
    pane.scrollTop += inner.top - outer.top - (outer.height - inner.height) / 2;
    if (inner.left < outer.left || inner.right > outer.right) pane.scrollLeft += inner.left - outer.left;
  },
  // The words of a page without a picture; those with a width of their own are as wide, whatever the font is.
  draw(page) {
    const [host, words] = [find(".drawn"), this.words.get(this.number)];
    const made = words.map((word) => this.drawn(word, page));
    replace(host, made);
    if (!page.has_widths) return;
    const whole = host.clientWidth;
    made.map((one) => one.offsetWidth).forEach((wide, at) => {
      if (wide && whole) made[at].style.setProperty("transform", `scaleX(${((words[at][3] - words[at][1]) * whole) / wide})`);
    });
  },
  // A word at its place; ten twelfths of a line's height is the font whose letters are as wide as a column of plain text.
  drawn([text, x0, y0, , y1], page) {
    const made = el("span", {}, visiblePieces(text));
    made.style.setProperty("left", `${100 * x0}%`);
    made.style.setProperty("top", `${100 * y0}%`);
    made.style.setProperty("font-size", `${((y1 - y0) * page.height * 1000) / 12 / page.width}cqw`);
    return made;
  },
  box(box, kind) {
    const made = el("div", { class: `region ${kind}` });
    this.place(made, box);
    return made;
  },
  place(made, [x0, y0, x1, y1]) {
    Object.entries({ left: x0, top: y0, width: x1 - x0, height: y1 - y0 }).forEach(([name, share]) => made.style.setProperty(name, `${100 * share}%`));
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

// A box with its sides moved, within the page: as a whole it keeps its size, else it keeps a least one.
const STEP = 0.004;
function changed([x0, y0, x1, y1], [a, b, c, d]) {
  const inside = (value) => Math.min(1, Math.max(0, value));
  const pair = (low, high, down, up) => {
    if (down === up) {
      const by = Math.min(1 - high, Math.max(-low, down));
      return [low + by, high + by];
    }
    return [down ? inside(Math.min(low + down, high - STEP)) : low, up ? inside(Math.max(high + up, low + STEP)) : high];
  };
  const [[left, right], [top, bottom]] = [pair(x0, x1, a, c), pair(y0, y1, b, d)];
  return [left, top, right, bottom];
}

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
