// Which key does what on a sheet; single keys only while no text is edited, and only if they are switched on.
const SINGLE = "fieldassay-single-keys";
const CHANGED = "fieldassay-keys";
const LETTERS = { up: "k", down: "j", absent: "a", illegible: "i", skip: "s", note: "n", repeat: "r", place: ".", before: "[", after: "]", larger: "+", smaller: "-", help: "?" };
const LETTER_WORDS = { up: "previous value", down: "next value", absent: "absent", illegible: "illegible", skip: "skip", note: "note", repeat: "value of the previous document", place: "next place on the page", before: "previous page", after: "next page", larger: "larger", smaller: "smaller", help: "these keys" };
const letters = () => ({ ...LETTERS, ...readStored(localStorage, CHANGED, {}) });
const allKeys = (own) => [
  [["Enter"], "accept this value, go to the next"],
  [["↑", "↓", own.up, own.down], "previous, next value"],
  [["F2"], "edit; typing does too"],
  [["F4", own.absent], "absent: the document does not have it"],
  [["F8", own.illegible], "illegible: it is there, and cannot be read"],
  [["F9", own.skip], "skip, with a note"],
  [["1 to 9"], "take this choice"],
  [["a letter"], "type a choice: Enter takes the first that begins so"],
  [["F3", own.repeat], "repeat the value of the previous document"],
  [["Alt+1 to 9"], "put this currency or unit behind the amount"],
  [[own.place], "next place on the page where the value could stand"],
  [["F6"], "to the outline on the page, and back: arrows move it, Shift+arrows change its size"],
  [[own.before, own.after], "previous, next page"],
  [[own.larger, own.smaller, "0"], "zoom"],
  [["Insert", "Delete"], "add a row to a list, remove it"],
  [["Alt+↑", "Alt+↓"], "move a row of a list"],
  [[own.note], "note"],
  [["Esc"], "leave a field, change nothing"],
  [["Ctrl+Z", "Ctrl+Shift+Z"], "undo, redo, over documents too"],
  [["Ctrl+Enter"], "finish the sheet, next one"],
  [[own.help], "these keys"],
];

function sheetKey(event, row) {
  const { key } = event;
  const isCommand = event.ctrlKey || event.metaKey;
  if (isCommand && key === "Enter") return (desk) => desk.finish();
  if (isCommand && key.toLowerCase() === "z") return row && row.isEditing && row.draft !== null ? null : (desk) => desk.turnBack(event.shiftKey);
  if (!row || isCommand) return null;
  if (event.altKey) {
    const ending = /^[1-9]$/.test(key) && (row.field.endings || [])[Number(key) - 1];
    if (ending) return () => endWith(row, ending);
    const by = { ArrowUp: -1, ArrowDown: 1 }[key];
    return by ? (desk) => desk.changeItem((items, at) => { if (items[at + by]) [items[at], items[at + by]] = [items[at + by], items[at]]; }) : null;
  }
  if (event.target.closest("button, a")) return null;
  if (row.pending !== undefined && key.length === 1) return () => { row.pending += key; };
  const always = {
    Enter: (desk) => desk.take(row),
    ArrowUp: (desk) => desk.step(-1),
    ArrowDown: (desk) => desk.step(1),
    Escape: (desk) => desk.leave(row),
    F6: () => viewer.grasp(),
    F2: () => { row.input.focus(); row.input.select?.(); },
    F3: (desk) => desk.repeat(row),
    F4: (desk) => desk.mark("absent"),
    F8: (desk) => desk.mark("illegible"),
    F9: (desk) => desk.mark("skipped"),
    Insert: (desk) => { const list = desk.listOf(row); if (list) desk.addItem(list); else findAll("[data-tree]").find((one) => one.dataset.tree === desk.treeOf(row.node))?.focus(); },
  };
  if (always[key]) return always[key];
  const isTyping = event.target === row.input;
  if (key.length === 1 && isClosed(row) && (!isTyping || !row.draft || row.typed) && desk.letter(row, key)) return () => {};
  if (isTyping) return null;
  if (key === "Delete" && row.node.includes("[")) return (desk) => desk.changeItem((items, at) => items.splice(at, 1));
  if (localStorage.getItem(SINGLE) !== "off") {
    const own = letters();
    const acts = {
      up: always.ArrowUp, down: always.ArrowDown, absent: always.F4, illegible: always.F8, skip: always.F9,
      place: (desk) => desk.toPlace(row, row.place + 1),
      before: () => viewer.show(viewer.number - 1), after: () => viewer.show(viewer.number + 1),
      larger: () => viewer.setZoom(viewer.zoom * 1.25), smaller: () => viewer.setZoom(viewer.zoom / 1.25),
      note: (desk) => desk.editNote(),
      repeat: always.F3,
      help: () => find("#keys").showModal(),
    };
    const single = key === "0" ? () => viewer.setZoom(1) : acts[Object.keys(own).find((name) => own[name] === key)];
    if (single) return single;
  }
  if (key.length === 1 && row.isList) return (desk) => desk.beginList(row, key);
  if (key.length === 1) return (desk) => { row.input.value = key; row.input.focus(); desk.type(row); };
  return null;
}

function keysDialog() {
  const box = el("input", { type: "checkbox", id: "single-keys" });
  box.checked = localStorage.getItem(SINGLE) !== "off";
  box.addEventListener("change", () => localStorage.setItem(SINGLE, box.checked ? "on" : "off"));
  const table = el("div", {}, keysTable());
  return el("dialog", { id: "keys", "aria-labelledby": "keys-title" }, el("h2", { id: "keys-title", text: "Keys" }), table,
    el("p", {}, box, " ", el("label", { for: "single-keys", text: "Single letters and signs are keys while no text is edited" })),
    lettersForm(() => replace(table, keysTable())),
    el("form", { method: "dialog" }, el("button", { class: "button", text: "Close" })));
}

// Every single key can be another one; it is kept in this browser.
function lettersForm(onChange) {
  const told = el("p", { class: "small", role: "status", id: "letters-told" });
  const inputs = Object.keys(LETTERS).map((name) => {
    const input = el("input", { type: "text", id: `letter-${name}`, maxlength: "1", autocomplete: "off", spellcheck: "false" });
    input.addEventListener("change", () => {
      const own = letters();
      const key = input.value.toLowerCase();
      const other = Object.keys(own).find((one) => one !== name && own[one] === key);
      if (!key.trim() || /[0-9]/.test(key)) told.textContent = "Give one letter or sign; digits take choices.";
      else if (other) told.textContent = `${key} is the key for: ${LETTER_WORDS[other]}`;
      else {
        localStorage.setItem(CHANGED, JSON.stringify({ ...own, [name]: key }));
        told.textContent = `${key}: ${LETTER_WORDS[name]}`;
        onChange();
      }
      draw();
    });
    return input;
  });
  const draw = () => inputs.forEach((input, at) => { input.value = letters()[Object.keys(LETTERS)[at]]; });
  draw();
  const reset = el("button", { type: "button", class: "button", on: { click: () => { localStorage.removeItem(CHANGED); draw(); onChange(); told.textContent = "All keys are reset."; } } }, "Reset all keys");
  return el("details", { class: "letters" }, el("summary", { text: "Change single keys" }),
    el("div", { class: "letter-rows" }, Object.keys(LETTERS).map((name, at) => el("label", { for: `letter-${name}` }, inputs[at], " ", LETTER_WORDS[name]))), told, reset);
}

const keysTable = () => el("table", { class: "keys" }, el("tbody", {}, allKeys(letters()).map(([keys, what]) => el("tr", {}, el("th", { scope: "row" }, keys.map((one) => [el("kbd", { text: one }), " "])), el("td", { text: what })))));
