"""Normalizers do what their page says, and both published normalizations can be written with them."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from doc_tables import rows
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from fieldassay.errors import MissingExtraError, ProblemsError
from fieldassay.values.types.catalogue import NORMALIZERS
from fieldassay.values.types.normalizers import Punctuation
from fieldassay.values.types.text import TextReader

PAGE = Path(__file__).parents[3] / "docs" / "normalizers.md"


def made(entry: Any) -> Any:
    name, options = (entry, {}) if isinstance(entry, str) else next(iter(entry.items()))
    kind = NORMALIZERS.load(name)
    if not isinstance(options, dict):  # {case: upper}: the first option
        return kind(options)
    return kind(**{key: tuple(value) if isinstance(value, list) else value for key, value in options.items()})


def reader(text: str) -> TextReader:
    return TextReader(tuple(made(entry) for entry in YAML(typ="safe").load(text)))


def published(position: int) -> TextReader:
    blocks = re.findall(r"```yaml\nnormalize:\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return reader(blocks[position])


@pytest.mark.parametrize("row", rows(PAGE, "Examples"), ids=lambda row: f"{row['normalize']}-{row['text']}")
def test_a_normalizer_does_what_its_example_says(row: dict[str, str]) -> None:
    assert reader(row["normalize"]).read(row["text"]).canonical == row["normalized"]


@pytest.mark.parametrize(
    ("position", "row"),
    [(0, row) for row in rows(PAGE, "Clinical examples")]
    + [(1, row) for row in rows(PAGE, "Business examples")],
    ids=lambda value: value["text"] if isinstance(value, dict) else str(value),
)
def test_a_published_normalization_is_reproduced(position: int, row: dict[str, str]) -> None:
    assert published(position).read(row["text"]).canonical == row["normalized"]


def test_clinical_punctuation_keeps_counts_apart() -> None:
    clinical = published(0)
    assert clinical.read("1-2 TABLETAS").canonical != clinical.read("12 TABLETAS").canonical


def test_every_normalizer_is_on_the_page() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert [name for name in NORMALIZERS.names() if f"| `{name}` |" not in text] == []


IDEMPOTENT = [
    "accents",
    "case",
    "decimal_comma",
    "digits",
    "leading_zero",
    "separators",
    "umlauts",
    "unicode",
    "white_space",
    {"remove": {"characters": "a,"}},
]
IDEMPOTENT += [
    {"case": {"form": "lower"}},
    {"punctuation": {"mode": "delete"}},
    {"punctuation": {"mode": "space"}},
    {"white_space": {"form": "remove"}},
]


@pytest.mark.parametrize("entry", IDEMPOTENT, ids=str)
@given(text=st.text(max_size=30))
def test_a_normalizer_applied_twice_changes_nothing_more(entry: Any, text: str) -> None:
    normalizer = made(entry)
    once = normalizer.apply(text)
    assert normalizer.apply(once) == once


@given(text=st.text(alphabet=st.characters(codec=None), max_size=60))
def test_no_text_stops_the_published_normalizations(text: str) -> None:
    assert all(isinstance(published(position).read(text).canonical, str) for position in (0, 1))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("case", {"form": "title"}),
        ("unicode", {"form": "NFX"}),
        ("punctuation", {"mode": "keep"}),
        ("punctuation", {"keep": ("point",)}),
    ],
    ids=str,
)
def test_an_unknown_form_is_refused_with_the_valid_ones(name: str, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"cannot be .*(did you mean|one of)"):
        NORMALIZERS.load(name)(**options)


def test_an_unknown_normalizer_is_refused_with_the_nearest() -> None:
    with pytest.raises(ProblemsError, match="did you mean 'accents'"):
        NORMALIZERS.load("accent")


@pytest.mark.skipif(find_spec("ftfy") is not None, reason="ftfy is installed")
def test_ftfy_says_how_to_install_it() -> None:
    with pytest.raises(MissingExtraError, match="pip install ftfy"):
        NORMALIZERS.load("ftfy")()


def test_long_text_is_normalized_in_linear_time() -> None:
    assert len(Punctuation("space", ("decimal_point", "minus_sign")).apply("1.-" * 300_000)) == 900_000


@pytest.mark.parametrize(
    ("gold", "pred"),
    [
        ("Müller", "Mueller"),
        ("Straße", "Strasse"),
        ("STRAẞE", "STRASSE"),
        ("ÜBER", "UEBER"),
        ("Übung", "Uebung"),
    ],
)
def test_umlauts_and_their_digraphs_are_equal(gold: str, pred: str) -> None:
    folding = reader("[umlauts]")
    assert folding.read(gold).canonical == folding.read(pred).canonical
    assert reader("[]").read(gold).canonical != reader("[]").read(pred).canonical or gold == pred


def test_an_umlaut_is_not_its_bare_letter() -> None:
    assert reader("[umlauts]").read("Müller").canonical != reader("[umlauts]").read("Muller").canonical
