// Tables as CSV files. A text that a spreadsheet would take for a formula gets an apostrophe in front.
function csvCell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  const text = String(value);
  const safe = /^[\s\u200b\ufeff]*[=+\-@\t\r\n|%＝＋－＠]/.test(text) ? `'${text}` : text;
  return /[",\x00-\x1f\x7f-\x9f\u2028\u2029]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function toCsv(columns, rows) {
  return [columns, ...rows.map((row) => columns.map((name) => row[name]))].map((row) => row.map(csvCell).join(",")).join("\r\n") + "\r\n";
}

const csvButton = (title, name, columns, rows) => el("button", { type: "button", class: "link", text: "CSV", "aria-label": `Download “${title}” as CSV`, on: { click: () => download(`${name}.csv`, toCsv(columns, rows)) } });
const csvLink = (...table) => el("div", { class: "chart-tools" }, csvButton(...table));
const download = (name, text) => saveFile(name, new Blob(["\ufeff", text], { type: "text/csv;charset=utf-8" }));

function saveFile(name, blob) {
  const address = URL.createObjectURL(blob);
  const link = el("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
