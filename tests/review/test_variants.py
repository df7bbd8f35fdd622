"""A review of predictions that hold a document once per variant, beside the reading that each comes from."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.review.receipts import NONE, add, form_of, say, take
from tests.review.test_draw import asked

from fieldassay import score
from fieldassay.commands.cli.main import main
from fieldassay.errors import ProblemsError
from fieldassay.review.sheets import sheets
from fieldassay.review.sheets.make import Made, ReviewRequest, make_review

SPEC = "fields: {shop: text}"
VARIANTS = ("corrected", "layout", "raw")


def row(page: str, variant: str | None, shop: str | None = None) -> dict[str, Any]:
    return {"id": page, "variant": variant, "pred": {"shop": shop or f"{page} {variant}"}}


def rows(pages: Sequence[str] = ("p1", "p2"), variants: Sequence[str] = VARIANTS) -> list[dict[str, Any]]:
    return [row(page, variant) for variant in variants for page in pages]


def readings(folder: Path, names: Sequence[str]) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    return folder


def review(folder: Path, preds: dict[str, Any], documents: Path | None = None, **more: Any) -> Made:
    return make_review(folder, ReviewRequest(SPEC, preds, documents=documents, shares=NONE, **more))


def paths(made: Made) -> dict[str, str | None]:
    with made.store.reading() as db:
        return dict(db.execute("SELECT name, path FROM document"))


def problem_of(folder: Path, *given: Any) -> str:
    with pytest.raises(ProblemsError) as caught:
        review(folder, *given)
    return str(caught.value)


def test_a_variant_is_named_as_score_names_it(tmp_path: Path) -> None:
    made = review(tmp_path / "r", {"m/raw": rows()})
    assert {one["name"]: one["given"] for one in asked(made.store)} == {"p1": "p1 raw", "p2": "p2 raw"}


@pytest.mark.parametrize(
    ("preds", "remedy"),
    [
        ({"m": rows()}, "--pred m/corrected=FILE"),
        ({"a": rows(), "b": rows()}, "--pred a/corrected=FILE"),
        ({"a": rows(variants=["raw"]), "b": rows(variants=["raw"])}, "--pred a=FILE"),
        ({"m": rows(variants=["1st OCR", "2nd OCR"])}, "--pred 'm/1st OCR=FILE'"),
        ({"m": [rows(variants=["raw"])] * 2}, "a file with the rows of that run alone"),
        ({"m": [*rows(), row("p1", "raw")]}, "keep one record per document and variant"),
    ],
)
def test_what_cannot_be_one_review_is_refused_with_what_to_do(
    tmp_path: Path, preds: dict[str, Any], remedy: str
) -> None:
    assert remedy in problem_of(tmp_path / "r", preds)


@pytest.mark.parametrize("suffix", ["", ".txt"])
def test_the_reading_of_the_variant_is_shown(tmp_path: Path, suffix: str) -> None:
    files = [f"{variant}/{page}.txt" for variant in VARIANTS for page in ("p1", "p2")]
    documents = readings(tmp_path / "ocr", [*files, "p1.txt", "p2.txt"])
    made = review(tmp_path / "r", {"m/raw": rows([f"p1{suffix}", f"p2{suffix}"])}, documents)
    assert list(paths(made).values()) == ["raw/p1.txt", "raw/p2.txt"]
    assert "another reading" not in " ".join(made.notes)


def test_documents_in_the_folder_of_another_variant_are_told(tmp_path: Path) -> None:
    documents = readings(tmp_path / "ocr", ["raw/p1.txt", "raw/p2.txt", "layout/p1.txt", "layout/p2.txt"])
    told = "no folder is named after the variant of 2 documents (p1, p2)"
    for folder, is_told in (("raw", False), ("layout", True)):
        made = review(tmp_path / f"r-{folder}", {"m/raw": rows()}, documents / folder)
        assert any(told in note for note in made.notes) is is_told


def test_an_id_that_is_a_path_is_that_file_whatever_the_variant(tmp_path: Path) -> None:
    documents = readings(tmp_path / "in", ["scan/1.txt", "mail/1.txt"])
    made = review(tmp_path / "r", {"m": rows(["scan/1.txt", "mail/1.txt"], ["scan"])}, documents)
    assert paths(made) == {name: name for name in ("scan/1.txt", "mail/1.txt")}


def test_readings_without_a_variant_are_refused_by_name(tmp_path: Path) -> None:
    documents = readings(tmp_path / "ocr", ["raw/p1.txt", "layout/p1.txt"])
    told = problem_of(tmp_path / "r", {"m": [{"id": "p1", "shop": "A"}]}, documents)
    assert "2 files for the document 'p1' (layout/p1.txt, raw/p1.txt)" in told
    assert "give --documents the folder of one of them" in told


def test_a_variant_that_some_documents_lack_says_which_are_left_out(tmp_path: Path) -> None:
    documents = readings(tmp_path / "ocr", [f"{name}/p{n}.txt" for n in (1, 2, 3) for name in VARIANTS])
    preds = [*rows(), row("p3", "layout")]
    made = review(tmp_path / "r", {"m/raw": preds}, documents)
    assert sorted(paths(made)) == ["p1", "p2"]
    assert any("1 document (p3) without a prediction of m/raw" in note for note in made.notes)


def test_records_of_several_variants_are_shown_beside_their_own_readings(tmp_path: Path) -> None:
    documents = readings(tmp_path / "ocr", [f"{name}/p{n}.txt" for n in (1, 2) for name in VARIANTS])
    made = review(tmp_path / "r", {"m": [row("p1", "raw"), row("p2", "layout")]}, documents)
    assert paths(made) == {"p1": "raw/p1.txt", "p2": "layout/p2.txt"}
    assert any("several variants (raw, layout)" in note for note in made.notes)


def test_gold_of_one_variant_serves_all_of_them(tmp_path: Path) -> None:
    documents = readings(tmp_path / "ocr", [f"{name}/p{n}.txt" for n in (1, 2) for name in VARIANTS])
    store = review(tmp_path / "r", {"m/corrected": rows()}, documents).store
    me = add(store)
    for text in ("p1 raw", "p2 raw"):
        sheet = take(store, me)
        assert sheet is not None
        say(store, me, sheet, "shop", text)
        store.write(lambda log, sheet=sheet: sheets.finish(log, form_of(store), me, sheet))
    gold = tmp_path / "gold.jsonl"
    assert main(["review", "promote", str(tmp_path / "r"), "--gold", str(gold)]) == 0
    found = score(gold, {"m": rows()}, SPEC)
    assert {name: found.value("accuracy", system=f"m/{name}") for name in VARIANTS} == {
        "corrected": 0.0, "layout": 0.0, "raw": 1.0,
    }  # fmt: skip
