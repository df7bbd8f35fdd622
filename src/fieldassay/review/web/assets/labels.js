// One value: its field, read live by the spec, and what was said of it.
const STATE_WORDS = { value: "labeled", absent: "absent", illegible: "illegible", skipped: "skipped" };

function makeRow(asked, form) {
  const field = form.get(asked.field) || { field: asked.field, type: "text", choices: [], types: [] };
  return { node: asked.node, field, given: asked.given, isContext: asked.is_context, isLeftBlank: asked.is_left_blank, label: null, seq: 0, draft: null, region: null, places: [], place: -1, note: "", active: 0, keys: 0, isEditing: false };
}

// What stands in the field: a draft, the label, or what was given.
const standing = (row) => row.draft ?? (row.label && row.label.state === "value" ? row.label.text : row.label ? "" : row.given ?? "");

function nameOf(row) {
  return row.node;
}

function rowElement(row, act) {
  const id = `v-${act.indexOf(row)}`;
  row.input = el("input", { id, type: "text", autocomplete: "off", spellcheck: "false", dir: "auto", "aria-describedby": "reading", "aria-label": row.node });
  row.input.value = standing(row);
  row.input.placeholder = row.isLeftBlank ? "left blank on purpose: type what you see" : "";
  row.input.addEventListener("focus", () => act.enter(row, true));
  row.input.addEventListener("input", () => act.type(row));
  row.mark = el("span", { class: "mark-state" });
  row.kind = "row";
  row.box = el("div", { class: "row", role: "group", tabindex: "-1", "data-row": row.node, "aria-label": nameOf(row) },
    el("div", { class: "row-head" }, el("span", { class: "row-name" }, breakable(nameOf(row))), el("span", { class: "row-type", text: row.field.type }), row.mark),
    row.input);
  row.box.addEventListener("focus", () => act.enter(row, false));
  drawMark(row);
  return row.box;
}

function drawMark(row) {
  const state = row.label ? row.label.state : row.isOpen === false ? "not asked here" : "";
  const isBad = row.isUnreadable && state === "value";
  row.mark.textContent = isBad ? "not readable" : STATE_WORDS[state] || state;
  row.box.className = `${row.kind} ${isBad ? "is-bad" : row.label ? `is-${row.label.state}` : row.isOpen === false ? "is-out" : "is-open"}`;
  if (row.isActive) row.box.classList.add("at");
}

// What helps to fill in the active value: how the spec reads the text, its choices, its place on the page.
const detail = {
  node: null,
  timer: 0,
  picker: null,
  build() {
    this.reading = el("div", { id: "reading", class: "reading", role: "status" });
    this.choices = el("div", { class: "choices" });
    this.acts = el("div", { class: "acts" });
    this.crop = el("div", { class: "crop-place" });
    this.note = el("p", { class: "small" });
    this.node = el("div", { class: "detail" }, this.crop, this.reading, this.choices, this.acts, this.note);
  },
  show(row, choose) {
    replace(this.crop, crop(row.region));
    this.note.textContent = row.note ? `Note: ${row.note}` : "";
    const choices = row.field.choices || [];
    const hasDigits = digitsChoose(row);
    const endings = (row.field.endings || []).slice(0, 9);
    const button = (keys, text, act) => el("button", { type: "button", class: "choice", tabindex: "-1", on: { click: act } }, keys ? el("kbd", { text: keys }) : null, " ", el("bdi", { text }));
    replace(this.choices, [...choices.slice(0, 40).map((text, at) => button(hasDigits && at < 9 ? String(at + 1) : "", text, () => choose(row, text))),
      ...endings.map((text, at) => button(`Alt+${at + 1}`, text, () => endWith(row, text))), this.calendar(row)]);
    const act = (key, text, run) => el("button", { type: "button", class: "act", tabindex: "-1", on: { click: run } }, text, " ", el("kbd", { text: key }));
    const before = desk.previous(row);
    replace(this.acts, [
      row.isList ? null : act("Enter", "Take", () => desk.take(row)),
      act("F4", "Absent", () => desk.mark("absent")), act("F8", "Illegible", () => desk.mark("illegible")), act("F9", "Skip", () => desk.mark("skipped")),
      before ? act("F3", before.state === "value" ? `As before: ${before.text.slice(0, 40)}` : `As before: ${before.state}`, () => desk.repeat(row)) : null,
    ]);
    this.read(row);
  },
  // A date may be picked: it stands in the field as YYYY-MM-DD, to be taken like a typed one.
  calendar(row) {
    const pick = () => {
      row.input.value = this.picker.value;
      row.input.dispatchEvent(new Event("input", { bubbles: true }));
      row.input.focus();
    };
    this.picker = row.field.type !== "date" ? null : el("input", { type: "date", class: "choice", tabindex: "-1", "aria-label": `Pick ${row.node} from a calendar`, on: { change: pick } });
    return this.picker;
  },
  read(row) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.readNow(row), 120);
  },
  async readNow(row) {
    const text = standing(row);
    if (!text.trim()) {
      this.reading.classList.remove("bad");
      this.reading.textContent = row.label && row.label.state !== "value" ? STATE_WORDS[row.label.state] : row.isLeftBlank ? "Left blank on purpose: type what you see." : row.isList || row.given !== null ? "" : "Nothing was predicted: type what you see, or F4 if it is not there.";
      return;
    }
    const found = await ask("POST", "/api/read", { field: row.field.field, text }).catch((error) => ({ problem: error.message, flags: [] }));
    if (standing(row) !== text) return;
    this.reading.classList.toggle("bad", Boolean(found.problem));
    const ambiguous = (found.flags || []).length ? ` (${found.flags.join(", ")})` : "";
    // The value stands apart, so that its direction does not turn what is around it.
    if (found.problem || found.is_empty) this.reading.textContent = found.problem ? `Not readable: ${found.problem}` : "Read as: no value";
    else {
      if (this.picker && /^\d{4}-\d\d-\d\d$/.test(found.canonical)) this.picker.value = found.canonical;
      replace(this.reading, "= ", el("bdi", { text: found.canonical }), ambiguous);
    }
  },
};

// A field with choices takes nothing else; digits are their keys unless a choice begins with a digit itself.
const isClosed = (row) => (row.field.choices || []).length > 0;
const digitsChoose = (row) => isClosed(row) && !row.field.choices.some((one) => /^[0-9]/.test(one));

// Whether the spec reads a text as one of the choices.
function isWord(row, text) {
  const plain = text.trim().replace(/\s+/g, " ").toLowerCase();
  return [plain, plain.normalize("NFKD").replace(/\p{M}/gu, ""), text.trim()].some((one) => row.field.words.includes(one));
}

// The choices that a typed text can begin, or is.
const choicesFor = (row, text) => (row.field.choices || []).filter((one) => one.toLowerCase().startsWith(text.toLowerCase()));

// A currency or unit behind the amount in the field, in the place of another one that the spec names.
function endWith(row, ending) {
  const text = (row.field.endings || []).reduce((left, one) => (left.endsWith(` ${one}`) ? left.slice(0, -one.length) : left), standing(row).trim()).trim();
  if (!text) return tell("Type the amount first.");
  row.input.value = `${text} ${ending}`;
  row.draft = row.input.value;
  row.input.focus();
  detail.read(row);
}
