"""The attribution of a run: labels of its wrong values, and the share of each stage, by system and field."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import asdict

from fieldassay.attribution.labels import Finding
from fieldassay.attribution.share import FieldShares
from fieldassay.io.returned import Brief
from fieldassay.metrics.estimate import Estimate
from fieldassay.metrics.result.result import Result
from fieldassay.metrics.uncertainty.intervals import BootstrapSettings


class Labelled(Struct, frozen=True):
    """A wrong value with its label."""

    system: str
    document: str
    field: str
    path: str
    """Of the gold value; of the prediction where gold has none."""
    gold: str | None
    """As JSON text, like `pred`."""
    pred: str | None
    finding: Finding
    repeat: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the value as plain data."""
        row = {
            "system": self.system, "document": self.document, "field": self.field, "path": self.path,
            "gold": self.gold, "pred": self.pred, **self.finding.to_dict(),
        }  # fmt: skip
        return row if self.repeat is None else row | {"repeat": self.repeat}


class SystemShares(Struct, frozen=True):
    """The shares of one system."""

    system: str
    whole: FieldShares
    fields: tuple[FieldShares, ...]
    spurious: int = 0
    """Wrong values where gold has none: outside of the shares."""
    mended: int = 0
    """Right values that are not in the text: lost by reading and mended by the model, or missed here."""
    no_text: Mapping[str, int] = field(default_factory=dict)
    """Documents without the text that was sent, by the reason."""
    perfect_from: str = ""
    """What the missed shares are measured on: `twins` or `text files`; the empty text: they are unknown."""
    undeclared: int = 0
    """Wrong values of keys that the spec does not declare: without a label, and outside of the shares."""
    shared: int = 0
    """Values that gold has more than once in a document: outside of the shares of reading and model."""
    shared_wrong: int = 0
    """Of these, the wrong ones."""
    missed_wrong: int = 0
    """Wrong values of which the perfect text of their document has no form that is found, either: outside."""
    strategy: str = ""
    """The strategy of its extraction; the empty text where it is not known."""

    def to_dict(self) -> dict[str, Any]:
        """Return the shares as plain data."""
        return {
            "system": self.system, "shares": shares_data(self.whole),
            "fields": [shares_data(one) for one in self.fields], "spurious": self.spurious,
            "mended": self.mended, "undeclared": self.undeclared,
            "shared": self.shared, "shared_wrong": self.shared_wrong, "missed_wrong": self.missed_wrong,
            "no_text": dict(self.no_text), "missed_measured_on": self.perfect_from or None,
        }  # fmt: skip


def shares_data(found: FieldShares) -> dict[str, Any]:
    """Return the shares of a field, or of all, as plain data."""
    row: dict[str, Any] = {
        "field": found.field, "wrong": found.wrong, "covered": found.covered, "documents": found.documents,
        "wrong_documents": found.wrong_documents,
        "stages": {one.stage: _share_data(one) for one in found.shares},
    }  # fmt: skip
    return row if found.rates is None else row | {"rates": asdict(found.rates)}


def _share_data(one: Any) -> dict[str, Any]:
    found: dict[str, Any] = {
        "value": one.value,
        "interval": None if one.interval is None else [*one.interval],
    }
    found |= {"why": one.why} if one.why else {}
    return found | ({"marks": [*one.marks]} if one.marks else {})


class Attribution(Brief, Struct, frozen=True):
    """Which stage is to blame in a run: shares by system and field, and a label for every wrong value."""

    run: str
    documents: int
    systems: tuple[SystemShares, ...]
    labelled: tuple[Labelled, ...]
    draw: BootstrapSettings = field(default_factory=BootstrapSettings)

    def system(self, name: str) -> SystemShares:
        """Return the shares of a system."""
        return next(one for one in self.systems if one.system == name)

    def result(self) -> Result:
        """Return the shares as estimates of the metric `attributable`, which gates can name."""
        return Result(tuple(self._estimates()))

    def _estimates(self) -> Iterator[Estimate]:
        for one in self.systems:
            for found in (one.whole, *one.fields):
                for share in found.shares:
                    yield Estimate(
                        "attributable", one.system, found.field, {}, None, share.value, found.covered,
                        found.wrong_documents, 0, "wrong_values", {"stage": share.stage}, share.interval,
                        None if share.interval is None else self.draw.level, share.marks, better="lower",
                        interval_resampled=share.resampled,
                    )  # fmt: skip

    def counts(self, system: str) -> Mapping[str, int]:
        """Return how many wrong values of a system have each label, the most frequent first."""
        found = Counter(one.finding.label for one in self.labelled if one.system == system)
        return dict(found.most_common())

    def to_dict(self) -> dict[str, Any]:
        """Return the attribution as plain data."""
        return {
            "schema_version": 1, "run": self.run, "documents": self.documents,
            "bootstrap": asdict(self.draw),
            "systems": [one.to_dict() | {"labels": dict(self.counts(one.system))} for one in self.systems],
            "values": [one.to_dict() for one in self.labelled],
        }  # fmt: skip
