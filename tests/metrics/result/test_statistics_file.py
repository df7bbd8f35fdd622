"""The file of per-document statistics: what it keeps, and what becomes of hostile names and damaged files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.scoring.provenance.labels_cases import labels

from fieldassay import score
from fieldassay.metrics.result.documents import (
    DocumentStatistics,
    PairedData,
    list_parts,
    name_statistic,
    read_statistics,
    scan_statistics,
    systems_of,
    write_statistics,
)
from fieldassay.metrics.statistics.statistics import Statistic, Sum
from fieldassay.runs.run import Run

GOLD = [{"id": name, "total": at, "tags": ["x"]} for at, name in enumerate("abcd")]
SYSTEMS = {"one": GOLD, "two": [{**row, "total": 1} for row in GOLD]}


@pytest.fixture(scope="module")
def paired() -> PairedData:
    options = {"bootstrap": 0, "keeps_statistics": True, "slices": ("tag",)}
    found = score(GOLD, SYSTEMS, "fields: {total: number, tags: {type: list, items: text}}", **options).paired
    assert found is not None
    return found


def wanted(data: PairedData) -> list[Statistic]:
    return list(dict.fromkeys(statistic for system in data.systems for statistic in system.statistics))


def as_plain(system: DocumentStatistics) -> tuple[object, ...]:
    """Return a system's content without the order of statistics and fields, which has no meaning."""
    sums = {
        (statistic, field): tuple(row)
        for statistic, total in system.statistics.items()
        for field, row in zip(total.fields, total.values.tolist(), strict=True)
    }
    return system.system, system.documents, sums, dict(system.groups)


def test_what_is_written_is_what_is_read(paired: PairedData, tmp_path: Path) -> None:
    write_statistics(tmp_path / "s.parquet", paired.systems)
    read = read_statistics(tmp_path / "s.parquet", wanted(paired))
    assert [as_plain(one) for one in read] == [as_plain(one) for one in paired.systems]
    assert len(wanted(paired)) > 3


def test_only_the_wanted_statistics_are_read(paired: PairedData, tmp_path: Path) -> None:
    write_statistics(tmp_path / "s.parquet", paired.systems)
    accuracy = list_parts(paired.metrics[0].recipe)
    read = read_statistics(tmp_path / "s.parquet", accuracy)
    assert set(read[0].statistics) == set(accuracy) < set(wanted(paired))


def made(
    system: str, documents: tuple[str, ...], statistic: Statistic, fields: dict[str | None, list[int]]
) -> DocumentStatistics:
    values = np.array(list(fields.values()), np.int64).reshape(len(fields), len(documents))
    return DocumentStatistics(system, documents, {statistic: Sum(tuple(fields), values)}, {})


def test_a_system_that_lacks_a_field_lacks_it_after_reading(paired: PairedData) -> None:
    statistic = wanted(paired)[0]
    systems = [
        made("a", ("1", "2"), statistic, {"x": [1, 2], "y": [3, 4]}),
        made("b", ("1", "2"), statistic, {"y": [5, 6]}),
    ]
    first, second = systems_of(scan_statistics(systems).collect(), [statistic])
    assert as_plain(first) == as_plain(systems[0])
    assert as_plain(second) == as_plain(systems[1])


def test_a_system_that_lacks_a_statistic_lacks_it_after_reading(paired: PairedData) -> None:
    one, other = wanted(paired)[:2]
    systems = [made("a", ("1",), one, {"x": [1]}), made("b", ("1",), other, {"x": [2]})]
    read = systems_of(scan_statistics(systems).collect(), [one, other])
    assert [set(system.statistics) for system in read] == [{one}, {other}]


def test_a_file_written_in_blocks_is_the_same_every_time_and_holds_every_row(
    paired: PairedData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
def test_hostile_names_come_back_as_they_were(paired: PairedData, name: str, tmp_path: Path) -> None:
    statistic = wanted(paired)[0]
    system = made("a", (name,), statistic, {name: [7], None: [8]})
    write_statistics(tmp_path / "s.parquet", [replace(system, groups={name: (("b",),)})])
    [read] = read_statistics(tmp_path / "s.parquet", [statistic])
    assert as_plain(read) == as_plain(replace(system, groups={name: (("b",),)}))


@pytest.mark.parametrize("name", HOSTILE[1:], ids=ascii)
def test_hostile_names_of_systems_are_kept_apart(paired: PairedData, name: str, tmp_path: Path) -> None:
    statistic = wanted(paired)[0]
    write_statistics(
        tmp_path / "s.parquet",
        [made(name, ("1",), statistic, {"x": [1]}), made("b", ("1",), statistic, {"x": [2]})],
    )
    read = read_statistics(tmp_path / "s.parquet", [statistic])
    assert [system.system for system in read] == [name, "b"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    ids=st.lists(st.text(st.characters(), max_size=5), min_size=1, max_size=6, unique=True), data=st.data()
)
def test_any_ids_and_any_whole_numbers_come_back(
    paired: PairedData, ids: list[str], data: st.DataObject
) -> None:
    statistic = wanted(paired)[0]
    number = st.integers(-(2**63), 2**63 - 1)
    values = data.draw(st.lists(number, min_size=len(ids), max_size=len(ids)))
    system = made("a", tuple(ids), statistic, {"x": values})
    assert as_plain(systems_of(scan_statistics([system]).collect(), [statistic])[0]) == as_plain(system)


def test_a_file_without_a_system_is_refused(tmp_path: Path) -> None:
    write_statistics(tmp_path / "s.parquet", [])
    with pytest.raises(ValueError, match="not a table of statistics"):
        read_statistics(tmp_path / "s.parquet", [])


def test_a_statistic_that_is_defined_otherwise_has_another_name(paired: PairedData) -> None:
    names = [name_statistic(statistic) for statistic in wanted(paired)]
    assert len(set(names)) == len(names)


def column(*parts: object) -> str:
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
def test_a_table_of_another_form_is_refused(paired: PairedData, frame: pl.DataFrame, tmp_path: Path) -> None:
    statistic = wanted(paired)[0]
    names = {name: name.replace("STATISTIC", name_statistic(statistic)) for name in frame.columns}
    frame.rename(names).write_parquet(tmp_path / "s.parquet")
    with pytest.raises(ValueError, match="not a table of statistics"):
        read_statistics(tmp_path / "s.parquet", [statistic])


@pytest.mark.parametrize("cut", [0, 10, -10, -1])
def test_a_damaged_file_is_refused(paired: PairedData, cut: int, tmp_path: Path) -> None:
    file = tmp_path / "s.parquet"
    write_statistics(file, paired.systems)
    file.write_bytes(file.read_bytes()[:cut])
    with pytest.raises(ValueError, match="not a Parquet file that can be read"):
        read_statistics(file, wanted(paired))


def test_a_file_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_statistics(tmp_path / "s.parquet", [])


def test_the_digests_of_gold_are_those_of_the_documents_however_a_run_is_made(tmp_path: Path) -> None:
    gold = [{"id": f"d{at * 7 % 40:02d}", "total": at} for at in range(40)]
    wanted = labels(gold, "fields: {total: number}").digests
    ways: tuple[dict[str, Any], ...] = ({}, {"batch": 7}, {"workers": 2, "batch": 5})
    for options in ways:
        run = score(gold, {"a": gold, "b": gold[:9]}, "fields: {total: number}", **options)
        for system in Run.open(run.save(tmp_path / "run").folder).paired.systems:
            assert system.gold is not None
            digests = [row.tobytes().hex() for row in system.gold]
            assert dict(zip(system.documents, digests, strict=True)) == wanted
