"""Writes the tables of README.md: the documents, how they are read, and what systems make of them.

`python bench/corpus/tables.py OUT` runs each task with `rules` into a folder of OUT first.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from bench.corpus.manifest import DIFFICULTIES, SHIPPED, THRESHOLDS, Corpus, read_corpus
from bench.corpus.reading import Reading, compare_reading

import fieldassay as fa
from fieldassay.documents.transcript import TranscriptStore
from fieldassay.metrics.result.result import find_main

PAGE = Path(__file__).with_name("README.md")


def table(head: Sequence[str], rows: Iterator[Sequence[str]]) -> str:
    """Return a table of Markdown; all columns but the first two are numbers or short."""
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def documents(corpus: Corpus) -> str:
    """Return the table of the documents that are no twins."""
    twins = defaultdict(list)
    for one in corpus.documents:
        if one.twin_of is not None:
            twins[one.twin_of].append(one.degradation or "")
    return table(
        ["document", "task", "kind", "difficulty", "tests", "twins"],
        (
            [f"`{one.id}`", one.task, one.kind, one.difficulty, one.tests, ", ".join(twins[one.id])]
            for one in corpus.documents
            if one.twin_of is None
        ),
    )


def reading(corpus: Corpus, out: Path) -> str:
    """Return the table of words read and words in order, by kind of file and by degradation."""
    found: dict[str, list[Reading]] = defaultdict(list)
    for one in (document for document in corpus.documents if document.refused is None):
        written = (SHIPPED / (one.text or "")).read_text(encoding="utf-8")
        transcript = TranscriptStore(out / one.task / "transcripts").read(one.sha256)
        found[one.degradation or f"{one.kind}, digital"].append(compare_reading(written, transcript))
    return table(
        ["read", "documents", "words", "recall", "in order"],
        (
            [name, str(len(own)), f"{total.words:,}", f"{total.recall or 0:.3f}", f"{total.order or 0:.3f}"]
            for name, own in sorted(found.items(), key=lambda pair: ("digital" not in pair[0], pair[0]))
            if (total := sum(own[1:], own[0]))
        ),
    )


def results(sweep: fa.Sweep) -> str:
    """Return the table of engineering inquiries by difficulty, with the thresholds of their protocol."""
    result = sweep.run.result
    rows = []
    for name in DIFFICULTIES:
        found = [
            next(
                one
                for one in result.estimates
                if one.metric == metric and dict(one.slice) == {"difficulty": name} and one.field is None
            )
            for metric in ("overall_accuracy", "critical_field_accuracy")
        ]
        asked = [THRESHOLDS[name].get(metric) for metric in ("accuracy", "critical_accuracy")]
        shown = (
            part for one, least in zip(found, asked, strict=True) for part in (_value(one), _least(least))
        )
        rows.append([name, f"{found[0].documents}", *shown])
    return table(["difficulty", "documents", "accuracy", "at least", "critical", "at least"], iter(rows))


def by_task(sweeps: Mapping[str, fa.Sweep]) -> str:
    """Return the table of each task by the score of its spec."""
    found = {name: find_main(one.run.result) for name, one in sweeps.items()}
    return table(
        ["task", "documents", "score", "rules"],
        ([name, f"{one.documents}", f"`{one.metric}`", _value(one)] for name, one in found.items()),
    )


def _value(one: fa.Estimate) -> str:
    if one.value is None:
        return "—"
    return f"{one.value:.3f}" + (f" [{one.interval[0]:.3f}, {one.interval[1]:.3f}]" if one.interval else "")


def _least(asked: float | None) -> str:
    return "—" if asked is None else f"{asked:.2f}"


def write_tables(page: Path, made: Mapping[str, str]) -> None:
    """Put tables into a page, each between the comment of its name and the next that ends it."""
    text = page.read_text(encoding="utf-8")
    for name, content in made.items():
        pattern = rf"(?<=<!-- {name} -->\n).*?(?=<!-- end -->)"
        text = re.sub(pattern, lambda _, content=content: f"\n{content}\n\n", text, count=1, flags=re.DOTALL)
    page.write_text(text, encoding="utf-8")


def main() -> None:
    """Write the tables into the page."""
    out, corpus = Path(sys.argv[1]), read_corpus(SHIPPED)
    sweeps = {
        name: fa.run(SHIPPED / task.documents, SHIPPED / task.spec, SHIPPED / task.gold, out / name)
        for name, task in corpus.tasks.items()
    }
    made = {
        "documents": documents(corpus),
        "reading": reading(corpus, out),
        "difficulty": results(sweeps["engineering"]),
        "tasks": by_task(sweeps),
    }
    write_tables(PAGE, made)


if __name__ == "__main__":
    main()
