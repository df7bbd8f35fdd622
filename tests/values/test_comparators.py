"""Comparators of texts and lists, and the tables of their page."""

import difflib
import random
import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from ruamel.yaml import YAML
from tests.values.comparator_cases import (
    LISTS,
    build,
    column,
    list_column,
    list_reading,
    names,
    reading,
)

from fieldassay.options import options_of
from fieldassay.values.catalogue import COMPARATORS, DEFAULTS
from fieldassay.values.comparators import texts
from fieldassay.values.comparators.lists import SetIou, SetOverlap
from fieldassay.values.comparators.numbers import (
    DIFFERENT,
    EQUAL,
    WITHIN,
    Tolerance,
    number_codes,
    printed_unit,
)
from fieldassay.values.comparators.texts import LONGEST_MATCHED_PRODUCT, ratcliff_similarity
from fieldassay.values.types.column import Column, Reading, objects

# Comparators of texts and lists.

# Comparators of texts and lists, against published cases and their pages

# Text similarities against their definitions


def edits(left, right, substitution):
    row = list(range(len(right) + 1))
    for above, one in enumerate(left, 1):
        corner, row[0] = row[0], above
        for at, other in enumerate(right, 1):
            corner, row[at] = (
                row[at],
                min(row[at] + 1, row[at - 1] + 1, corner + (one != other) * substitution),
            )
    return row[-1]


@given(gold=st.text("abc ", max_size=8), pred=st.text("abc ", max_size=8))
def test_edit_similarities_are_their_definitions(gold, pred):
    left, right = gold.strip(), pred.strip()
    pair = (column("text", [gold]), column("text", [pred]))
    longest, both = max(len(left), len(right)), len(left) + len(right)
    levenshtein = 1.0 if not longest else (longest - edits(left, right, 1)) / longest
    assert build("levenshtein").compare_all(*pair).score[0] == levenshtein
    assert build("indel").compare_all(*pair).score[0] == (
        1.0 if not both else (both - edits(left, right, 2)) / both
    )
    assert build("anls").compare_all(*pair).score[0] == (levenshtein if levenshtein >= 0.5 else 0.0)
    assert build("ratcliff").compare_all(*pair).score[0] <= build("indel").compare_all(*pair).score[0] + 1e-12


@pytest.mark.parametrize("name", ["levenshtein", "indel", "jaro_winkler", "ratcliff", "anls"])
def test_two_empty_texts_are_equal_and_one_empty_text_is_nothing(name):
    scores = build(name).compare_all(column("text", ["", "", "a"]), column("text", ["", "a", ""]))
    assert scores.score.tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("name", "limit"), [("levenshtein", texts.LONGEST_PRODUCT), ("ratcliff", LONGEST_MATCHED_PRODUCT)]
)
def test_a_pair_too_long_to_judge_is_not_judged_and_says_so(name, limit):
    length = int(limit**0.5) + 1
    values = column("text", ["a" * length, "b" * length, "ab"])
    comparator = build(name)
    scores = comparator.compare_all(values.take(np.array([0, 0, 0])), values.take(np.array([1, 0, 2])))
    assert np.isnan(scores.score[0])
    assert scores.score[1] == 1.0
    assert scores.score[2] < 0.01
    assert names(comparator, scores) == ["too_long", "equal", "similar"]


def test_a_cascade_does_not_go_around_a_pair_that_could_not_be_judged(monkeypatch):
    monkeypatch.setattr(texts.TextSimilarity, "most", 8)
    comparator = build({"cascade": {"steps": ["exact", "levenshtein", "words"]}})
    scores = comparator.compare_all(column("text", ["abc d", "ab"]), column("text", ["abc", "a"]))
    assert np.isnan(scores.score[0])
    assert (scores.score[1], names(comparator, scores)) == (0.9, ["too_long", "contained"])


def test_a_short_text_against_ten_megabytes_is_judged():
    values = column("text", ["total: 12", "x" * 10_000_000])
    score, reason = build("levenshtein").compare_one(values.reading(0), values.reading(1))
    assert (score, reason) == (0.0, "different")


def test_digits_sees_the_text_as_given_not_the_canonical_one():
    values = column("number", ["12.50", "12.5"])
    assert build("digits").compare_one(values.reading(0), values.reading(0)) == (1.0, "equal")
    assert values.canonical.tolist() == ["12.5", "12.5"]


# Sets compared many at once score as each pair of them does alone

TEXT_LISTS = st.lists(
    st.lists(st.sampled_from(["a", "b", "c", "ab", ""]), max_size=5), min_size=1, max_size=6
)


@pytest.mark.parametrize("comparator", [SetIou(), SetOverlap()], ids=["iou", "overlap"])
@given(lists=TEXT_LISTS)
def test_all_pairs_at_once_score_as_one_by_one(comparator, lists):
    column = list_column(lists)
    gold, pred = np.nonzero(column.canonical[:, None] != column.canonical)
    together = comparator.compare_at(column, gold, pred)
    apart = comparator.compare_all(column.take(gold), column.take(pred))
    assert together.score.tolist() == apart.score.tolist()
    assert together.reason.tolist() == apart.reason.tolist()


# Ratcliff/Obershelp against difflib


def difflib_ratio(gold, pred):
    return difflib.SequenceMatcher(None, gold, pred, autojunk=False).ratio()


def ratios(gold, pred):
    """Our ratios of the texts as they are, untrimmed."""
    positions = np.arange(len(gold))
    return ratcliff_similarity(objects([*gold, *pred]), positions, positions + len(gold)).tolist()


def random_texts(alphabet, longest):
    source = random.Random(20261121)
    return ["".join(source.choices(alphabet, k=source.randint(0, longest))) for _ in range(4_000)]


@pytest.mark.parametrize(
    "texts",
    [
        random_texts("ab", 9),
        random_texts("abcde é", 14),
        random_texts("😀😁𝔸𝔹aé\ud800\x00", 9),
        [f"Compte rendu des débats, séance du {text}" for text in random_texts("ab1", 6)],
        [*random_texts("abc de", 70)[:400], *random_texts("abcdefghij ", 260)[-200:]],
    ],
    ids=[
        "ties everywhere",
        "letters",
        "astral, surrogates, NUL",
        "long prefixes",
        "long, difflib's heuristic",
    ],
)
def test_ratios_are_those_of_difflib_bit_for_bit(texts):
    gold, pred = texts[: len(texts) // 2], texts[len(texts) // 2 :]
    assert ratios(gold, pred) == list(map(difflib_ratio, gold, pred))


TEXT = st.one_of(st.text("ab", max_size=70), st.text("abc é😀", max_size=20), st.text(max_size=12))


@given(pairs=st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=12))
def test_ratios_of_any_texts_are_those_of_difflib(pairs):
    gold, pred = zip(*pairs, strict=True)
    assert ratios(gold, pred) == list(map(difflib_ratio, gold, pred))


@pytest.mark.parametrize(
    ("gold", "pred", "ratio"),
    [
        pytest.param("Dupont", "Dupond", 10 / 12, id="one letter of six: distance 1/6"),
        pytest.param("tide", "diet", 0.25, id="gold's first of equal blocks is t, at the end of diet"),
        pytest.param("diet", "tide", 0.5, id="the other way around it is d, then e"),
        pytest.param("abcxab", "ab", 0.5, id="the first ab"),
        pytest.param("xab", "abyab", 0.5, id="the prediction's first ab leaves nothing before it"),
        pytest.param("abcd", "cdab", 0.5, id="swapped halves: one of them"),
        pytest.param(
            "one two",
            "two one",
            6 / 14,
            id="swapped words: gold's one, since neither space is beside more",
        ),
        pytest.param("ab", "xy", 0.0, id="nothing in common"),
        pytest.param("", "a", 0.0, id="nothing against something"),
        pytest.param("", "", 1.0, id="nothing against nothing"),
    ],
)
def test_worked_examples(gold, pred, ratio):
    assert ratios([gold], [pred]) == [ratio]
    assert (
        build("ratcliff").compare_one(column("text", [gold]).reading(0), column("text", [pred]).reading(0))[0]
        == ratio
    )


# Worked values of the published protocols, and values misjudged by other tools

LAB = {"cascade": {"steps": ["exact", {"number": {"tolerance": 0.02}}]}}
ENGINEERING = {"number": {"tolerance": {"relative": 0.01, "scale": "at_least_one", "absolute": 0.0001}}}
IGNORED = {"exact": {"ignore": ",$%() "}}
BUSINESS_TEXT = {"cascade": {"steps": [IGNORED, "words"]}}
BUSINESS_MONEY = {"money": {"tolerance": {"relative": 0.01, "zero": 0.01}}}
BUSINESS_DATE = {"cascade": {"steps": [IGNORED, "date_components"]}}
BUSINESS_PHONE = {"cascade": {"steps": [IGNORED, "phone_digits"]}}
BUSINESS_ID = {"cascade": {"steps": [IGNORED, "digits"]}}


@pytest.mark.parametrize(
    ("call", "kind", "gold", "pred", "score"),
    [
        (LAB, "text", "5.0", "5.1", 1.0),
        (LAB, "text", "5.0", "5.11", 0.0),
        (LAB, "text", "NEGATIVO", "NEGATIVO", 1.0),
        (LAB, "text", "1-2 TABLETAS", "12 TABLETAS", 0.0),
        (LAB, "text", "0", "0.001", 0.0),
        (ENGINEERING, "number", "850.5", "842", 1.0),
        (ENGINEERING, "number", "850.5", "841.99", 0.0),
        (ENGINEERING, "number", "0.000125", "0.0101", 1.0),
        (ENGINEERING, "number", "0", "0.01", 1.0),
        (ENGINEERING, "number", "0", "0.0101", 0.0),
        ("exact", "text", "5000", "5.000", 0.0),
        (BUSINESS_ID, "text", "06 082 698 025", "06082698025", 1.0),
        (BUSINESS_ID, "text", "06-082-698-025", "06 082 698 025", 1.0),
        (BUSINESS_ID, "text", "06082698025", "06082698026", 0.0),
        (BUSINESS_MONEY, "money", "100.00", "101.00", 1.0),
        (BUSINESS_MONEY, "money", "100.00", "101.50", 0.0),
        (BUSINESS_MONEY, "money", "0", "0.01", 1.0),
        (BUSINESS_MONEY, "money", "0", "0.02", 0.0),
        (BUSINESS_DATE, "text", "15/03/2025", "15-03-2025", 1.0),
        (BUSINESS_DATE, "text", "04/05/2025", "05/04/2025", 1.0),
        (BUSINESS_DATE, "text", "15/03/2025", "15/04/2025", 0.8),
        (BUSINESS_DATE, "text", "15/03/2025", "16/04/2025", 0.0),
        (BUSINESS_PHONE, "text", "(02) 9374 4000", "02 9374 4000", 1.0),
        (BUSINESS_PHONE, "text", "02 9374 4000", "02 9374 4001", 0.8),
        (BUSINESS_TEXT, "text", "123 main st sydney nsw", "123 main st  sydney nsw", 1.0),
        (BUSINESS_TEXT, "text", "acme corp pty ltd", "acme corp pty", 0.9),
        (BUSINESS_TEXT, "text", "acme corp pty ltd australia", "acme corp pty ltd", 0.9),
        (BUSINESS_TEXT, "text", "aussie office supplies limited", "aussie office supplies ltd", 0.0),
        (BUSINESS_TEXT, "text", "456 collins st melbourne", "123 main st sydney", 0.0),
        pytest.param("date", "date", "2024-03-04", "2024-04-03", 0.0, id="5: day and month swapped"),
        pytest.param("quantity", "quantity", "5 kg", "5 lb", 0.0, id="6: unit"),
        pytest.param("money", "money", "5 $", "5 €", 0.0, id="6: currency"),
        pytest.param("number", "number", "1000", "1e3", 1.0, id="6: exponent"),
        pytest.param("number", "text", "32024", "Q3 2024", 0.0, id="6: digits among letters"),
        pytest.param("exact", "text", "000123", "123", 0.0, id="8: account"),
        pytest.param("number", "number", "1234.5", "1234.50", 1.0, id="8: trailing zero"),
        pytest.param("exact", "text", "PO 12-3", "PO 1-23", 0.0, id="12: order number"),
        pytest.param("exact", "text", "2.10.1", "2.1.01", 0.0, id="12: version"),
        pytest.param("number", "number", "1000", "1", 0.0, id="12: thousands"),
        pytest.param("exact", "text", "09:00+02:00", "09:00Z", 0.0, id="12: instant"),
        pytest.param("number", "number", "-5", "-5.00", 1.0, id="13: negative"),
        pytest.param("money", "money", "371392.57 USD", "371392.47 USD", 0.0, id="23: total"),
        pytest.param("exact", "text", "10023", "10024", 0.0, id="23: id"),
        pytest.param("number", "number", "2023", "1923", 0.0, id="23: year"),
        pytest.param("exact", "text", "DE89370400440532013000", "DE89370400440532013001", 0.0, id="25: IBAN"),
        pytest.param("number", "number", "1000", "1000.0", 1.0, id="25: decimal zero"),
        pytest.param("date_parts", "text", "2024-03-04", "04 March 2024", 1.0, id="25: date"),
        pytest.param("money", "money", "5 EUR", "5 USD", 0.0, id="29: currency"),
        pytest.param("exact", "text", "00123", "123", 0.0, id="29: account"),
        pytest.param("ratcliff", "text", "tide", "diet", 0.25, id="41: gold first"),
        pytest.param("ratcliff", "text", "diet", "tide", 0.5, id="41: the other way"),
    ],
)
def test_protocols_are_reproduced_and_what_others_judge_wrong_is_judged_right(call, kind, gold, pred, score):
    assert build(call).compare_one(reading(kind, gold), reading(kind, pred))[0] == score


# The fast verdict on numbers is the exact one, at the limit too

NUMBERS = st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-10_000, max_value=10_000)
WIDE = st.builds(
    lambda digits, power: Decimal(digits).scaleb(power),
    st.integers(-(10**18), 10**18),
    st.integers(-330, 320),
)
SHARES = st.sampled_from([Decimal(share) for share in ("0", "0.001", "0.01", "0.02", "0.1", "1", "3")])
TOLERANCES = st.builds(
    Tolerance,
    relative=SHARES,
    absolute=st.none() | SHARES,
    zero=st.none() | SHARES,
    scale=st.sampled_from(["gold", "at_least_one"]),
)


def fraction_verdict(gold, pred, tolerance):
    """The definition, in exact fractions."""
    g, distance = Fraction(gold), abs(Fraction(pred) - Fraction(gold))
    if not distance:
        return EQUAL
    size = abs(g) if tolerance.scale == "gold" else max(abs(g), 1)
    limits = [Fraction(tolerance.relative) * size]
    limits += [] if tolerance.absolute is None else [Fraction(tolerance.absolute)]
    limits += [] if tolerance.zero is None or g else [Fraction(tolerance.zero)]
    return WITHIN if distance <= max(limits) else DIFFERENT


def fast_verdicts(pairs, tolerance):
    gold, pred = (objects([pair[side] for pair in pairs]) for side in (0, 1))
    return number_codes(gold, pred, objects([str(value) for value in gold]), tolerance).tolist()


@given(
    pairs=st.lists(st.tuples(NUMBERS, NUMBERS) | st.tuples(WIDE, WIDE), min_size=1, max_size=8),
    tolerance=TOLERANCES,
)
@example(
    pairs=[(Decimal("1e-400"), Decimal("2e-400")), (Decimal("1e400"), Decimal("1.01e400"))],
    tolerance=Tolerance(relative=Decimal("0.01")),
)
@example(
    pairs=[(Decimal("1e-400"), Decimal("0.01"))],
    tolerance=Tolerance(relative=Decimal(0), zero=Decimal("0.01")),
)
def test_any_numbers_get_the_exact_verdict(pairs, tolerance):
    assert fast_verdicts(pairs, tolerance) == [fraction_verdict(*pair, tolerance) for pair in pairs]


@given(
    gold=NUMBERS | WIDE,
    share=SHARES,
    sign=st.sampled_from([-1, 1]),
    nudge=st.sampled_from(["0", "1e-30", "-1e-30", "1e-12", "-1e-12"]),
)
def test_numbers_at_the_limit_get_the_exact_verdict(gold, share, sign, nudge):
    tolerance = Tolerance(relative=share)
    pred = gold + sign * abs(gold) * share * (1 + Decimal(nudge))
    assert fast_verdicts([(gold, pred)], tolerance) == [fraction_verdict(gold, pred, tolerance)]


@given(cents=st.integers(1, 10**7), percent=st.integers(1, 50))
def test_floats_mean_their_shortest_text_at_the_limit(cents, percent):
    gold = Decimal(cents) / 100
    limit, beyond = gold + gold * percent / 100, gold + gold * percent / 100 + Decimal("0.0001")
    tolerance = Tolerance(relative=Decimal(percent) / 100)
    assert fast_verdicts([(float(gold), float(limit)), (float(gold), float(beyond))], tolerance) == [
        WITHIN,
        DIFFERENT,
    ]


@pytest.mark.parametrize(
    ("text", "number", "unit"),
    [
        ("1,234.50", "1234.5", "0.01"),
        ("1.234,50 EUR", "1234.5", "0.01"),
        ("5.000", "5000", "1"),
        ("5.000", "5", "0.001"),
        ("5000", "5000", "1"),
        ("1,5E+03", "1500", "100"),
        ("8.5e-02", "0.085", "0.001"),
        ("12 %", "0.12", "0.01"),
        ("0.00", "0", "0.01"),
        ("0", "0", "1"),
        ("-7.0", "-7", "0.1"),
        ("1 234 567", "1234567", "1"),
        ("room 4, 20.5 kg", "20.5", "0.1"),
        ("twenty", "20.50", "0.01"),
        ("", "20", "1"),
        ("9" * 100_000, "20", "1"),
    ],
)
def test_the_last_printed_place_is_found(text, number, unit):
    assert printed_unit(text, Decimal(number)) == Decimal(unit)


@pytest.mark.parametrize("value", [True, None, "x", float("nan"), Decimal("NaN"), Decimal("sNaN")], ids=repr)
def test_what_is_no_number_is_never_near_one(value):
    gold = Column.of([Reading("1", 1, "1")] * 2)
    pred = Column(objects(["?", "1.001"]), objects([value, 1.001]), objects(["?", "1.001"]))
    scores = build({"number": {"tolerance": 0.5}}).compare_all(gold, pred)
    assert (scores.score.tolist(), scores.reason.tolist()) == ([0.0, 1.0], [3, 2])


@pytest.mark.parametrize(
    "option",
    [
        "0.01",
        0.01,
        Decimal("0.01"),
        {"relative": 0.01},
        (("relative", "0.01"),),
        Tolerance(relative=Decimal("0.01")),
    ],
    ids=repr,
)
def test_every_way_to_write_a_tolerance_means_the_same(option):
    assert build({"number": {"tolerance": option}}) == build({"number": {"tolerance": {"relative": "0.01"}}})


# The examples hold, and the page is complete.

PAGE = (Path(__file__).parents[2] / "docs" / "comparators.md").read_text(encoding="utf-8")
EXAMPLES = Path(__file__).with_name("examples").joinpath("comparators.md").read_text(encoding="utf-8")
SECTIONS = {
    part.split("\n", 1)[0].strip(): part for part in re.split(r"^### ", EXAMPLES, flags=re.MULTILINE)[1:]
}
HEADER = "| gold | prediction | options | score | reason |"


def rows(name):
    table = SECTIONS[name].split(HEADER)[1].strip().splitlines()[1:]
    for line in table:
        if not line.startswith("|"):
            return
        yield tuple(cell.strip().strip("`") for cell in line.strip("|").split(" |"))


def typed(name, options, text):
    if name in LISTS and (name != "soft_coverage" or ";" in text):
        kind = next(iter(options["items"])) if isinstance(options.get("items"), dict) else "text"
        return list_reading([item.strip() for item in text.split(";")], kind)
    return reading(name, text)


@pytest.mark.parametrize("name", sorted({*SECTIONS, *COMPARATORS.entries}))
def test_every_example_is_true(name):
    for gold, pred, options, score, reason in rows(name):
        given = (YAML(typ="safe").load(options) or {}) if options else {}
        comparator = build({name: given})
        value, why = comparator.compare_one(typed(name, given, gold), typed(name, given, pred))
        assert (round(value, 4), why) == (float(score), reason), (gold, pred, options)


@pytest.mark.parametrize("name", sorted(COMPARATORS.entries))
def test_the_page_names_every_option_and_reason(name):
    tables, _, reasons = PAGE.partition("\n## Normalizers")[0].partition("\n## Reasons")
    (row,) = [line for line in tables.splitlines() if line.startswith(f"| `{name}` |")]
    kind = COMPARATORS.load(name)
    assert [entry.name for entry in options_of(kind) if f"`{entry.name}`" not in row] == []
    assert [reason for reason in kind.reasons if f"`{reason}`" not in reasons] == []


def test_every_default_is_in_the_catalogue():
    assert set(DEFAULTS.values()) <= set(COMPARATORS.entries)
