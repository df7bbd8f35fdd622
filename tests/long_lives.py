"""What a process does again and again, and by how much its memory grows: `python long_lives.py NAME`."""

import functools
import gc
import json
import resource
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import fieldassay as fa

Call = Callable[[], object]
Prepare = Callable[[Path], Call]

SPEC = """
name: bills
fields: {total: number, shop: text, kind: {type: enum, values: [a, b]}}
gates: [accuracy >= 0.5]
"""
GOLD = [{"id": f"d{n}", "total": f"{n}.00", "shop": f"Shop {n}", "kind": "ab"[n % 2]} for n in range(40)]
PRED = [{**row, "shop": row["shop"].upper(), "total": n % 7 and n} for n, row in enumerate(GOLD)]
SURE = [{**row, "confidence": {"total": 0.9 - n % 7 / 10}} for n, row in enumerate(PRED)]
TOTALS = "{name: bills, fields: {total: number}}"
SWEEP = fa.SweepOptions(fa.ExtractOptions(jobs=0, ocr="off", limit=2))
NOW = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Case:
    """A call that is repeated, made ready in a folder: so often before the readings, and between them."""

    prepare: Prepare
    warm_up: int = 10
    calls: int = 40


def resident(pid: int | str = "self") -> int:
    """Return the resident memory of a process in bytes."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()


def settled() -> int:
    """Return the resident memory of this process without its garbage."""
    gc.collect()
    return resident()


def growth(case: Case, folder: Path) -> int:
    """Return by how many bytes the process has grown between the two readings."""
    call = case.prepare(folder)
    repeat(call, case.warm_up)
    before = settled()
    repeat(call, case.calls)
    return settled() - before


def repeat(call: Call, times: int) -> None:
    for _ in range(times):
        call()


def scored(pred: Any = PRED) -> fa.Result:
    return fa.score(GOLD, {"llama": pred}, SPEC)


def of_result(call: Callable[[fa.Result], object], pred: Any = PRED) -> Prepare:
    return lambda folder: functools.partial(call, scored(pred))


def of_run(call: Callable[[fa.Run], object]) -> Prepare:
    return lambda folder: functools.partial(call, scored().save(folder / "run"))


def into(call: Callable[[fa.Run, Path], object]) -> Prepare:
    """Return the case of a call with a run and a new path each time."""

    def prepare(folder: Path) -> Call:
        run, numbers = scored().save(folder / "run"), count()
        return lambda: call(run, folder / f"out-{next(numbers)}")

    return prepare


def of_documents(call: Callable[[Path, Path], object], documents: int = 10) -> Prepare:
    """Return the case of a call with a folder of documents and a new path each time."""

    def prepare(folder: Path) -> Call:
        numbers, docs = count(), write_documents(folder / "docs", documents)
        return lambda: call(docs, folder / f"out-{next(numbers)}")

    return prepare


def write_documents(docs: Path, documents: int) -> Path:
    docs.mkdir()
    for number in range(documents):
        (docs / f"d{number}.txt").write_text(f"Shop {number}\nTotal: {number}.00\n")
    return docs


def last_word(document: Any) -> dict[str, str]:
    return {"total": document["pages"][0].split()[-1]}


def extract_plainly(docs: Path, out: Path) -> object:
    return fa.extract(docs, TOTALS, out, last_word, fa.ExtractOptions(jobs=0))


def run_rules(docs: Path, out: Path) -> object:
    return fa.run(docs, TOTALS, GOLD[:10], out, options=SWEEP)


def compare(folder: Path) -> Call:
    before, after = scored().save(folder / "before"), scored(GOLD).save(folder / "after")
    return lambda: fa.diff(before, after)


def look_through(folder: Path) -> Call:
    scored().save(folder / "store/a")
    scored(GOLD).save(folder / "store/b")
    return lambda: fa.list_stored(folder / "store")


def check_against_baseline(folder: Path) -> Call:
    run, file = scored().save(folder / "run"), folder / "baseline.json"
    fa.set_baseline(run, file)
    return lambda: fa.check_baseline(run, file)


def attribute_transcripts(folder: Path) -> Call:
    rows = [{"id": row["id"], "pred": {"total": 1}, "transcript": f"Total {row['total']}"} for row in GOLD]
    (folder / "pred.jsonl").write_text("\n".join(map(json.dumps, rows)))
    result = fa.score(GOLD, {"llama": folder / "pred.jsonl"}, TOTALS, pred_key="pred")
    run = result.save(folder / "run")
    return lambda: fa.attribute(run)


def read_back(folder: Path) -> Call:
    told = fa.metrics_json(scored())
    return lambda: fa.read_metrics(told)


def describe_plan(folder: Path) -> Call:
    plan = fa.read_plan(SPEC)
    return lambda: fa.describe(plan)


def explain_total(folder: Path) -> Call:
    plan = fa.read_plan(SPEC)
    return lambda: fa.explain_field(plan, "total", "5.00", "6")


def write_again(folder: Path) -> Call:
    spec = fa.read_spec(SPEC)
    return lambda: fa.write_spec(spec)


def keep_everything(folder: Path) -> Call:
    kept: list[bytes] = []
    return lambda: kept.append(bytes(range(256)) * 1000)


PUBLIC: dict[str, Case] = {
    "score": Case(lambda folder: scored),
    "extract": Case(of_documents(extract_plainly)),
    "run": Case(of_documents(run_rules)),
    "open_run": Case(of_run(lambda run: fa.open_run(run.folder).documents)),
    "list_stored": Case(look_through),
    "diff": Case(compare),
    "gate": Case(of_run(fa.gate)),
    "set_baseline": Case(into(fa.set_baseline)),
    "check_baseline": Case(check_against_baseline),
    "calibrate": Case(of_result(fa.calibrate, SURE)),
    "attribute": Case(attribute_transcripts),
    "agreement": Case(lambda folder: lambda: fa.agreement({"ada": GOLD, "bob": PRED}, SPEC)),
    "report": Case(of_run(fa.report)),
    "export_run": Case(into(lambda run, out: fa.export_run(run.folder, out.with_suffix(".xlsx")))),
    "guide_result": Case(of_result(fa.guide_result)),
    "read_spec": Case(lambda folder: lambda: fa.read_spec(SPEC)),
    "write_spec": Case(write_again),
    "read_plan": Case(lambda folder: lambda: fa.read_plan(SPEC)),
    "describe": Case(describe_plan),
    "validate": Case(lambda folder: lambda: fa.validate(SPEC, GOLD, {"llama": PRED})),
    "explain_values": Case(lambda folder: lambda: fa.explain_values("5.00", "6", {"type": "money"})),
    "explain_field": Case(explain_total),
    "explain_document": Case(of_run(lambda run: fa.explain_document("d7", run=run))),
    "sample": Case(lambda folder: fa.sample),
    "metrics_json": Case(of_result(fa.metrics_json)),
    "read_metrics": Case(read_back),
}
"""A case for each public function."""

OTHER: dict[str, Case] = {
    "extract 300 documents": Case(of_documents(extract_plainly, documents=300), warm_up=1, calls=5),
    "keep what is made": Case(keep_everything),
}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        print(growth({**PUBLIC, **OTHER}[sys.argv[1]], Path(made)))
