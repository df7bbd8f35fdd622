"""What becomes gold, and what was never reviewed."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import few_examples
from tests.judging import score_alone
from tests.review.receipts import add, form_of, take

from fieldassay.commands.cli.main import main
from fieldassay.errors import ProblemsError
from fieldassay.paths import value_at
from fieldassay.records.labels_file import Label, Sheet, labels_lines
from fieldassay.review.promote import PromoteOptions, promote
from fieldassay.review.sheets import sheets
from fieldassay.review.sheets.make import ReviewRequest, Shares, make_review
from fieldassay.review.sheets.sheets import RefusedError
from fieldassay.spec.plan.compile import read_plan, with_sections

# Labels become gold: applied by path, written canonically, all or nothing

SIX, ABSENT, ILLEGIBLE = Label("value", "6"), Label("absent"), Label("illegible")


def sheet(document="b", reviewer="r1", slot=0, **labels):
    return Sheet(document, reviewer, slot, labels=labels)


def apply_to(gold, *sheets, **options):
    found = promote(gold, sheets, PromoteOptions(**options))
    found.write()
    return found


LINES = (
    '\ufeff{"id": "a", "total": 5.00, "x": "\\u00e9"}\r\n'
    "\r\n"
    '{"id":"b","total":"5","lines":[{"sku":"A","n":1.50},{"sku":"B","n":2,"page":3}]}\r\n'
    '{"total":  "7" , "id": "c"}'
)
CANONICAL = (
    '{"id": "a", "total": 5.00, "x": "é"}\n'
    '{"id": "b", "total": "5", "lines": [{"sku": "A", "n": 1.50}, {"sku": "B", "n": 2, "page": 3}]}\n'
    '{"total": "7", "id": "c"}\n'
)


@pytest.mark.parametrize(
    ("document", "labels", "before", "after"),
    [
        pytest.param("a", {"total": Label("value", "6.50")}, '"total": 5.00', '"total": 6.50', id="a number"),
        pytest.param("a", {"total": Label("value", "n/a")}, '"total": 5.00', '"total": "n/a"', id="a text for a number"),
        pytest.param("b", {"total": SIX}, '"total": "5"', '"total": "6"', id="a text"),
        pytest.param("b", {"total": ABSENT}, '"total": "5", ', "", id="absent"),
        pytest.param("b", {"due": SIX}, "3}]}", '3}], "due": "6"}', id="a value that gold lacks"),
        pytest.param("c", {"total": ILLEGIBLE}, '"total": "7", "id": "c"', '"id": "c", "illegible_fields": ["total"]', id="illegible"),
        pytest.param("b", {"lines[1].n": SIX}, '"n": 2', '"n": 6', id="a value of an item"),
        pytest.param(
            "b",
            {"lines": Label("value"), **{f"lines[{at}].{key}": Label("value", text) for at, key, text in (
                (0, "sku", "A"), (0, "n", "1.50"), (1, "sku", "C"), (1, "n", "2"))}},
            '"sku": "B"', '"sku": "C"', id="a whole list: other keys and equal numbers stay",
        ),
    ],
)  # fmt: skip
def test_a_record_changes_where_a_label_says_so_and_numbers_keep_their_writing(
    tmp_path, document, labels, before, after
):
    gold = tmp_path / "gold.jsonl"
    gold.write_bytes(LINES.encode())
    apply_to(gold, Sheet(document, "r1", labels=labels))
    assert gold.read_text() == CANONICAL.replace(before, after, 1)


@pytest.mark.parametrize("name", ["gold.json", "gold.jsonl", "gold.csv"])
def test_gold_as_it_was_stays_beside_it_until_the_next_time(tmp_path, name):
    gold, old = tmp_path / name, tmp_path / f"{name}.before"
    first = {
        "gold.json": '[{"id": "b", "tags": ["x", "y"]}]',
        "gold.jsonl": '{"id": "b", "tags": ["x", "y"]}\n',
        "gold.csv": 'id,tags\nb,"[""x"",""y""]"\n',
    }[name]
    gold.write_text(first)
    apply_to(gold, Sheet("b", "r1", labels={"tags": Label("value"), "tags[0]": Label("value", "y")}))
    second = gold.read_text()
    assert old.read_text() == first
    apply_to(gold, Sheet("b", "r1", labels={"tags": ABSENT}))
    assert (old.read_text(), gold.read_text() != second) == (second, True)
    apply_to(gold, Sheet("b", "r1", labels={"tags": ABSENT}))
    assert old.read_text() == second


def test_a_folder_changes_one_file_and_gets_files_for_new_documents(tmp_path):
    gold = tmp_path / "gold"
    (gold / "in").mkdir(parents=True)
    for name in ("a", "in/b"):
        (gold / f"{name}.json").write_text(f'{{\n "total": 5, "name": "{name}"}}')
    apply_to(gold, sheet("in/b", total=SIX), sheet("c", total=SIX), adds_documents=True)
    assert (gold / "a.json").read_text() == '{\n "total": 5, "name": "a"}'
    assert (gold / "in/b.json").read_text() == '{\n  "total": 6,\n  "name": "in/b"\n}\n'
    assert json.loads((gold / "c.json").read_text()) == {"total": "6"}
    assert [path.name for path in (tmp_path / "gold.before").rglob("*.json")] == ["b.json"]
    with pytest.raises(ProblemsError, match="cannot be the name of a new file"):
        apply_to(gold, sheet("../d", total=SIX), adds_documents=True)


TABLE = '\ufeffid;total;note;tags;illegible_fields\r\na;5,00;"x ""y""; z";u|v;\r\nb;5;plain;"[""u""]";\r\nc;7;;;\r\n'


@pytest.mark.parametrize(
    ("document", "labels", "before", "after"),
    [
        pytest.param("a", {"total": SIX}, "a;5,00;", "a;6;", id="a cell"),
        pytest.param("c", {"note": Label("value", 'p;"q"')}, "c;7;;", 'c;7;"p;""q""";', id="a cell to quote"),
        pytest.param("a", {"total": ABSENT}, "a;5,00;", "a;;", id="absent"),
        pytest.param("c", {"total": ILLEGIBLE}, "c;7;;;", "c;;;;total", id="illegible"),
        pytest.param(
            "b", {"tags": Label("value"), "tags[0]": SIX}, '"[""u""]"', '"[""6""]"', id="a list as JSON"
        ),
        pytest.param(
            "a",
            {"tags": Label("value"), "tags[0]": Label("value", "u"), "tags[1]": Label("value", "w")},
            "u|v", "u|w", id="a list with a separator",
        ),
        pytest.param(
            "d", {"total": SIX, "note": ABSENT, "tags": ABSENT},
            "c;7;;;\r\n", "c;7;;;\r\nd;6;;;\r\n", id="a new document",
        ),
    ],
)  # fmt: skip
def test_a_cell_changes_and_the_dialect_stays(tmp_path, document, labels, before, after):
    gold = tmp_path / "gold.csv"
    gold.write_bytes(TABLE.encode())
    plan = read_plan('fields: {total: text, note: text, tags: {type: list, items: text, separator: "|"}}')
    apply_to(gold, Sheet(document, "r1", labels=labels), plan=plan, adds_documents=True)
    assert gold.read_bytes().decode() == TABLE.replace(before, after, 1)


@pytest.mark.parametrize("encoding", ["cp1252", "utf-8-sig", "utf-16"])
def test_a_table_keeps_its_encoding_and_a_label_that_it_cannot_hold_is_told(tmp_path, encoding):
    gold = tmp_path / "gold.csv"
    text = "id,total,shop\r\na,5,Café Müller in Ñuñoa\r\nb,5,Señor Peña & Søn\r\n"
    gold.write_bytes(text.encode(encoding))
    apply_to(gold, sheet(total=SIX))
    assert gold.read_bytes() == text.replace("b,5", "b,6").encode(encoding)
    if encoding == "cp1252":
        with pytest.raises(ProblemsError, match=r"has no 'Ł'; save it as UTF-8"):
            apply_to(gold, sheet(shop=Label("value", "Łódź")))


def test_all_conflicts_come_together_and_nothing_is_written(tmp_path):
    gold = tmp_path / "gold.jsonl"
    rows = ['{"id": "a", "x": "1"}\n', '{"id": "b", "x": "1", "l": ["p"]}\n']
    gold.write_text("".join(rows))
    sheets = [sheet(name, f"r{at}", at, x=Label("value", str(at))) for name in "ab" for at in (2, 3)]
    with pytest.raises(ProblemsError) as caught:
        apply_to(gold, *sheets, Sheet("b", "r9", 9, labels={"l[1]": SIX}))
    told = [one.what for one in caught.value.problems]
    assert told[:2] == ["two sheets differ: '2' and '3'"] * 2
    assert told[2:] == ["the list has other items than when it was labeled: label it whole"]
    assert {one.kind for one in caught.value.problems} == {"gold_conflict"}
    assert gold.read_text() == "".join(rows)
    assert [path.name for path in tmp_path.iterdir()] == ["gold.jsonl"]


values = st.sampled_from(["1", "2", "3", "4.50"])
states = st.one_of(
    values.map(lambda text: Label("value", text)),
    st.sampled_from([ABSENT, ILLEGIBLE, Label("skipped")]),
)
paths = st.sampled_from(["x", "y", "z", "o.p"])
golds = st.lists(st.dictionaries(st.sampled_from("xyz"), values, max_size=3), min_size=1, max_size=3)
labelings = st.lists(st.dictionaries(paths, states, max_size=4), min_size=1, max_size=4)


@few_examples()
@given(golds, labelings)
def test_promoted_twice_is_promoted_once_and_what_is_skipped_stays(tmp_path_factory, rows, labels):
    gold = tmp_path_factory.mktemp("gold") / "gold.jsonl"
    gold.write_text("".join(json.dumps({"id": str(at), **row}) + "\n" for at, row in enumerate(rows)))
    sheets = [Sheet(str(at), "r1", labels=one) for at, one in enumerate(labels)]
    apply_to(gold, *sheets)
    once = {path: path.read_bytes() for path in gold.parent.iterdir()}
    again = apply_to(gold, *sheets)
    assert {path: path.read_bytes() for path in gold.parent.iterdir()} == once
    assert (again.files, any(one.is_changed for one in again.changes)) == ({}, False)
    found = {row["id"]: row for row in map(json.loads, gold.read_text().splitlines())}
    before = {str(at): row for at, row in enumerate(rows)}
    for one in sheets:
        for path, label in one.labels.items():
            if label.state == "skipped":
                held = found.get(one.document, {})
                assert held.get(path) == before.get(one.document, {}).get(path)


def test_gold_that_changes_meanwhile_is_not_overwritten(tmp_path):
    gold = tmp_path / "gold.jsonl"
    gold.write_text('{"id": "b", "total": "5"}\n')
    found = promote(gold, [sheet(total=SIX)], PromoteOptions())
    gold.write_text('{"id": "b", "total": "9"}\n')
    with pytest.raises(ProblemsError, match="has changed while"):
        found.write()
    assert gold.read_text() == '{"id": "b", "total": "9"}\n'


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        pytest.param("gold.jsonl", b'{"id": "b"}\n{"id": "b"}\n', "of an earlier record", id="an id twice"),
        pytest.param("gold.jsonl", b'{"id": "b", "x": 1, "x": 2}\n', "the key 'x' twice", id="a key twice"),
        pytest.param(
            "gold.jsonl", b'{"id": "b", "x": "\\ud800"}\n', "is in utf-8, which has no", id="half a character"
        ),
        pytest.param(
            "gold.jsonl", b'{"id": "b", "x": ' + b"[" * 400 + b"]" * 400 + b"}\n", "nested deeper", id="deep"
        ),
        pytest.param("gold.jsonl", b'{"id": "b"}\n{"id": \n', "gold.jsonl:2: not JSON", id="a broken line"),
        pytest.param("gold.json", b'[{"id": "b"},', "gold.json:1: not JSON", id="a broken array"),
        pytest.param("gold.jsonl", b'{"id": "\xff"}\n', "is not UTF-8", id="bytes of no text"),
        pytest.param("gold.jsonl", b"\x1f\x8b00", "packed or binary", id="packed"),
        pytest.param("gold.csv", b"id,note\nb,x\n", "no column for total", id="no column"),
        pytest.param("gold.csv", b"total\n5\n", "no column of ids", id="no ids"),
        *(
            pytest.param(f"gold{form}", b"", "name it .jsonl", id=form)
            for form in (".parquet", ".csv.gz", ".xlsx", ".jsonl.zst")
        ),
    ],
)
def test_gold_that_cannot_be_kept_as_it_is_is_refused(tmp_path, name, content, words):
    gold = tmp_path / name
    gold.write_bytes(content)
    with pytest.raises(ProblemsError, match=words):
        apply_to(gold, sheet(total=SIX))
    assert gold.read_bytes() == content


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gold.jsonl").write_text('{"id": "b", "total": "5"}\n')
    (tmp_path / "spec.yaml").write_text("fields: {total: money}")
    (tmp_path / "labels.jsonl").write_text("".join(labels_lines([sheet(total=SIX)])))
    return tmp_path


PROMOTE = (
    "review",
    "promote",
    "--labels",
    "labels.jsonl",
    "--gold",
    "gold.jsonl",
)


def test_the_command_tells_and_writes(folder, capsys):
    assert main([*PROMOTE, "--dry-run"]) == 0
    assert "gold.jsonl: 1 value would change, 0 values confirmed" in capsys.readouterr().out
    assert (folder / "gold.jsonl").read_text() == '{"id": "b", "total": "5"}\n'
    assert main([*PROMOTE]) == 0
    assert "b  total: '5' -> '6'" in capsys.readouterr().out
    (folder / "gold.csv").write_text("id,total,lines[0].n\nb,5,2\n")
    (folder / "one.jsonl").write_text('{"id": "b", "total": 5.0, "lines": [{"n": 1.50}]}\n')
    for name, before in (("gold.csv", "5"), ("one.jsonl", "5.0")):
        assert main([*PROMOTE, "--gold", name, "--json"]) == 0
        [change] = json.loads(capsys.readouterr().out)["changes"]
        assert (change["before"], change["after"], change["is_changed"]) == (before, "6", True)
    assert (folder / "gold.jsonl").read_text() == '{"id": "b", "total": "6"}\n'
    assert (folder / "gold.jsonl.before").read_text() == '{"id": "b", "total": "5"}\n'


def test_a_baseline_that_stands_on_gold_as_it_was_is_told(folder, capsys):
    (folder / "fieldassay-baseline.json").touch()
    assert main([*PROMOTE]) == 0
    assert "fieldassay-baseline.json was made with the earlier gold: score again" in capsys.readouterr().out
    assert main([*PROMOTE]) == 0
    assert "was made with the gold" not in capsys.readouterr().out


def test_a_document_that_gold_lacks_is_added_only_if_asked_for(tmp_path):
    gold = tmp_path / "gold.csv"
    gold.write_text("id,total\nb,5\n")
    found = apply_to(gold, sheet("bb", total=SIX), sheet("b", total=SIX))
    assert (found.unknown, found.added) == (("bb",), ())
    assert gold.read_text() == "id,total\nb,6\n"
    assert apply_to(gold, sheet("bb", total=SIX), adds_documents=True).added == ("bb",)


def test_a_text_that_the_spec_cannot_read_is_told(tmp_path):
    gold = tmp_path / "gold.csv"
    gold.write_text("id,total\nb,5\n")
    found = apply_to(gold, sheet(total=Label("value", "garbage")), plan=read_plan("fields: {total: money}"))
    assert found.unread == (("b", "total", "garbage"),)


CONTROL = r"the label has the character U\+[0-9A-F]{4}, which no file of text may hold"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        *((text, CONTROL) for text in ("6\0", "\x1b[31m6", "6\ud800")),
        *((text, "the label is a value without its text") for text in (None, " ", "\u00a0\t", "\u200b")),
    ],
)
def test_a_text_that_no_gold_may_hold_is_refused(tmp_path, text, words):
    gold = tmp_path / "gold.csv"
    gold.write_text("id,total\nb,5\n")
    with pytest.raises(ProblemsError, match=f"b: total: {words}"):
        apply_to(gold, sheet(total=Label("value", text)), plan=read_plan("fields: {total: text}"))
    assert gold.read_text() == "id,total\nb,5\n"


# What nobody was asked about is written as unreviewed: never as absent, and never in a number

SPEC = """
fields:
  supplier: text
  total: money
  place: {type: object, fields: {city: text, street: text}}
  lines: {items: {fields: {sku: text, note: text, tags: {type: list, items: text}}}}
"""
TRUTH = {
    "supplier": "Acme",
    "total": "5.00",
    "place": {"city": "Rome", "street": "Via 1"},
    "lines": [{"sku": "A", "note": "x", "tags": ["u"]}, {"sku": "B", "note": "y", "tags": ["v", "w"]}],
}
VALUE, UNREVIEWED_ABSENT, SKIPPED = Label("value", "5.00"), Label("absent"), Label("skipped")


def written(folder, labels, *gold, spec=SPEC):
    """Return the record of document `a` after its labels became gold."""
    path = folder / "gold.jsonl"
    path.write_text("".join(json.dumps({"id": "a", **row}) + "\n" for row in gold))
    apply_to(path, Sheet("a", "r1", labels=labels), plan=read_plan(spec))
    [row] = map(json.loads, path.read_text().splitlines())
    return row


def test_a_skipped_key_of_a_map_or_a_tree_is_unreviewed(tmp_path):
    labels = {"mp.x": SKIPPED, "mp.y": Label("value", "2"), "mp.z": Label("value", "?"), "tree.t": SKIPPED}
    spec = "fields: {mp: {type: map, values: number}, tree: any}"
    row = written(tmp_path, labels | {"tree.u": VALUE}, spec=spec)
    assert row["unreviewed_fields"] == ["mp.x", "mp.z", "tree.t"]


@pytest.mark.parametrize(
    ("labels", "unreviewed"),
    [
        pytest.param({"total": VALUE}, ["lines", "place.city", "place.street", "supplier"], id="all others"),
        pytest.param({"total": UNREVIEWED_ABSENT, "place": UNREVIEWED_ABSENT}, ["lines", "supplier"], id="an absent object is reviewed whole"),
        pytest.param({"total": VALUE, "supplier": SKIPPED, "place": UNREVIEWED_ABSENT, "lines": UNREVIEWED_ABSENT}, ["supplier"], id="skipped"),
        pytest.param(
            {"total": VALUE, "supplier": VALUE, "place": UNREVIEWED_ABSENT, "lines": Label("value"), "lines[0].sku": VALUE, "lines[0].note": SKIPPED, "lines[4].sku": VALUE, "lines[4].tags": SKIPPED},
            ["lines[0].note", "lines[1].tags"],
            id="skipped in rows, which are numbered anew",
        ),
        pytest.param({"total": Label("illegible"), "supplier": VALUE, "place": UNREVIEWED_ABSENT, "lines": UNREVIEWED_ABSENT}, None, id="illegible is reviewed"),
    ],
)  # fmt: skip
def test_a_new_document_names_what_has_no_label(tmp_path, labels, unreviewed):
    assert written(tmp_path, labels).get("unreviewed_fields") == unreviewed


def test_gold_that_is_there_keeps_what_it_says_and_a_label_takes_a_field_off_the_list(tmp_path):
    assert "unreviewed_fields" not in written(tmp_path, {"total": VALUE}, {"supplier": "B"})
    held = {"total": "5", "unreviewed_fields": ["supplier", "place.city"]}
    assert written(tmp_path, {"supplier": UNREVIEWED_ABSENT}, held)["unreviewed_fields"] == ["place.city"]
    assert "unreviewed_fields" not in written(
        tmp_path, {"supplier": VALUE, "place.city": UNREVIEWED_ABSENT}, held
    )
    held = {"lines": [{"sku": "A"}, {"sku": "B"}], "unreviewed_fields": ["lines[].note"]}
    assert written(tmp_path, {"lines[0].note": UNREVIEWED_ABSENT}, held)["unreviewed_fields"] == [
        "lines[1].note"
    ]


def test_a_table_gets_the_column(tmp_path):
    gold = tmp_path / "gold.csv"
    gold.write_bytes(b"id;total;supplier\r\na;5\r\n")
    plan = read_plan("fields: {total: text, supplier: text, date: date}")
    apply_to(gold, sheet(total=VALUE), plan=plan, adds_documents=True)
    assert gold.read_bytes() == b"id;total;supplier;unreviewed_fields\r\na;5;;\r\nb;5.00;;date|supplier\r\n"


def leave_out(value, path, gone):
    """Return a tree without some of its leaves and lists."""
    if isinstance(value, dict):
        inner = {key: (f"{path}.{key}" if path else key, one) for key, one in value.items()}
        return {key: leave_out(one, name, gone) for key, (name, one) in inner.items() if name not in gone}
    if isinstance(value, list):
        return [leave_out(one, f"{path}[{at}]", gone) for at, one in enumerate(value)]
    return value


def say(store, person, sheet, node, truth):
    """Answer a place as it stands in the truth, row by row where it is a list."""
    form = form_of(store)
    if isinstance(truth, str):
        one = sheets.LabelAnswer(node, "value", truth)
        store.write(lambda log: sheets.save_label(log, form, person, sheet, one))
        return
    if isinstance(truth, list):
        blank = [None] * len(truth)
        rows = store.write(lambda log: sheets.save_items(log, form, person, sheet, node, blank))
        inside = dict(zip(rows, truth, strict=True))
    else:
        inside = {f"{node}.{key}": text for key, text in truth.items()}
    for place, inner in inside.items():
        say(store, person, sheet, place, inner)


PLACES = [
    "supplier",
    "place.city",
    "place.street",
    "lines",
    "lines[0].note",
    "lines[1].tags",
    "lines[1].sku",
]


@few_examples()
@given(st.sets(st.sampled_from(PLACES), max_size=7), st.sampled_from([0.0, 0.5]), st.integers(0, 50))
def test_a_system_that_is_right_is_right_in_gold_made_from_any_predictions_with_any_shares(
    tmp_path_factory, gone, empty, seed
):
    """A perfect reviewer answers what is asked; what is not asked must not count against a perfect system."""
    folder = tmp_path_factory.mktemp("review")
    predicted = {"id": "a", **leave_out(TRUTH, "", gone)}
    shares, plan = Shares(double=0.0, withheld=0.3, empty=empty), with_sections(read_plan(SPEC), seed=seed)
    request = ReviewRequest(plan, {"m": [predicted]}, shares=shares)
    store = make_review(folder / "r", request).store
    me, form = add(store), form_of(store)
    number = take(store, me)
    with store.reading() as db:
        nodes = sheets.view(db, form, me, number)["open"]
    for node in nodes:
        say(store, me, number, node, value_at(TRUTH, node))
    store.write(lambda log: sheets.finish(log, form, me, number))
    gold = folder / "gold.jsonl"
    assert main(["review", "promote", str(folder / "r"), "--gold", str(gold)]) == 0
    result = score_alone(gold, [{"id": "a", **TRUTH}], SPEC)
    assert {
        one.value for one in result.estimates if one.metric in ("accuracy", "perfect_documents", "item_f1")
    } <= {1.0, None}
    [row] = map(json.loads, gold.read_text().splitlines())
    assert set(row.get("unreviewed_fields", [])) <= {
        *PLACES,
        "lines[0].tags",
        "lines[1].note",
        "lines[0].sku",
    }


TYPED = {
    "day": ("date", "31.02.2014"),
    "count": ("number", "twelve"),
    "total": ("money", "a lot"),
    "flow": ("{type: quantity, canonical: m3/h}", "much"),
    "numbers": ("{type: list, items: number, compare: bag}", "1 | x"),
}


@pytest.mark.parametrize("name", TYPED)
@pytest.mark.parametrize("is_inside", [False, True], ids=["field", "cell"])
def test_what_the_spec_cannot_read_is_asked_about_and_is_not_gold_unless_it_is_taken(
    tmp_path, name, is_inside, capsys
):
    kind, text = TYPED[name]
    spec = f"fields: {{{name}: {kind}, shop: text}}"
    if is_inside:
        spec = f"fields: {{lines: {{items: {{fields: {{{name}: {kind}, shop: text}}}}}}}}"
    row = {"lines": [{"shop": "Oak"}]} if is_inside else {"shop": "Oak"}
    store = make_review(tmp_path / "r", ReviewRequest(spec, {"m": [{"id": "a", **row}]})).store
    me, form, start = add(store), form_of(store), "lines[0]." if is_inside else ""
    assert take(store, me) == 1
    for node, said in ((f"{start}shop", "Oak"), (f"{start}{name}", text)):
        one = sheets.LabelAnswer(node, "value", said)
        store.write(lambda log, one=one: sheets.save_label(log, form, me, 1, one))
    with pytest.raises(RefusedError, match=f"1 not readable: {re.escape(start + name)}"):
        store.write(lambda log: sheets.finish(log, form, me, 1))
    store.write(lambda log: sheets.finish(log, form, me, 1, takes_unreadable=True))
    gold = tmp_path / "gold.jsonl"
    command = ["review", "promote", str(tmp_path / "r"), "--gold", str(gold)]
    assert main(command) == 0
    assert "cannot be read by the spec, and is left out" in capsys.readouterr().out
    assert json.loads(gold.read_text()) == {"id": "a", **row, "unreviewed_fields": [start + name]}
    gold.unlink()
    assert main([*command, "--unreadable"]) == 0
    found = json.loads(gold.read_text())
    assert "unreviewed_fields" not in found
    assert name in (found["lines"][0] if is_inside else found)


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("kind", "1"),
        ("kind", "bill"),
        ("paid", "2"),
        ("paid", "maybe"),
        ("lines", "x"),
        ("lines[0].tags", "x"),
    ],
)
def test_a_closed_choice_takes_no_other_text_and_a_list_no_text(tmp_path, field, text):
    spec = "fields: {kind: {type: enum, values: [invoice, note]}, paid: boolean, lines: {items: {fields: {a: text, tags: {type: list, items: text}}}}}"
    rows = [{"id": "a", "lines": [{"a": "x"}]}] if "[" in field else [{"id": "a"}]
    store = make_review(tmp_path / "r", ReviewRequest(spec, {"m": rows})).store
    me, form = add(store), form_of(store)
    assert take(store, me) == 1
    with pytest.raises(RefusedError, match=r"choices|rows"):
        store.write(lambda log: sheets.save_label(log, form, me, 1, sheets.LabelAnswer(field, "value", text)))
