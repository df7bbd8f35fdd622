"""Degraded copies of a user's own documents, and what they cost a system."""

import io
import json
from pathlib import Path

import pytest
from PIL import Image

from fieldassay import ExtractOptions, ScoreOptions, SweepOptions, run, score
from fieldassay.cli.main import main
from fieldassay.corpus.manifest import SHIPPED, read_corpus
from fieldassay.corpus.perturb import USUAL
from fieldassay.errors import ProblemsError
from fieldassay.public.corpora import perturb

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


def test_a_run_pairs_each_copy_with_its_clean_document(tmp_path: Path) -> None:
    docs, rows, totals = tmp_path / "docs", [], {}
    for at in range(12):
        for how in ("", "scan/"):
            name = f"{how}d{at}"
            (docs / how).mkdir(parents=True, exist_ok=True)
            (docs / f"{name}.txt").write_text(f"Total: {100 + at}.00\n" if not how or at % 2 else "smudge\n")
            row = {"id": name, "total": f"{100 + at}.00"}
            rows.append(row | ({"twin_of": f"d{at}", "degradation": "scan"} if how else {}))
    options = SweepOptions(ExtractOptions(jobs=0), ScoreOptions(replicates=500, metrics=("accuracy",)))
    made = run(docs, "fields: {total: money}", rows, tmp_path / "out", options=options)
    [found] = made.twins
    assert found.systems == ("rules", "rules/scan") and dict(found.slice) == {"degradation": "scan"}
    assert found.values == (1.0, 0.5) and found.difference == -0.5 and found.documents == 12
    lines = (tmp_path / "out/rules/predictions.jsonl").read_text().splitlines()
    held = {row["id"]: row["pred"] for row in map(json.loads, lines)}
    for system, prefix in (("rules", ""), ("rules/scan", "scan/")):
        totals[system] = [{"id": f"d{at}", **(held[f"{prefix}d{at}"] or {})} for at in range(12)]
    clean = [row for row in rows if "twin_of" not in row]
    again = score(clean, totals, "fields: {total: money}", options.score).comparisons[0]
    assert (again.difference, again.interval, again.p) == (found.difference, found.interval, found.p)


def test_mistakes_are_told_at_once(own: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["corpus", "perturb", "--docs", str(own), "--out", str(tmp_path / "out"), "--kind"]
    assert main([*arguments, "scam,faxx"]) == 2
    assert capsys.readouterr().err.splitlines() == [
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
