"""Hostile files and answers: a problem or an invalid record, in bounded time, never a traceback."""

import gzip
import json
import math
from collections import OrderedDict
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from types import NoneType

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.effort import characters, costs_at_most

from fieldassay.errors import ProblemsError
from fieldassay.io.json_value import id_text
from fieldassay.records.answers.answer import parse_answer
from fieldassay.records.envelope import read_container
from fieldassay.records.keys import SourceOptions
from fieldassay.records.record import decode_json, decode_rows, keys_of_json
from fieldassay.records.rows import id_reader
from fieldassay.records.source import open_source

pytestmark = pytest.mark.slow

MILLION = characters(500_000)


@pytest.fixture(autouse=True)
def bounded() -> Iterator[None]:
    with costs_at_most(250):
        yield


ANSWERS = {
    "open lists": lambda: "[" * 10 * MILLION,
    "open objects": lambda: '{"a":' * 2 * MILLION,
    "open objects in prose": lambda: "x " + '{"a":' * 2 * MILLION,
    "open lists of numbers": lambda: "[1," * 3 * MILLION,
    "open lists in prose": lambda: "x " + "[1 " * 3 * MILLION,
    "closed lists": lambda: "[] " * 3 * MILLION,
    "small lists": lambda: "[1] x " * MILLION,
    "quotes": lambda: '"' * 10 * MILLION,
    "backslashes": lambda: '{"a": "' + "\\" * 10 * MILLION,
    "open string": lambda: '{"a": "' + "x" * 10 * MILLION,
    "open comment": lambda: "{/*" + "* " * 2 * MILLION,
    "open comments": lambda: '{"a": ' + "/* " * MILLION,
    "unquoted words": lambda: '{"a": ' + "word " * (MILLION * 4 // 10),
    "fences": lambda: "```" * 3 * MILLION,
    "fenced brackets": lambda: "```{```" * MILLION,
    "spaces": lambda: "{" + " " * 10 * MILLION,
    "brackets and spaces": lambda: "{ " * 5 * MILLION,
    "digits": lambda: '{"a": ' + "9" * 10 * MILLION,
    "grouped digits": lambda: '{"a": 1' + ",000" * 400_000,
    "commas": lambda: "{" + "," * 10 * MILLION,
    "broken objects": lambda: '{"a" 1} ' * MILLION,
    "quoted quotes": lambda: '{"a": "' + 'b"c' * 3 * MILLION + '"}',
    "broken quotes, short": lambda: '[{"a":1,"b":"c"d"},' * 1000,
    "NUL bytes": lambda: "\0" * 10 * MILLION,
    "lone surrogates": lambda: '{"a": "' + "\ud800" * MILLION + '",}',
    "words": lambda: "word " * 2 * MILLION,
    "open string of quotes": lambda: '{"a": "' + '\\"' * 5 * MILLION,
    "marks of thoughts": lambda: "<think>" * MILLION,
    "marks of thoughts in a broken object": lambda: '{"a" "' + '</think>\\"' * MILLION,
    "closed thoughts": lambda: '{"a": 1}</think>' * 200_000,
    "inner broken objects": lambda: ('{"a" 1 {' * 50 + "}" * 50) * 2000,
    "escaped quotes": lambda: '{\\"a' + '\\"' * MILLION,
    "full-width braces": lambda: "｛" * MILLION,
    "a key before each object": lambda: '{% "a": {"b": 1}, ' * (MILLION // 10),
    "calls of tools": lambda: '{"arguments": ' * 90 + '{"a": 1}' + "}" * 90 + " x",
}


@pytest.mark.parametrize("name", ANSWERS)
def test_a_hostile_answer_is_invalid_or_repaired(name: str) -> None:
    answer = parse_answer(ANSWERS[name]())
    assert answer.problem is not None or answer.repairs
    assert len(answer.problem or "") < 300


@pytest.mark.parametrize(
    "text", ["['x']" + "</a>" * 10**5 + "y", "['x'" + " " * 10**6 + "y", "(" * 10**5, " " * 10**5 + "x"]
)
def test_a_hostile_text_in_place_of_a_list_stays_a_text(text: str) -> None:
    assert read_container(text, is_prose=True) is None


BROKEN_FILES = {
    "empty": ("p.jsonl", b"", "is empty"),
    "only a byte order mark": ("p.csv", b"\xef\xbb\xbf", "is empty"),
    "only NUL bytes": ("p.jsonl", b"\0" * 5000, "is empty"),
    "cut gzip": ("p.jsonl.gz", gzip.compress(b'{"id": 1}\n' * 1000)[:60], "cannot be decompressed"),
    "broken gzip": ("p.jsonl.gz", b"\x1f\x8b" + b"x" * 100, "cannot be decompressed"),
    "broken zstd": ("p.jsonl.zst", b"\x28\xb5\x2f\xfd" + b"x" * 100, "cannot be decompressed"),
    "zip": ("p.zip", b"PK\x03\x04....", "is a zip archive"),
    "broken parquet": ("p.parquet", b"PAR1" + b"x" * 100 + b"PAR1", "not a Parquet file"),
    "text named parquet": ("p.parquet", b"id,x\n1,2\n", "not a Parquet file"),
    "broken array": ("p.json", b'[{"id": 1}, {"id": 2]', "not JSON"),
    "deep array": ("p.json", b"[" * MILLION, "nested deeper than 100 levels"),
    "prose named lines": ("p.jsonl", b"I cannot read this.", "not JSON (Expecting value, column 1)"),
    "scalar": ("p.json", b"42", "is neither a list of records nor a record"),
    "column twice": ("p.csv", b"id,x,x\n1,2,3\n", "the header has the column 'x' twice"),
    "unnamed column": ("p.csv", b"id,,x\n1,2,3\n", "column 2 has no name"),
    "empty gzip": ("p.jsonl.gz", gzip.compress(b""), "is empty"),
}


@pytest.mark.parametrize("name", BROKEN_FILES)
def test_a_broken_file_is_one_clear_problem(tmp_path: Path, name: str) -> None:
    file, content, what = BROKEN_FILES[name]
    path = tmp_path / file
    path.write_bytes(content)
    with pytest.raises(ProblemsError) as caught:
        open_source(path)
    [problem] = caught.value.problems
    assert problem.where.startswith(str(path)) and what in problem.what


@pytest.mark.parametrize("name", ["missing.jsonl", "bad\0name", "x" * 5000])
def test_a_path_that_cannot_be_opened_is_a_problem(name: str) -> None:
    with pytest.raises(ProblemsError, match="cannot be read"):
        open_source(name)


LINES = {
    "not JSON": (b'{"id": "x", "a": 1 "b": 2}', "not JSON (Expecting ',' delimiter, column 20)"),
    "cut off": (b'{"id": "x", "a": [1, 2', "not JSON (Expecting ',' delimiter, column 23)"),
    "deep": (b'{"id": "x", "a": ' + b"[" * 1000 + b"]" * 1000 + b"}", "nested deeper than 100 levels"),
    "very deep": (
        b'{"id": "x", "a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        "nested deeper than 100 levels",
    ),
}


@pytest.mark.parametrize("name", LINES)
def test_a_bad_prediction_line_with_an_id_is_an_invalid_record(tmp_path: Path, name: str) -> None:
    line, problem = LINES[name]
    (tmp_path / "p.jsonl").write_bytes(b'{"id": "w"}\n' + line + b"\n")
    source = open_source(tmp_path / "p.jsonl")
    assert list(source.ids) == ["w", "x"]
    record = source.fetch([1])[0]
    assert (record.data, record.invalid) == (None, problem)
    assert record.place.endswith("p.jsonl:2")


@pytest.mark.parametrize("name", LINES)
def test_a_bad_gold_line_is_an_error(tmp_path: Path, name: str) -> None:
    line, problem = LINES[name]
    (tmp_path / "g.jsonl").write_bytes(b'{"id": "w"}\n' + line + b"\n")
    with pytest.raises(ProblemsError) as caught:
        source = open_source(tmp_path / "g.jsonl", SourceOptions(is_gold=True))
        raise ProblemsError([]) if source.fetch([1])[0].invalid is None else _as_error(source.fetch([1])[0])
    assert problem in str(caught.value) and "g.jsonl:2" in str(caught.value)


def _as_error(record: object) -> ProblemsError:
    from fieldassay.errors import Problem

    return ProblemsError([Problem(record.place, record.invalid)])  # type: ignore[attr-defined]


TOLERATED = {
    "NaN": (b'{"id": 1, "a": NaN}', "non_finite_number"),
    "Infinity": (b'{"id": 1, "a": -Infinity}', "non_finite_number"),
    "duplicate key": (b'{"id": 1, "a": 1, "a": 2}', "duplicate_key"),
    "duplicate key, spaced": (b'{"id" : 1, "a" : 1, "a": 2}', "duplicate_key"),
    "duplicate key in an item": (b'{"id":1,"a":[{"b":1},{"b":1,"b":":"}]}', "duplicate_key"),
    "duplicate key, escaped": (b'{"id":1,"a":1,"\\u0061":"\\u003ax"}', "duplicate_key"),
    "NUL in a string": (b'{"id": 1, "a": "x\0y"}', "control_character"),
    "lone surrogate": (b'{"id": 1, "a": "\\ud800"}', "lone_surrogate"),
    "other encoding": (b'{"id": 1, "a": "caf\xe9"}', "not_utf8"),
    "long number": (b'{"id": 1, "a": ' + b"9" * 5000 + b"}", "long_number"),
}


@pytest.mark.parametrize("name", TOLERATED)
def test_what_means_one_thing_only_is_read_and_noted(tmp_path: Path, name: str) -> None:
    line, repair = TOLERATED[name]
    padding = json.dumps({"id": 0, "text": "é" * 600_000}, ensure_ascii=False).encode() + b"\n"
    (tmp_path / "p.jsonl").write_bytes(padding + line)
    record = open_source(tmp_path / "p.jsonl").fetch([1])[0]
    assert record.invalid is None and record.meta.repairs == (repair,)
    json.dumps(record.data, ensure_ascii=False).encode()


SPELLINGS = st.sampled_from(
    ["a", "\\u0061", "b", '\\"', "\\u0022", ":", "\\u003a", 'a"b'.replace('"', '\\"')]
)
TEXTS = SPELLINGS.map(lambda text: f'"{text}"')
VALUES = st.recursive(
    TEXTS | st.sampled_from(["1", "null", '"x:\\"y"']),
    lambda inner: st.lists(
        st.tuples(TEXTS, st.sampled_from([":", " : ", "\t:", "\n:"]), inner).map("".join), max_size=3
    ).map(lambda pairs: "{" + ",".join(pairs) + "}"),
    max_leaves=6,
)


@given(VALUES)
def test_no_spelling_hides_a_duplicate_key(text: str) -> None:
    """The oracle tells repeats of keys from the pairs, as the standard library reads them."""
    repeated: list[bool] = []

    def hold(pairs: list[tuple[str, object]]) -> dict[str, object]:
        repeated.append(len(dict(pairs)) < len(pairs))
        return dict(pairs)

    value = json.loads(text, object_pairs_hook=hold)
    row = decode_json(text.encode())
    assert row.value == value
    assert row.repairs == (("duplicate_key",) if any(repeated) else ())


@given(
    st.lists(VALUES | st.sampled_from(["", "{", "[" * 101 + "]" * 101, '{"a": NaN}', '"x"', "7"]), max_size=4)
)
def test_texts_decoded_together_give_the_rows_of_each_alone(texts: list[str]) -> None:
    data = [text.encode() for text in texts]
    together = [replace(row, may_name_confidence=True) for row in decode_rows(data)]
    assert repr(together) == repr(list(map(decode_json, data)))


class _Text(str):
    """A text that is more than one."""


_OBJECTS = st.dictionaries(
    st.sampled_from(["a", "b", "c", 1, _Text("d"), None]),
    st.recursive(
        st.sampled_from(
            [None, True, 1, 1.5, float("nan"), "x", "", "y", (), {1}, Decimal(1), _Text("x"), b""]
        ),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "b", 2]), inner),
        max_leaves=5,
    ),
    max_size=3,
)


def _is_plain(value: object) -> bool:
    if type(value) is dict:
        return all(type(key) is str and _is_plain(inner) for key, inner in value.items())
    return (
        all(map(_is_plain, value))
        if type(value) is list
        else type(value) in (str, int, float, bool, NoneType) and value == value  # NaN is no JSON
    )


@given(st.lists(_OBJECTS | st.sampled_from([None, 1, [], OrderedDict()]), max_size=3))
@example([{"a": math.nan}])
def test_records_need_no_conversion_if_each_value_is_plain_json(records: list[object]) -> None:
    is_plain = all(type(record) is dict and _is_plain(record) for record in records)
    assert (keys_of_json(records) is not None) == is_plain


@given(st.text(st.characters(codec="utf-8"), max_size=8) | st.integers(), st.booleans())
def test_the_index_reads_an_id_as_the_record_does(value: str | int, is_escaped: bool) -> None:
    line = json.dumps({"x": 1, "id": value}, ensure_ascii=is_escaped).encode()
    row = decode_json(line).value
    assert isinstance(row, dict)
    assert id_reader(["id"])(line) == id_reader(["\udcff", "id"])(line) == (id_text(row["id"]), None)


def test_gold_with_a_duplicate_key_is_invalid(tmp_path: Path) -> None:
    (tmp_path / "g.jsonl").write_text('{"id": 1, "a": 1, "a": 2}')
    assert (
        open_source(tmp_path / "g.jsonl", SourceOptions(is_gold=True)).fetch([0])[0].invalid
        == "an object has the same key twice"
    )


def test_a_ragged_row_of_a_table_is_invalid_and_of_gold_an_error(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,x\n1,2\n2,3,4\n3\n")
    source = open_source(tmp_path / "t.csv")
    assert [record.invalid for record in source.fetch([0, 1, 2])] == [
        None,
        "has 3 cells, the header has 2",
        "has 1 cells, the header has 2",
    ]
    with pytest.raises(ProblemsError, match=r"t.csv:3: has 3 cells(.|\n)*t.csv:4: has 1 cells"):
        open_source(tmp_path / "t.csv", SourceOptions(is_gold=True))


def test_huge_cells_and_ids_do_no_harm(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"id,x\na,{'y' * 10 * MILLION}\n{'z' * MILLION},1\n")
    source = open_source(tmp_path / "t.csv")
    assert list(source.ids) == ["a"] and source.notes[-1].what == "its id is too long"
    assert len(str(source.fetch([0])[0].data)) > 10 * MILLION


@pytest.mark.parametrize(
    "value",
    [None, 1, "x", [], [1], b"x", object(), float("nan"), {1: {2}}, {"a": lambda: 0}],
    ids=lambda value: type(value).__name__,
)
def test_records_of_wrong_kinds_in_memory_are_judged_or_refused(value: object) -> None:
    try:
        source = open_source([value, {"id": "a"}])
        source.fetch(range(len(source)))
        open_source({"k": value}).fetch([0])
        open_source(value)
    except ProblemsError as error:
        assert error.problems


def test_cyclic_records_in_memory_are_invalid() -> None:
    cycle: dict[str, object] = {"id": "a"}
    cycle["self"] = cycle
    assert open_source({"a": cycle}).fetch([0])[0].invalid == "nested deeper than 100 levels"


@given(
    st.binary(min_size=1, max_size=200),
    st.sampled_from(["p.jsonl", "p.json", "p.csv", "p.tsv", "p.parquet", "p.gz", "p"]),
)
def test_any_bytes_are_records_or_problems(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, name: str
) -> None:
    path = tmp_path_factory.mktemp("fuzz") / name
    path.write_bytes(content)
    try:
        source = open_source(path)
        records = source.fetch(range(len(source)))
    except ProblemsError as error:
        assert error.problems
    else:
        assert all((record.data is None) == (record.invalid is not None) for record in records)
