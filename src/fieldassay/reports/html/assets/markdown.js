// Tables as Markdown on the clipboard, for a pull request or a mail: cells say what the page shows, and nothing in them is markup.
const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };
const MOST_OF_CELL = 300;

function markdownCell(value) {
  const text = plain(String(value ?? "—").replace(/\s+/g, " ").trim(), MOST_OF_CELL);
  const inert = text.replace(/[\\`*_[\]|#~$]/g, "\\$&").replace(/[&<>]/g, (letter) => ENTITIES[letter]);
  return inert.replace(/[@#](?=[0-9A-Za-z])/g, "$&&#8203;");
}

function toMarkdown(head, rows, isNumber) {
  const rule = head.map((_, at) => (isNumber(at) ? "---:" : "---"));
  return [head.map(markdownCell), rule, ...rows.map((row) => row.map(markdownCell))].map((cells) => `| ${cells.join(" | ")} |\n`).join("");
}

// What a cell says in one line: its parts apart, intervals in parentheses, without signs that are for the eye only.
function saidIn(cell) {
  const parts = [];
  const walk = (node) => {
    for (const child of node.childNodes) {
      if (child.nodeType === Node.TEXT_NODE) parts.push(child.data);
      if (child.nodeType !== Node.ELEMENT_NODE || child.hidden || child.ariaHidden === "true") continue;
      const isNote = child.classList.contains("interval") && child.textContent.trim() !== "" && parts.join("").trim() !== "";
      const apart = isNote || getComputedStyle(child).display !== "inline" ? " " : "";
      parts.push(apart, isNote ? "(" : "");
      walk(child);
      parts.push(isNote ? ")" : "", apart);
    }
  };
  walk(cell);
  return parts.join("").replace(/\s+/g, " ").replace(/\( /g, "(").replace(/ (?=[),])/g, "");
}

function tableMarkdown(table) {
  const [head, ...rows] = [...table.rows].filter((row) => !row.classList.contains("opened")).map((row) => [...row.cells]);
  return toMarkdown(head.map(saidIn), rows.map((row) => row.map(saidIn)), (at) => head[at].classList.contains("num"));
}

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // A page of a server without https has no clipboard; what is selected can be copied there too.
    const box = el("textarea", { class: "unseen" });
    box.value = text;
    document.body.append(box);
    box.select();
    const isCopied = document.execCommand("copy");
    box.remove();
    return isCopied;
  }
}

const MESSAGE_TIME = 2500;

// A button that copies what `make` returns, and says so.
function copyButton(title, make) {
  const said = el("span", { role: "status" });
  const copy = async () => {
    said.textContent = (await copyText(make())) ? "Copied" : "This browser does not let pages copy.";
    setTimeout(() => { said.textContent = ""; }, MESSAGE_TIME);
    button.focus({ preventScroll: true });
  };
  const button = el("button", { type: "button", class: "link", text: "Copy as Markdown", "aria-label": `Copy as Markdown: ${title}`, on: { click: copy } });
  return [said, button];
}

// Gives every table of a page its button: in the place that its box names, or in the tools below it, made where there are none.
function addCopyButtons(section) {
  for (const box of findAll(".scroll", section)) {
    const table = find("table", box);
    if (!table || box.copied === table || box.closest(".chart")) continue;
    const below = box.nextElementSibling;
    const tools = box.dataset.tools ? find(`#${box.dataset.tools}`) : below?.classList.contains("chart-tools") ? below : el("div", { class: "chart-tools" });
    if (!tools.isConnected) box.after(tools);
    tools.prepend(...copyButton(box.getAttribute("aria-label"), () => tableMarkdown(table)));
    box.copied = table;
  }
}
