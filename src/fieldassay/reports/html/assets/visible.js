// Text from documents: shown whole and as it is, with what cannot be seen made visible. Nothing in it can turn the text around it.
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\u034f\u115f\u1160\u3164\uffa0]|(?! )\p{Zs}/u;
const UNSEEN_ALL = new RegExp(UNSEEN.source, "gu");
const PICTURES = { "\n": "↵", "\t": "⇥" };

function codeOf(letter) {
  return `U+${letter.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
}

// Few fonts have the pictures of control characters, so that most are told by their codes.
const pictureOf = (letter) => PICTURES[letter] || codeOf(letter);

// Pieces of text and marks for what is unseen; `spaces` marks every space too, for differences that consist of them.
function visiblePieces(text, spaces = false) {
  const pieces = [];
  const pattern = spaces ? new RegExp(`${UNSEEN.source}| `, "gu") : UNSEEN_ALL;
  let from = 0;
  for (const match of text.matchAll(pattern)) {
    const letter = match[0];
    if (match.index > from) pieces.push(text.slice(from, match.index));
    const shown = letter === " " ? "·" : pictureOf(letter);
    const name = letter === " " ? "space" : codeOf(letter);
    // White space stays in the text, behind its picture, so that the text is still the value.
    pieces.push(/\s/.test(letter) ? el("span", { class: "hidden-char space", title: name, "data-shown": shown, text: letter === "\n" ? "" : letter }) : el("span", { class: "hidden-char", title: name, text: shown }));
    if (letter === "\n") pieces.push("\n");
    from = match.index + letter.length;
  }
  if (from < text.length) pieces.push(text.slice(from));
  return pieces;
}

function showText(text, spaces = false) {
  const edges = /^ | $| {2}/.test(text);
  return el("bdi", { class: "value" }, visiblePieces(text, spaces || edges));
}

// Text for places that take plain text only (charts, titles, CSV heads): unseen characters as codes.
function plain(text, most = 60) {
  const whole = String(text);
  const rough = whole.length > 4 * most ? `${whole.slice(0, 2 * most)}…${whole.slice(-most)}` : whole;
  const shown = rough.replace(UNSEEN_ALL, (letter) => `‹${codeOf(letter)}›`);
  const tail = Math.floor(most / 3);
  return shown.length > most ? `${shown.slice(0, most - tail - 1)}…${shown.slice(-tail)}` : shown;
}

// Short names for many texts, all different: what is cut to the same text gets a number.
function shortNames(texts, most) {
  const names = new Map();
  const used = new Set();
  for (const text of texts) {
    if (names.has(text)) continue;
    const short = plain(text, most);
    let name = short;
    for (let number = 2; used.has(name); number += 1) name = `${short} (${number})`;
    used.add(name);
    names.set(text, name);
  }
  return names;
}
