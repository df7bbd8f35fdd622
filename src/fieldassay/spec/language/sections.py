"""Two sections of a spec: how records are read (`data:`), and how statistics are made (`statistics:`)."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from msgspec import Meta

from fieldassay.metrics.recorded import Correction, Level, Replicates, Seed
from fieldassay.options import OptionRecord

_SIZE = r"([0-9]{1,15}) ?([KMGT]?)(?:i?B)?"


class DataOptions(OptionRecord, frozen=True):
    """How records are read from their files: the section `data:` of a spec."""

    gold_key: str | tuple[str, ...] = ()
    """Where in a gold row the record is: a key or a dotted path. Of a list, the first that a row has counts;
    a row without any of them is the record itself.
    """
    pred_key: str | tuple[str, ...] = ()
    """The same of predictions."""
    systems_key: str | None = None
    """An object in each row of predictions with one answer per system, under the system's name."""
    id_key: tuple[str, ...] = ()
    """The key of the id; of several, the first that a row has counts. Without any: the usual ones."""
    wrap: str | None = None
    """The key that an answer which is a list is put under; None: such an answer is invalid."""
    group: bool = False
    """Whether the rows of a table that have one id are the items of one record."""
    encoding: str | None = None
    """The encoding of files that are not in Unicode; None: detected."""
    names: Literal["exact", "loose"] = "exact"
    """`loose`: keys that differ from declared ones by case or separators only are taken for them."""
    match_ids: Annotated[
        str,
        Meta(
            pattern=r"^(exact|name|stem|number|(?s:.*)\{id\}(?s:.*))$",
            description="exact, name, stem, number or a pattern with {id}",
            examples=["exact", "name", "stem", "number"],
        ),
    ] = "exact"
    """The form that ids are compared in, or a pattern such as `{id}_*.pdf={id}_expected`."""
    max_unpacked: (
        Annotated[str, Meta(pattern=f"(?i:^{_SIZE}$)", description="a size", examples=["8GB"])] | None
    ) = None
    """The limit of an unpacked file; None: 2 GB, or 100 times the packed size."""

    @property
    def most_unpacked(self) -> int | None:
        """Return the limit of an unpacked file in bytes.

        >>> DataOptions(max_unpacked="8GB").most_unpacked == 8 * 2**30
        True
        """
        found = re.fullmatch(_SIZE, self.max_unpacked or "", re.IGNORECASE)
        return None if found is None else int(found[1]) << 10 * " KMGT".index(found[2].upper() or " ")


class StatisticsOptions(OptionRecord, frozen=True):
    """How statistics are made: the section `statistics:` of a spec."""

    level: Level = 0.95
    """The level of intervals."""
    bootstrap: Replicates = 2000
    """The replicates of the bootstrap; 0: no intervals."""
    seed: Seed = 0
    """The seed of everything that is drawn."""
    correction: Correction = "min_p"
    """The adjustment of p values: by the joint distribution of all comparisons, or by Holm."""
    compare: tuple[str, ...] | None = None
    """The metrics that systems are compared by; None: the usual ones."""
    reference: str | None = None
    """The system that the others are compared with; None: the first."""


SECTIONS = {"data": DataOptions, "statistics": StatisticsOptions}
"""The record of each section, by its key in a spec."""
