"""Degraded copies of a user's own documents, and what they cost a system."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from bench.corpus.perturb import USUAL, perturb
from PIL import Image

from fieldassay.documents.corpus.manifest import SHIPPED, read_corpus
from fieldassay.errors import ProblemsError

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[3]
ORDER = SHIPPED / "order/documents/order_plain.pdf"
FOLD = SHIPPED / "datasheet/documents/datasheet_pump_fold.jpg"


@pytest.fixture
def own(tmp_path: Path) -> Path:
    folder = tmp_path / "own"
    (folder / "2025").mkdir(parents=True)
    (folder / "2025/a.pdf").write_bytes(ORDER.read_bytes())
    (folder / "b.jpg").write_bytes(FOLD.read_bytes())
    (folder / "c.csv").write_text("total;5\n")
    return folder


def corpus(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run `python bench/corpus`."""
    command = [sys.executable, "bench/corpus", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def test_the_program_writes_copies_and_says_what_is_next(own: Path, tmp_path: Path) -> None:
    gold, out = tmp_path / "gold.jsonl", tmp_path / "out"
    gold.write_text("".join(json.dumps(row) + "\n" for row in GOLD))
    done = corpus("perturb", "--docs", own, "--gold", gold, "--out", out, "--kind", "scan")
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        f"written to {out}: 2 documents, and 2 degraded copies",
        f"next: fieldassay run --docs {out / 'documents'} --gold {out / 'gold.jsonl'} --spec SPEC --out OUT",
    ]
    assert done.stderr.startswith("left out: c is of the kind csv")


GOLD = [{"id": "a", "total": "535.00"}, {"id": "b.jpg", "total": None}, {"id": "c", "total": "5"}]


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".csv"])
def test_copies_stand_beside_the_clean_documents_with_their_gold(
    own: Path, tmp_path: Path, suffix: str
) -> None:
    gold = tmp_path / f"gold{suffix}"
    if suffix == ".csv":
        gold.write_text(
            "".join(f"{row['id']},{row['total'] or ''}\n" for row in [{"id": "id", "total": "total"}, *GOLD])
        )
    else:
        text = json.dumps(GOLD) if suffix == ".json" else "".join(json.dumps(row) + "\n" for row in GOLD)
        gold.write_text(text)
    out = tmp_path / "out"
    made = perturb(own, out, ("scan", "fax"), gold)
    assert (made.documents, made.twins) == (2, 4) and list(made.left_out) == ["c"]
    names = {path.relative_to(out / "documents").as_posix() for path in (out / "documents").rglob("*.*")}
    assert names == {f"{how}{name}" for how in ("", "scan/", "fax/") for name in ("a.pdf", "b.jpg")}
    assert (out / "documents/a.pdf").read_bytes() == ORDER.read_bytes()
    ids = ["a", "scan/a", "fax/a", "b.jpg", "scan/b.jpg", "fax/b.jpg"]
    assert made.gold is not None
    rows = made.gold.read_text().splitlines()
    if suffix == ".csv":
        assert [row.split(",")[0] for row in rows[1:]] == ids
        assert rows[2] == "scan/a,535.00,a,scan"
    else:
        held = list(map(json.loads, rows))
        assert [row["id"] for row in held] == ids
        assert held[1] == GOLD[0] | {"id": "scan/a", "twin_of": "a", "degradation": "scan"}
    twins = {one.id: one.twin_of for one in read_corpus(out).documents}
    assert twins == dict(zip(ids, [None, "a", "a", None, "b.jpg", "b.jpg"], strict=True))


def test_the_same_seed_degrades_the_same_way(own: Path, tmp_path: Path) -> None:
    def digests(seed: int, name: str) -> list[str]:
        perturb(own, tmp_path / name, USUAL, seed=seed)
        return [one.sha256 for one in read_corpus(tmp_path / name).documents]

    first, again, other = digests(0, "x"), digests(0, "y"), digests(1, "z")
    assert first == again and len(first) == 10
    assert sum(one != two for one, two in zip(first, other, strict=True)) >= 6


def test_mistakes_are_told_at_once(own: Path, tmp_path: Path) -> None:
    command = ["perturb", "--docs", own, "--out", tmp_path / "out", "--kind"]
    done = corpus(*command, "scam,faxx")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "--kind: no degradation 'scam'; did you mean 'scan'?",
        "--kind: no degradation 'faxx'; did you mean 'fax'?",
    ]
    with pytest.raises(ProblemsError, match="no document has pages to degrade"):
        (own / "2025/a.pdf").unlink()
        (own / "b.jpg").unlink()
        perturb(own, tmp_path / "none")
    assert [path.name for path in tmp_path.iterdir() if "none" in path.name] == []


@pytest.mark.parametrize(
    ("second", "is_refused"), [("2025/a", True), ("2024/a", False), ("b.pdf", False)], ids=str
)
def test_two_ids_of_gold_that_are_one_document_are_refused(
    own: Path, tmp_path: Path, second: str, is_refused: bool
) -> None:
    gold = [{"id": "2025/a.pdf", "total": "535.00"}, {"id": second, "total": "1.00"}]
    (tmp_path / "gold.json").write_text(json.dumps(gold))
    if is_refused:
        with pytest.raises(
            ProblemsError, match=r"'2025/a' and '2025/a\.pdf' are both 2025/a\.pdf; leave one"
        ):
            perturb(own, tmp_path / "out", ("fax",), tmp_path / "gold.json")
        assert not (tmp_path / "out").exists()
        return
    made = perturb(own, tmp_path / "out", ("fax",), tmp_path / "gold.json")
    assert made.twins == 1 and any(second in note for note in made.notes)


def test_gold_that_cannot_be_copied_is_refused_before_anything_is_written(own: Path, tmp_path: Path) -> None:
    (tmp_path / "gold").mkdir()
    with pytest.raises(ProblemsError, match="is of a format that is not copied"):
        perturb(own, tmp_path / "out", ("fax",), tmp_path / "gold")
    assert not (tmp_path / "out").exists()


def test_a_page_of_absurd_size_is_bounded(tmp_path: Path) -> None:
    stream = io.BytesIO()
    Image.new("L", (20, 20)).save(stream, "PDF", resolution=0.2)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/huge.pdf").write_bytes(stream.getvalue())
    made = perturb(tmp_path / "docs", tmp_path / "out", ("low_resolution",))
    assert made.twins == 1
