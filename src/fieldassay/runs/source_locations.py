"""Where the gold records of a finished run stand, for those who want to point at them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from fieldassay.errors import FieldassayError
from fieldassay.io.text.shown import make_printable
from fieldassay.metrics.result.result import Result
from fieldassay.records.envelope import gold_options
from fieldassay.records.source import open_source
from fieldassay.regex import lazy_regex
from fieldassay.scoring.provenance.inputs import digest_inputs
from fieldassay.spec.language.source import RecordedSpec
from fieldassay.spec.plan.compile import read_plan


class Place(Struct, frozen=True):
    """The location of a gold record: a file relative to the checkout's root, and a line if it has lines."""

    file: str
    line: int | None = None


_WITH_LINE = lazy_regex(r"(.+):([0-9]{1,12})", re.DOTALL)
_WITHOUT_LINES = (".gz", ".zst", ".parquet")


def places_of_run(result: Result, root: Path) -> Callable[[Sequence[str]], Mapping[str, Place]]:
    """Return a function from documents to the locations of their gold records, in files relative to `root`.

    It finds none if gold can no longer be read, has changed since it was scored, or is not below `root`.
    """

    def find(documents: Sequence[str]) -> Mapping[str, Place]:
        try:
            return _find(result, root, documents)
        except (
            FieldassayError,
            OSError,
            KeyError,
            TypeError,
            ValueError,
        ):  # an old or foreign run: its report is as good without places
            return {}

    return find


def _find(result: Result, root: Path, documents: Sequence[str]) -> dict[str, Place]:
    inputs = result.run["inputs"]
    gold = inputs["gold"]
    if not documents or not isinstance(gold, str) or not Path(gold).exists():
        return {}
    recorded = inputs["sha256"].get(gold)
    if recorded is None or digest_inputs([gold]).get(gold) != recorded:
        return {}
    source = open_source(Path(gold), gold_options(read_plan(RecordedSpec(result.run["spec"]["text"]))))
    positions = {make_printable(name): position for position, name in enumerate(source.ids)}
    found = {name: _place(source.place(positions[name]), root) for name in documents if name in positions}
    return {name: place for name, place in found.items() if place is not None}


def _place(text: str, root: Path) -> Place | None:
    """Return the place that a record's own words name, None where it is not below `root`."""
    found = _WITH_LINE.fullmatch(text)
    name = found[1] if found else re.sub(r"\[[0-9]*\]\Z", "", text)
    file = Path(name).resolve()
    if not file.is_file() or not file.is_relative_to(root.resolve()):
        return None
    has_lines = found is not None and not name.lower().endswith(_WITHOUT_LINES)
    return Place(file.relative_to(root.resolve()).as_posix(), int(found[2]) if found and has_lines else None)
