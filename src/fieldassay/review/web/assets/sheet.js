// The sheet: one document, page beside values, by keyboard alone.
const UNDO = "fieldassay-undo";
const IDLE_MS = 60000;

const desk = {
  form: new Map(),
  lists: new Set(),
  sheet: null,
  rows: [],
  added: new Map(),
  byNode: new Map(),
  at: null,
  open: new Set(),
  unreadable: new Set(),
  lastSign: 0,

  async start(number) {
    const form = await ask("GET", "/api/form");
    this.form = new Map(form.fields.map((one) => [one.field, one]));
    replace(find("main"), sheetShell());
    detail.build();
    viewer.onPick = (region) => this.pick(region);
    viewer.onMove = (region) => this.move(region);
    viewer.onLeave = () => (this.at?.isEditing ? this.at.input : this.at?.box)?.focus();
    saver.seqOf = (sheet, node) => (this.sheet && sheet === this.sheet.id ? this.byNode.get(node)?.seq ?? 0 : 0);
    saver.onSaved = (one, saved) => this.saved(one, saved);
    saver.onRefused = (one, error) => this.refused(one, error);
    saver.send();
    await saver.settle();
    await this.load(number);
    await this.replay();
    document.addEventListener("keydown", (event) => this.key(event));
    window.addEventListener("online", () => { saver.delay = 500; saver.send(); });
    setInterval(() => this.tick(), 250);
    setInterval(() => ask("POST", `/api/sheets/${number}/renew`, {}).catch(() => {}), 300000);
  },
  async load(number) {
    const before = this.at?.node;
    this.sheet = await ask("GET", `/api/sheets/${number}`);
    this.open = new Set(this.sheet.open);
    this.unreadable = new Set(this.sheet.unreadable);
    document.title = `${this.sheet.document.name} · Review`;
    replace(find("#document-name"), showText(this.sheet.document.name));
    this.build();
    if (viewer.document?.id !== this.sheet.document.id) await viewer.open(this.sheet.document);
    this.go(this.rows.find((row) => row.node === before) || this.rows.find((row) => this.open.has(row.node)) || this.rows[0]);
  },
  // Rows in the order of the spec; a list stands where its first value stands, and one in a row below its list.
  build() {
    const old = this.byNode;
    const asked = this.sheet.asked.map((one) => makeRow(one, this.form));
    this.byNode = new Map(asked.map((row) => [row.node, row]));
    const filled = new Set(asked.flatMap((row) => [...row.node.matchAll(/\]/g)].map((end) => row.node.slice(0, end.index + 1))));
    const parts = [];
    this.rows = [];
    this.lists = new Set();
    const below = (item, list) => list.columns.map((path) => [item + path.slice(`${list.field}[]`.length), path]);
    // Rows that a person added have all their cells; of predicted ones those that are asked.
    const prepare = (node) => {
      const list = this.form.get(fieldOf(node));
      this.lists.add(node);
      // A list of which a person removed all rows is answered like one without any.
      if (!this.items(node).length && !this.byNode.has(node)) this.byNode.set(node, makeRow({ node, field: list.field, given: null }, this.form));
      for (const item of this.items(node)) for (const [cell, path] of below(item, list)) {
        if (this.form.get(path)?.is_grid) {
          if (!filled.has(item) || this.byNode.has(cell) || this.items(cell).length) prepare(cell);
        } else if (!filled.has(item) && !this.byNode.has(cell)) this.byNode.set(cell, makeRow({ node: cell, field: path, given: null }, this.form));
      }
    };
    const top = (node) => node.split("[")[0];
    for (const row of asked) if (this.form.get(top(row.node))?.is_grid && !this.lists.has(top(row.node))) prepare(top(row.node));
    // What a person added to a map or a tree.
    for (const [node, { field }] of [...this.added, ...Object.entries(this.sheet.labels)]) {
      if (!this.byNode.has(node) && this.treeOf(node) !== undefined) this.byNode.set(node, { ...makeRow({ node, field, given: null }, this.form), isAdded: true });
    }
    for (const [node, label] of Object.entries(this.sheet.labels)) {
      const row = this.byNode.get(node);
      if (row) Object.assign(row, { label, seq: label.seq, note: label.note, region: label.regions[0] || null });
    }
    for (const row of this.byNode.values()) {
      row.isOpen = this.open.has(row.node) || Boolean(row.label) || row.isAdded || row.node.includes("[") ? undefined : false;
      row.isUnreadable = this.unreadable.has(row.node);
      if (old.get(row.node)?.draft) row.draft = old.get(row.node).draft;
    }
    const addGrid = (node) => {
      const list = this.form.get(fieldOf(node));
      parts.push(gridElement(node, list, this.byNode, this));
      if (this.byNode.get(node)?.isList) this.rows.push(this.byNode.get(node));
      const nested = [];
      for (const item of this.items(node)) for (const [cell] of below(item, list)) {
        const row = this.byNode.get(cell);
        if (this.lists.has(cell)) nested.push(cell);
        else if (row && !row.isContext) this.rows.push(row);
      }
      nested.forEach(addGrid);
    };
    const place = (row) => {
      const isTree = this.sheet.trees.includes(row.node) && row.given === null;
      if (!row.isContext) this.rows.push(row);
      if (!row.isContext && !isTree) parts.push(rowElement(row, this));
    };
    // A map or a tree ends with what was added to it, and a field for more.
    const endTree = (tree) => {
      [...this.byNode.values()].filter((row) => row.isAdded && this.treeOf(row.node) === tree).forEach(place);
      const whole = this.byNode.get(tree);
      if (!whole || whole.given === null) parts.push(keyElement(tree, whole, this));
    };
    const isLive = (node) => [...node.matchAll(/\[\d+\]/g)].every((end) => this.items(node.slice(0, end.index)).includes(node.slice(0, end.index) + end[0]));
    const ends = new Map(asked.map((row) => [this.treeOf(row.node), row]));
    const listed = new Set();
    for (const row of asked) {
      const [list, tree] = [top(row.node), this.treeOf(row.node)];
      if (!this.lists.has(list)) {
        place(row);
        if (tree !== undefined && ends.get(tree) === row) endTree(tree);
      } else if (!listed.has(list)) {
        listed.add(list);
        addGrid(list);
        for (const one of asked) if (top(one.node) === list && !one.box && !this.lists.has(one.node) && isLive(one.node) && this.treeOf(one.node) !== undefined) place(one);
        this.sheet.trees.filter((one) => top(one) === list).forEach(endTree);
      }
    }
    parts.push(el("p", { class: "end-of-values" }, el("button", { type: "button", class: "button primary", on: { click: () => this.finish() } }, "Finish ", el("kbd", { text: "Ctrl+Enter" }))));
    replace(find("#values"), parts);
    this.count();
  },
  treeOf(node) { return this.sheet.trees.find((tree) => !tree || node === tree || node.startsWith(`${tree}.`) || node.startsWith(`${tree}[`)); },
  items(list) { return this.sheet.items[list] || []; },
  indexOf(row) { return this.rows.indexOf(row); },
  count() {
    const total = this.rows.filter((row) => row.isOpen !== false).length;
    find("#count").textContent = `${this.open.size ? `${this.open.size} open of ` : ""}${showCount(total, "value")}`;
  },

  // Moving and editing.
  go(row) {
    if (!row) return;
    const isBlind = !standing(row) && !row.label && !row.isList;
    (isBlind ? row.input : row.box).focus();
  },
  enter(row, isEditing) {
    const isNew = this.at !== row;
    if (this.at && isNew) {
      this.at.isActive = false;
      this.at.box?.classList.remove("at");
      this.leaveDraft(this.at);
    }
    this.at = row;
    row.isActive = true;
    row.isEditing = isEditing;
    row.box.classList.add("at");
    if (!isNew) return;
    const host = row.kind === "cell" ? row.box.closest(".grid") : row.box;
    host.append(detail.node);
    row.box.scrollIntoView({ block: "nearest" });
    this.locate(row);
  },
  async locate(row) {
    detail.show(row, (one, text) => this.choose(one, text));
    const others = this.rows.filter((one) => one !== row && one.region).map((one) => one.region);
    await viewer.point(others, row.region);
    if (row.region || !viewer.pages.length) return;
    const text = row.isList ? "" : standing(row);
    const { places, hint } = await ask("POST", `/api/pages/${this.sheet.document.id}/find`, { field: row.field.field, text }).catch(() => ({ places: [] }));
    if (this.at !== row) return;
    row.places = places;
    if (places.length) return this.toPlace(row, 0);
    // Where nothing says where the value is, the page goes to where it probably is.
    await viewer.point(others, null, hint || this.previous(row)?.region);
  },
  toPlace(row, at) {
    if (!row.places.length) return;
    row.place = (at + row.places.length) % row.places.length;
    row.found = row.places[row.place];
    viewer.point(viewer.regions, row.found);
    replace(detail.crop, crop(row.found));
  },
  type(row) {
    row.draft = row.input.value;
    row.isEditing = true;
    detail.read(row);
  },
  choose(row, text) {
    this.say(row, { state: "value", text });
    this.next();
  },
  // A typed letter of a field with choices: true if it is done with.
  letter(row, key) {
    const typed = (row.typed || "") + key;
    const fitting = choicesFor(row, typed);
    if (!row.typed && digitsChoose(row) && /^[0-9]$/.test(key)) {
      const choice = key !== "0" && row.field.choices[Number(key) - 1];
      if (choice) this.choose(row, choice);
      else tell(`There is no choice ${key}.`);
      return true;
    }
    if (!fitting.length || (row.draft && !row.typed)) return false;
    row.typed = typed;
    const exact = fitting.find((one) => one.toLowerCase() === typed.toLowerCase());
    if (fitting.length === 1) this.say(row, { state: "value", text: fitting[0] });
    else {
      row.draft = exact || typed;
      row.input.value = row.draft;
      tell(`Which one: ${fitting.slice(0, 9).join(", ")}? Keep typing.`);
    }
    row.typed = typed;
    if (row.input !== document.activeElement) row.input.focus();
    detail.read(row);
    return true;
  },
  // What the document before had in this field, as this person labeled it.
  previous(row) { return row.node.includes("[") ? null : this.sheet.previous[row.node] || null; },
  repeat(row) {
    const before = this.previous(row);
    if (!before) return tell("No earlier document has a value here.");
    this.say(row, before.state === "value" ? { state: "value", text: before.text } : { state: before.state });
    this.next();
  },
  mark(state) {
    this.say(this.at, { state });
    if (state === "skipped") this.editNote();
    else this.next();
  },
  // What was typed is taken when its field is left by any way but Esc; nothing typed is lost, or stands there unsaved.
  leaveDraft(row) {
    row.typed = "";
    if (row.draft === null || !row.input) return;
    const text = row.draft.trim();
    if (text && !isClosed(row)) return this.say(row, { state: "value", text });
    if (text) return this.takeChoice(row, text, false);
    row.draft = null;
    if (row.label?.state === "value") this.say(row, { state: "open" });
    row.input.value = standing(row);
  },
  pick(region) {
    const row = this.at;
    if (!row) return;
    row.region = region;
    if (region.text) row.input.value = row.draft = region.text;
    row.input.focus();
    detail.show(row, (one, text) => this.choose(one, text));
    viewer.point(viewer.regions, region);
  },
  // The outline was moved or has another size: the text in the field stays.
  move(region) {
    const row = this.at;
    if (!row) return;
    row.region = region;
    replace(detail.crop, crop(region));
    if (row.draft === null && row.label?.state === "value") this.say(row, { ...row.label, regions: [region] });
    row.region = region;
    viewer.point(viewer.regions, region);
  },
  leave(row) {
    row.draft = null;
    row.typed = "";
    row.input.value = standing(row);
    row.box.focus();
    row.isEditing = false;
    detail.read(row);
  },
  step(by) {
    const next = this.rows[this.indexOf(this.at) + by];
    if (next) this.go(next);
  },
  next() {
    const from = this.indexOf(this.at) + 1;
    const order = [...this.rows.slice(from), ...this.rows.slice(0, from)];
    const beside = this.rows[from];
    const isCell = beside && !beside.label && beside.node.includes("[") && this.itemOf(beside, this.listOf(beside)) === (this.at && this.listOf(this.at) && this.itemOf(this.at, this.listOf(this.at)));
    const row = isCell ? beside : order.find((one) => this.open.has(one.node) && !one.label);
    if (row) this.go(row);
    else { this.at?.box.focus(); tell(this.open.size ? "" : "All values are labeled. Ctrl+Enter finishes the sheet.", "good"); }
  },

  // Labels.
  take(row) {
    if (row.isTree) return row.label ? this.next() : tell("Type the name of a key that the document has. F4: it does not have any. F8: it is illegible. F9: skip.");
    if (row.isList) return row.label ? this.next() : tell("Insert adds a row. F4: the document does not have any. F8: it is illegible. F9: skip.");
    const text = standing(row).trim();
    if (!text && row.label && row.label.state !== "value" && row.draft === null) return this.next();
    if (!text) return tell("This field is empty. F4: the document does not have it. F8: it is illegible. F9: skip.");
    if (isClosed(row)) return this.takeChoice(row, text, true);
    this.say(row, { state: "value", text });
    this.next();
  },
  // A text in a field with choices: one of them, or a word that the spec reads as one; anything else is refused.
  takeChoice(row, text, goesOn) {
    const known = row.field.choices.find((one) => one.toLowerCase() === text.toLowerCase());
    if (!known && !isWord(row, text)) {
      row.draft = goesOn ? row.draft : null;
      row.typed = "";
      if (!goesOn) row.input.value = standing(row);
      tell(`${row.node} takes only: ${row.field.choices.slice(0, 9).join(", ")}`);
      return false;
    }
    this.say(row, { state: "value", text: known || text });
    if (goesOn) this.next();
    return true;
  },
  say(row, label, isUndo = false) {
    const region = label.regions ? label.regions[0] : row.region || (row.places.length === 1 ? row.found : null);
    const regions = label.state === "value" && region ? [region] : [];
    const before = row.label ? { state: row.label.state, text: row.label.text, regions: row.label.regions || [] } : { state: "open" };
    if (!isUndo) this.remember({ sheet: this.sheet.id, node: row.node, before, after: { ...label, regions } });
    row.label = label.state === "open" ? null : { ...label, regions };
    row.region = regions[0] || null;
    row.draft = null;
    row.typed = "";
    row.isUnreadable = false;
    row.input.value = standing(row);
    if (row.label) this.open.delete(row.node);
    else this.open.add(row.node);
    drawMark(row);
    this.count();
    tell("");
    saver.add(this.sheet.id, { node: row.node, state: label.state, text: label.text ?? null, regions, note: row.note, active_ms: Math.round(row.active), keys: row.keys });
    row.active = 0;
    row.keys = 0;
  },
  saved(one, saved) {
    if (!this.sheet || one.sheet !== this.sheet.id) return;
    const row = this.byNode.get(one.body.node);
    if (row) row.seq = one.body.state === "open" ? 0 : saved.seq;
    if (saver.waiting.some((other) => other.sheet === one.sheet)) return;
    this.open = new Set(saved.open);
    this.unreadable = new Set(saved.unreadable);
    for (const other of this.byNode.values()) {
      const isBad = this.unreadable.has(other.node);
      if (other.mark && isBad !== Boolean(other.isUnreadable)) { other.isUnreadable = isBad; drawMark(other); }
    }
    for (const other of this.rows) if (!other.label) {
      const isOpen = this.open.has(other.node) || other.isAdded || other.node.includes("[") ? undefined : false;
      if (isOpen === other.isOpen) continue;
      other.isOpen = isOpen;
      drawMark(other);
    }
    this.count();
  },
  async refused(one, error) {
    tell(error.message);
    if (this.sheet && one.sheet === this.sheet.id) await this.load(this.sheet.id).catch((failed) => tell(failed.message));
  },

  // Undo and redo, over sheets too.
  remember(step) {
    const log = readStored(sessionStorage, UNDO, { done: [], undone: [] });
    sessionStorage.setItem(UNDO, JSON.stringify({ done: [...log.done, step].slice(-500), undone: [] }));
  },
  async turnBack(isRedo) {
    const log = readStored(sessionStorage, UNDO, { done: [], undone: [] });
    const step = (isRedo ? log.undone : log.done).pop();
    if (!step) return tell(isRedo ? "There is nothing to redo." : "There is nothing to undo.");
    (isRedo ? log.done : log.undone).push(step);
    if (step.sheet !== this.sheet.id) {
      try {
        await ask("POST", `/api/sheets/${step.sheet}/undo`, {});
      } catch (error) {
        return tell(error.message);
      }
      sessionStorage.setItem(UNDO, JSON.stringify({ ...log, replay: { ...step, isRedo } }));
      return window.location.assign(`/sheet/${step.sheet}`);
    }
    sessionStorage.setItem(UNDO, JSON.stringify(log));
    return this.apply(step, isRedo);
  },
  apply(step, isRedo) {
    const row = this.byNode.get(step.node);
    if (!row) return;
    row.region = null;
    row.places = [];
    this.say(row, isRedo ? step.after : step.before, true);
    if (!row.label) this.open.add(row.node);
    this.go(row);
    tell(isRedo ? "Redone." : "Undone.");
  },
  async replay() {
    const log = readStored(sessionStorage, UNDO, {});
    if (!log.replay || log.replay.sheet !== this.sheet.id) return;
    sessionStorage.setItem(UNDO, JSON.stringify({ done: log.done, undone: log.undone }));
    this.apply(log.replay, log.replay.isRedo);
  },

  // Items of lists.
  async setItems(list, nodes) {
    await saver.settle();
    try {
      const saved = await ask("PUT", `/api/sheets/${this.sheet.id}/items`, { list, nodes, expects: this.sheet.orders[list] || 0 });
      await this.load(this.sheet.id);
      return saved.nodes;
    } catch (error) {
      if (error.status === 409) await this.load(this.sheet.id).catch(() => {});
      tell(error.message);
      return null;
    }
  },
  listOf(row) {
    const found = [...this.lists].filter((node) => row.node === node || row.node.startsWith(`${node}[`));
    return found.sort((one, other) => one.length - other.length).pop();
  },
  itemOf(row, list) { return this.items(list).find((item) => row.node === item || row.node.startsWith(`${item}.`)); },
  async addItem(list) {
    if (this.at) this.leaveDraft(this.at);
    const items = this.items(list);
    const here = this.at ? items.indexOf(this.itemOf(this.at, list)) : -1;
    const place = here < 0 ? items.length : here + 1;
    const nodes = await this.setItems(list, [...items.slice(0, place), null, ...items.slice(place)]);
    const made = nodes && this.rows.find((row) => row.node === nodes[place] || row.node.startsWith(`${nodes[place]}.`));
    if (made) this.go(made);
    return made;
  },
  // A first row for what is typed at a list; the keys that come meanwhile are part of it.
  async beginList(row, key) {
    if (row.isTree) {
      row.input.focus();
      row.input.value += key;
      return;
    }
    row.pending = key;
    const made = await this.addItem(row.node);
    if (made) {
      made.input.value = row.pending;
      this.type(made);
    }
    row.pending = undefined;
  },
  // A place of a map or a tree that nothing shows, to be filled in.
  async addKey(tree, node, field) {
    if (this.at) this.leaveDraft(this.at);
    await saver.settle();
    this.added.set(node, { field });
    await this.load(this.sheet.id);
    this.go(this.byNode.get(node));
  },
  async changeItem(change) {
    if (this.at) this.leaveDraft(this.at);
    const list = this.at && this.listOf(this.at);
    const item = list && this.itemOf(this.at, list);
    if (!item) return;
    const items = [...this.items(list)];
    const [at, count] = [items.indexOf(item), items.length];
    change(items, at);
    const isSaved = await this.setItems(list, items);
    if (isSaved && items.length < count) this.tellRemoved(list, at);
    const row = this.items(list).length ? null : this.byNode.get(list);
    if (row && !row.label) this.say(row, { state: "absent" });
  },

  // Say that a row is gone, and go to the one that took its place.
  tellRemoved(list, at) {
    tell(`Row ${at + 1} of ${list} is removed. Insert adds a row.`, "good");
    const left = this.items(list);
    const next = left[Math.min(at, left.length - 1)];
    const row = next && this.rows.find((one) => one.node === next || one.node.startsWith(`${next}.`));
    if (row) this.go(row);
  },

  async finish() {
    if (this.at && this.leaveDraft(this.at) === false) return;
    await saver.settle();
    const typed = findAll("[data-tree]").find((one) => one.value.trim());
    const empty = this.rows.find((row) => row.isAdded && !row.label);
    if (typed || empty) {
      (typed || empty.input).focus();
      return tell(typed ? "This key is not added: press Enter, or remove it." : `${empty.node} has no value: type what you see, or F4.`);
    }
    const bad = this.rows.filter((row) => this.unreadable.has(row.node));
    if (bad.length && !(await askUnreadable(bad))) return this.go(bad[0]);
    try {
      await ask("POST", `/api/sheets/${this.sheet.id}/finish`, { takes_unreadable: bad.length > 0 });
      await startNext();
    } catch (error) {
      tell(error.message);
      const first = this.rows.find((row) => this.open.has(row.node));
      if (first) this.go(first);
    }
  },
  editNote() {
    const row = this.at;
    const input = el("input", { type: "text", "aria-label": "Note", class: "note-input" });
    input.value = row.note;
    input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation();
      if (event.key === "Enter") row.note = input.value;
      input.remove();
      if (event.key === "Enter" && row.label) this.say(row, row.label);
      detail.show(row, (one, text) => this.choose(one, text));
      row.box.focus();
    });
    detail.node.append(input);
    input.focus();
  },

  // Effort: active seconds, not those of an idle or hidden page.
  tick() {
    const isActive = this.at && document.visibilityState === "visible" && performance.now() - this.lastSign < IDLE_MS;
    if (isActive) this.at.active += 250;
  },
  key(event) {
    this.lastSign = performance.now();
    if (event.isComposing || event.keyCode === 229 || event.getModifierState("AltGraph")) return;
    if (this.at && !["Shift", "Control", "Alt", "Meta"].includes(event.key)) this.at.keys += 1;
    if (findAll("dialog[open]").length || event.target.matches(".note-input")) return;
    const act = sheetKey(event, this.at);
    if (!act) return;
    event.preventDefault();
    act(this);
  },
};
