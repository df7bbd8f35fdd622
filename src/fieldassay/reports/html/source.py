"""What pages of the HTML report are made from: a run, packed data, and crops of documents."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import quote

from msgspec import Struct, field
from msgspec.structs import replace

from fieldassay.attribution.share import SuspiciousGold, find_suspicious_gold
from fieldassay.decisions.diff.diff import Diff
from fieldassay.decisions.losses import join_items
from fieldassay.documents.pages import PictureOptions, render_pages
from fieldassay.documents.sources import DocumentFile, DocumentPool, list_documents
from fieldassay.documents.transcript import Box, DocumentError, TranscriptStore, union
from fieldassay.errors import MissingExtraError
from fieldassay.io.text.shown import format_count
from fieldassay.metrics.catalogue.definitions import Definition
from fieldassay.metrics.result.result import Result
from fieldassay.metrics.result.tables import WRONG
from fieldassay.metrics.result.verdicts import Decision
from fieldassay.runs.run import ANSWERS
from fieldassay.runs.value_sources import ExtractedDocument, SourceOfValue, ValueSources
from fieldassay.scoring.provenance import recorded_paths, recorded_spec

if TYPE_CHECKING:
    from types import TracebackType

    import polars as pl


# Data as the report's page carries it: JSON, deflated, in base64; texts that repeat are stored once.

NOTHING = -1
"""The code of a value that is not there."""


def pack(data: Any) -> str:
    """Return JSON data as deflated base64 text, without any character that could end a script element.

    >>> unpack(pack({"a": ["</script>", None]}))
    {'a': ['</script>', None]}
    """
    return pack_text(json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":")))


def pack_text(text: str) -> str:
    """Return a text as deflated base64 text."""
    return base64.b64encode(zlib.compress(text.encode("utf-8", "backslashreplace"), 6)).decode("ascii")


def unpack(packed: str) -> Any:
    """Return the data that `pack` packed."""
    return json.loads(zlib.decompress(base64.b64decode(packed)))


def encode_texts(columns: Sequence[pl.Series]) -> tuple[list[str], list[pl.Series]]:
    """Return the distinct texts of all columns in order of appearance, and each column as codes into them.

    `NOTHING` is the code of null.

    >>> import polars as pl
    >>> texts, codes = encode_texts([pl.Series(["b", None]), pl.Series(["a", "b"])])
    >>> texts, [part.to_list() for part in codes]
    (['b', 'a'], [[0, -1], [1, 0]])
    """
    import polars as pl

    together = (
        pl.concat([column.cast(pl.String) for column in columns])
        if columns
        else pl.Series([], dtype=pl.String)
    )
    texts = together.drop_nulls().unique(maintain_order=True)
    table = pl.DataFrame({"text": texts, "code": pl.Series(range(len(texts)), dtype=pl.Int32)})
    joined = (
        pl.DataFrame({"text": together})
        .join(table, on="text", how="left", maintain_order="left")["code"]
        .fill_null(NOTHING)
    )
    ends = [0]
    for column in columns:
        ends.append(ends[-1] + len(column))
    return texts.to_list(), [joined[first:last] for first, last in pairwise(ends)]


def shrink(values: Sequence[Any]) -> Any:
    """Return a column as a list, or as its one value if all are the same; without rows an empty list.

    >>> shrink([1, 1]), shrink([1, 2]), shrink([])
    (1, [1, 2], [])
    """
    column = list(values)
    return (
        column[0]
        if column and not isinstance(column[0], list | dict) and all(value == column[0] for value in column)
        else column
    )


# Pictures of the places that wrong values were read from, for a page that may show its documents.

Crop: TypeAlias = "tuple[int, int, int, str] | str"
"""The page, the width, the height and the base64 of a picture; or why there is none."""

MOST_BYTES = 20_000_000
"""The pictures of a page together, at most: those of the worst documents."""

LOOK = PictureOptions(dpi=110, max_side=1200, margin=24, colors=16)


class CropPlace(Struct, frozen=True):
    """Where a value was read: the document of its extraction, the page and the box on it."""

    document: ExtractedDocument
    page: int
    box: Box


class Crops(Struct, eq=False, dict=True):
    """The documents that a page may show, and what it has of them so far. Use within `with`.

    Raises `ProblemsError` where `documents` has none; `MissingExtraError` without its extra.
    """

    documents: Path
    folder: Path
    """The folder of the page, where its links begin."""
    most_bytes: int = MOST_BYTES
    _bytes: int = 0
    _pool: DocumentPool = field(default_factory=DocumentPool)

    def __enter__(self) -> Crops:
        self._pool.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.__exit__(kind, error, trace)

    @cached_property
    def _files(self) -> Mapping[str, Sequence[DocumentFile]]:
        """The documents by what may be their ids: paths, else names, else either without suffix."""
        files = list_documents(self.documents).files
        by_id: dict[str, Sequence[DocumentFile]] = {}
        for way in _WAYS:
            named: dict[str, list[DocumentFile]] = defaultdict(list)
            for file in files:
                named[way(file.id)].append(file)
            by_id = {**named, **by_id}
        return by_id

    def link(self, ids: Iterable[str]) -> str | None:
        """Return the address of the file of a document, from the page, by the first id that has one."""
        own = next((self._files[name] for name in ids if name in self._files), ())
        return _address(own[0].path, self.folder) if len(own) == 1 and own[0].length is None else None

    def place(self, document: ExtractedDocument | None, source: SourceOfValue) -> CropPlace | None:
        """Return the place of a value, or of its parts on their first page; None for an unknown one."""
        page = next(
            (
                evidence.page
                for _, evidence in source
                if evidence.page is not None and evidence.box is not None
            ),
            None,
        )
        box = union(evidence.box for _, evidence in source if evidence.page == page)
        return None if document is None or page is None or box is None else CropPlace(document, page, box)

    def make(self, places: Sequence[CropPlace]) -> list[Crop]:
        """Return the pictures of some places, or why there is none, in their order."""
        crops: dict[CropPlace, Crop] = {}
        by_document: dict[ExtractedDocument, list[CropPlace]] = defaultdict(list)
        for place in dict.fromkeys(places):
            by_document[place.document].append(place)
        for document, wanted in by_document.items():
            crops.update(zip(wanted, self._of_document(document, wanted), strict=True))
        return [crops[place] for place in places]

    def _of_document(self, document: ExtractedDocument, places: Sequence[CropPlace]) -> list[Crop]:
        if self._bytes >= self.most_bytes:
            return [self._limit()] * len(places)
        try:
            file = self._checked(document)
            looks = [(place.page, replace(LOOK, crop=place.box)) for place in places]
            rendered = self._pool.submit(render_pages, file, looks).result()
        except DocumentError as error:
            if error.kind == "missing_extra":
                raise MissingExtraError(f"a picture of {document.id} {error}") from None
            return [f"the document {error}"] * len(places)
        return [self._packed(picture, place.page) for picture, place in zip(rendered, places, strict=True)]

    def _checked(self, document: ExtractedDocument) -> DocumentFile:
        """Return the file of a document. Raises `DocumentError` if there is none, or another one."""
        own = self._files.get(document.id, ())
        if not own:
            raise DocumentError("unreadable", f"is not in {self.documents}")
        folders = (document.extraction, document.extraction.parent)  # of a sweep, the transcripts of all
        stores = [
            TranscriptStore(folder / "transcripts") for folder in folders if (folder / "transcripts").is_dir()
        ]
        if not stores and len(own) == 1:
            return own[0]
        for file in own:
            digest = hashlib.sha256(file.read()).hexdigest()
            if any(store.path(digest).is_file() for store in stores):
                return file
        raise DocumentError("unreadable", "has changed since it was extracted")

    def _packed(self, picture: bytes | DocumentError, page: int) -> Crop:
        if isinstance(picture, DocumentError):
            return f"the document {picture}"
        if self._bytes + len(picture) > self.most_bytes:
            self._bytes = self.most_bytes
            return self._limit()
        self._bytes += len(picture)
        width, height = (int.from_bytes(picture[at : at + 4], "big") for at in (16, 20))  # of the PNG header
        return page, width, height, base64.b64encode(picture).decode("ascii")

    def _limit(self) -> str:
        return f"left out: this file has reached its limit for pictures, {self.most_bytes / 1e6:g} MB"


_WAYS: tuple[Callable[[str], str], ...] = (
    str,
    lambda path: PurePath(path).name,
    lambda path: PurePath(path).with_suffix("").as_posix(),
    lambda path: PurePath(path).stem,
)
"""The forms of a document's path that may be its id, the whole one first."""


def _address(file: Path, folder: Path) -> str:
    """Return the address of a file from a folder, never one that a browser takes for a scheme or a script.

    >>> _address(Path("docs/a b.pdf"), Path("out"))
    '../docs/a%20b.pdf'
    """
    try:
        path = Path(os.path.relpath(file.absolute(), folder.absolute())).as_posix()
    except ValueError:  # on another drive
        return file.absolute().as_uri()
    return quote(path if path.startswith("../") else f"./{path}", safe="/", errors="surrogateescape")


# The source of a report.

_FILE_NAMES = ("gold", "labels", "truth", "ground_truth", "annotations", "records", "spec")
"""Names that a spec has from its file or from that of gold."""


class ReportSource(Struct, frozen=True, eq=False, dict=True):
    """A result with all other data shown in its report.

    `evidence` are its rows, unread (None: none were kept), `extent` is their choice. `facts` are
    those of `run.json` (command, time).
    """

    result: Result
    evidence: pl.LazyFrame | None = None
    decisions: tuple[Decision, ...] = ()
    extent: str = "all"
    facts: Mapping[str, Any] = field(default_factory=dict)
    sources: ValueSources = ValueSources()
    """The sources of the values of extractions."""
    diffs: tuple[Diff, ...] = ()
    """The comparisons with an earlier run, or of the systems that were asked for."""

    def without_tables(self) -> ReportSource:
        """Return what the templates show: a rendered template leaves a cycle of jinja2's that holds it."""
        bare = replace(self.result, documents_table=None, evidence_table=None, paired=None, writer=None)
        return replace(self, result=bare, evidence=None, sources=ValueSources(), diffs=())

    @property
    def systems(self) -> tuple[str, ...]:
        """Return the systems, in the order of the result."""
        return self.result.systems

    @property
    def name(self) -> str:
        """Return the name of the spec."""
        spec = self.result.run.get("spec")
        return str(spec.get("name") or "") if isinstance(spec, Mapping) else ""

    @property
    def title(self) -> str:
        """Return the title: the name of the spec, or how many documents there are if it names a file."""
        if self.name.casefold() not in ("", *_FILE_NAMES):
            return self.name
        documents = self.result.counts.get("documents")
        return f"Extraction of {format_count(documents, 'document')}" if isinstance(documents, int) else ""

    @property
    def slice_keys(self) -> tuple[str, ...]:
        """Return the slice keys of the result."""
        return tuple(str(key) for key in self.result.run.get("slices", ()))

    @cached_property
    def spec_order(self) -> Mapping[str, int]:
        """Return the places of the declared fields in the spec; nothing where it cannot be read."""
        return {name: at for at, name in enumerate(recorded_paths(self.result.run))}

    def in_spec_order(self, names: Sequence[str]) -> list[str]:
        """Return the names of fields in the order of the spec; those that it does not declare come last."""
        return sorted(names, key=lambda name: self.spec_order.get(name, len(self.spec_order)))

    @cached_property
    def definitions(self) -> Mapping[str, tuple[str, str]]:
        """Return the spec's descriptions and formulas of the metrics that it defines itself."""
        names = [str(name) for name in self.result.run.get("definitions", ())]
        spec = recorded_spec(self.result.run) if names else None
        definitions = {} if spec is None else {definition.name: definition for definition in spec.definitions}
        return {name: _describe(definitions.get(name)) for name in names}

    @cached_property
    def suspicious(self) -> SuspiciousGold:
        """Return the gold values that all or most systems contradict with one value."""
        if self.evidence is None or self.result.documents is None:
            return SuspiciousGold()
        return find_suspicious_gold(self.evidence, self.result.documents, self.systems)

    @cached_property
    def wrong(self) -> pl.LazyFrame | None:
        """Return the wrong values with their main kind of error, `diagnosis`, and order of judgement, `row`.

        Values of an item that is missing or has no counterpart are of the kind `item_missing` or
        `item_spurious`, as they are in the costs of errors.
        """
        import polars as pl

        if self.evidence is None:
            return None
        is_wrong = (pl.col("kind") == "value") & pl.col("outcome").is_in(WRONG)
        wrong = self.evidence.with_row_index("row").filter(is_wrong)
        wrong = wrong.with_columns(
            path=pl.coalesce("gold_path", "pred_path"),
            diagnosis=pl.col("diagnoses").list.first().fill_null(pl.col("reason")),
        )
        is_of_item = pl.col("item").is_not_null() & ~pl.col("diagnosis").is_in(list(ANSWERS))
        kind = pl.when(is_of_item).then("item_" + pl.col("outcome")).otherwise("diagnosis")
        return join_items(wrong, self.evidence).with_columns(diagnosis=kind).drop("item", "list", "path")

    @cached_property
    def fields(self) -> pl.DataFrame:
        """Return the fields with evidence, in the order of the spec.

        Columns: `field`, `type`, `kind`, `critical`, `weight`.
        Where only errors were kept, fields without any are included, with nulls for the facts of evidence.
        """
        import polars as pl

        empty = {
            "field": pl.String,
            "type": pl.String,
            "kind": pl.String,
            "critical": pl.Boolean,
            "weight": pl.Float64,
        }
        if self.evidence is None:
            return pl.DataFrame([{"field": name} for name in self.result.fields], schema=empty)
        first = [pl.col(name).first() for name in ("type", "kind", "weight")]
        facts = self.evidence.group_by("field", maintain_order=True).agg(*first, pl.col("critical").any())
        seen = facts.select(list(empty)).collect()
        names = set(seen["field"])
        unseen = [] if self.extent == "all" else [name for name in self.result.fields if name not in names]
        both = pl.concat([seen, pl.DataFrame([{"field": name} for name in unseen], schema=seen.schema)])
        ranks = {name: place for place, name in enumerate(self.result.fields)}
        listed = (
            sorted(both["field"], key=lambda name: ranks.get(name, len(ranks))) if unseen else both["field"]
        )
        return pl.DataFrame({"field": self.in_spec_order(list(listed))}).join(
            both, on="field", how="left", maintain_order="left"
        )


def _describe(definition: Definition | None) -> tuple[str, str]:
    """Return a definition's description, as a sentence, and its formula."""
    text = (definition and definition.description) or "defined by the spec"
    return f"{text[:1].upper()}{text[1:].removesuffix('.')}.", definition.formula if definition else ""
