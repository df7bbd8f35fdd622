"""On the twins of the shipped corpus the interval of the share of reading holds what was planted there."""

from __future__ import annotations

import copy
import json
import random
import re
from pathlib import Path
from typing import Any

from tests.effort import trials

import fieldassay as fa
from fieldassay.documents.corpus.manifest import SHIPPED
from fieldassay.paths import split_path

LOST, ERRED = 0.5, 1 / 12
"""The chance that a twin loses a value, and that the model errs in any other value of any document."""

CORPUS = json.loads((SHIPPED / "corpus.json").read_text(encoding="utf-8"))
CASES = {one["id"]: one for one in CORPUS["documents"] if one["task"] == "engineering"}
ROWS = [
    json.loads(line)
    for line in (SHIPPED / "engineering" / "gold.jsonl").read_text(encoding="utf-8").splitlines()
]


def _is_in(text: str, page: str) -> bool:
    return re.search(_whole(text), page) is not None


def _whole(text: str) -> str:
    return rf"(?<![\w.,]){re.escape(text)}(?![\w.,]*\w)"


def _values(case: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the values of a document but the names by which items are paired: each is wrong by itself."""
    return [one for one in case["values"] if not one["path"].endswith((".name", ".cas_number"))]


def _damage(case: dict[str, Any], page: str, draws: random.Random) -> tuple[str, set[str]]:
    """Return a page without some of its values, and the paths of the values that are no longer on it."""
    printed = [one for one in _values(case) if one["text"] and _is_in(one["text"], page)]
    damaged = page
    for one in printed if case["twin_of"] else ():
        if draws.random() < LOST:
            damaged = re.sub(_whole(one["text"]), "~", damaged)
    return damaged, {one["path"] for one in printed if not _is_in(one["text"], damaged)}


def _put(record: Any, path: str, value: Any) -> None:
    *outer, last = split_path(path)
    for step in outer:
        record = record[step]
    record[last] = f"not {record[last]}" if value else None


def plant(folder: Path, seed: int) -> tuple[fa.Run, float]:
    """Return a run on the documents and their twins, and the true share of wrong values due to reading."""
    draws = random.Random(seed)
    predicted, wrong, due = [], 0, 0
    for row in ROWS:
        case = CASES[row["test_case_id"]]
        page = (SHIPPED / case["text"]).read_text(encoding="utf-8")
        damaged, lost = _damage(case, page, draws)
        erred = {one["path"] for one in _values(case) if draws.random() < ERRED}
        answer = copy.deepcopy(row["expected_extraction"])
        for path in sorted(lost | erred):
            _put(answer, path, path not in lost)
        wrong, due = wrong + len(lost | erred), due + len(lost - erred)
        predicted.append({"test_case_id": row["test_case_id"], "pred": answer, "transcript": damaged})
    (folder / "m.jsonl").write_text("\n".join(map(json.dumps, predicted)), encoding="utf-8")
    files = SHIPPED / "engineering" / "gold.jsonl", {"m": folder / "m.jsonl"}
    spec = SHIPPED / "engineering" / "spec.yaml"
    return fa.score(*files, spec, pred_key="pred", replicates=800).save(folder / "run"), due / wrong


def test_the_interval_holds_the_share_that_was_planted_in_the_twins_of_the_corpus(tmp_path: Path) -> None:
    held, errors = [], []
    for seed in range(trials(40)):
        (tmp_path / str(seed)).mkdir()
        run, truth = plant(tmp_path / str(seed), seed)
        share = fa.attribute(run).system("m").whole.share("reading")
        assert share.value is not None and share.interval is not None
        errors.append(share.value - truth)
        held.append(share.interval[0] <= truth <= share.interval[1])
    assert sum(held) >= 0.9 * len(held)
    assert abs(sum(errors) / len(errors)) < 0.05
