"""What attribution found, in words and tables."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from fieldassay.attribution.attribute import Attribution, Labelled, SystemShares
from fieldassay.attribution.share import STAGES, FieldShares, StageShare
from fieldassay.errors import list_names
from fieldassay.io.json_value import read_given
from fieldassay.io.text.shown import clip, format_count
from fieldassay.metrics.estimate import NOTHING, format_share
from fieldassay.metrics.uncertainty.bootstrap import FEW_FAMILIES, say_too_few_families
from fieldassay.reports.writers.tables import Part, ReportTable, TextReport

# The content of an attribution's report: the answer first, then shares, labels and values as texts.

NAMES: Mapping[str, str] = {
    "reading": "reading",
    "model": "the model",
    "decoding": "decoding",
    "post": "post-processing",
    "gold": "scorer or gold",
    "runtime": "runtime",
}
"""The stages as reports name them."""
_TO_DO: Mapping[str, str] = {
    "reading": "improve how documents are read: scans, OCR, layout",
    "model": "improve the model: its prompt, its examples, another model",
    "decoding": "improve the output format: the token limit, the schema",
    "post": "improve how raw answers become predictions",
    "gold": "check the gold values and how they are compared",
    "runtime": "make the system answer for every document",
}
_WITHOUT_MODEL: Mapping[str, str] = {
    "rules": "improve the rules: `labels` and `find` of the fields in the spec",
    "command": "improve the program that extracts",
    "function": "improve the function that extracts",
}
"""What to do about the stage of the model, by the strategy of a system that has none."""
_NAME, _VALUE, _FINDING = 40, 28, 300


def label_name(label: str) -> str:
    """Return a label as reports name it.

    >>> label_name("reading_lost_page"), label_name("gold")
    ('reading: lost page', 'scorer or gold')
    """
    if label == "gold":
        return "scorer or gold"
    if label == "post_processing":
        return "post-processing"
    if label == "format":
        return "format or limit"
    stage, _, rest = label.partition("_")
    return f"{stage}: {rest.replace('_', ' ')}" if stage in ("reading", "model") else label.replace("_", " ")


def answer_of(system: SystemShares) -> str:
    """Return what to fix first for a system, in one sentence."""
    shares = {share.stage: share for share in system.whole.shares}
    defined = {stage: share for stage, share in shares.items() if share.value and share.value > 0}
    if not system.whole.wrong:
        return "every gold value is right"
    if not defined:
        reason = next((share.why for share in shares.values() if share.why), "nothing is known")
        reason = next(iter(system.no_text), reason)
        return f"unknown: {reason}"
    first = max(defined, key=lambda stage: defined[stage].value or 0.0)
    open_ = [stage for stage, share in shares.items() if share.value is None]
    but = f"; {' and '.join(NAMES[stage] for stage in open_)} cannot be told apart" if len(open_) > 1 else ""
    others = [stage for stage, share in defined.items() if stage != first and _overlap(defined[first], share)]
    tie = f", with {' or '.join(NAMES[stage] for stage in others)} as likely" if others else ""
    wrong, covered = system.whole.wrong, system.whole.covered
    of = "wrong values" if covered == wrong else f"{covered:,} wrong values whose stage is known"
    finding = f"{format_stage(defined[first])} of the {of} are due to {NAMES[first]}"
    if others and any("missed_unknown" in share.marks for share in system.whole.shares):
        ranges = " and ".join(
            f"{' to '.join(format_share(end, 0) for end in share.interval or ())} due to {NAMES[stage]}"
            for stage, share in defined.items()
            if stage in ("reading", "model")
        )
        return (
            f"cannot be told: of the {of} {ranges}: nobody knows how many values the search "
            "misses in the text; clean twins (twin_of in gold) show it"
        )
    if first != "model":
        return f"{_TO_DO[first]}: {finding}{tie}{but}"
    best = next((mend for mend in system.mends if mend.values), None)
    advice = _WITHOUT_MODEL.get(system.strategy, _TO_DO[first])
    if best is None:
        return f"{advice}: {finding}{tie}{but}"
    mended = f"another choice of {best.option} has {format_share(best.values / best.of, 0)} of them right"
    return f"change the {best.option}: {finding}{tie}{but}; {mended}"


def _overlap(first: StageShare, other: StageShare) -> bool:
    return (
        first.interval is not None and other.interval is not None and other.interval[1] >= first.interval[0]
    )


def format_stage(share: StageShare) -> str:
    """Return a share with its interval, or a dash."""
    if share.value is None:
        return NOTHING
    text = format_share(share.value, 0)
    if share.interval is None:
        return text
    return f"{text} [{', '.join(format_share(bound, 0) for bound in share.interval)}]"


def describe_attribution(attribution: Attribution, most: int = 5) -> TextReport:
    """Return the report; each label of each system has at most `most` values."""
    documents = format_count(attribution.documents, "document")
    title = f"What to fix, the reader or the model: {clip(attribution.run, 60)}, {documents}"
    systems = tuple((clip(system.system, _NAME), answer_of(system)) for system in attribution.systems)
    parts: list[Part] = []
    for system in attribution.systems:
        parts += [_shares(system), *_mends(system), _labels(system, attribution)]
        parts += _values(
            system, [value for value in attribution.labelled if value.system == system.system], most
        )
    return TextReport(title, (), systems, tuple(parts), _notes(attribution))


def _shares(system: SystemShares) -> Part:
    whole = system.whole
    lines = [f"{whole.wrong:,} gold values came out wrong; the shares cover {whole.covered:,} of them"]
    if whole.wrong > whole.covered:
        lines.append(_uncovered(system))
    if system.shared:
        lines.append(
            f"{system.shared:,} values, {system.shared_wrong:,} of them wrong, occur more than once in the "
            "gold of their document: left out, because one copy hides the loss of another"
        )
    if system.missed_wrong:
        lines.append(
            f"{system.missed_wrong:,} wrong values are missing even from the perfect text of their "
            "document: left out"
        )
    lines += [
        f"{format_count(count, 'document')} without the text that the model read: {clip(why, _FINDING)}"
        for why, count in system.no_text.items()
    ]
    if system.spurious:
        lines.append(f"{system.spurious:,} values where gold has none are left out")
    if system.undeclared:
        lines.append(f"{system.undeclared:,} values of keys that the spec does not declare have no label")
    if system.mended:
        lines.append(
            f"{system.mended:,} right values are not in the text: lost by reading and mended by the model, "
            "or missed"
        )
    if any("missed_unknown" in share.marks for share in whole.shares):
        lines.append("the search may have missed as many wrong values: the intervals allow for it")
    if whole.covered and any("few_wrong_values" in share.marks for share in whole.shares):
        lines.append("few wrong values: the intervals are wide")
    stages = [stage for stage in STAGES if stage in ("reading", "model") or _is_used(system, stage)]
    heads = ("field", "wrong", *(NAMES[stage] for stage in stages), "chance", "missed")
    rows = [_row("all", whole, stages)]
    rows += [_row(field.field or "", field, stages) for field in system.fields if field.wrong]
    table = ReportTable("wrong values by stage", heads, tuple(rows), tuple(range(1, len(heads))))
    remarks = _reasons(system)
    return Part(
        f"{clip(system.system, _NAME)}: wrong values by stage",
        tuple(lines),
        (table,),
        tuple(remarks),
    )


def _uncovered(system: SystemShares) -> str:
    names = [clip(field.field, _NAME) for field in system.fields if field.wrong > field.covered]
    return f"{system.whole.wrong - system.whole.covered:,} are left out: {list_names(names, 5)}"


def _reasons(system: SystemShares) -> tuple[str, ...]:
    """Return why shares are undefined, each reason with its fields."""
    fields: dict[str, list[str]] = defaultdict(list)
    for field in system.fields:
        if field.wrong and (why := field.share("reading").why):
            fields[why].append(clip(field.field, _NAME))
    return tuple(f"{list_names(names, 5)}: {why}" for why, names in fields.items())


def _is_used(system: SystemShares, stage: str) -> bool:
    return any(
        share.value
        for field in (system.whole, *system.fields)
        for share in field.shares
        if share.stage == stage
    )


def _row(name: str, shares: FieldShares, stages: Sequence[str]) -> tuple[str, ...]:
    rates = shares.rates
    shown = (NOTHING, NOTHING)
    if rates is not None:
        shown = (
            NOTHING if rates.chance is None else format_share(rates.chance, 0),
            "unknown" if rates.missed is None else format_share(rates.missed, 0),
        )
    return (
        clip(name, _NAME),
        f"{shares.wrong:,}",
        *(format_stage(shares.share(stage)) for stage in stages),
        *shown,
    )


def _mends(system: SystemShares) -> list[Part]:
    """Return the options that mend errors of the model, as other systems of the run show."""
    if not system.mends:
        return []
    rows = [
        (
            f"another {mend.option}",
            *(f"{count:,} ({format_share(count / mend.of, 0)})" for count in (mend.values, mend.only)),
        )
        for mend in system.mends
    ]
    heads = ("with", "errors of the model that are right", "right only with it")
    table = ReportTable("errors of the model that other systems of the run have right", heads, rows, (1, 2))
    return [Part(f"{clip(system.system, _NAME)}: prompt, model or another option", (), (table,))]


def _labels(system: SystemShares, attribution: Attribution) -> Part:
    counts = attribution.counts(system.system)
    rows = tuple((label_name(label), f"{count:,}") for label, count in counts.items())
    lines = () if rows else ("no value is wrong",)
    tables = (ReportTable("wrong values by label", ("label", "values"), rows, (1,)),) if rows else ()
    return Part(f"{clip(system.system, _NAME)}: labels", lines, tables)


def _values(system: SystemShares, values: Sequence[Labelled], most: int) -> list[Part]:
    by_label: dict[str, list[Labelled]] = defaultdict(list)
    for value in values:
        by_label[value.finding.label].append(value)
    if not most or not by_label:
        return []
    rows = [
        (
            label_name(label), clip(value.document, _NAME), clip(value.path, _NAME),
            f"{_shown(value.gold)} → {_shown(value.pred)}", clip(value.finding.found, _FINDING),
        )
        for label, labelled in sorted(by_label.items(), key=lambda item: -len(item[1]))
        for value in labelled[:most]
    ]  # fmt: skip
    heads = ("label", "document", "value", "gold → predicted", "what was found")
    left = len(values) - len(rows)
    remarks = (f"{left:,} more: --most N shows more, --json all",) if left else ()
    table = ReportTable("wrong values with their evidence", heads, tuple(rows), ())
    return [Part(f"{clip(system.system, _NAME)}: evidence", (), (table,), remarks)]


def _shown(text: str | None) -> str:
    if text is None:
        return NOTHING
    value = read_given(text)
    return clip(value if isinstance(value, str) else text, _VALUE)


def _notes(attribution: Attribution) -> tuple[str, ...]:
    level, families = format_share(attribution.draw.level, 0), attribution.families
    unit, units = ("document", "documents") if families is None else ("family", f"{families:,} families")
    return (
        f"shares have {level} intervals, from {attribution.draw.replicates:,} bootstrap replicates over "
        f"{units}, with room for one unseen {unit}",
        "shares allow for values that are in the text by chance; labels do not, so do not add labels up",
        *((say_too_few_families(families),) if families and families < FEW_FAMILIES else ()),
    )
