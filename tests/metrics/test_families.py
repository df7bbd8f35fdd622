"""Documents that come in families: the family is what is drawn, everywhere."""

import json
import random
import re
import sqlite3

import numpy as np
import pytest

from fieldassay import agreement
from fieldassay.attribution.share import AT, COUNTS, estimate_shares
from fieldassay.decisions.calibration.certificate import RankedLabels, ratio_interval
from fieldassay.decisions.calibration.policy import calibrate
from fieldassay.decisions.losses import find_losses
from fieldassay.errors import ProblemsError
from fieldassay.metrics.comparisons.systems import compare
from fieldassay.metrics.uncertainty.bootstrap import BootstrapSettings, quantile_interval
from fieldassay.review.log import create_tables
from fieldassay.review.status import ReviewedValue, name_documents, share_of, wrong_of
from fieldassay.scoring.score import score

VENDORS, EACH = 12, 6
SPEC = {"fields": {"total": "integer", "tax": "integer"}}


def documents(vendors=VENDORS, each=EACH):
    chance = random.Random(1)
    gold, first, second = [], [], []
    for vendor in range(vendors):
        hard = chance.random() < 0.3
        for at in range(each):
            name = f"v{vendor:02}/{at}.pdf"
            gold.append({"id": name, "vendor": f"v{vendor:02}", "total": at, "tax": 1, "even": str(at % 2)})
            first.append({"id": name, "total": at + hard, "tax": 1})
            second.append({"id": name, "total": at, "tax": 1 + (chance.random() < 0.2)})
    return gold, {"a": first, "b": second}


def numbers(gold, predictions, cluster=None, **options):
    result = score(
        gold,
        predictions,
        SPEC,
        cluster=cluster,
        metrics=("accuracy", "f1", "field_accuracy"),
        slices=("even",),
        **options,
    )
    return result, (
        [one.to_dict() for one in result.estimates],
        [*compare(result, "a", "b"), *result.field_comparisons],
    )


def interval(result, metric="accuracy"):
    return next(
        one for one in result.estimates if one.metric == metric and one.system == "a" and not one.slice
    )


def test_families_of_one_document_each_are_drawn_as_documents_are():
    gold, predictions = documents()
    own = [{**row, "vendor": row["id"]} for row in gold]
    whole = numbers(gold, predictions)[1]
    assert numbers(own, predictions, "vendor")[1] == whole == numbers(gold, predictions, "{family}")[1]


def test_intervals_and_halves_are_of_families_and_wider():
    gold, predictions = documents()
    alone, together = numbers(gold, predictions)[0], numbers(gold, predictions, "vendor")[0]
    for one, other in (
        (interval(alone), interval(together)),
        (compare(alone, "a", "b")[0], compare(together, "a", "b")[0]),
    ):
        assert one.interval[1] - one.interval[0] < other.interval[1] - other.interval[0]
    assert (interval(alone).families, interval(together).families) == (None, VENDORS)
    assert together.counts["families"] == {"cluster": "vendor", "families": VENDORS, "alone": 0}


@pytest.mark.parametrize(
    "options", [{"batch": 7}, {"batch": 1}, pytest.param({"workers": 2, "batch": 11}, marks=pytest.mark.slow)]
)
def test_a_family_may_be_spread_over_batches_and_workers(options):
    gold, predictions = documents()
    whole = numbers(gold, predictions, "vendor")[1]
    mixed = random.Random(2).sample(gold, len(gold))
    assert numbers(mixed, predictions, "vendor", **options)[1] == whole


PATTERNS = {
    "{family}/*": ("acme/2024/7.pdf", "acme/2024"),
    "{family}/*/*": ("acme/2024/7.pdf", "acme"),
    "*/{family}/*": ("acme/2024/7.pdf", "2024"),
    "{family}_*": ("acme_corp_007", "acme_corp"),
    "inv-{family}-*": ("inv-acme (uk)-7", "acme (uk)"),
    "{family}.[0-9]": ("acme.7", None),
    "{family}": ("7", "7"),
}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_part_of_the_id_is_the_family(pattern):
    name, family = PATTERNS[pattern]
    rows = [{"id": name, "total": 1}, {"id": "~", "total": 1}]
    result = score(rows, rows, SPEC, cluster=pattern, keeps_statistics=True)
    assert dict(
        zip(result.paired.systems[0].documents, result.paired.systems[0].groups[pattern], strict=True)
    )[name] == (() if family is None else (family,))


def test_a_pattern_takes_linear_time():
    rows = [{"id": "a/" * 400 + str(at), "total": 1} for at in range(3)]
    assert score(rows, rows, SPEC, cluster="*/*/*/*/*/{family}/*/*/*/*/x").counts["families"]["alone"] == 3


@pytest.mark.parametrize("cluster", ["{vendor}", "{family}{family}", "", 3])
def test_what_names_no_family_is_refused(cluster):
    with pytest.raises(ProblemsError, match=r"cluster: (must be|cannot be)"):
        score([{"id": 1, "total": 1}], [{"id": 1, "total": 1}], SPEC, cluster=cluster)


def test_a_document_without_a_family_is_one_of_its_own_and_is_told():
    gold, predictions = documents()
    some = [{**row, "vendor": None if at < 5 else row["vendor"]} for at, row in enumerate(gold)]
    result, _ = numbers(some, predictions, "vendor")
    assert result.counts["families"] == {"cluster": "vendor", "families": VENDORS + 5, "alone": 5}
    assert "5 documents have no family by `cluster: vendor`; each is one of its own" in result.warnings
    # its id may be the name of a family
    named = [{**row, "id": "v03"} if row["id"] == "v00/0.pdf" else row for row in some]
    of_a = [{**row, "id": "v03"} if row["id"] == "v00/0.pdf" else row for row in predictions["a"]]
    assert score(named, of_a, SPEC, cluster="vendor").counts["families"]["families"] == VENDORS + 5


def test_a_prediction_has_no_say_in_families():
    gold, predictions = documents()
    told = {"a": [{**row, "vendor": row["id"]} for row in predictions["a"]], "b": predictions["b"]}
    assert numbers(gold, told, "vendor")[1] == numbers(gold, predictions, "vendor")[1]


@pytest.mark.parametrize(("vendors", "has_interval"), [(3, False), (7, False), (8, True)])
def test_fewer_than_eight_families_have_no_interval(vendors, has_interval):
    result, _ = numbers(*documents(vendors), "vendor")
    one, found = interval(result), compare(result, "a", "b")[0]
    for each in (one, found):
        assert (each.interval is not None, "few_families" in each.marks) == (has_interval, not has_interval)
        assert each.families == vendors


@pytest.mark.parametrize("cluster", ["vendor", "{family}/*", "score"])
def test_calibration_draws_the_families_of_the_run(cluster, tmp_path):
    gold, predictions = documents(30, 6)
    gold = [{**row, "score": row["vendor"]} for row in gold]  # a key with the name of a column of documents
    sure = [{**row, "confidence": 0.5 + at % 7 / 20} for at, row in enumerate(predictions["a"])]
    seen = {name: calibrate(score(gold, sure, SPEC, cluster=name)).observations for name in (None, cluster)}
    labels = {name: RankedLabels.of(one) for name, one in seen.items()}
    assert (labels[None].units, labels[cluster].units) == (180, 30)
    low, high = (
        np.ptp(
            ratio_interval(
                np.stack([1.0 - one.is_correct[::2], np.ones(180)]), one.units, BootstrapSettings()
            )
        )
        for one in seen.values()
    )
    assert low < high


def latency(vendors, each, metric="latency_p50", **options):
    """Return the estimate of a percentile of times that are the same in all documents of a vendor."""
    names = [(f"v{vendor:03}", f"v{vendor:03}/{at}") for vendor in range(vendors) for at in range(each)]
    gold = [{"id": name, "vendor": vendor, "total": 1} for vendor, name in names]
    pred = [{"id": name, "total": 1, "duration_ms": 100 + int(vendor[1:])} for vendor, name in names]
    result = score(gold, pred, SPEC, cluster="vendor", metrics=(metric,), evidence="none", **options)
    return next(one for one in result.estimates if one.metric == metric)


@pytest.mark.parametrize(
    ("vendors", "metric", "has_interval"),
    [
        (7, "latency_p50", False),
        (8, "latency_p50", True),
        (30, "latency_p95", False),
        (90, "latency_p95", True),
    ],
)
def test_a_percentile_of_families_has_an_interval_from_enough_of_them(vendors, metric, has_interval):
    found, more = (latency(vendors, each, metric) for each in (3, 7))
    assert (found.interval is not None) is has_interval
    assert found.interval == more.interval
    assert (found.marks == ("few_families",)) is (vendors < 8)
    if has_interval:
        rank = quantile_interval(100.0 + np.arange(vendors), 0.5 if metric == "latency_p50" else 0.95, 0.95)
        assert found.interval == pytest.approx(rank, abs=1.5)
        assert latency(vendors, 3, metric, batch=11).interval == found.interval


# Families that the spec does not name are found, and chance is not taken for them.


def warned(gold, predictions, spec=SPEC, **options):
    result = score(gold, predictions, spec, evidence="none", **options)
    return [one for one in result.warnings if "not independent" in one]


@pytest.mark.parametrize(
    ("key", "path"),
    [
        ("vendor", "vendor"),
        ("vendor code", "vendor code"),
        ("a.b", '["a.b"]'),
        ("Lot [", '["Lot ["]'),
        (None, "{family}/*"),
    ],
)
def test_families_that_nobody_named_are_told_with_the_line_to_write(key, path):
    gold, predictions = documents()
    told = [{(key or "~"): row["vendor"], "id": row["id"], "total": row["total"], "tax": 1} for row in gold]
    told = told if key else [{name: value for name, value in row.items() if name != "~"} for row in told]
    [warning] = warned(told, predictions)
    line = path if path.isidentifier() else json.dumps(path)
    assert f"write `statistics: {{cluster: {line}}}`" in warning and "correlation" in warning
    spec = {**SPEC, "statistics": {"cluster": path}}
    assert warned(told, predictions, spec) == [] == warned(told, predictions, bootstrap=0)


def test_a_difference_of_kind_is_no_family():
    gold = [{"id": at, "total": 1, "currency": "AUD" if at % 2 else "EUR"} for at in range(80)]
    assert warned(gold, [{"id": at, "total": 1 + (at % 2)} for at in range(80)]) == []


# What else is drawn follows: agreement, shares of stages, losses, reviews


def agreed(names, cluster):
    """Return the agreement of two reviewers who differ in some documents; a name is a document's, copied."""
    chance = random.Random(3)
    labels = {name: (chance.choice("xy"), chance.choice("xxy")) for name in dict.fromkeys(names.values())}
    told = {
        who: [{"id": name, "vendor": of, "total": labels[of][at]} for name, of in names.items()]
        for at, who in enumerate(("ada", "bob"))
    }
    found = agreement(told, {"fields": {"total": "text"}}, cluster=cluster, bootstrap=800)
    measures = found.field("total").measures  # alpha counts pairs of values, of which copies make more
    return [found.overall["observed"], measures["observed"], measures["ac1"]]


def shared(names, cluster):
    chance = np.random.default_rng(4)
    held = {name: chance.random((1, 4)) < 0.5 for name in dict.fromkeys(names.values())}
    counts = np.zeros((len(names), 1, len(COUNTS)))
    for at, of in enumerate(names.values()):
        wrong, absent, *_ = held[of][0]
        parts = {"values": 1, "wrong": wrong, "absent": absent, "wrong_absent": wrong and absent}
        for name, value in (parts | {"all_wrong": wrong, "foreign": 9}).items():
            counts[at, 0, AT[name]] = value
    units = list(names.values() if cluster else names)
    whole, (each,) = estimate_shares(counts, units, [("total", "text")], BootstrapSettings(800))
    return [whole.share("reading"), each.share("model")]


def lost(names, cluster):
    chance = random.Random(5)
    wrong = {name: chance.random() < 0.3 for name in dict.fromkeys(names.values())}
    gold = [{"id": name, "vendor": of, "total": 1, "tax": 1} for name, of in names.items()]
    pred = [{"id": name, "total": 1 + wrong[of], "tax": 1} for name, of in names.items()]
    result = score(gold, pred, SPEC, cluster=cluster, bootstrap=40)
    return find_losses(result.evidence.lazy(), result)["prediction"]


def reviewed(names, cluster):
    chance = random.Random(6)
    right = {name: chance.random() < 0.8 for name in dict.fromkeys(names.values())}
    values = [ReviewedValue(name, right[of], 0.5, family=of if cluster else "") for name, of in names.items()]
    return [share_of(values, BootstrapSettings(800)), wrong_of(values)]


@pytest.mark.parametrize("measure", [agreed, shared, lost, reviewed])
def test_copies_of_documents_in_their_families_have_the_intervals_of_the_documents(measure):
    documents = {f"v{at:02}": f"v{at:02}" for at in range(24)}
    copies = {f"{name}/{at}": name for name in documents for at in range(3)}
    few = {f"{name}/{at}": name for name in list(documents)[:7] for at in range(3)}
    alone, together = ([one.interval for one in measure(names, "vendor")] for names in (documents, copies))
    assert together == [pytest.approx(one, abs=1e-9) for one in alone]
    assert all(low < high for low, high in alone)
    assert [one.interval for one in measure(copies, None)] != together
    assert measure(few, "vendor")[0].interval is None


def test_agreement_tells_its_families():
    names = {f"v{at // 3}/{at}": f"v{at // 3}" for at in range(21)}
    told = {who: [{"id": name, "total": at % 4} for at, name in enumerate(names)] for who in ("ada", "bob")}
    found = agreement(told, {"fields": {"total": "integer"}}, cluster="{family}/*", bootstrap=800)
    assert found.notes == (
        "intervals draw 7 families by `cluster: {family}/*`",
        "7 families are too few for an interval: 8 or more are needed",
    )
    assert found.overall["observed"].marks == ("few_families",)


@pytest.mark.parametrize(
    ("cluster", "expected"),
    [("vendor", ["acme", "oak", "\0b/3"]), ("{family}/*", ["a", "a", "b"]), (None, [])],
)
def test_a_review_knows_families_by_gold_by_predictions_and_by_ids(cluster, expected):
    db = sqlite3.connect(":memory:")
    create_tables(db)
    for at, (name, truth, predicted) in enumerate(
        (("a/1", '"acme"', '"elm"'), ("a/2", None, '"oak"'), ("b/3", None, None))
    ):
        db.execute("INSERT INTO document(id, name) VALUES (?, ?)", (at, name))
        row = (at, "vendor", 0, "vendor", "nothing", predicted, truth, "review", 0, 1)
        db.execute(
            "INSERT INTO asked(document, node, place, field, shown, predicted, truth, reason, margin, "
            "probability) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            row,
        )
    assert list(name_documents(db, cluster).values()) == expected


def test_a_vendor_is_one_family_whatever_its_number_is_written_as():
    gold = [{"id": at, "n": at, "vendor": at // 5 * 1.0 if at % 2 else at // 5} for at in range(60)]
    result = score(gold, gold, "fields: {n: number}", cluster="vendor", slices=("vendor",), bootstrap=50)
    assert {dict(one.slice).get("vendor") for one in result.estimates} == {None, *map(str, range(12))}


@pytest.mark.parametrize(("option", "key"), [("cluster", "[v]"), ("slices", "a..b"), ("cluster", "Lot [")])
def test_a_key_that_is_no_path_is_refused_and_told_as_it_is_written(option, key):
    rows, wrong = [{"id": 1, "n": 1, key: "x"}], key if option == "cluster" else (key,)
    with pytest.raises(ProblemsError, match=f"^{option}: not a path") as caught:
        score(rows, rows, "fields: {n: number}", **{option: wrong})
    right = re.search(r"a key is written (.*), one in", str(caught.value))[1]
    result = score(rows, rows, "fields: {n: number}", slices=(right,))
    assert {right: "x"} in [dict(one.slice) for one in result.estimates]
