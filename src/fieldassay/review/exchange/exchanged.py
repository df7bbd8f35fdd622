"""Labels in another program's form, and what the form cannot hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from fieldassay.records.labels_file import Label, Sheet
from fieldassay.wording.numbers import format_count


class Exported(Struct, frozen=True):
    """The texts of files by name, and what was lost, in sentences."""

    files: Mapping[str, str]
    lost: tuple[str, ...] = ()


class Imported(Struct, frozen=True):
    """The sheets that files hold, and remarks on what was left out."""

    sheets: tuple[Sheet, ...]
    notes: tuple[str, ...] = ()


def list_lost(labels: Sequence[Label], *, states: bool = False, regions: bool = False) -> tuple[str, ...]:
    """Return what a form loses of labels without origin and what was shown; states and regions if asked.

    >>> list_lost([Label("absent"), Label("value", "5", origin="blind")], states=True)
    ('the origin, or what was shown, of 1 label', '1 label without a value: absent, illegible or skipped')
    """
    known = sum(one.origin is not None or one.shown is not None for one in labels)
    texts = sum(region.text is not None for one in labels for region in one.regions)
    empty = sum(one.state != "value" for one in labels)
    told = [
        (known, f"the origin, or what was shown, of {format_count(known, 'label')}"),
        (empty * states, f"{format_count(empty, 'label')} without a value: absent, illegible or skipped"),
        (texts * regions, f"the text of the page in {format_count(texts, 'region')}"),
    ]
    return tuple(sentence for count, sentence in told if count)
