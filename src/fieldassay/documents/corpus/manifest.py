"""The manifest of the challenge corpus."""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field

from fieldassay.errors import problem
from fieldassay.io.files.typed_json import FileForm, read_typed
from fieldassay.io.files.whole_files import open_file

# Difficulties, and what the engineering protocol asks for at each.

DIFFICULTIES = ("easy", "medium", "hard", "very hard")

METRICS = ("accuracy", "critical_accuracy")
"""The metrics in which documents of all tasks are put together: they mean the same in every spec."""

THRESHOLDS: Mapping[str, Mapping[str, float]] = {
    "easy": {"accuracy": 0.95, "critical_accuracy": 1.0},
    "medium": {"accuracy": 0.90, "critical_accuracy": 0.95},
    "hard": {"accuracy": 0.85, "critical_accuracy": 0.90},
    "very hard": {"accuracy": 0.80},
}
"""The least value of each metric, by difficulty."""


# `corpus.json`: the documents of a corpus, each with its gold values and their places.

NAME = "corpus.json"
SHIPPED = Path(__file__).parent / "shipped"
"""The corpus that comes with the package."""

_FORM = FileForm("a corpus", "not_a_corpus")


class Value(Struct, frozen=True):
    """A gold value: its path, its text on the page, and where that stands."""

    path: str
    text: str | None
    """None: it stands nowhere and is to be inferred."""
    page: int | None
    """From 1; a sheet, a part of a message, or 1 where the kind of file has no pages."""
    box: tuple[float, float, float, float] | None
    """Left, top, right, bottom in shares of the page as displayed; None where a file has no places."""
    difficulty: str
    tests: str
    """The challenge that the value belongs to."""
    critical: bool = False


class Document(Struct, frozen=True):
    """A document of a corpus. Paths are relative to the folder of `corpus.json`."""

    id: str
    file: str
    sha256: str
    task: str
    spec: str
    kind: str
    difficulty: str
    tests: str
    text: str | None = None
    """The file with the text as a person reads it, pages separated by form feeds."""
    tags: tuple[str, ...] = ()
    twin_of: str | None = None
    """The document that this one is a degraded picture of: same gold, same text."""
    degradation: str | None = None
    values: tuple[Value, ...] = ()


class CorpusTask(Struct, frozen=True):
    """The files of one task: its spec, its gold, and the folder of its documents."""

    spec: str
    gold: str
    documents: str


class Corpus(Struct, frozen=True):
    """The content of `corpus.json`."""

    documents: tuple[Document, ...]
    tasks: Mapping[str, CorpusTask] = field(default_factory=dict)
    seed: int = 0
    scale: int = 1
    versions: Mapping[str, str] = field(default_factory=dict)
    """The versions of everything that decides the bytes of the files."""


def read_corpus(folder: Path) -> Corpus:
    """Return the corpus in a folder. Raises `ProblemsError` where there is none."""
    file = folder / NAME
    try:
        with open_file(file) as stream:
            data = stream.read()
    except OSError as error:
        what, remedy = f"cannot be opened ({error})", "name the folder of a corpus"
        raise problem(file, what, remedy, "not_a_corpus") from None
    return read_typed(data, Corpus, _FORM, str(file))
