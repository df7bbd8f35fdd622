"""What a model said and a reviewer confirmed comes back from gold: its shape, and its kinds of JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.review.receipts import add, confirm

from fieldassay.commands.cli.main import main
from fieldassay.review.sheets.make import Request, make_review

TEXTS, NUMBERS = st.sampled_from(["x", "007", "5 kg", "true"]), st.sampled_from([7, 1.5, -2])
KEYS = st.sampled_from(["k", "m n", "a.b"])
TREES = st.recursive(
    TEXTS | NUMBERS | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=2),
    max_leaves=6,
)
SPECS = st.recursive(
    st.sampled_from(["text", "number", "any"]),
    lambda inner: (
        inner.map(lambda items: {"type": "list", "items": items})
        | inner.map(lambda values: {"type": "map", "values": values})
        | st.dictionaries(st.sampled_from("pq"), inner, min_size=1, max_size=2).map(lambda some: {"fields": some})
    ),
    max_leaves=4,
)  # fmt: skip


def values_of(spec: Any) -> st.SearchStrategy[Any]:
    """Return values that a spec of one field takes."""
    if isinstance(spec, str):
        return {"text": TEXTS, "number": NUMBERS, "any": TREES}[spec]
    if "fields" in spec:
        return st.fixed_dictionaries(
            {}, optional={key: values_of(one) for key, one in spec["fields"].items()}
        )
    if spec["type"] == "map":
        return st.dictionaries(KEYS, values_of(spec["values"]), max_size=2)
    return st.lists(values_of(spec["items"]), max_size=3)


def filled(value: Any) -> Any:
    """Return a value without what holds nothing, its scalars by their kind."""
    if not isinstance(value, dict | list):
        return None if value is None else json.dumps(value)
    members = value.items() if isinstance(value, dict) else enumerate(value)
    held = {key: one for key, inner in members if (one := filled(inner)) is not None}
    return (list(held.values()) if isinstance(value, list) else held) or None


def gold_of(folder: Path, spec: str, row: dict[str, Any], **said: str | None) -> dict[str, Any]:
    """Return the gold of a reviewer who confirms everything but what is `said` otherwise."""
    store = make_review(folder / "r", Request(spec, {"m": [{"id": "a", **row}]})).store
    confirm(store, add(store), 1, said)
    gold = folder / "gold.jsonl"
    assert main(["review", "promote", str(folder / "r"), "--gold", str(gold)]) == 0
    found: dict[str, Any] = json.loads(gold.read_text())
    return found


@given(st.fixed_dictionaries({"f": SPECS, "g": SPECS}), st.data())
def test_what_a_reviewer_confirms_is_gold_as_it_was_predicted(
    tmp_path_factory: pytest.TempPathFactory, spec: dict[str, Any], data: st.DataObject
) -> None:
    row = {key: data.draw(values_of(one)) for key, one in spec.items()}
    gold = gold_of(
        tmp_path_factory.mktemp("shape"), json.dumps({"fields": {**spec, "s": "text"}}), row | {"s": "S"}
    )
    unreviewed = gold.pop("unreviewed_fields", [])
    assert all(filled(row.get(name)) is None or name.endswith("**") for name in unreviewed), unreviewed
    assert filled(gold) == filled({"id": "a", **row, "s": "S"})


TREE = {"tree": {"n": 1.5, "b": True, "t": "007", "l": [1, {"w": "deep"}]}}


@pytest.mark.parametrize(
    ("spec", "row", "said", "gold"),
    [
        ("{ll: {type: list, items: {type: list, items: text}}}", {"ll": [["a", "b"], ["c"]]}, {}, {"ll": [["a", "b"], ["c"]]}),
        ("{ll: {type: list, items: {type: list, items: text}}}", {"ll": [["a", "b"], ["c"]]}, {"ll[0][0]": None, "ll[1][0]": None}, {"ll": [["b"]]}),
        ("{tree: any}", TREE, {}, TREE),
        ("{tree: any}", TREE, {"tree.n": "2.50", "tree.b": "no", "tree.t": "7", "tree.l[0]": "x"},
         {"tree": {"n": 2.5, "b": "no", "t": "7", "l": ["x", {"w": "deep"}]}}),
        ("{mp: {type: map, values: any}}", {"mp": {"x": 1, "y": 2}}, {"mp.x": "-3"}, {"mp": {"x": -3, "y": 2}}),
        ("{n: {type: number, locale: de_DE}, m: {type: number, locale: de_DE}}", {"n": 1.234, "m": 1.234}, {"m": "1.234"}, {"n": 1.234, "m": "1.234"}),
        ("{t: text, d: number}", {"t": ["a", "b"], "d": [5]}, {}, {"t": "a | b", "d": "5"}),
        ("{xs: {type: list, items: number, compare: bag}}", {"xs": [1, 2.5]}, {}, {"xs": [1, 2.5]}),
    ],
    ids=["lists in a list", "rows of them removed", "a tree", "corrected in the kind that it replaces", "in a map", "in the writing of the locale", "lists for values", "a list as one value"],
)  # fmt: skip
def test_gold_has_the_shape_and_the_kinds_that_were_shown(
    tmp_path: Path, spec: str, row: dict[str, Any], said: dict[str, str | None], gold: dict[str, Any]
) -> None:
    found = gold_of(tmp_path, f"fields: {spec}", row, **said)
    found.pop("unreviewed_fields", None)
    assert found == {"id": "a", **gold}
