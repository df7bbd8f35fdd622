"""The source of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from fieldassay.attribution.share import SuspiciousGold, find_suspicious_gold
from fieldassay.decisions.diff.result import Diff
from fieldassay.io.text.shown import format_count
from fieldassay.metrics.catalogue.definitions import Definition
from fieldassay.metrics.result.result import Result
from fieldassay.reports.findings.losses import join_items
from fieldassay.reports.findings.mistakes import WRONG
from fieldassay.runs.run import ANSWERS
from fieldassay.runs.value_sources import ValueSources
from fieldassay.scoring.provenance import recorded_paths, recorded_spec

if TYPE_CHECKING:
    import polars as pl

_FILE_NAMES = ("gold", "labels", "truth", "ground_truth", "annotations", "records", "spec")
"""Names that a spec has from its file or from that of gold."""


class ReportSource(Struct, frozen=True, eq=False, dict=True):
    """A result with all other data shown in its report.

    `evidence` are its rows, unread (None: none were kept), `kept` is their choice. `decisions` are as in
    `gates.json`. `runs` are the facts of `run.json` of each run (command, time), under the run's label.
    """

    result: Result
    evidence: pl.LazyFrame | None = None
    decisions: tuple[Mapping[str, Any], ...] = ()
    kept: str = "all"
    runs: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    sources: Mapping[str, tuple[str, ValueSources]] = field(default_factory=dict)
    """By system that is an extraction: its name in its run, and the sources of the run's values."""
    diffs: tuple[Diff, ...] = ()
    """The comparisons with an earlier run, or of the systems that were asked for."""

    def without_tables(self) -> ReportSource:
        """Return what the templates show: a rendered template leaves a cycle of jinja2's that holds it."""
        bare = replace(self.result, documents_table=None, evidence_table=None, paired=None, writer=None)
        return replace(self, result=bare, evidence=None, sources={}, diffs=())

    @property
    def systems(self) -> tuple[str, ...]:
        """Return the systems, in the order of the result."""
        return self.result.systems

    @property
    def facts(self) -> Mapping[str, Any]:
        """Return the facts of `run.json` of a single run; nothing for several runs."""
        return self.runs[0][1] if len(self.runs) == 1 else {}

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
        known = {} if spec is None else {one.name: one for one in spec.definitions}
        return {name: _describe(known.get(name)) for name in names}

    @cached_property
    def suspicious(self) -> SuspiciousGold:
        """Return the gold values that all or most systems contradict with one value."""
        if self.evidence is None or self.result.documents is None:
            return SuspiciousGold()
        return find_suspicious_gold(self.evidence, self.result.documents, self.systems)

    @cached_property
    def wrong(self) -> pl.LazyFrame | None:
        """Return the wrong values with their main kind of wrong, `diagnosis`, and order of judgement, `row`.

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
        found = self.evidence.group_by("field", maintain_order=True).agg(*first, pl.col("critical").any())
        seen = found.select(list(empty)).collect()
        known = set(seen["field"])
        unseen = [] if self.kept == "all" else [name for name in self.result.fields if name not in known]
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
