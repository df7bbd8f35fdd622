// Where two texts differ: letters in short texts, words in long ones.
const MOST_STEPS = 250000;

function splitText(text, byLetter) {
  return byLetter ? [...text] : text.match(/[\p{L}\p{N}]+|\s+|[^\p{L}\p{N}\s]/gu) || [];
}

// Returns pieces [kind, text]: "same", "gold" (only there) or "pred" (only there), in reading order.
function differences(gold, pred) {
  const byLetter = gold.length + pred.length < 400;
  const [left, right] = [splitText(gold, byLetter), splitText(pred, byLetter)];
  let head = 0;
  while (head < left.length && head < right.length && left[head] === right[head]) head += 1;
  let tail = 0;
  while (tail < left.length - head && tail < right.length - head && left.at(-1 - tail) === right.at(-1 - tail)) tail += 1;
  const middle = compareMiddle(left.slice(head, left.length - tail), right.slice(head, right.length - tail));
  const pieces = [["same", left.slice(0, head).join("")], ...middle, ["same", left.slice(left.length - tail).join("")]];
  return smooth(pieces.filter(([, text]) => text !== ""));
}

function compareMiddle(left, right) {
  if (!left.length || !right.length || left.length * right.length > MOST_STEPS) return [["gold", left.join("")], ["pred", right.join("")]];
  const width = right.length + 1;
  const common = new Uint32Array((left.length + 1) * width);
  for (let i = left.length - 1; i >= 0; i -= 1) {
    for (let j = right.length - 1; j >= 0; j -= 1) {
      const here = i * width + j;
      common[here] = left[i] === right[j] ? common[here + width + 1] + 1 : Math.max(common[here + width], common[here + 1]);
    }
  }
  const pieces = [];
  let [i, j] = [0, 0];
  while (i < left.length || j < right.length) {
    if (i < left.length && j < right.length && left[i] === right[j]) pieces.push(["same", left[i++], j++]);
    else if (i < left.length && (j === right.length || common[(i + 1) * width + j] >= common[i * width + j + 1])) pieces.push(["gold", left[i++]]);
    else pieces.push(["pred", right[j++]]);
  }
  return pieces.map(([kind, text]) => [kind, text]);
}

// Joins neighbors; between two differences the pieces of gold come first.
function smooth(pieces) {
  const made = [];
  let [gold, pred] = ["", ""];
  const flush = () => {
    if (gold) made.push(["gold", gold]);
    if (pred) made.push(["pred", pred]);
    [gold, pred] = ["", ""];
  };
  for (const [kind, text] of pieces) {
    if (kind === "gold") gold += text;
    else if (kind === "pred") pred += text;
    else {
      flush();
      if (made.length && made.at(-1)[0] === "same") made.at(-1)[1] += text;
      else made.push(["same", text]);
    }
  }
  flush();
  return made;
}

// Marks are only drawn where they help: texts that have little in common are shown as they are.
function isReadable(pieces, gold, pred) {
  const shared = pieces.reduce((sum, [kind, text]) => sum + (kind === "same" ? text.length : 0), 0);
  const runs = pieces.filter(([kind], at) => kind !== "same" && (at === 0 || pieces[at - 1][0] === "same")).length;
  const longest = Math.max(gold.length, pred.length);
  return longest > 4 && shared >= (longest > 60 ? 0.35 : 0.5) * longest && runs <= Math.max(2, longest / 8);
}

// The stretches [from, to) of one side that the other side lacks; none where marks would not help.
function rangesOf(gold, pred, side) {
  const pieces = differences(gold, pred);
  if (!isReadable(pieces, gold, pred)) return [];
  const ranges = [];
  let at = 0;
  for (const [kind, text] of pieces) {
    if (kind === side) ranges.push([at, at + text.length]);
    if (kind === side || kind === "same") at += text.length;
  }
  return ranges;
}

// A value whole and as it is, with stretches marked: its text is the value, so that it can be read, copied and searched.
function showMarked(text, ranges, title) {
  const pieces = [];
  let at = 0;
  for (const [from, to] of [...ranges].sort((one, other) => one[0] - other[0])) {
    if (to <= at) continue;
    pieces.push(visiblePieces(text.slice(at, Math.max(at, from))), el("mark", { class: "diff", title }, visiblePieces(text.slice(Math.max(at, from), to), true)));
    at = to;
  }
  return ranges.length ? el("bdi", { class: "value" }, pieces, visiblePieces(text.slice(at))) : showText(text);
}

const showGold = (gold, preds) => showMarked(gold, preds.flatMap((pred) => rangesOf(gold, pred, "gold")), "only in gold");
const showPrediction = (gold, pred) => showMarked(pred, rangesOf(gold, pred, "pred"), "only in the prediction");
