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

function csvLink(title, name, columns, rows) {
  const save = el("button", { type: "button", class: "link", text: "CSV", "aria-label": `Download “${title}” as CSV`, on: { click: () => download(`${name}.csv`, toCsv(columns, rows)) } });
  return el("div", { class: "chart-tools" }, save);
}

function download(name, text) {
  const address = URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv;charset=utf-8" }));
  const link = el("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
