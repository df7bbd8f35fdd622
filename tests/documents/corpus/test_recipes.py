"""Recipes: the cases that the engineering protocol names, other seeds, larger scales."""

import json
import re
from pathlib import Path

import pytest
from bench.corpus.build import build_corpus, count_documents
from bench.corpus.degrade import DEGRADATIONS
from bench.corpus.marks import Digits, build_gold, read_runs
from bench.corpus.recipe import list_recipes, read_recipes, vary
from bench.corpus.write import write
from bench.corpus.written import texts_of

from fieldassay.documents.corpus.difficulty import DIFFICULTIES
from fieldassay.documents.corpus.manifest import SHIPPED, read_corpus
from fieldassay.errors import ProblemsError
from fieldassay.spec.plan.compile import read_plan

pytestmark = pytest.mark.full

GROUPS = {"unit": 8, "value": 8, "struct": 8, "pdf": 5, "docx": 4, "xlsx": 5, "csv": 4}


def test_the_cases_of_the_engineering_protocol_are_all_there() -> None:
    names = [recipe.id for recipe in read_recipes("engineering")]
    assert len(names) == 42
    assert {kind: sum(name.startswith(f"case_{kind}_") for name in names) for kind in GROUPS} == GROUPS


@pytest.mark.parametrize("recipe", list_recipes(), ids=lambda recipe: recipe.id)
def test_a_recipe_has_gold_that_its_spec_declares(recipe) -> None:
    fields = {info.path for info in read_plan(SHIPPED / recipe.task / "spec.yaml").fields}
    marks = [run.mark for text in texts_of(recipe.blocks) for run in read_runs(text) if run.mark]
    paths = [mark.path for mark in marks] + list(recipe.implied)
    declared = {re.sub(r"\[\d+\]", "[]", path) for path in paths}
    assert declared and {path.removesuffix("[]") for path in declared} <= {
        path.removesuffix("[]") for path in fields
    }
    assert len(paths) == len(set(paths)), "one place for each value"
    assert recipe.difficulty in DIFFICULTIES and recipe.tests and recipe.tags
    assert {*recipe.twins, recipe.degraded} - {None} <= DEGRADATIONS.keys()


@pytest.mark.parametrize(
    ("text", "gold"),
    [("<<a|5.000,50|5000.5>>", 8000.8), ("<<a|1.5E+03|1500>>", 1500), ("<<a|$90.00>>", "$20.00")],
    ids=["amount", "power of ten stays", "text"],
)
def test_other_digits_change_the_page_and_gold_alike(text: str, gold: object) -> None:
    digits = Digits({ord(old): new for old, new in zip("123456789", "314986752", strict=True)})
    found = read_runs(digits.text(text))[0].mark
    assert found.gold == gold


def test_another_seed_has_other_amounts_and_the_same_names() -> None:
    recipe = next(one for one in read_recipes("business") if one.id == "invoice_plain")
    golds = [
        build_gold((one.mark.path, one.mark.gold) for one in write(vary(recipe, seed, 0)).placed)
        for seed in (0, 7)
    ]
    assert golds[0]["SUPPLIER_NAME"] == golds[1]["SUPPLIER_NAME"]
    assert golds[0]["TOTAL_AMOUNT"] != golds[1]["TOTAL_AMOUNT"]
    assert vary(recipe, 0, 0) is recipe


def test_a_larger_scale_adds_copies_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = tuple(one for one in list_recipes() if one.id in ("case_csv_002_tab", "valves_csv", "valves_900"))
    monkeypatch.setattr("bench.corpus.build.list_recipes", lambda: few)
    done = []
    assert build_corpus(tmp_path / "large", seed=3, scale=4, watch=done.append) == count_documents(4) == 9
    assert sum(done) == 9
    corpus = read_corpus(tmp_path / "large")
    assert (corpus.seed, corpus.scale) == (3, 4)
    rows = (tmp_path / "large/engineering/gold.jsonl").read_text().splitlines()
    assert len({json.dumps(json.loads(row)["expected_extraction"]) for row in rows}) == 4


def test_a_folder_with_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("x")
    with pytest.raises(ProblemsError, match="not empty; name a new folder"):
        build_corpus(str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
