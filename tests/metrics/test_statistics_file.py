"""Statistics per document: packed, and in their file; comparisons in theirs; hostile names and damaged files."""

import json
import math

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from msgspec.structs import replace
from tests.effort import few_examples
from tests.evidence_rows import documents, evidence, value

from fieldassay import score
from fieldassay.errors import ProblemsError
from fieldassay.metrics.catalogue.definitions import (
    CATALOGUE,
    Definition,
    Vocabulary,
    bind_metric,
    select_metrics,
)
from fieldassay.metrics.catalogue.grammar import parse_metric
from fieldassay.metrics.comparisons.pairwise import contest
from fieldassay.metrics.fold import FoldPlan, estimates, fold
from fieldassay.metrics.result.documents import (
    DocumentStatistics,
    name_statistic,
    read_statistics,
    scan_statistics,
    systems_of,
    write_statistics,
)
from fieldassay.metrics.result.estimation import find_highest
from fieldassay.metrics.result.verdicts import Comparisons, comparisons_json, read_comparisons
from fieldassay.metrics.statistics.columns import PackedFloats, PackedInts, PackedSum
from fieldassay.metrics.statistics.statistics import LIMIT, Sum
from fieldassay.metrics.uncertainty.bootstrap import unseen_weights
from fieldassay.metrics.uncertainty.paired import unseen_reach
from fieldassay.scoring.inputs import ScoreOptions

# The file of per-document statistics: what it keeps, and what becomes of hostile names and damaged files.

GOLD = [{"id": name, "total": at, "tags": ["x"]} for at, name in enumerate("abcd")]
SYSTEMS = {"one": GOLD, "two": [{**row, "total": 1} for row in GOLD]}


@pytest.fixture(scope="module")
def paired():
    options = {"bootstrap": 0, "keeps_statistics": True, "slices": ("tag",)}
    found = score(GOLD, SYSTEMS, "fields: {total: number, tags: {type: list, items: text}}", **options).paired
    assert found is not None
    return found


def wanted(data):
    return list(dict.fromkeys(statistic for system in data.systems for statistic in system.statistics))


def as_plain(system):
    """Return a system's content without the order of statistics and fields, which has no meaning."""
    sums = {
        (statistic, field): tuple(row)
        for statistic, total in system.statistics.items()
        for field, row in zip(total.fields, total.values.tolist(), strict=True)
    }
    return system.system, system.documents, sums, dict(system.groups)


def test_what_is_written_is_what_is_read(paired, tmp_path):
    write_statistics(tmp_path / "s.parquet", paired.systems)
    read = read_statistics(tmp_path / "s.parquet", wanted(paired))
    assert [as_plain(one) for one in read] == [as_plain(one) for one in paired.systems]
    assert len(wanted(paired)) > 3


def made(system, documents, statistic, fields):
    values = np.array(list(fields.values()), np.int64).reshape(len(fields), len(documents))
    return DocumentStatistics(system, documents, {statistic: Sum(tuple(fields), values)}, {})


def test_a_system_that_lacks_a_field_lacks_it_after_reading(paired):
    statistic = wanted(paired)[0]
    systems = [
        made("a", ("1", "2"), statistic, {"x": [1, 2], "y": [3, 4]}),
        made("b", ("1", "2"), statistic, {"y": [5, 6]}),
    ]
    first, second = systems_of(scan_statistics(systems).collect(), [statistic])
    assert as_plain(first) == as_plain(systems[0])
    assert as_plain(second) == as_plain(systems[1])


def test_a_file_written_in_blocks_is_the_same_every_time_and_holds_every_row(paired, tmp_path, monkeypatch):
    monkeypatch.setattr("fieldassay.metrics.result.documents.ROWS", 100)
    statistic, names = wanted(paired)[0], tuple(f"{at:05}" for at in range(1050))
    values = [at << 32 for at in range(len(names))]
    systems = [made(name, names, statistic, {"x": values, None: values[::-1]}) for name in ("a", "b")]
    files = [tmp_path / name for name in ("one", "two")]
    for file in files:
        write_statistics(file, systems)
    assert files[0].read_bytes() == files[1].read_bytes()
    read = read_statistics(files[0], [statistic])
    assert [as_plain(one) for one in read] == [as_plain(one) for one in systems]


HOSTILE = ["\ud800", "a\0b", '"]', "\u202eabc", "é", "e\u0301", " ", "x" * 100_000, '["system"]', "null"]


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_hostile_names_come_back_as_they_were(paired, name, tmp_path):
    statistic = wanted(paired)[0]
    system = made("a", (name,), statistic, {name: [7], None: [8]})
    write_statistics(tmp_path / "s.parquet", [replace(system, groups={name: (("b",),)})])
    [read] = read_statistics(tmp_path / "s.parquet", [statistic])
    assert as_plain(read) == as_plain(replace(system, groups={name: (("b",),)}))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    ids=st.lists(st.text(st.characters(), max_size=5), min_size=1, max_size=6, unique=True), data=st.data()
)
def test_any_ids_and_any_whole_numbers_come_back(paired, ids, data):
    statistic = wanted(paired)[0]
    values = data.draw(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=len(ids), max_size=len(ids)))
    system = made("a", tuple(ids), statistic, {"x": values})
    assert as_plain(systems_of(scan_statistics([system]).collect(), [statistic])[0]) == as_plain(system)


def test_a_file_without_a_system_is_refused(tmp_path):
    write_statistics(tmp_path / "s.parquet", [])
    with pytest.raises(ValueError, match="not a table of statistics"):
        read_statistics(tmp_path / "s.parquet", [])


def column(*parts):
    return json.dumps(parts)


STRANGE = {
    "no columns": pl.DataFrame({"a": [1]}),
    "documents that are no bytes": pl.DataFrame({column("system"): ["a"], column("doc"): [5]}),
    "documents that are no text": pl.DataFrame({column("system"): ["a"], column("doc"): [b"\xff\xff"]}),
    "documents that are null": pl.DataFrame(
        {column("system"): ["a"], column("doc"): pl.Series([None], dtype=pl.Binary)}
    ),
    "a column that is no JSON": pl.DataFrame({column("system"): ["a"], column("doc"): [b"d"], "x": [1]}),
    "a column that is a number": pl.DataFrame({column("system"): ["a"], column("doc"): [b"d"], "5": [1]}),
    "a group without a key": pl.DataFrame(
        {column("system"): ["a"], column("doc"): [b"d"], column("group"): [["x"]]}
    ),
    "a statistic without a field": pl.DataFrame(
        {column("system"): ["a"], column("doc"): [b"d"], column("STATISTIC"): [1]}
    ),
    "a statistic that is text": pl.DataFrame(
        {column("system"): ["a"], column("doc"): [b"d"], column("STATISTIC", "x"): ["five"]}
    ),
    "a group that is a number": pl.DataFrame(
        {column("system"): ["a"], column("doc"): [b"d"], column("group", "k"): [5]}
    ),
}


@pytest.mark.parametrize("frame", STRANGE.values(), ids=STRANGE)
def test_a_table_of_another_form_is_refused(paired, frame, tmp_path):
    statistic = wanted(paired)[0]
    names = {name: name.replace("STATISTIC", name_statistic(statistic)) for name in frame.columns}
    frame.rename(names).write_parquet(tmp_path / "s.parquet")
    with pytest.raises(ValueError, match="not a table of statistics"):
        read_statistics(tmp_path / "s.parquet", [statistic])


@pytest.mark.parametrize("cut", [0, 10, -10, -1])
def test_a_damaged_file_is_refused(paired, cut, tmp_path):
    file = tmp_path / "s.parquet"
    write_statistics(file, paired.systems)
    file.write_bytes(file.read_bytes()[:cut])
    with pytest.raises(ValueError, match="not a Parquet file that can be read"):
        read_statistics(file, wanted(paired))


COMPARED_GOLD = [{"id": at, "kind": f"k{at % 2}", "total": at} for at in range(12)]


def test_the_file_gives_back_what_was_written():
    systems = {
        name: [{"id": at, "total": at if at % step else 0} for at in range(12)]
        for name, step in {"a": 2, "b": 3, "c": 5}.items()
    }
    result = score(
        COMPARED_GOLD,
        {**systems, "silent": [{"id": 0}]},
        "fields: {total: number}",
        ScoreOptions(slices=("kind",), metrics=("precision",)),
    )
    made = Comparisons(result.comparisons, result.rankings, result.field_comparisons)
    assert {one.field for one in made.by_field} == {"total"}
    assert {one.verdict for one in made.comparisons} >= {"undefined", "no_difference_shown"}
    assert any(one.slice for one in made.comparisons)
    assert made.rankings[0].places[-1].value is None
    assert read_comparisons(comparisons_json(made)) == made
    assert comparisons_json(contest(result.paired, "a", is_brief=True)) == comparisons_json(made)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b'{"schema_version": 2}',
        b'{"schema_version": 1, "comparisons": [{}], "rankings": []}',
        b"\xff",
        b"[" * 100_000,
    ],
    ids=["empty", "list", "version", "not a comparison", "bytes", "deep"],
)
def test_other_files_are_refused(data):
    with pytest.raises(ProblemsError) as caught:
        read_comparisons(data)
    assert caught.value.problems[0].kind == "bad_comparisons_file"


# Packed sums, and documents that were not seen.

# Numbers of documents are held narrow, and come back to the bit

SHARES = st.fractions(0, 1, max_denominator=12).map(float) | st.just(math.nan) | st.sampled_from([0.0, -0.0])
ANY = st.floats(width=64, allow_nan=False) | st.just(math.nan)
UNITS = st.integers(-(2**20), 2**20).map(lambda value: value << 32)
WHOLE = st.integers(-LIMIT, LIMIT)


@given(st.lists(SHARES) | st.lists(ANY))
def test_floats_come_back_to_the_bit(values):
    wide = np.array(values, np.float64)
    found = PackedFloats.pack(wide).unpack()
    assert found.dtype == np.float64
    assert found.tobytes() == wide.tobytes()


@given(st.lists(UNITS) | st.lists(WHOLE) | st.lists(st.integers(-130, 130)))
def test_whole_numbers_come_back(values):
    found = PackedInts.pack(np.array(values, np.int64)).unpack()
    assert found.dtype == np.int64
    assert found.tolist() == values


@given(arrays.arrays(np.int64, st.tuples(st.integers(0, 4), st.integers(0, 9)), elements=WHOLE))
def test_sums_come_back_field_by_field(values):
    fields = tuple(f"f{at}" for at in range(len(values)))
    packed = PackedSum.pack(Sum(fields, values))
    found = packed.unpack()
    assert found.fields == fields
    assert found.values.shape == values.shape
    assert (found.values == values).all()
    assert all((packed.row(name) == row).all() for name, row in zip(fields, values, strict=True))
    assert not packed.row("another").any()


# The unseen document: what it adds to, and that one more error never raises a bound

PATHS = ("x", "y", "z")
FIELDS = [value(path, at) for at, path in enumerate(PATHS)]
METRICS = (
    "accuracy",
    "accuracy_strict",
    "accuracy_pooled",
    "accuracy_by_field",
    "precision",
    "f1(granularity=leaf)",
    "macro_f1",
    "recall",
    "perfect_documents",
    "critical_accuracy",
)


def measure(table, replicates=800):
    """Return the estimates of documents whose fields have these outcomes (empty: not there)."""
    rows = [
        (f"d{at}", path, outcome)
        for at, row in enumerate(table)
        for path, outcome in zip(PATHS, row, strict=True)
        if outcome
    ]
    judged = evidence(rows, FIELDS, [f"d{at}" for at in range(len(table))])
    plan = FoldPlan(select_metrics(METRICS), replicates=replicates)
    found = estimates(plan, fold(plan, judged, documents(judged.documents)))
    return {(one.metric, one.field): one for one in found}


TABLES = st.lists(
    st.lists(
        st.sampled_from(["match", "match", "match", "partial", "mismatch", "missing", ""]),
        min_size=3,
        max_size=3,
    ),
    min_size=1,
    max_size=12,
)


@few_examples()
@given(TABLES, st.data())
def test_one_more_error_never_raises_a_bound(table, data):
    right = [
        (at, place) for at, row in enumerate(table) for place, outcome in enumerate(row) if outcome == "match"
    ]
    if not right:
        return
    at, place = data.draw(st.sampled_from(right))
    error = data.draw(st.sampled_from(["mismatch", "missing", "partial"]))
    worse = [
        [*row[:place], error, *row[place + 1 :]] if number == at else row for number, row in enumerate(table)
    ]
    before, now = measure(table), measure(worse)
    for key, one in now.items():
        bounds, old = one.interval, before[key].interval
        is_praised = (
            error == "missing" and "precision" in key[0]
        )  # what is left out is not in the denominator
        if bounds is not None and old is not None and not is_praised:
            assert bounds[0] <= old[0] + 1e-12, (key, old, bounds)
            assert bounds[1] <= old[1] + 1e-12, (key, old, bounds)


@settings(max_examples=25)
@given(TABLES)
def test_an_interval_holds_its_value_and_lies_within_the_bounds_of_the_metric(table):
    for key, one in measure(table).items():
        if one.interval is not None:
            assert 0.0 <= one.interval[0] <= one.value <= one.interval[1] <= 1.0, key  # type: ignore[operator]


@pytest.mark.parametrize(("n", "level"), [(50, 0.95), (500, 0.95), (200, 0.8)])
def test_documents_without_an_error_leave_room_for_three_bad_ones(n, level):
    """The rule of three at 95%; generally - log(1 - level)."""
    unseen = unseen_weights(1, 40_000)
    drawn = (n + np.maximum(unseen, 0.0)) / (n + np.abs(unseen))
    low = float(np.quantile(drawn, (1.0 - level) / 2.0))
    assert n * (1.0 - low) / low == pytest.approx(unseen_reach(1.0 - level), rel=0.05)


HIGHEST = [
    ("accuracy", 1.0),
    ("f1", 1.0),
    ("macro_f1", 1.0),
    ("latency_mean", None),
    ("throughput", None),
    ("cost_usd", None),
    ("mean(column=coverage)", 1.0),
    ("mean(column=score)", 1.0),
    ("mean(column=words_of_a_plugin)", None),
    ("total(column=similarity, granularity=item)", None),
    ("u", 1.0),
    ("v", 1.0),
    ("p", 100.0),
    ("q", 1.0),
    ("r", 100.0),
]


@pytest.mark.parametrize(("metric", "highest"), HIGHEST)
def test_the_largest_value_of_a_metric_follows_from_what_it_is_made_of(metric, highest):
    own = Vocabulary(
        (
            Definition("p", "100 * document_mean(correct / (correct + wrong))", unit="percent"),
            Definition("q", "document_mean(otherwise(recall, 1) * (1 - documents_missing))"),
            Definition(
                "r", "document_mean((0.7 * recall + 0.3 * otherwise(precision, 0)) * 100)", unit="percent"
            ),
            Definition("u", "total(column=similarity, granularity=item) / (items_matched + items_missing)"),
            Definition("v", "document_mean(u)"),
        )
    )
    vocabulary = own if metric in "pqruv" else CATALOGUE
    assert find_highest(bind_metric(parse_metric(metric), vocabulary).recipe) == highest
