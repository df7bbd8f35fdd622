"""Shares of the stages, and gold that looks wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import problem
from fieldassay.io.text.shown import clip, format_count, join_names
from fieldassay.metrics.uncertainty.bootstrap import (
    BootstrapSettings,
    add_families,
    are_few_families,
    are_too_few,
    contraharmonic_mean,
    percentile_intervals,
    unseen_weights,
    weigh,
)
from fieldassay.runs.run import unusable_answers

if TYPE_CHECKING:
    import polars as pl

    from fieldassay.runs.run import Run


# Shares of the wrong values that are due to each stage, from counts per document: the formulas alone. A
# gold value that is not in the text was lost by reading, or is missed by the search; one that is found may
# be there by chance. With the chance c, q = P(not found | wrong) and p = P(not found) give the shares of
# lost values, q' = q / (1 - c) and p' alike. What would be right if nothing were lost is Levin's
# attributable fraction, (q' - p') / (1 - p') = (q - p) / (1 - c - p). A share that is missed alike in right
# and wrong values cancels out of it; one that is not is bounded by the right values that are not found.

Floats: TypeAlias = npt.NDArray[np.float64]
Stage: TypeAlias = Literal["reading", "model", "decoding", "post", "gold", "runtime"]

STAGES: tuple[Stage, ...] = ("reading", "model", "decoding", "post", "gold", "runtime")
_OBSERVED: tuple[Stage, ...] = ("decoding", "post", "gold", "runtime")

COUNTS = (
    "values",  # values with gold that no earlier stage took, of which presence tells whether they were lost
    "absent",  # of these, those that are not in the text
    "wrong",
    "wrong_absent",
    "unsure",  # right ones that are not in the text, where no perfect text shows that they would be found
    "unsure_wrong",  # wrong ones alike
    "kept",  # values with a text that cannot have lost them
    "kept_wrong",
    "chance",  # foreign values found in the text
    "foreign",  # foreign values looked for
    "missed",  # values not found, of those that reading is known to have read
    "perfect",  # values that reading is known to have read
    "shared",  # values that gold has more than once in the document, so that presence does not tell
    "unknown",  # wrong values of which presence does not tell whether they were lost
    "decoding",
    "post",
    "gold",
    "runtime",
    "all_wrong",  # all wrong values with gold: the denominator of the whole
)
"""What is counted in each document, for each field."""
AT = {name: position for position, name in enumerate(COUNTS)}

LEAST_POWER = 0.3
"""The least 1 - c with which presence tells anything."""
LEAST_TRIED = 10
"""Foreign values that a field needs for a chance of its own; else those of its type count."""
FEW_WRONG = 20
"""Below this many wrong values a share is marked `few_wrong_values`: its interval is wide."""
_Ends: TypeAlias = tuple[Floats, Floats, tuple[float, float]]


class StageShare(Struct, frozen=True):
    """The share of the wrong values of a field, or of all, that is due to a stage; None where `why` says."""

    stage: Stage
    value: float | None
    interval: tuple[float, float] | None = None
    why: str = ""
    marks: tuple[str, ...] = ()
    """`few_wrong_values`, `few_replicates` and `few_families` (no interval), `missed_unknown` (wrong values
    that are not in the text may have been missed, as right ones may: the interval allows for it)."""


class Rates(Struct, frozen=True):
    """The quantities behind the share of a field: chance and missed share, lost shares, their ratio."""

    chance: float | None
    missed: float | None
    """None where no value is known to have been read."""
    not_found: float | None
    """The share of right values that are not found and have no perfect text: mended, or missed."""
    chance_over: str
    """Whose values gave the chance: those of the `field`, or of all fields of its `type`."""
    errors_over: str
    """Whose values show how often what was read is wrong: the `field`, its `type` or `all` where none was."""
    foreign: int
    perfect: int
    lost: float | None
    """p': the share of values that reading lost."""
    wrong_lost: float | None
    """q': the same among wrong values."""


class FieldShares(Struct, frozen=True):
    """The shares of one field, or, without a name, of all fields whose share of reading is defined."""

    field: str | None
    wrong: int
    covered: int
    """Wrong values that the shares are of."""
    documents: int
    """Documents with values of the field."""
    wrong_documents: int
    """Documents with wrong values that the shares are of: their sample."""
    shares: tuple[StageShare, ...]
    rates: Rates | None = None

    def share(self, stage: str) -> StageShare:
        """Return the share of a stage."""
        return next(share for share in self.shares if share.stage == stage)


class ShareSample(Struct, frozen=True, eq=False):
    """The wrong values that a share is of: their sums, and the unseen document that the bounds allow for."""

    sums: Floats
    """First the sum itself, then those of the replicates."""
    size: float
    """Of the unseen document, in wrong values: as large as the one that a wrong value is in, on average."""
    draw: BootstrapSettings

    def interval(
        self, low: Floats, high: Floats, part: tuple[float, float] = (0.0, 1.0)
    ) -> tuple[float, float] | None:
        """Return the interval of a part that lies between two sums; None for too few replicates.

        Each replicate holds one more document with wrong values, whose part is the first or the second by a
        coin: for wrong values in documents of their own the bounds are those of Clopper and Pearson by mid-p.
        """
        if are_too_few(self.draw.replicates, self.draw.level):
            return None
        unseen = unseen_weights(self.draw.seed, self.draw.replicates)
        mass = self.size * np.abs(unseen)
        of_part = mass * np.where(unseen > 0, part[1], part[0])
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = (np.stack([low, high])[:, 1:] + of_part) / (self.sums[1:] + mass)
        bounds = percentile_intervals(ends, self.draw.level)
        return float(bounds.low[0]), float(bounds.high[1])


def corrected(sums: Floats, case: Literal["likely", "least", "most"] = "likely") -> dict[str, Floats]:
    """Return the corrected quantities of sums whose first axis is `COUNTS`; NaN where they are undefined.

    Of values that are not found and have no perfect text, the likely case takes all as lost. In the others
    the right ones were missed, and in the case with the least share of reading as many wrong ones, too.

    >>> sums = np.zeros(len(COUNTS))
    >>> counts = {"values": 100, "absent": 20, "wrong": 20, "wrong_absent": 10, "foreign": 9}
    >>> for name, count in counts.items():
    ...     sums[AT[name]] = count
    >>> float(corrected(sums)["due"])  # 10, less the 10 of 80 that are wrong though read, of 20
    7.5
    """
    at = {name: sums[position] for name, position in AT.items()}
    missed = at["unsure"] if case != "likely" else 0.0
    missed_wrong = np.minimum(at["unsure"], at["unsure_wrong"]) if case == "least" else 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        is_lossy = at["values"] > 0
        chance = at["chance"] / at["foreign"]
        power = np.where(is_lossy, np.maximum(1.0 - chance, LEAST_POWER), 1.0)
        lost = np.where(is_lossy, (at["absent"] - missed - missed_wrong) / power, 0.0)
        wrong_lost = np.where(is_lossy, (at["wrong_absent"] - missed_wrong) / power, 0.0)
        total, wrong = at["values"] + at["kept"], at["wrong"] + at["kept_wrong"]
        read, wrong_read = total - lost, wrong - wrong_lost
        errors = np.clip(wrong_read / read, -1.0, 1.0)
        p, q = lost / total, wrong_lost / wrong
        return {
            "chance": chance, "power": power, "total": total, "wrong": wrong, "read": read,
            "wrong_read": wrong_read, "lost": lost, "wrong_lost": wrong_lost, "p": p, "q": q,
            "due": wrong_lost - errors * lost,
        }  # fmt: skip


def due_to_reading(
    sums: Floats, types: Sequence[str], case: Literal["likely", "least", "most"] = "likely"
) -> tuple[Floats, list[str]]:
    """Return the wrong values that would be right if nothing were lost (fields x sums), and by whose errors.

    `sums` are `COUNTS` x fields x sums. A field of which no value was read does not show how often what is
    read is wrong: the fields of its `type` do, else `all`; the empty text if no value of any field was read.
    """
    quantities = corrected(sums, case)
    is_unread = corrected(sums[:, :, :1])["read"][:, 0] < 1e-9
    due, over = quantities["due"].copy(), []
    for at, kind in enumerate(types):
        over.append("field")
        if not is_unread[at]:
            continue
        same = ~is_unread & (np.array(types) == kind)
        others = same if same.any() else ~is_unread
        read = np.nansum(quantities["read"][others], axis=0)
        over[at] = "" if not read[0] > 0 else "type" if same.any() else "all"
        if over[at]:
            errors = np.clip(np.nansum(quantities["wrong_read"][others], axis=0) / read, 0.0, 1.0)
            lost = np.minimum(quantities["lost"][at], quantities["total"][at])
            due[at] = np.minimum(quantities["wrong_lost"][at], quantities["wrong"][at]) - errors * lost
    return due, over


def undefined_reason(sums: Floats, errors_over: str) -> str:
    """Return why the share of reading of a field is undefined; the empty text if it is defined."""
    at = {name: float(sums[position]) for name, position in AT.items()}
    if at["values"] == 0:
        if at["kept"] > 0 or at["unknown"] == 0:
            return ""
        if at["shared"] > 0:
            return "its values occur more than once in their documents"
        if at["missed"] > 0:
            return "no form of its values is found in texts that are read perfectly"
        return "no text that was sent can show these values"
    if at["foreign"] == 0:
        return "no other document of its type has another value, to measure chance"
    chance = at["chance"] / at["foreign"]
    if 1.0 - chance < LEAST_POWER - 1e-12:
        return f"presence says too little: {chance:.0%} of foreign values are in the text"
    return "" if errors_over else "no value of any field was read"


def estimate_shares(
    counts: Floats, documents: Sequence[str], fields: Sequence[tuple[str, str]], draw: BootstrapSettings
) -> tuple[FieldShares, tuple[FieldShares, ...]]:
    """Return the shares of all fields together, and of each: counts are documents x fields x `COUNTS`.

    `documents` are their names, or those of their families, which are drawn as a whole; there is no interval
    in few of them. `fields` are names with types. The whole is the sum of the fields: errors of a field that
    is hard to read and hard for the model do not count as lost by reading because of other fields.
    """
    types = [kind for _, kind in fields]
    columns = counts.reshape(len(documents), -1).T
    replicates = weigh(columns, documents, draw.seed, draw.replicates)
    flat = np.concatenate([columns.sum(axis=1, keepdims=True), replicates], axis=1)
    sums = np.moveaxis(flat.reshape(len(fields), len(COUNTS), -1), 1, 0)
    chance_over = _pool_chance(sums, types)
    likely, errors_over = due_to_reading(sums, types)
    reasons = [undefined_reason(sums[:, at, 0], errors_over[at]) for at in range(len(fields))]
    is_in = np.array([not reason for reason in reasons], dtype=bool)
    quantities = corrected(sums)
    parts = {name: sums[AT[name]] for name in _OBSERVED} | {
        "reading": likely,
        "least": np.minimum(likely, due_to_reading(sums, types, "least")[0]),
        "most": np.maximum(likely, due_to_reading(sums, types, "most")[0]),
        "base": quantities["wrong"], "all": sums[AT["all_wrong"]],
    }  # fmt: skip
    for name in ("reading", "least", "most", "base"):
        parts[name] = np.where(is_in[:, None] & (quantities["wrong"] > 0), parts[name], 0.0)
    parts["scale"] = np.where(parts["base"] > 0, parts["base"] / quantities["power"], 0.0)
    covered = counts[:, :, [AT["wrong"], AT["kept_wrong"]]].sum(axis=2) * is_in
    covered += counts[:, :, [AT[name] for name in _OBSERVED]].sum(axis=2)
    wrong = np.moveaxis(
        add_families(np.stack([covered, counts[:, :, AT["all_wrong"]]], axis=1), documents), 1, 0
    )
    has = (counts[:, :, AT["all_wrong"]] > 0) | (counts[:, :, AT["values"]] + counts[:, :, AT["kept"]] > 0)
    each = tuple(
        FieldShares(
            name, int(sums[AT["all_wrong"], at, 0]), int(covered[:, at].sum()), int(has[:, at].sum()),
            int((covered[:, at] > 0).sum()),
            _drop_few(
                _stages(
                    {part: values[at] for part, values in parts.items()}, wrong[:, :, at], reasons[at], draw
                ),
                [documents[row] for row in np.flatnonzero(has[:, at]).tolist()],
            ),
            _rates(
                sums[:, at, 0],
                {key: float(values[at, 0]) for key, values in quantities.items()},
                chance_over[at],
                errors_over[at],
            ),
        )
        for at, (name, _) in enumerate(fields)
    )  # fmt: skip
    distinct = list(dict.fromkeys(reasons))
    reason = "" if is_in.any() else distinct[0] if len(distinct) == 1 else "no field has a defined share"
    whole = FieldShares(
        None,
        int(sums[AT["all_wrong"], :, 0].sum()),
        int(covered.sum()),
        int(has.any(axis=1).sum()),
        int(covered.any(axis=1).sum()),
        _drop_few(
            _stages(
                {part: values.sum(axis=0) for part, values in parts.items()}, wrong.sum(axis=2), reason, draw
            ),
            documents,
        ),
    )
    return whole, each


def _drop_few(shares: tuple[StageShare, ...], names: Sequence[str]) -> tuple[StageShare, ...]:
    """Return the shares without intervals where the documents, by these names, are in few families."""
    if not are_few_families(names):
        return shares
    return tuple(
        share if share.value is None else replace(share, interval=None, marks=(*share.marks, "few_families"))
        for share in shares
    )


def _pool_chance(sums: Floats, types: Sequence[str]) -> list[str]:
    """Give fields with few foreign values those of all fields of their type; return whose they are."""
    columns, kinds = [AT["chance"], AT["foreign"]], np.array(types)
    few = sums[AT["foreign"], :, 0] < LEAST_TRIED
    pooled = {kind: sums[columns][:, kinds == kind].sum(axis=1) for kind in dict.fromkeys(types)}
    for at in np.flatnonzero(few).tolist():
        sums[columns, at] = pooled[types[at]]
    return ["type" if is_few else "field" for is_few in few]


def _rates(point: Floats, quantities: dict[str, float], chance_over: str, errors_over: str) -> Rates:
    at = {name: float(point[position]) for name, position in AT.items()}
    right = at["values"] - at["wrong"]
    return Rates(
        _number(quantities["chance"]),
        at["missed"] / at["perfect"] if at["perfect"] else None,
        at["unsure"] / right if right else None,
        chance_over, errors_over, int(at["foreign"]), int(at["perfect"]),
        _number(quantities["p"]), _number(quantities["q"]),
    )  # fmt: skip


def _stages(
    parts: dict[str, Floats], wrong: Floats, reason: str, draw: BootstrapSettings
) -> tuple[StageShare, ...]:
    """Return the shares of the stages from their sums.

    `wrong` are the wrong values of each document: those that the shares cover, and all, of which the others
    are shares where reading and model are undefined.
    """
    if not reason and _is_negative(parts["reading"], draw):
        reason = "wrong values are not lost more often than right ones (RR < 1)"
    covered = parts["base"] + np.sum([parts[name] for name in _OBSERVED], axis=0)
    sums, in_documents = (parts["all"], wrong[1]) if reason else (covered, wrong[0])
    if sums[0] <= 0:
        return tuple(StageShare(stage, None, None, reason or "no value is wrong") for stage in STAGES)
    base, least, most = parts["base"], parts["least"], parts["most"]
    scale = float(parts["scale"][0] / base[0]) if base[0] else 1.0
    is_unsure = bool(least[0] < parts["reading"][0] - 1e-9)
    if parts["reading"][0] > base[0]:  # the correction for chance makes more lost than wrong: without it
        least, scale = least / scale, 1.0
    ends: dict[str, _Ends] = {name: (parts[name], parts[name], (0.0, 1.0)) for name in _OBSERVED}
    ends |= {"reading": (least, most, (0.0, scale)), "model": (base - most, base - least, (1.0, 1.0 - scale))}
    reading = np.clip(parts["reading"], 0.0, base)
    values = parts | {"reading": reading, "model": base - reading}
    sample = ShareSample(sums, contraharmonic_mean(in_documents), draw)
    few = ("few_wrong_values",) if in_documents.sum() < FEW_WRONG else ()
    shares = []
    for stage in STAGES:
        if stage in ("reading", "model") and reason:
            shares.append(StageShare(stage, None, None, reason))
            continue
        marks = (*few, "missed_unknown") if is_unsure and stage in ("reading", "model") else few
        value = float(values[stage][0] / sums[0])
        interval = sample.interval(*ends[stage])
        if interval is None:
            shares.append(StageShare(stage, value, None, "", (*marks, "few_replicates")))
            continue
        shares.append(StageShare(stage, value, _around(value, interval), "", marks))
    return tuple(shares)


def _around(value: float, interval: tuple[float, float]) -> tuple[float, float]:
    low, high = (min(1.0, max(0.0, end)) for end in interval)
    return min(low, value), max(high, value)


def _is_negative(due: Floats, draw: BootstrapSettings) -> bool:
    """Return whether what is due to reading is below zero, and not by chance."""
    if due[0] >= -1e-9:
        return False
    return are_too_few(draw.replicates, draw.level) or bool(np.quantile(due[1:], 0.5 + draw.level / 2.0) < 0)


def _number(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None


# Gold values that all or most systems contradict in the same way: possibly wrong, and worth a look.

FEWEST = 2
"""The fewest systems: a single one only agrees with itself, which is no evidence against gold."""

MAJORITY = 3
"""The fewest systems of a majority: more than half of those that answered, with a value."""

_WRONG = ("partial", "mismatch", "missing", "spurious")


class Suspicion(Struct, frozen=True):
    """A place where `systems` of the systems that answered (`of`) have the same typed value and gold another.

    `gold` is None where gold has none, `agreed` is None where no system has one. `is_identical`: the systems
    also wrote it in the same way. Values are JSON text; `path` is that of gold, else of the predictions.
    """

    doc: str
    path: str
    field: str
    gold: str | None
    agreed: str | None
    systems: int
    of: int
    is_identical: bool
    diagnosis: str

    @property
    def is_unanimous(self) -> bool:
        """Return whether all systems that answered agree."""
        return self.systems == self.of


class SuspiciousGold(Struct, frozen=True):
    """The suspicious values, and how many of the documents could be looked at: two systems answered.

    `silent` are the systems without any answer.
    """

    values: tuple[Suspicion, ...] = ()
    looked: int = 0
    documents: int = 0
    silent: tuple[str, ...] = ()

    @property
    def extent(self) -> str:
        """Return how many documents were looked at, and why not all.

        >>> SuspiciousGold((), 70, 72, ("oak",)).extent
        '70 of 72 documents were looked at: in the others fewer than two systems answered; oak has no answer'
        >>> SuspiciousGold((), 72, 72).extent
        'all 72 documents were looked at'
        """
        names = join_names([clip(name, 60) for name in self.silent]) if self.silent else ""
        mute = f"; {names} {'has' if len(self.silent) == 1 else 'have'} no answer" if names else ""
        if self.looked == self.documents:
            return f"all {format_count(self.documents, 'document')} were looked at{mute}"
        of = f"{self.looked:,} of {format_count(self.documents, 'document')} were looked at"
        return f"{of}: in the others fewer than two systems answered{mute}"


def find_suspicious_gold(
    evidence: pl.LazyFrame, documents: pl.DataFrame, systems: Sequence[str]
) -> SuspiciousGold:
    """Return the places where all systems with an answer, two at least, contradict gold with one value.

    Identically written values come first, then those of a majority. A system whose answer to a document is
    missing or unusable has no vote there.
    """
    import polars as pl

    usable = documents.filter(unusable_answers(documents.columns).is_null()).select("system", "doc")
    voters = usable.group_by("doc").agg(pl.len().alias("of")).filter(pl.col("of") >= FEWEST)
    answering = set(usable["system"].unique())
    extent = SuspiciousGold(
        (),
        len(voters),
        documents["doc"].n_unique(),
        tuple(system for system in systems if system not in answering),
    )
    if len(systems) < FEWEST or voters.is_empty():
        return extent
    is_wrong = (pl.col("kind") == "value") & pl.col("outcome").is_in(_WRONG)
    value = pl.coalesce("pred_value", "pred")
    place = pl.coalesce("gold_path", pl.format("{}={}", pl.col("field"), value))
    votes = (
        evidence.filter(is_wrong)
        .join(usable.lazy(), on=["system", "doc"], how="semi", maintain_order="left")
        .with_columns(place=place, value=value)
        .filter(pl.col("value").n_unique().over("system", "doc", "field", "place") == 1)
    )
    agreed = (
        votes.group_by("doc", "field", "place", "value", maintain_order=True)
        .agg(
            pl.coalesce("gold_path", "pred_path").first().alias("path"),
            pl.col("gold").first(),
            pl.col("pred").first().alias("agreed"),
            pl.col("system").n_unique().alias("systems"),
            (pl.col("pred").n_unique() == 1).alias("is_identical"),
            pl.col("diagnoses").first().list.first().fill_null("").alias("diagnosis"),
        )
        .join(voters.lazy(), on="doc", how="inner", maintain_order="left")
        .filter(
            (pl.col("systems") == pl.col("of"))
            | (
                pl.col("agreed").is_not_null()
                & (pl.col("systems") >= MAJORITY)
                & (2 * pl.col("systems") > pl.col("of"))
            )
        )
        .select(*Suspicion.__struct_fields__)
        .collect()
    )
    ranked = agreed.sort(
        pl.col("systems") / pl.col("of"), pl.col("is_identical"), pl.col("gold").is_null(),
        pl.col("agreed").is_null(), "doc",
        descending=[True, True, False, False, False], maintain_order=True,
    )  # fmt: skip
    values = tuple(Suspicion(**row) for row in ranked.to_dicts())
    return SuspiciousGold(values, extent.looked, extent.documents, extent.silent)


def suspicious_gold_of_run(run: Run) -> SuspiciousGold:
    """Return the gold values of a run that all or most of its systems contradict in the same way.

    Raises `ProblemsError` for a run of one system, and for one without judged values.
    """
    rows = run.judged_values()
    if len(run.systems) < FEWEST:
        what, remedy = "has one system, and it takes two to doubt gold", "score two or more in one call"
        raise problem(run.folder, what, remedy, "missing_part")
    return find_suspicious_gold(rows, run.documents, run.systems)
