"""The protocols entry-matching and entry-matching-mean against worked examples and an oracle."""

import math
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from tests.judging import score_alone as score

import fieldassay
from fieldassay.metrics.result.tables import trace_curves


def test_a_slice_of_the_protocol_that_no_document_has_is_told_only_where_it_was_asked_for():
    pages = [{"id": "p", "entries": [{"name": "A", "pages": [1]}]}]
    for asked, told in ((None, False), (("variant",), True)):
        result = fieldassay.score(pages, pages, {"protocol": "entry-matching"}, slices=asked, bootstrap=0)
        assert any("'variant'" in warning for warning in result.warnings) == told


# Entry matching as worded on its page, apart from the package: difflib, scipy and plain loops.


@dataclass(frozen=True)
class Page:
    """What the protocol says of one page: how many entries each side has, and the q of each matched pair."""

    gold: int
    predicted: int
    quality: tuple[float, ...]


def name_of(entry):
    name = entry.get("name") if isinstance(entry, dict) else None
    return "" if name is None else str(name).strip().lower()


def pages_of(entry):
    pages = entry.get("pages") if isinstance(entry, dict) else None
    return {int(page) for page in pages if page is not None} if isinstance(pages, list) else set()


def distance(gold, predicted, is_mean):
    by_name = 1 - SequenceMatcher(None, name_of(gold), name_of(predicted), autojunk=False).ratio()
    either = pages_of(gold) | pages_of(predicted)
    by_pages = 1 - len(pages_of(gold) & pages_of(predicted)) / len(either) if either else 0.0
    return (by_name + by_pages) / 2 if is_mean else by_name * by_pages


def match_page(gold, predicted, is_mean=False):
    gold = gold if isinstance(gold, list) else []
    predicted = predicted if isinstance(predicted, list) else []
    matrix = np.array([[distance(one, other, is_mean) for other in predicted] for one in gold]).reshape(
        len(gold), len(predicted)
    )
    rows, columns = linear_sum_assignment(matrix)
    return Page(len(gold), len(predicted), tuple(1 - matrix[rows, columns]))


def share(part, whole):
    return part / whole if whole else None


def harmonic(first, second):
    if first is None or second is None:
        return None
    return 2 * first * second / (first + second) if first + second else 0.0


def figures(gold, predicted, total, matched):
    imq, imq_predicted = share(total, gold), share(total, predicted)
    precision, recall = share(matched, predicted), share(matched, gold)
    return {
        "imq": imq,
        "imq_predicted": imq_predicted,
        "imq_f1": share(2 * total, gold + predicted),
        "average_matching_quality": share(total, matched),
        "matching_precision": precision,
        "matching_recall": recall,
        "matching_f1": harmonic(precision, recall),
    }


def page_figures(page):
    return figures(page.gold, page.predicted, sum(page.quality), len(page.quality))


def all_figures(pages):
    """Return the pooled figures, and the means over pages under `macro_`."""
    pooled = figures(
        sum(page.gold for page in pages),
        sum(page.predicted for page in pages),
        sum(sum(page.quality) for page in pages),
        sum(len(page.quality) for page in pages),
    )
    each = [page_figures(page) for page in pages]
    known = {name: [found[name] for found in each if found[name] is not None] for name in pooled}
    return pooled | {
        f"macro_{name}": float(np.mean(values)) if values else None for name, values in known.items()
    }


def curve(pages, threshold):
    """Return F(t), an entry without a partner having q = 0."""
    entries = sum(page.gold for page in pages)
    reached = (
        entries if threshold <= 0 else sum(q >= threshold - 1e-9 for page in pages for q in page.quality)
    )
    return share(reached, entries)


# Pages of index entries: random ones with ties, misread ones, hostile ones.

NAMES = (
    "Dupont",
    "dupond ",
    "Durand",
    "DURANT",
    "İstanbul",
    "straße",
    "STRASSE",
    "Ægir (d')",
    "a",
    "ab",
    "ba",
    "tide",
    "diet",
    "Le Brun",
    "le brun",
)
_NAMES = (*NAMES, "", "  ", None)
_PAGES: tuple[Any, ...] = (
    [],
    None,
    "voir Dupont",
    [3, 3, 3],
    [-1, 2],
    [None, 4],
    {"a": 1},
    7,
    ["12"],
    [12.0],
)


def random_page(generator):
    """Return up to 8 entries, now and then many more; few names and pages, so that ties are common."""
    many = generator.random() < 0.05
    return [
        _entry(generator)
        for _ in range(int(generator.integers(65, 90)) if many else int(generator.integers(0, 9)))
    ]


def misread_page(generator, page):
    """Return some of the entries in another order, some of them changed, and a few more."""
    if generator.random() < 0.3:
        return random_page(generator)
    kept = [page[at] for at in generator.permutation(len(page))[: int(generator.integers(0, len(page) + 1))]]
    changed = [
        {**entry, "name": f"{entry.get('name')}x"} if generator.random() < 0.3 else entry for entry in kept
    ]
    return [*changed, *(_entry(generator) for _ in range(int(generator.integers(0, 3))))]


def _entry(generator):
    entry = {"name": _NAMES[generator.integers(len(_NAMES))], "pages": _pages(generator)}
    if generator.random() < 0.1:
        del entry["name" if generator.random() < 0.5 else "pages"]
    return {"name": None, **entry} if generator.random() < 0.5 else entry


def _pages(generator):
    if generator.random() < 0.3:
        return _PAGES[generator.integers(len(_PAGES))]
    return [int(page) for page in generator.integers(1, 7, int(generator.integers(0, 5)))]


# The protocols entry-matching and entry-matching-mean against worked examples and an oracle.

PRODUCT, MEAN = "entry-matching", "entry-matching-mean"
GOLD = [{"name": "Dupont", "pages": [1, 2]}, {"name": "Durand", "pages": [7]}]


def score_pages(gold, pred, protocol=PRODUCT):
    sides = ([{"id": number, "entries": page} for number, page in enumerate(side)] for side in (gold, pred))
    return score(*sides, {"protocol": protocol})


def qualities(result):
    """Return the q of the gold entries in their order, None where one has no partner."""
    items = result.evidence.filter(
        (result.evidence["kind"] == "item") & result.evidence["gold_path"].is_not_null()
    )
    return [row["similarity"] for row in sorted(items.to_dicts(), key=lambda row: row["gold_path"])]


def assert_figures(result, wanted):
    for name, value in all_figures(wanted).items():
        assert result.value(name) == (None if value is None else pytest.approx(value, abs=1e-9)), name
    rows = {row["doc"]: row for row in result.documents.to_dicts()}
    for number, page in enumerate(wanted):
        own = page_figures(page)
        found = rows[str(number)]
        assert {name: found[name] for name in own} == {
            name: None if value is None else pytest.approx(value, abs=1e-9) for name, value in own.items()
        }
        assert found["score"] == found["imq"]


# The worked examples of the protocol.


@pytest.mark.parametrize(
    ("protocol", "predicted", "q", "imq"),
    [
        pytest.param(
            PRODUCT, [("dupont", [1, 3]), ("Durant", [7])], [1, 1], 1, id="equal-name-and-equal-pages"
        ),
        pytest.param(PRODUCT, [("Dupond", [1, 3])], [8 / 9, None], 4 / 9, id="one-of-two"),
        pytest.param(
            MEAN, [("dupont", [1, 3]), ("Durant", [7])], [2 / 3, 11 / 12], 19 / 24, id="mean-forgives-neither"
        ),
        pytest.param(MEAN, [("Dupond", [1, 3])], [7 / 12, None], 7 / 24, id="mean-one-of-two"),
    ],
)
def test_worked_examples(protocol, predicted, q, imq):
    result = score_pages([GOLD], [[{"name": name, "pages": pages} for name, pages in predicted]], protocol)
    assert qualities(result) == [value if value is None else pytest.approx(value, abs=1e-12) for value in q]
    assert result.value("imq") == pytest.approx(imq, abs=1e-9)


def test_every_figure_of_one_page_by_hand():
    result = score_pages([GOLD, []], [[{"name": "Dupond", "pages": [1, 3]}], []])
    wanted = {"imq": 4 / 9, "imq_predicted": 8 / 9, "imq_f1": 16 / 27, "average_matching_quality": 8 / 9}
    wanted |= {"matching_precision": 1, "matching_recall": 1 / 2, "matching_f1": 2 / 3}
    assert {name: result.value(name) for name in wanted} == {
        name: pytest.approx(value, abs=1e-9) for name, value in wanted.items()
    }
    assert [result.estimate(f"f_t(threshold={t})").value for t in (0, 0.05, 0.85, 0.9, 1)] == [
        1,
        0.5,
        0.5,
        0,
        0,
    ]
    assert [result.value(name) for name in ("items_matched", "items_missing", "items_spurious")] == [1, 1, 0]


@pytest.mark.parametrize(
    ("gold", "predicted", "wanted"),
    [
        pytest.param([], [], {"imq": None, "imq_predicted": None, "matching_f1": None},
            id="nothing-on-either-side"),
        pytest.param(GOLD, [], {"imq": 0, "imq_predicted": None, "imq_f1": 0, "matching_precision": None},
            id="none-predicted"),
        pytest.param(GOLD, [], {"matching_recall": 0, "matching_f1": None, "average_matching_quality": None},
            id="none-matched"),
        pytest.param([], GOLD, {"imq": None, "imq_predicted": 0, "imq_f1": 0, "matching_precision": 0},
            id="none-in-gold"),
        pytest.param([{"name": "a", "pages": [1]}], [{"name": "b", "pages": [2]}],
            {"imq": 0, "imq_f1": 0, "matching_f1": 1}, id="nothing-in-common"),
        pytest.param([{}], [{"name": "b", "pages": []}], {"imq": 1, "matching_f1": 1},
            id="an-empty-entry-is-an-entry"),
    ],
)  # fmt: skip
def test_what_is_undefined_and_what_is_0(gold, predicted, wanted):
    result = score_pages([gold], [predicted])
    assert {name: result.value(name) for name in wanted} == wanted


def test_a_page_without_prediction_counts_0_and_is_left_out_where_it_is_undefined():
    result = score(
        [{"id": 1, "entries": GOLD}, {"id": 2, "entries": GOLD}],
        [{"id": 1, "entries": GOLD}],
        {"protocol": PRODUCT},
    )
    assert (result.value("imq"), result.value("macro_imq"), result.value("macro_matching_precision")) == (
        0.5,
        0.5,
        1.0,
    )
    assert result.documents["score"].to_list() == [1.0, 0.0]


# Distances.


@pytest.mark.parametrize(
    ("gold", "predicted", "distance"),
    [
        pytest.param("tide", "diet", 0.75, id="gold-first"),
        pytest.param("diet", "tide", 0.5, id="not-symmetric"),
        pytest.param(" DUPONT ", "dupont", 0.0, id="trimmed-and-lowercased"),
        pytest.param("İ", "i̇", 0.0, id="lower-of-dotted-I-is-two-characters"),
        pytest.param("straße", "STRASSE", 1 - 10 / 13, id="lower-is-not-casefold"),
        pytest.param(None, "  ", 0.0, id="two-empty-names"),
        pytest.param(None, "a", 1.0, id="one-empty-name"),
        pytest.param(12, "12", 0.0, id="a-number-as-a-name"),
    ],
)
def test_distance_of_names(gold, predicted, distance):
    result = score_pages([[{"name": gold, "pages": [1]}]], [[{"name": predicted, "pages": [2]}]])
    assert result.value("imq") == pytest.approx(1 - distance, abs=1e-9)


@pytest.mark.parametrize(
    ("gold", "predicted", "distance"),
    [
        pytest.param([1, 2], [1, 3], 2 / 3, id="one-of-three"),
        pytest.param([2, 1], [1, 2], 0.0, id="order-does-not-count"),
        pytest.param([3, 3, 3], [3], 0.0, id="repeats-count-once"),
        pytest.param([3, 3, 4], [3, 5, 5], 2 / 3, id="repeats-on-both-sides"),
        pytest.param([], None, 0.0, id="two-empty-sets"),
        pytest.param([], "voir Dupont", 0.0, id="a-cross-reference-in-words-is-empty"),
        pytest.param([7], "7", 1.0, id="a-text-is-no-list"),
        pytest.param([7], 7, 1.0, id="a-number-is-no-list"),
        pytest.param([7], {"7": 7}, 1.0, id="an-object-is-no-list"),
        pytest.param([7], ["7"], 0.0, id="digits-in-a-text-are-a-number"),
        pytest.param([7], [7.0], 0.0, id="a-whole-float-is-that-integer"),
        pytest.param([-7], [7], 1.0, id="negative"),
        pytest.param([None, 7], [7], 0.0, id="null-is-no-page"),
        pytest.param([7, "xii"], [7, "xiii"], 2 / 3, id="what-is-no-number-counts-as-written"),
        pytest.param([10**30], [10**30 + 1], 1.0, id="huge"),
    ],
)
def test_distance_of_pages(gold, predicted, distance):
    result = score_pages([[{"name": "a", "pages": gold}]], [[{"name": "b", "pages": predicted}]])
    assert result.value("imq") == pytest.approx(1 - distance, abs=1e-9)


# Against the oracle.


@pytest.mark.parametrize("protocol", [PRODUCT, MEAN])
@pytest.mark.parametrize("seed", range(4))
def test_random_pages_agree_with_the_oracle(seed, protocol):
    generator = np.random.default_rng(seed)
    gold = [random_page(generator) for _ in range(60)]
    predicted = [misread_page(generator, page) for page in gold]
    pages = [match_page(page, other, protocol == MEAN) for page, other in zip(gold, predicted, strict=True)]
    assert_figures(score_pages(gold, predicted, protocol), pages)


@pytest.mark.parametrize("seed", range(3))
def test_f_of_t_agrees_with_the_oracle_where_the_optimum_is_unique(seed):
    generator = np.random.default_rng(100 + seed)
    gold = [
        [
            {
                "name": "".join(generator.choice(list("abcdefghij"), 12)),
                "pages": [int(generator.integers(9_000))],
            }
            for _ in range(6)
        ]
        for _ in range(40)
    ]
    predicted = [
        [{"name": entry["name"][:9], "pages": []} for entry in page[: int(generator.integers(1, 7))]]
        for page in gold
    ]
    pages = [match_page(page, other) for page, other in zip(gold, predicted, strict=True)]
    result = score_pages(gold, predicted)
    for step in range(21):
        assert result.estimate(f"f_t(threshold={step / 20:g})").value == pytest.approx(
            curve(pages, step / 20)
        ), step


# The curve.


@pytest.mark.parametrize("seed", range(3))
def test_the_area_under_the_curve_is_the_imq_exactly(seed):
    generator = np.random.default_rng(seed)
    gold = [random_page(generator) for _ in range(30)]
    result = score_pages(gold, [misread_page(generator, page) for page in gold])
    steps = trace_curves(result.evidence, result.documents)
    widths, heights = np.diff(steps["t"].to_numpy()), steps["share"].to_numpy()[1:]
    own = qualities_of(result)
    assert math.fsum(widths * heights) == pytest.approx(math.fsum(own) / len(own), abs=1e-12)
    assert math.fsum(widths * heights) == pytest.approx(result.value("imq"), abs=1e-9)
    assert steps.row(0)[3:5] == (0.0, 1.0)
    assert (np.diff(steps["share"].to_numpy()) <= 0).all()
    for t, share in steps.select("t", "share").rows():
        assert share == sum(q >= t for q in own) / len(own)


def qualities_of(result):
    items = result.evidence.filter(
        (result.evidence["kind"] == "item") & ~result.evidence["outcome"].is_in(["spurious", "absent"])
    )
    return [row or 0.0 for row in items["similarity"].to_list()]


def test_the_curve_has_one_part_per_system_and_variant():
    gold = [{"id": 1, "entries": GOLD}, {"id": 2, "entries": GOLD}]
    predicted = [
        {"id": 1, "variant": "raw", "entries": GOLD},
        {"id": 2, "variant": "clean", "entries": GOLD[:1]},
    ]
    result = score(gold, {"a": predicted}, {"protocol": PRODUCT})
    steps = trace_curves(result.evidence, result.documents)
    assert steps.select("slice", "t", "reached", "n").rows() == [
        ("", 0.0, 4, 4), ("", 1.0, 3, 4),
        ("variant=raw", 0.0, 2, 2), ("variant=raw", 1.0, 2, 2),
        ("variant=clean", 0.0, 2, 2), ("variant=clean", 1.0, 1, 2),
    ]  # fmt: skip


def test_lists_paired_by_position_have_no_curve():
    spec = "fields: {lines: {type: list, align: ordered, items: {fields: {a: text}}}}"
    result = score([{"id": 1, "lines": [{"a": "x"}]}], [{"id": 1, "lines": [{"a": "x"}]}], spec)
    assert trace_curves(result.evidence).is_empty()


# The record and its other names.


@pytest.mark.parametrize(
    "entries", ["entries", "speaker_entries", "speakers", "senators", "listes_des_intervenants"]
)
@pytest.mark.parametrize(
    ("name", "pages"),
    [
        ("name", "pages"),
        ("speaker_name", "ref_pages"),
        ("senator", "references"),
        ("senator_name", "page_references"),
        ("nom", "references_pages"),
    ],
)
def test_the_names_of_the_study_are_understood(entries, name, pages):
    renamed = [{"id": 1, entries: [{name: entry["name"], pages: entry["pages"]} for entry in GOLD]}]
    result = score([{"id": 1, "entries": GOLD}], renamed, {"protocol": PRODUCT})
    assert result.value("imq") == result.value("imq_predicted") == 1.0
    assert result.warnings == () or all("keys" not in warning for warning in result.warnings)


@pytest.mark.parametrize(
    "entries",
    [
        pytest.param(None, id="null"),
        pytest.param("", id="empty-text"),
        pytest.param("Dupont 12", id="text"),
        pytest.param(12, id="number"),
    ],
)
def test_predicted_entries_that_are_no_list_are_none(entries):
    result = score_pages([GOLD], [entries])
    assert (result.value("imq"), result.value("matching_recall"), result.value("items_spurious")) == (0, 0, 0)
