"""Locks on disk: read back as they were written, and refused with a reason where they are not sound."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.lock.labels_cases import GOLD, SPEC

from fieldassay.errors import ProblemsError
from fieldassay.fingerprint.frozen import Frozen
from fieldassay.gates.baseline.lock import start
from fieldassay.gates.baseline.lock_file import lock_bytes, read_lock, write_lock
from fieldassay.gates.baseline.locking import MOST_REASON, freeze, hold_lock, make_lock, reset_lock

NOW = datetime(2026, 11, 21, 12, 30, 5, tzinfo=UTC)
LATER = NOW + timedelta(days=1)


@pytest.fixture(scope="module")
def frozen() -> Frozen:
    return freeze(SPEC, GOLD)


@pytest.fixture
def path(tmp_path: Path, frozen: Frozen) -> Path:
    file = tmp_path / "fieldassay.lock.json"
    make_lock(file, frozen, NOW).save()
    return file


def problem(call: Callable[[], Any]) -> Any:
    with pytest.raises(ProblemsError) as caught:
        call()
    assert len(str(caught.value)) < 1000
    return caught.value.problems[0]


def test_a_lock_is_read_back_as_it_was_written(path: Path, frozen: Frozen) -> None:
    lock, data = read_lock(path)
    assert lock == start(frozen, NOW, lock.baseline.fieldassay)
    assert lock_bytes(lock) == data == path.read_bytes()


@pytest.mark.parametrize("name", ["naïve 😀", "lone \ud800", "bidi \u202e", 'quo"te\n'])
def test_any_text_in_a_spec_survives(name: str, tmp_path: Path) -> None:
    frozen = freeze(
        {"name": name, "fields": {name: {"type": "enum", "values": [name, "b"]}}}, [{"id": 1, name: "b"}]
    )
    held = make_lock(tmp_path / "lock.json", frozen, NOW)
    held.save()
    assert read_lock(tmp_path / "lock.json")[0] == held.lock


def test_the_bytes_do_not_depend_on_the_order_of_fields_records_or_on_the_time_zone(frozen: Frozen) -> None:
    spec = json.loads(json.dumps({"fields": {"b": {"weight": 2, "type": "id"}, "a": "text"}}))
    turned = {"fields": {"a": "text", "b": {"type": "id", "weight": 2}}}
    one = start(freeze(spec, [{"id": 1, "a": "x"}, {"id": 2}]), NOW, "1.0")
    two = start(
        freeze(turned, [{"id": 2}, {"a": "x", "id": 1}]), NOW.astimezone(timezone(timedelta(hours=5))), "1.0"
    )
    two = replace(two, frozen=replace(two.frozen, name=one.frozen.name))
    assert lock_bytes(one) == lock_bytes(two)


def test_the_same_again_writes_nothing(path: Path, frozen: Frozen) -> None:
    before = path.read_bytes()
    held = make_lock(path, frozen, LATER)
    held.save()
    assert (held.status, path.read_bytes()) == ("equal", before)
    held.demand_equal()


def test_another_gold_is_refused_and_nothing_written(path: Path) -> None:
    before = path.read_bytes()
    held = make_lock(path, freeze(SPEC, GOLD[:2]), LATER)
    held.save()
    told = problem(held.demand_equal)
    assert (held.status, told.kind, path.read_bytes()) == ("different", "lock_differs", before)
    assert "1 document removed (d3)" in told.what and "--reset-baseline" in told.remedy


def test_resets_append_to_the_history(path: Path) -> None:
    for number, reason in enumerate(("one label was wrong", "same again"), start=2):
        held = reset_lock(path, freeze(SPEC, GOLD[:2]), reason, NOW + timedelta(days=number))
        held.save()
        assert read_lock(path)[0] == held.lock
    history = read_lock(path)[0].history
    assert [(entry.created[:10], entry.reason, entry.documents) for entry in history] == [
        ("2026-11-21", None, 3),
        ("2026-11-23", "one label was wrong", 2),
        ("2026-11-24", "same again", 2),
    ]
    assert history[1].gold == history[2].gold != history[0].gold
    assert hold_lock(path, freeze(SPEC, GOLD[:2])).status == "equal"


@pytest.mark.parametrize("reason", ["", "  ", "…", "-", "\u202e\n", "x" * (MOST_REASON + 1)])
def test_a_reset_needs_a_reason(reason: str, path: Path, frozen: Frozen) -> None:
    before = path.read_bytes()
    assert problem(lambda: reset_lock(path, frozen, reason, LATER)).kind == "no_reason"
    assert path.read_bytes() == before


def test_two_who_reset_at_once_do_not_lose_an_entry(path: Path, frozen: Frozen) -> None:
    one, two = (reset_lock(path, frozen, reason, LATER) for reason in ("mine", "yours"))
    one.save()
    assert problem(two.save).kind == "changed_lock"
    assert [entry.reason for entry in read_lock(path)[0].history] == [None, "mine"]


def test_two_who_create_at_once_do_not_overwrite_each_other(tmp_path: Path, frozen: Frozen) -> None:
    one, two = (make_lock(tmp_path / "lock.json", made, NOW) for made in (frozen, freeze(SPEC, GOLD[:1])))
    one.save()
    assert problem(two.save).kind == "changed_lock"
    assert read_lock(tmp_path / "lock.json")[0].frozen == frozen


def test_nothing_but_the_lock_is_left_in_the_folder(path: Path, frozen: Frozen) -> None:
    reset_lock(path, frozen, "again", LATER).save()
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_link_stays_a_link_and_rights_stay(path: Path, frozen: Frozen) -> None:
    link = path.with_name("link.json")
    link.symlink_to(path)
    path.chmod(0o640)
    reset_lock(link, frozen, "again", LATER).save()
    assert link.is_symlink() and path.stat().st_mode & 0o777 == 0o640
    assert len(read_lock(path)[0].history) == 2


@pytest.mark.parametrize("target", ["", "missing/lock.json", "gold.jsonl/lock.json", "x" * 300, "a\0b"])
def test_a_place_that_takes_no_file_is_a_problem(target: str, tmp_path: Path, frozen: Frozen) -> None:
    (tmp_path / "gold.jsonl").touch()
    told = problem(lambda: make_lock(tmp_path / target, frozen, NOW).save())
    assert told.kind in ("unwritable_lock", "unreadable_file", "bad_lock")
    assert [file.name for file in tmp_path.iterdir()] == ["gold.jsonl"]


def test_no_lock_is_a_problem_with_the_command_that_makes_one(tmp_path: Path, frozen: Frozen) -> None:
    told = problem(lambda: hold_lock(tmp_path / "lock.json", frozen))
    assert told.kind == "no_lock" and "fieldassay lock" in told.remedy
    assert problem(lambda: reset_lock(tmp_path / "lock.json", frozen, "why", NOW)).kind == "no_lock"


def test_a_named_pipe_is_refused_and_not_waited_for(tmp_path: Path, frozen: Frozen) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert problem(lambda: hold_lock(tmp_path / "pipe", frozen)).kind == "unreadable_file"


TEXTS: dict[str, bytes] = {
    "empty": b"",
    "not JSON": b"<<<<<<< ours\n{}",
    "a list": b"[]",
    "another file": b'{"fields": {}}',
    "another format": b'{"format": "fieldassay run", "schema_version": 1}',
    "a later version": b'{"format": "fieldassay lock", "schema_version": 2}',
    "true for a version": b'{"format": "fieldassay lock", "schema_version": true}',
    "nothing in it": b'{"format": "fieldassay lock", "schema_version": 1}',
    "not UTF-8": b'{"format": "\xff"}',
    "nested deeply": b"[" * 100_000,
    "a huge number": b'{"schema_version": 1' + b"0" * 5000 + b"}",
    "a key twice": b'{"format": "fieldassay lock", "format": "fieldassay lock"}',
    "NUL": b"\0" * 100,
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_file_that_is_no_lock_is_refused(name: str, tmp_path: Path, frozen: Frozen) -> None:
    file = tmp_path / "lock.json"
    file.write_bytes(TEXTS[name])
    for call in (
        lambda: hold_lock(file, frozen),
        lambda: make_lock(file, frozen, NOW),
        lambda: reset_lock(file, frozen, "why", NOW),
    ):
        assert problem(call).kind == ("version" if "version" in name else "bad_lock")
    assert file.read_bytes() == TEXTS[name]


EDITS: dict[str, Callable[[Any], Any]] = {
    "a tolerance": lambda data: data["spec"]["content"].update(locale="de"),
    "a metric": lambda data: data["formulas"]["content"].update(metrics=["f1"]),
    "a document": lambda data: data["gold"]["digests"].pop("d1"),
    "the digest of a document": lambda data: data["gold"]["digests"].update(d1="0" * 32),
    "no digest": lambda data: data["gold"]["digests"].update(d1="zz"),
    "the count": lambda data: data["gold"].update(documents=4),
    "a negative count": lambda data: data["gold"].update(documents=-1, digests=None),
    "the digest of the gold": lambda data: data["gold"].update(digest="0" * 64),
    "the digest of the spec": lambda data: data["spec"].update(digest="0" * 64),
    "an empty history": lambda data: data["history"].clear(),
    "the history": lambda data: data["history"][0].update(spec="0" * 64),
    "the time": lambda data: data.update(created="2020-01-01T00:00:00+00:00"),
    "a reset without a reason": lambda data: data["history"].append(data["history"][0]),
    "a number for a digest": lambda data: data["spec"].update(digest=5),
    "a text for the digests": lambda data: data["gold"].update(digests="none"),
    "a missing part": lambda data: data.pop("formulas"),
    "deep content": lambda data: data["spec"].update(content=json.loads("[" * 900 + "]" * 900)),
}


@pytest.mark.parametrize("name", EDITS)
def test_a_lock_that_was_edited_by_hand_is_refused(name: str, path: Path, frozen: Frozen) -> None:
    data = json.loads(path.read_bytes())
    EDITS[name](data)
    path.write_text(json.dumps(data), encoding="utf-8")
    told = problem(lambda: hold_lock(path, frozen))
    assert told.kind == "bad_lock" and told.remedy


def test_white_space_in_the_file_does_not_matter(path: Path, frozen: Frozen) -> None:
    path.write_text(json.dumps(json.loads(path.read_bytes())), encoding="utf-8")
    assert hold_lock(path, frozen).status == "equal"


def test_an_older_version_is_told_and_not_refused(path: Path, frozen: Frozen) -> None:
    write_lock(path, start(frozen, NOW, "0.0.1"), path.read_bytes())
    held = hold_lock(path, frozen)
    held.demand_equal()
    assert "0.0.1" in held.remarks()[0]


DIFFERENT: dict[str, tuple[Any, Any, list[str]]] = {
    "an option": (SPEC.replace("money", "{type: money, currency: AUD}"), GOLD,
        ['the spec differs: fields.total.currency was added ("AUD")']),
    "a type below": (
        SPEC.replace("n: number", "n: integer"),
        GOLD,
        ['the spec differs: fields.lines.items.fields.n.type was "number", is now "integer"'],
    ),
    "a field less": (
        SPEC.replace(", flag: boolean", ""),
        GOLD,
        [
            'the spec differs: fields.flag was removed ("boolean")',
            "the gold differs: 1 document changed (d3) (or the specs declare other fields of it)",
        ],
    ),
    "formulas": (SPEC + "\nmetrics: [f1]", GOLD, ['the formulas differ: metrics was [], is now ["f1"]']),
    "two parts": (
        SPEC + "\nlocale: es\nmetrics: [f1]",
        [*GOLD[1:], {"id": "d4"}, {"id": "d5"}],
        [
            'the spec differs: locale was added ("es")',
            'the formulas differ: metrics was [], is now ["f1"]',
            "the gold differs: 2 documents added (d4, d5), 1 removed (d1) (or the specs declare other "
            "fields of it)",
        ],
    ),
    "many documents": (
        SPEC,
        [{"id": f"n{at:03}"} for at in range(300)],
        ["the gold differs: 300 documents added (n000, n001, n002, n003, n004, …), 3 removed (d1, d2, d3)"],
    ),
    "many fields": (
        "fields: {" + ", ".join(f"f{at}: text" for at in range(20)) + "}",
        GOLD,
        ["the spec differs: " + ", ".join(f'fields.f{at} was added ("text")' for at in (0, 1, 10, 11,
         12)) + " and 19 more",
         "the gold differs: 3 documents changed (d1, d2, d3) (or the specs declare other fields of it)"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DIFFERENT)
def test_a_refusal_says_what_differs(name: str, path: Path) -> None:
    spec, gold, said = DIFFERENT[name]
    held = hold_lock(path, freeze(spec, gold))
    assert [one.told() for one in held.differences] == said
    assert len(json.dumps(held.to_dict())) < 100_000


def test_long_ids_and_values_are_cut_where_they_are_told(path: Path) -> None:
    spec = json.dumps({"fields": {"x" * 5000: {"type": "enum", "values": ["y" * 5000, "z"]}}})
    held = hold_lock(path, freeze(spec, [{"id": "i" * 1000}]))
    assert all(len(str(one)) < 1000 for one in held.problems())


def test_documents_that_are_too_many_to_list_are_counted(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fieldassay.fingerprint.labels.MOST_LISTED", 2)
    held = hold_lock(path, freeze(SPEC, [*GOLD, {"id": "d4"}]))
    assert [one.told() for one in held.differences] == [
        "the gold differs: 3 documents were locked, there are 4 now"
    ]
    held = hold_lock(path, freeze(SPEC, [*GOLD[:2], {"id": "d3"}]))
    assert [one.told() for one in held.differences] == [
        "the gold differs: 3 documents as before, too many to say which of them changed"
    ]


def as_older(path: Path) -> None:
    """Write the lock as releases did that did not say what its digests cover."""
    held = json.loads(path.read_text(encoding="utf-8"))
    del held["gold"]["covers"]
    path.write_text(json.dumps(held), encoding="utf-8")


def test_a_lock_of_an_earlier_release_holds_where_gold_has_no_more_than_the_spec_declares(
    path: Path, frozen: Frozen
) -> None:
    as_older(path)
    assert hold_lock(path, frozen).status == "equal"


def test_a_lock_of_an_earlier_release_says_that_it_counted_more(path: Path) -> None:
    as_older(path)
    gold = [{**GOLD[0], "total": "6.00"}, *GOLD[1:]]
    told = str(problem(hold_lock(path, freeze(SPEC, gold)).demand_equal))
    assert "the gold differs: 1 document changed (d1)" in told
    assert "keys which the spec does not declare" in told
