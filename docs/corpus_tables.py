"""Writes the tables of docs/corpus.md: the documents, how they are read, and what systems make of them.

`python docs/corpus_tables.py OUT` runs the corpus with `rules` into OUT first, unless it is there already, as
`fieldassay run SYSTEMS --corpus --out OUT` left it.
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.corpus.reading import Reading, compare_reading

from fieldassay.commands.run import CORPUS_SUMMARY, run_corpus
from fieldassay.documents.corpus.manifest import DIFFICULTIES, SHIPPED, THRESHOLDS, Corpus, read_corpus
from fieldassay.documents.transcript import TranscriptStore

PAGE = Path(__file__).parent / "corpus.md"


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
    for one in corpus.documents:
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


def results(out: Path, metric: str) -> str:
    """Return the table of a metric by difficulty, with the thresholds of the engineering protocol."""
    told = json.loads((out / CORPUS_SUMMARY).read_text(encoding="utf-8"))["estimates"]
    systems = list(dict.fromkeys(one["system"] for one in told))
    held = {
        (one["system"], one["slice"].get("difficulty")): one
        for one in told
        if one["metric"] == metric and "task" not in one["slice"]
    }
    return table(
        ["difficulty", "at least", "documents", *systems],
        (
            [
                name or "all",
                f"{THRESHOLDS[name][metric]:.2f}" if name and metric in THRESHOLDS[name] else "—",
                f"{held[systems[0], name]['documents']}",
                *(_value(held[system, name]) for system in systems),
            ]
            for name in (*DIFFICULTIES, None)
            if (systems[0], name) in held
        ),
    )


def by_task(out: Path) -> str:
    """Return the table of the accuracy by task."""
    told = json.loads((out / CORPUS_SUMMARY).read_text(encoding="utf-8"))["estimates"]
    systems = list(dict.fromkeys(one["system"] for one in told))
    held = {
        (one["system"], one["slice"]["task"]): one
        for one in told
        if one["metric"] == "accuracy" and "task" in one["slice"]
    }
    names = dict.fromkeys(task for _, task in held)
    return table(
        ["task", "documents", *systems],
        (
            [name, f"{held[systems[0], name]['documents']}", *(_value(held[one, name]) for one in systems)]
            for name in names
        ),
    )


def twins(out: Path) -> str:
    """Return the table of what degradations cost."""
    told = json.loads((out / CORPUS_SUMMARY).read_text(encoding="utf-8"))["twins"]
    return table(
        ["system", "degradation", "pairs", "clean", "degraded", "difference"],
        (
            [
                one["systems"][0],
                one["slice"]["degradation"],
                str(one["documents"]),
                *(f"{value:.3f}" for value in one["values"]),
                f"{one['difference']:+.3f} [{one['interval'][0]:+.3f}, {one['interval'][1]:+.3f}]",
            ]
            for one in told
            if one["metric"] == "accuracy" and one["difference"] is not None and one["interval"]
        ),
    )


def _value(one: dict[str, object]) -> str:
    if one["value"] is None:
        return "—"
    interval = one["interval"]
    shown = f"{one['value']:.3f}"
    return f"{shown} [{interval[0]:.3f}, {interval[1]:.3f}]" if isinstance(interval, list) else shown


def write_tables(page: Path, made: Mapping[str, str]) -> None:
    """Put tables into a page, each between the comment of its name and the next that ends it."""
    text = page.read_text(encoding="utf-8")
    for name, content in made.items():
        pattern = rf"(?<=<!-- {name} -->\n).*?(?=<!-- end -->)"
        text = re.sub(pattern, lambda _, content=content: f"\n{content}\n\n", text, count=1, flags=re.DOTALL)
    page.write_text(text, encoding="utf-8")


def main() -> None:
    """Write the tables into the page."""
    out = Path(sys.argv[1])
    if not (out / CORPUS_SUMMARY).exists():
        run_corpus(out)
    corpus = read_corpus(SHIPPED)
    made = {
        "documents": documents(corpus),
        "reading": reading(corpus, out),
        "accuracy": results(out, "accuracy"),
        "critical": results(out, "critical_accuracy"),
        "tasks": by_task(out),
        "twins": twins(out),
    }
    write_tables(PAGE, made)


if __name__ == "__main__":
    main()
