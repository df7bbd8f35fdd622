"""Encodings are found out, or named by the user."""

from __future__ import annotations

from pathlib import Path

import pytest

from fieldassay.errors import ProblemsError
from fieldassay.io.text.encoding import detect_encoding
from fieldassay.records.options import SourceOptions
from fieldassay.records.sources.source import open_source

TEXTS = {
    "western": "id,name\n1,Müller & Söhne\n2,café à la crème – 5 €\n3,señor Núñez\n",
    "prices": "id,price\n1,£5.00\n2,20 °C ± 5 %\n",
    "polish": "id,name\n" + "1,Łódź jest dużym miastem; zażółć gęślą jaźń, książka i źdźbło trawy\n" * 5,
    "russian": "id,name\n" + "1,Счёт на оплату товаров и услуг за март\n" * 5,
    "japanese": "id,name\n" + "1,請求書の合計金額は次のとおりです\n" * 5,
    "greek": "id,name\n" + "1,Τιμολόγιο για την πώληση αγαθών και υπηρεσιών\n" * 5,
}


@pytest.mark.parametrize(
    ("name", "encoding"),
    [
        *((name, encoding) for name in TEXTS for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-32")),
        ("western", "cp1252"),
        ("prices", "cp1252"),
        ("polish", "cp1250"),
        ("russian", "cp1251"),
        ("japanese", "shift_jis"),
        ("greek", "cp1253"),
    ],
)
def test_the_text_is_read_as_it_was_written(tmp_path: Path, name: str, encoding: str) -> None:
    data = TEXTS[name].encode(encoding)
    found = detect_encoding(data)
    assert found is not None and data.decode(found).removeprefix("\ufeff") == TEXTS[name]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_mark_is_found(encoding: str) -> None:
    assert detect_encoding('{"id": "a"}'.encode(encoding)) == encoding


def test_a_guessed_encoding_is_a_note_even_for_gold(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes("id,name\n1,Größe\n".encode("cp1252"))
    source = open_source(tmp_path / "t.csv", SourceOptions(is_gold=True))
    assert source.fetch([0])[0].data == {"name": "Größe"}
    assert [note.what for note in source.notes] == ["is not UTF-8 and was read as cp1252"]


def test_the_encoding_can_be_named(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes("id,name\n1,Größe\n".encode("cp850"))
    record = open_source(tmp_path / "t.csv", SourceOptions(encoding="cp850")).fetch([0])[0]
    assert record.data == {"name": "Größe"}


def test_an_unknown_encoding_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id\n1\n")
    with pytest.raises(ProblemsError, match="unknown encoding 'utf-99'"):
        open_source(tmp_path / "t.csv", SourceOptions(encoding="utf-99"))


def test_a_table_with_a_line_in_another_encoding_is_read(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"id,name\n" + "0,é\n".encode() * 220_000 + b"1,caf\xe9\n")
    source = open_source(tmp_path / "t.csv")
    assert source.fetch([0, len(source) - 1])[1].data == {"name": "café"}


def test_a_line_that_is_not_utf8_changes_no_other_line(tmp_path: Path) -> None:
    lines = [
        f'{{"id": {at}, "a": "café {at}"}}'.encode("latin-1" if at == 1 else "utf-8") for at in range(50)
    ]
    (tmp_path / "p.jsonl").write_bytes(b"\n".join(lines))
    records = open_source(tmp_path / "p.jsonl").fetch(range(50))
    assert [record.data for record in records] == [{"a": f"café {at}"} for at in range(50)]
    assert [record.id for record in records if "not_utf8" in record.meta.repairs] == ["1"]


NOT_NAMED = {"utf-8": "utf-8", "byte order mark": "utf-8-sig", "utf-16": "utf-16"}


@pytest.mark.parametrize("name", NOT_NAMED)
def test_a_named_encoding_is_that_of_files_that_are_not_in_unicode(tmp_path: Path, name: str) -> None:
    (tmp_path / "t.csv").write_bytes("id,name\n1,Größe\n".encode(NOT_NAMED[name]))
    assert open_source(tmp_path / "t.csv", SourceOptions(encoding="cp850")).fetch([0])[0].data == {
        "name": "Größe"
    }


def test_an_encoding_that_writes_everything_in_ascii_can_be_named(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes("id,name\n1,請求書\n".encode("iso2022_jp"))
    assert open_source(tmp_path / "t.csv", SourceOptions(encoding="iso2022_jp")).fetch([0])[0].data == {
        "name": "請求書"
    }


def test_a_file_that_is_not_in_the_named_encoding_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"id,name\n1,caf\xff\xff\n")
    with pytest.raises(ProblemsError, match=r"t\.csv: is neither in Unicode nor in shift-jis"):
        open_source(tmp_path / "t.csv", SourceOptions(encoding="shift_jis"))


@pytest.mark.parametrize(
    ("name", "remedy"),
    [("cp1525", "did you mean"), ("hex", "use a name such as utf-8"), ("zzzz", "use a name")],
)
def test_an_unknown_encoding_is_told_with_a_near_one(tmp_path: Path, name: str, remedy: str) -> None:
    (tmp_path / "t.csv").write_text("id\n1\n")
    with pytest.raises(ProblemsError, match=remedy):
        open_source(tmp_path / "t.csv", SourceOptions(encoding=name))


def test_the_remedy_for_an_encoding_that_cannot_be_told_is_an_option_that_there_is(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes("id,name\n1,Größe\n".encode("cp1252"))
    [note] = open_source(tmp_path / "t.csv").notes
    assert note.remedy == "if that is wrong, name it with --encoding (in Python: `encoding`)"
