"""The corpus that ships can be built again."""

from pathlib import Path

import pytest
from bench.corpus.build import build_corpus, count_documents, current_versions
from tests.documents.corpus.test_shipped_corpus import ORIGINALS, SHIP, gold_rows

from fieldassay.documents.corpus.manifest import SHIPPED, read_corpus
from fieldassay.documents.layout.text import page_text
from fieldassay.documents.load import load

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus") / "built"
    assert build_corpus(folder) == count_documents(1) == len(SHIP.documents)
    return folder


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_the_same_versions_build_the_same_bytes(built: Path) -> None:
    if current_versions() != dict(SHIP.versions):
        pytest.skip("built by other versions: see the next test")
    assert files(built) == files(SHIPPED)
    differing = [
        name for name in files(SHIPPED) if (built / name).read_bytes() != (SHIPPED / name).read_bytes()
    ]
    assert not differing


def test_any_versions_build_the_same_gold_and_text(built: Path) -> None:
    assert gold_rows(built) == gold_rows(SHIPPED)
    again = {one.id: one for one in read_corpus(built).documents}
    assert {one.id: one.values for one in SHIP.documents} == {name: one.values for name, one in again.items()}
    for one in SHIP.documents:
        assert (built / again[one.id].text).read_bytes() == (SHIPPED / one.text).read_bytes()
    for one in ORIGINALS:
        if one.degradation is None:
            new, ship = (load(folder / one.file, name=one.id).pages for folder in (built, SHIPPED))
            assert [page_text(page).text for page in new] == [page_text(page).text for page in ship]
