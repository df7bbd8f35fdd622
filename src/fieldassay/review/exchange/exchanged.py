"""Labels in another program's form, and what the form cannot hold."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from fieldassay.io.text.shown import format_count
from fieldassay.records.labels_file import Label, Sheet


class Exported(Struct, frozen=True):
    """The text of a file, and what was lost, in sentences."""

    text: str
    lost: tuple[str, ...] = ()


class Imported(Struct, frozen=True):
    """The sheets that files hold, and remarks on what was left out."""

    sheets: tuple[Sheet, ...]
    notes: tuple[str, ...] = ()


def list_lost(labels: Sequence[Label]) -> tuple[str, ...]:
    """Return what a form loses of labels without origins, kinds, texts of regions, and what was shown.

    >>> list_lost([Label("absent"), Label("value", "5", origin="blind")])
    ('the origin, or what was shown, of 1 label',)
    """
    known = sum(one.origin is not None or one.shown is not None for one in labels)
    texts = sum(region.text is not None for one in labels for region in one.regions)
    kinds = sum(one.value is not None for one in labels)
    told = [
        (known, f"the origin, or what was shown, of {format_count(known, 'label')}"),
        (kinds, f"the kind of JSON of {format_count(kinds, 'label')}"),
        (texts, f"the text of the page in {format_count(texts, 'region')}"),
    ]
    return tuple(sentence for count, sentence in told if count)
