"""The slot-filling protocol: worked by hand, against an independent oracle, and on the shipped example."""

import random
import unicodedata
from functools import cache
from typing import Any

import numpy as np
import pytest

from fieldassay.scoring.score import score
from fieldassay.values.comparators.embedding import Embedding

# Slot filling again, slot by slot, in plain Python from the protocol's words; shares only the encoder.

TEXTS = ("incident_location",)
LISTS = ("perp_individual", "perp_organization", "target", "victim", "weapon")
TYPED = ("incident_type", "incident_date")
SLOTS = {
    **dict.fromkeys(TYPED[:1], "enum"),
    "incident_date": "date",
    **dict.fromkeys(TEXTS, "text"),
    **dict.fromkeys(LISTS, "list"),
}
SIMILARITIES = ("soft_coverage", "soft_specificity", "chamfer", "sf1")


def fillers(value):
    """Return the distinct fillers of a slot: trimmed, NFC, without empty ones."""
    values = value if isinstance(value, list) else [value]
    texts = (unicodedata.normalize("NFC", str(item).strip()) for item in values if item is not None)
    return list(dict.fromkeys(text for text in texts if text))


def compare(slot, gold, pred, cosine):
    """Return the four similarities and the score of one slot."""
    given, found = fillers(gold), fillers(pred)
    if not given or not found:
        return dict.fromkeys((*SIMILARITIES, "score"), 1.0 if not given and not found else 0.0)
    if slot in TYPED:
        return {"score": float(given[0].lower() == found[0].lower())}
    coverage = sum(max(cosine(one, other) for other in found) for one in given) / len(given)
    specificity = sum(max(cosine(one, other) for one in given) for other in found) / len(found)
    sf1 = 2 * coverage * specificity / (coverage + specificity) if coverage > 0 and specificity > 0 else 0.0
    return dict(
        zip(SIMILARITIES, (coverage, specificity, (coverage + specificity) / 2, sf1), strict=True)
    ) | {"score": sf1}


def evaluate(gold, pred, cosine, slots):
    """Return every number of the protocol over some slots; None where it is undefined."""
    rows = [
        (slot, one.get(slot), other.get(slot))
        for one, other in zip(gold, pred, strict=True)
        for slot in slots
    ]
    judged = [
        (slot, bool(fillers(one)), bool(fillers(other)), compare(slot, one, other, cosine))
        for slot, one, other in rows
    ]
    numbers: dict[str, Any] = {}
    for regime, kept in (("baseline", judged), ("gold_nonempty", [row for row in judged if row[1]])):
        numbers["obs" if regime == "baseline" else "nes"] = mean([row[3]["score"] for row in kept])
        for name in SIMILARITIES:
            numbers[f"{name}(regime={regime})"] = mean([row[3][name] for row in kept if row[0] not in TYPED])
    numbers["eai"] = None if None in (numbers["obs"], numbers["nes"]) else numbers["obs"] - numbers["nes"]
    counts = {
        key: sum((row[1], row[2]) == key for row in judged)
        for key in ((False, False), (False, True), (True, False), (True, True))
    }
    silent, spurious, missing, both = counts.values()
    for (has_gold, has_pred), count in counts.items():
        numbers[
            f"presence_gold_{'nonempty' if has_gold else 'empty'}_pred_{'nonempty' if has_pred else 'empty'}"
        ] = count
    numbers["fda"] = ratio(silent + both, len(judged))
    numbers["hr"] = ratio(spurious, spurious + silent)
    numbers["mr"] = ratio(missing, missing + both)
    numbers["rfa"] = mean([row[3]["score"] for row in judged if row[1] and row[2]])
    return numbers


def ratio(part, whole):
    return part / whole if whole else None


def mean(values):
    return ratio(sum(values), len(values))


# The slot-filling protocol: worked by hand, against an independent oracle, and on the shipped example.

NFC = [{"unicode": "NFC"}]
INDEL = {
    "types": {
        "text": {
            "type": "text",
            "other_kind": "only_item",
            "normalize": NFC,
            "compare": {"soft_coverage": {"items": "indel"}},
        },
        "list": {
            "type": "list",
            "items": {"type": "text", "normalize": NFC, "compare": "indel"},
            "compare": "soft_coverage",
        },
    }
}
"""The protocol with an edit distance for an encoder, so that its arithmetic can be worked by hand."""


def run(gold, pred, **spec):
    return score(gold, {"s": pred}, {"protocol": "slot-filling", **spec}, bootstrap=0)


def one(gold, pred, **spec):
    return run([{"id": "a", **gold}], [{"id": "a", **pred}], **spec)


@cache
def vectors(text):
    return Embedding().encode([text])[0].astype(np.float64)


def cosine(first, second):
    left, right = vectors(first), vectors(second)
    return 1.0 if first == second else float(left @ right / np.sqrt((left @ left) * (right @ right)))


def test_worked_example_of_the_protocol():
    """G = {tide, diet}, P = {tide}: coverage (1 + 0.5)/2, specificity 1.

    The similarity of tide and diet is 1 - 4/8 = 0.5 by indel.
    """
    result = one({"victim": ["tide", "diet"]}, {"victim": ["tide"]}, **INDEL)
    found = {
        name: result.value(f"{name}(regime=gold_nonempty)", field="victim")
        for name in ("soft_coverage", "soft_specificity", "chamfer", "sf1")
    }
    assert found == {
        "soft_coverage": 0.75,
        "soft_specificity": 1.0,
        "chamfer": 0.875,
        "sf1": pytest.approx(2 * 0.75 / 1.75, abs=1e-9),
    }
    assert result.value("obs") == pytest.approx((7 + 1.5 / 1.75) / 8, abs=1e-9)
    assert result.value("nes") == pytest.approx(1.5 / 1.75, abs=1e-9)
    assert result.value("eai") == pytest.approx((7 + 1.5 / 1.75) / 8 - 1.5 / 1.75, abs=1e-9)


@pytest.mark.parametrize(
    ("gold", "pred", "nes", "hr", "mr", "fda"),
    [
        pytest.param({}, {}, None, 0.0, None, 1.0, id="all-silent"),
        pytest.param({"weapon": ["rifle"]}, {}, 0.0, 0.0, 1.0, 7 / 8, id="missed"),
        pytest.param({}, {"weapon": ["rifle"]}, None, 1 / 8, None, 7 / 8, id="made-up"),
        pytest.param(
            {"weapon": [""], "victim": None},
            {"weapon": ["  ", None], "victim": []},
            None,
            0.0,
            None,
            1.0,
            id="lists-of-empties-are-empty",
        ),
        pytest.param(
            {"weapon": ["a", " a ", "b"]},
            {"weapon": ["b", "a"]},
            1.0,
            0.0,
            0.0,
            1.0,
            id="sets-without-repeats",
        ),
        pytest.param(
            {"incident_location": "Cafe\u0301"},
            {"incident_location": " Caf\u00e9 "},
            1.0,
            0.0,
            0.0,
            1.0,
            id="nfc-and-trimmed",
        ),
        pytest.param(
            {"incident_type": "Bombing"},
            {"incident_type": " bombing"},
            1.0,
            0.0,
            0.0,
            1.0,
            id="enum-after-normalization",
        ),
        pytest.param(
            {"incident_type": "bombing"}, {"incident_type": "arson"}, 0.0, 0.0, 0.0, 1.0, id="enum-exact"
        ),
        pytest.param(
            {"incident_date": "1989-03-04"},
            {"incident_date": "4 March 1989"},
            1.0,
            0.0,
            0.0,
            1.0,
            id="date-after-normalization",
        ),
        pytest.param(
            {"incident_date": "1989-03-04"},
            {"incident_date": "1989-03-05"},
            0.0,
            0.0,
            0.0,
            1.0,
            id="date-exact",
        ),
        pytest.param(
            {"incident_location": "Lima"},
            {"incident_location": ["Lima"]},
            1.0,
            0.0,
            0.0,
            1.0,
            id="a-list-of-one-is-a-text",
        ),
        pytest.param(
            {"incident_location": ["Lima"]},
            {"incident_location": "Lima"},
            1.0,
            0.0,
            0.0,
            1.0,
            id="a-list-of-one-in-gold-too",
        ),
        pytest.param(
            {"incident_location": "Lima"},
            {"incident_location": ["Lima", "x"]},
            0.0,
            0.0,
            0.0,
            1.0,
            id="a-list-of-two-is-no-text",
        ),
        pytest.param(
            {}, {"incident_location": [""]}, None, 0.0, None, 1.0, id="a-list-of-nothing-is-nothing"
        ),
        pytest.param(
            {"victim": ["Lima"]}, {"victim": "Lima"}, 1.0, 0.0, 0.0, 1.0, id="a-text-is-a-list-of-one"
        ),
    ],
)
def test_edges(gold, pred, nes, hr, mr, fda):
    result = one(gold, pred, **INDEL)
    assert [result.value(name) for name in ("nes", "hr", "mr", "fda")] == [
        nes,
        pytest.approx(hr),
        mr,
        pytest.approx(fda),
    ]


def test_all_slots_of_another_kind_stay_in_every_denominator():
    result = one(
        {"incident_location": "Lima", "victim": ["x"]},
        {"incident_location": ["Lima", "x"], "victim": {"name": "x"}},
        **INDEL,
    )
    assert result.value("soft_coverage(regime=gold_nonempty)") == 0.0
    assert result.estimate("soft_coverage(regime=gold_nonempty)").n == 2


def test_cosines_below_zero_are_not_clipped_but_sf1_is_zero():
    pairs = [(first, second) for first in WORDS for second in WORDS if cosine(first, second) < -0.02]
    assert pairs, "the encoder gives some pair a negative cosine"
    first, second = pairs[0]
    result = one({"weapon": [first]}, {"weapon": [second]})
    assert result.value("chamfer(regime=gold_nonempty)") == pytest.approx(cosine(first, second), abs=1e-6)
    assert result.value("sf1(regime=gold_nonempty)") == 0.0
    assert result.value("nes") == 0.0


WORDS = (
    "rifle",
    "the mayor",
    "banana pancakes",
    "photosynthesis",
    "x",
    "dynamite",
    "12",
    "Puerto Claro",
    "guerrillas",
    "El alcalde",
    "quantum chromodynamics",
    "-",
)


def wild(chance, name):
    if SLOTS[name] == "enum":
        return chance.choice([None, "", "attack", "ARSON", "robbery", "attack"])
    if SLOTS[name] == "date":
        return chance.choice([None, " ", "1989-03-04", "1990-01-01", "1989-03-04"])
    if SLOTS[name] == "text":
        return chance.choice([None, "", *WORDS, [chance.choice(WORDS)], [""]])
    return chance.choice(
        [
            None,
            [],
            [""],
            [chance.choice(WORDS) for _ in range(chance.randint(1, 4))],
            [None, " rifle ", "rifle"],
            "the mayor",
        ]
    )


def records(seed, count):
    chance = random.Random(seed)
    return [
        {"id": f"d{k}", **{name: wild(chance, name) for name in SLOTS if chance.random() < 0.9}}
        for k in range(count)
    ]


@pytest.mark.parametrize("seed", range(4))
def test_every_number_is_that_of_an_independent_program(seed):
    gold, pred = records(seed, 25), records(seed + 100, 25)
    result = run(gold, pred)
    types = {
        kind: [name for name, of in SLOTS.items() if of == kind] for kind in ("text", "list", "enum", "date")
    }
    for label, slots in {None: list(SLOTS), **{name: [name] for name in SLOTS}}.items():
        for metric, wanted in evaluate(gold, pred, cosine, slots).items():
            if (
                label is not None
                and SLOTS[label] in ("enum", "date")
                and metric.startswith(("soft", "chamfer", "sf1"))
            ):
                continue
            found = result.value(metric, field=label)
            assert found == (None if wanted is None else pytest.approx(wanted, abs=1e-4)), (metric, label)
    for kind, slots in types.items():
        wanted_by_type = evaluate(gold, pred, cosine, slots)
        for metric in ("obs", "nes", "eai", "fda", "hr", "mr", "rfa"):
            wanted = wanted_by_type[metric]
            assert result.value(f"{metric}(type={kind})") == (
                None if wanted is None else pytest.approx(wanted, abs=1e-4)
            ), (metric, kind)
