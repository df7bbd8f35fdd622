"""Writes the tables of docs/strategies.md about real receipts: recognized words, and pages made of them.

`python docs/cord_tables.py CORD OUT [URL]` takes the folder of CORD-100 (`ocr.jsonl`, `gold.jsonl`,
`pred_deepcpcfg.jsonl`), and runs the systems of the page on its receipts 50 to 99 into OUT; URL is that of
the model of `python -m tests.extraction.model.serve`, without which the tables stay. The same command goes on
where it was interrupted.
"""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from corpus_tables import write_tables

from fieldassay.commands.extract import ExtractOptions, Watch
from fieldassay.commands.run import SweepOptions, run
from fieldassay.commands.score import score
from fieldassay.spec.language.source import read_source

PAGE = Path(__file__).parent / "strategies.md"
LEARNED_FROM = 50
"""So many receipts are learned from and shown; the others are scored."""
EXAMPLES = {"from": "train.jsonl", "docs": "train-words.jsonl"}
FONT = "Helvetica"
FORMS = ("words", "pages")
SYSTEMS = ("learned", "rules", "small")
FIELDS = (
    "TotalPrice",
    *(f"LineItem[].{name}" for name in ("MenuNm", "MenuCnt", "MenuUnitprice", "MenuPrice")),
)


def lines(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows as JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def draw(document: Mapping[str, Any]) -> bytes:
    """Return recognized words as a PDF, each in its box: as high, and a tenth narrower."""
    from reportlab.pdfgen.canvas import Canvas

    stream = io.BytesIO()
    canvas = Canvas(stream, invariant=1)
    for page in document["pages"]:
        canvas.setPageSize((page["width"], page["height"]))
        for left, top, right, bottom, word in page["words"]:
            size = max(1.0, 0.75 * abs(bottom - top))
            text = canvas.beginText(
                min(left, right), page["height"] - max(top, bottom) + 0.2 * abs(bottom - top)
            )
            text.setFont(FONT, size)
            text.setHorizScale(90 * max(1.0, abs(right - left)) / canvas.stringWidth(word, FONT, size))
            text.textOut(word)
            canvas.drawText(text)
        canvas.showPage()
    canvas.save()
    return stream.getvalue()


def prepare(cord: Path, out: Path) -> None:
    """Write the inputs of both runs: the documents in both forms, gold, examples, spec and predictions."""
    (out / "rendered").mkdir(parents=True, exist_ok=True)
    words, gold = lines(cord / "ocr.jsonl"), lines(cord / "gold.jsonl")
    write(out / "words.jsonl", words[LEARNED_FROM:])
    write(out / "train-words.jsonl", words[:LEARNED_FROM])
    for document in words[LEARNED_FROM:]:
        (out / "rendered" / f"{document['id']}.pdf").write_bytes(draw(document))
    write(out / "train.jsonl", gold[:LEARNED_FROM])
    write(out / "gold.jsonl", gold[LEARNED_FROM:])
    write(out / "published.jsonl", lines(cord / "pred_deepcpcfg.jsonl")[LEARNED_FROM:])
    blocks = re.findall(r"```yaml\n(fieldassay: .*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (out / "spec.yaml").write_text(
        next(block for block in blocks if "cord-receipts" in block), encoding="utf-8"
    )


def systems(out: Path, url: str | None) -> dict[str, Any]:
    """Return the systems of the page with the places of their examples; without a URL, none that needs it."""
    held: Any = read_source(_block("smollm2")).data
    examples = {key: str((out / name).resolve()) for key, name in EXAMPLES.items()}
    for system in held["systems"].values():
        if "examples" in system:
            system["examples"] = {**system["examples"], **examples}
    if url is None:
        del held["systems"]["small"], held["endpoints"]
    else:
        held["endpoints"]["local"]["url"] = url
    return held


def _block(word: str) -> str:
    """Return the example of the page in YAML that has a word."""
    blocks = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return next(block for block in blocks if word in block)


def run_all(out: Path, url: str | None) -> None:
    """Run the systems on both forms of the documents; score what was published."""
    options = SweepOptions(ExtractOptions(jobs=0))
    for form, docs in (("words", "words.jsonl"), ("pages", "rendered")):
        given = (out / docs, out / "spec.yaml", out / "gold.jsonl", out / form)
        run(*given, systems(out, url), options, Watch(tell=print))
    score(out / "gold.jsonl", {"published": out / "published.jsonl"}, out / "spec.yaml").save(
        out / "published"
    )


class Figures:
    """The figures of the runs in OUT."""

    def __init__(self, out: Path) -> None:
        self._found: dict[tuple[str, str, str | None], Mapping[str, Any]] = {}
        for form, folder in (("words", "words/run"), ("words", "published"), ("pages", "pages/run")):
            held = json.loads((out / folder / "metrics.json").read_text(encoding="utf-8"))
            for one in held["estimates"]:
                if not one["slice"]:
                    self._found.setdefault((f"{one['system']} {form}", one["metric"], one["field"]), one)
        self._failures = {}
        for form in FORMS:
            swept = json.loads((out / form / "sweep.json").read_text(encoding="utf-8"))["systems"]
            self._failures |= {f"{name} {form}": one["failures"] for name, one in swept.items()}

    def table(self, columns: Mapping[str, str]) -> str:
        """Return the table of some systems, by the heads of their columns."""
        rows = [["accuracy", *(self._shown(one, "accuracy") for one in columns.values())]]
        rows.append(["F1, strict", *(self._shown(one, "f1") for one in columns.values())])
        rows.append(
            ["perfect documents", *(self._number(one, "perfect_documents") for one in columns.values())]
        )
        for field in FIELDS:
            name = f"`{field}`: precision, recall" if field == FIELDS[0] else f"`{field}`"
            rows.append([name, *(self._both(one, field) for one in columns.values())])
        rows.append(["time per document, median", *(self._time(one) for one in columns.values())])
        rows.append(["failed", *(self._failed(one) for one in columns.values())])
        head, *body = (f"| {' | '.join(row)} |".replace("|  |", "| |") for row in [["", *columns], *rows])
        return "\n".join([head, f"|{'---|' * (len(columns) + 1)}", *body])

    def _number(self, system: str, metric: str, field: str | None = None) -> str:
        value = self._found[system, metric, field]["value"]
        return "none" if value is None else f"{value:.2f}"

    def _both(self, system: str, field: str) -> str:
        return f"{self._number(system, 'precision', field)}, {self._number(system, 'recall', field)}"

    def _shown(self, system: str, metric: str) -> str:
        one = self._found[system, metric, None]
        low, high = one["interval"]
        return f"{one['value']:.3f} [{low:.3f}, {high:.3f}]"

    def _time(self, system: str) -> str:
        one = self._found.get((system, "latency_p50", None))
        if one is None or one["value"] is None:
            return ""
        return f"{one['value'] / 1000:.0f} s" if one["value"] >= 1000 else f"{one['value']:.0f} ms"

    def _failed(self, system: str) -> str:
        failures = self._failures.get(system)
        return "" if failures is None else ", ".join(f"{n} {kind}" for kind, n in failures.items()) or "0"


def main() -> None:
    """Run what was not run yet, and write the tables into the page."""
    cord, out, *more = sys.argv[1:]
    prepare(Path(cord), Path(out))
    run_all(Path(out), *more or [None])
    if not more:
        return
    figures = Figures(Path(out))
    made = {
        "cord": {one: f"{one} words" for one in ("published", *SYSTEMS)},
        "cord pages": {f"{one}, {form}": f"{one} {form}" for one in SYSTEMS for form in FORMS},
    }
    write_tables(PAGE, {name: figures.table(columns) for name, columns in made.items()})


if __name__ == "__main__":
    main()
