"""Which document is that of which gold record: names, patterns, readings, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from fieldassay.commands.named_documents import name_documents
from fieldassay.documents.sources import DocumentFile
from fieldassay.errors import ProblemsError


def named(documents: str, ids: str, pattern: str | None = None) -> dict[str, dict[str, str]]:
    """Return the path of each gold id's document, by reading."""
    files = [DocumentFile(name, Path(name)) for name in documents.split()]
    found = name_documents(files, ids.split(), pattern).readings
    return {reading: {file.id: str(file.path) for file in own} for reading, own in found.items()}


CASES = [
    ("the same names", "a.pdf b/c.pdf", "a b/c.pdf", None, {"a": "a.pdf", "b/c.pdf": "b/c.pdf"}),
    ("gold with an ending of its own", "x/case_1_standard.pdf x/case_2_ocr.pdf", "case_1_expected case_2_expected",
     None, {"case_1_expected": "x/case_1_standard.pdf", "case_2_expected": "x/case_2_ocr.pdf"}),
    ("documents with a beginning", "scan-a1.png scan-a10.png", "a1 a10", None, {"a1": "scan-a1.png", "a10": "scan-a10.png"}),
    ("a pattern", "d/c_1_s.pdf d/c_2_s.pdf", "1_gold 2_gold", "c_{id}_*.pdf={id}_gold", {"1_gold": "d/c_1_s.pdf", "2_gold": "d/c_2_s.pdf"}),
    ("a pattern with folders", "d/1.pdf e/1.pdf", "1", "e/{id}.pdf", {"1": "e/1.pdf"}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("documents", "ids", "pattern", "found"), [one[1:] for one in CASES], ids=[one[0] for one in CASES]
)
def test_documents_meet_their_gold(
    documents: str, ids: str, pattern: str | None, found: dict[str, str]
) -> None:
    assert named(documents, ids, pattern) == {"": found}


def test_folders_with_the_same_names_are_readings() -> None:
    readings = {at: {"p0": f"{at}/p0.txt", "p1": f"{at}/p1.txt"} for at in ("corrected", "raw")}
    documents = "corrected/p0.txt raw/p0.txt corrected/p1.txt raw/p1.txt"
    assert named(documents, "p0 p1") == readings == named(documents, "p0 p1", "{reading}/{id}.txt")


REFUSED = [
    ("names with nothing in common", "a.pdf", "b", None, "no document has gold"),
    ("an id in two names", "x1.pdf", "1", None, "no document has gold"),
    ("two ids in one name", "page_1_of_2.pdf", "1 2", None, "no document has gold"),
    ("two documents of one id", "s_1_a.pdf s_1_b.pdf", "1 3", None, "no document has gold"),
    ("readings that differ", "a/p0.txt b/p0.txt b/p1.txt", "p0", None, "are all gold's 'p0'"),
    ("a pattern that fits none", "a.pdf", "a", "b_{id}.pdf", "fits no document"),
    ("a pattern without an id", "a.pdf", "a", "b.pdf", "does not have {id} once"),
    ("a pattern that fits two", "a_1.pdf a_2.pdf", "a", "{id}_*.pdf", "are all gold's 'a'"),
]


@pytest.mark.parametrize(
    ("documents", "ids", "pattern", "told"), [one[1:] for one in REFUSED], ids=[one[0] for one in REFUSED]
)
def test_what_is_not_sure_is_refused(documents: str, ids: str, pattern: str | None, told: str) -> None:
    with pytest.raises(ProblemsError, match=told.replace("{", r"\{")):
        named(documents, ids, pattern)
