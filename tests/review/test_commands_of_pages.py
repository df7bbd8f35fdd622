"""The commands of the pages on reviews run: those that need labels of people have some."""

from __future__ import annotations

import io
import json
import shlex
import shutil
from pathlib import Path

import pytest
from doc_pages import blocks
from msgspec.structs import replace
from tests.review.receipts import SPEC, prediction, take
from tests.review.test_draw import policy
from tests.review.test_promotion_of_review import fill

from fieldassay.commands.cli.main import main
from fieldassay.decisions.calibration.policy import Basis
from fieldassay.decisions.calibration.policy_file import write_policy
from fieldassay.review.log.store import Store
from fieldassay.review.sheets.sheets import Person
from fieldassay.review.web.people import list_people

SERVERS = {"open", "serve"}


def commands(page: str) -> list[list[str]]:
    """Return the commands of a page that are shown without their output, as words; servers are not asked."""
    lines = "".join(blocks(f"docs/{page}.md", "sh")).splitlines()
    return [words for words in (shlex.split(line)[1:] for line in lines) if words[1] not in SERVERS]


def label_all(store: Store) -> None:
    with store.reading() as db:
        people = [Person(at, one["alias"], one["role"]) for at, one in enumerate(list_people(db), 1)]
    for person in people[:2]:
        while (number := take(store, person)) is not None:
            fill(store, person, number, {})


def test_the_commands_of_the_pages_run_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(words: list[str]) -> str:
        words, target = (words[:-2], words[-1]) if words[-2] == ">" else (words, None)
        if words[:2] == ["review", "people"]:
            monkeypatch.setattr("sys.stdin", io.StringIO("a long password\n"))
            words = [*words, "--password-stdin"]
        words = [str(Store(Path(words[2])).head()) if "…" in word else word for word in words]
        code = main(words)
        shown = capsys.readouterr()
        assert code == 0, (words, shown)
        assert target is None or shown.out.count("\n") > 10
        return shown.out

    monkeypatch.chdir(tmp_path)
    Path("spec.yaml").write_text(SPEC)
    Path("corrected.yaml").write_text(SPEC.replace("paid: boolean", "paid: text"))
    rows = [prediction(at, id=f"inv-{at}", confidence={"total": 0.95, "shop": 0.5}) for at in range(1, 13)]
    Path("llama.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("gold.jsonl").write_text(json.dumps(prediction(7, id="inv-7", total="7")) + "\n")
    Path("scans").mkdir()
    for row in rows:
        Path("scans", f"{row['id']}.txt").write_text(f"{row['shop']}: {row['total']}")
    score = ["score", "--spec", "spec.yaml", "--gold", "llama.jsonl", "--pred", "a=llama.jsonl", "--pred"]
    run([*score, "llama.jsonl", "--bootstrap", "0", "--out", "runs/a"])
    write_policy(Path("policy.json"), replace(policy(), basis=Basis("runs/a", 1, 1, "")))

    team = commands("task-review-team")
    for words in team[:5]:
        run(words)
    label_all(Store(Path("invoices-1")))
    told = "".join(run(words) for words in team[5:])
    for line in ("16 of 16 done", "4 documents labeled twice", "gold.history.jsonl: 7 lines added"):
        assert line in told
    for name in ("receipts-1", "invoices-2"):
        shutil.copytree("invoices-1", name)
    for page in ("task-review-audit", "review", "task-review-alone"):
        for words in commands(page):
            run(words)
