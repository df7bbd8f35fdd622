"""`fieldassay run --corpus`: systems on the challenge corpus, task by task, and all of it in one table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fieldassay.commands.extract import Watch
from fieldassay.commands.run import SweepOptions, run
from fieldassay.documents.corpus.manifest import METRICS, SHIPPED, Corpus, read_corpus
from fieldassay.io.files.whole_files import write_file
from fieldassay.metrics.catalogue.definitions import bind_metric
from fieldassay.metrics.catalogue.grammar import MetricCall
from fieldassay.metrics.comparisons.systems import compare_twins, estimate_pooled, pool, without_documents
from fieldassay.metrics.result.documents import PairedData
from fieldassay.public import public
from fieldassay.runs.sweep import CorpusRun, Sweep
from fieldassay.spec.plan.compile import read_plan, with_sections

SUMMARY, TASK, DIFFICULTY = "corpus-run.json", "task", "difficulty"


@public
def run_corpus(
    out: str | Path,
    systems: Any = None,
    options: SweepOptions | None = None,
    watch: Watch | None = None,
    corpus: str | Path | None = None,
) -> CorpusRun:
    """Return what systems make of the challenge corpus: the one that ships, or one in a folder.

    Each task has a folder in `out`, as `fieldassay.run` writes it. By default the system is `rules`, which
    works offline; PDFs need the extra `documents`, scans the extra `ocr`. Raises `ProblemsError`.
    """
    options, watch, place = options or SweepOptions(), watch or Watch(), Path(out)
    folder = SHIPPED if corpus is None else Path(corpus)
    held = read_corpus(folder)
    sweeps: dict[str, Sweep] = {}
    for name, task in held.tasks.items():
        watch.tell(f"task {name}")
        plan = with_sections(read_plan(folder / task.spec), compare=METRICS)
        inputs = (folder / task.documents, plan, folder / task.gold)
        sweeps[name] = run(*inputs, place / name, systems, options, watch)
        if sweeps[name].is_interrupted:
            return CorpusRun(place, sweeps)
    made = _put_together(place, sweeps, held)
    write_file(place / SUMMARY, [made.summary_text().encode()])
    return made


def _put_together(place: Path, sweeps: Mapping[str, Sweep], corpus: Corpus) -> CorpusRun:
    parts: dict[str, PairedData] = {
        name: one.run.paired for name, one in sweeps.items() if one.run is not None
    }
    if not parts:
        return CorpusRun(place, sweeps)
    data = pool(parts, [bind_metric(MetricCall(name)) for name in METRICS], TASK)
    twins = {
        one.id: (one.twin_of, one.degradation or "degraded")
        for one in corpus.documents
        if one.twin_of is not None
    }
    originals = without_documents(data, twins.keys())
    return CorpusRun(
        place, sweeps, estimate_pooled(originals, (DIFFICULTY, TASK)), compare_twins(data, twins)
    )
