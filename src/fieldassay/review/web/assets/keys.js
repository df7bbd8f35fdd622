// Which key does what on a sheet; single keys only while no text is edited, and only if they are switched on.
const SINGLE = "fieldassay-single-keys";
const KEYS = [
  ["Enter", "take what stands here, go to the next value"],
  ["↑ ↓ or k j", "value before, after"],
  ["F2 or typing", "edit"],
  ["F4 or a", "absent: the document does not have it"],
  ["F8 or i", "illegible: it is there, and cannot be read"],
  ["F9 or s", "skip, with a note"],
  ["1 to 9", "take this choice"],
  [".", "next place on the page where the value could stand"],
  ["[ ]", "page before, after"],
  ["+ − 0", "zoom"],
  ["Insert, Delete", "add a row to a list, remove it"],
  ["Alt+↑ Alt+↓", "move a row of a list"],
  ["n", "note"],
  ["Esc", "leave a field, change nothing"],
  ["Ctrl+Z, Ctrl+Shift+Z", "undo, redo, over documents too"],
  ["Ctrl+Enter", "finish the sheet, next one"],
  ["?", "these keys"],
];

function sheetKey(event, row) {
  const { key } = event;
  const isCommand = event.ctrlKey || event.metaKey;
  if (isCommand && key === "Enter") return (desk) => desk.finish();
  if (isCommand && key.toLowerCase() === "z") return row && row.isEditing && row.draft !== null ? null : (desk) => desk.turnBack(event.shiftKey);
  if (!row || isCommand) return null;
  if (event.altKey) {
    const by = { ArrowUp: -1, ArrowDown: 1 }[key];
    return by ? (desk) => desk.changeItem((items, at) => { if (items[at + by]) [items[at], items[at + by]] = [items[at + by], items[at]]; }) : null;
  }
  if (event.target.closest("button, a")) return null;
  const always = {
    Enter: (desk) => desk.take(row),
    ArrowUp: (desk) => desk.step(-1),
    ArrowDown: (desk) => desk.step(1),
    Escape: (desk) => desk.leave(row),
    F2: () => { row.input.focus(); row.input.select(); },
    F4: (desk) => { desk.say(row, { state: "absent" }); desk.next(); },
    F8: (desk) => { desk.say(row, { state: "illegible" }); desk.next(); },
    F9: (desk) => { desk.say(row, { state: "skipped" }); desk.editNote(); },
    Insert: (desk) => { const list = desk.listOf(row); if (list) desk.addItem(list); },
  };
  if (always[key]) return always[key];
  const isTyping = event.target === row.input;
  if (isTyping) return null;
  if (key === "Delete" && row.node.includes("[")) return (desk) => desk.changeItem((items, at) => items.splice(at, 1));
  if (localStorage.getItem(SINGLE) !== "off") {
    const single = {
      j: always.ArrowDown, k: always.ArrowUp, a: always.F4, i: always.F8, s: always.F9,
      ".": (desk) => desk.toPlace(row, row.place + 1),
      "[": () => viewer.show(viewer.number - 1), "]": () => viewer.show(viewer.number + 1),
      "+": () => viewer.setZoom(viewer.zoom * 1.25), "-": () => viewer.setZoom(viewer.zoom / 1.25), 0: () => viewer.setZoom(1),
      n: (desk) => desk.editNote(),
      "?": () => find("#keys").showModal(),
    }[key];
    const choice = /^[1-9]$/.test(key) && (row.field.choices || [])[Number(key) - 1];
    if (choice) return (desk) => desk.choose(row, choice);
    if (single) return single;
  }
  if (key.length === 1) return (desk) => { row.input.value = key; row.input.focus(); desk.type(row); };
  return null;
}

function keysDialog() {
  const box = el("input", { type: "checkbox", id: "single-keys" });
  box.checked = localStorage.getItem(SINGLE) !== "off";
  box.addEventListener("change", () => localStorage.setItem(SINGLE, box.checked ? "on" : "off"));
  return el("dialog", { id: "keys", "aria-labelledby": "keys-title" }, el("h2", { id: "keys-title", text: "Keys" }), keysTable(),
    el("p", {}, box, " ", el("label", { for: "single-keys", text: "Single letters and signs act (a, i, s, j, k, n, ., [, ], +, −, 0, 1 to 9)" })),
    el("form", { method: "dialog" }, el("button", { class: "button", text: "Close" })));
}

const keysTable = () => el("table", { class: "keys" }, el("tbody", {}, KEYS.map(([keys, what]) => el("tr", {}, el("th", { scope: "row" }, keys.split(", ").map((one, at) => [at ? ", " : "", el("kbd", { text: one })])), el("td", { text: what })))));
