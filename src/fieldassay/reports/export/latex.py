"""Tables for papers in LaTeX (booktabs): systems by metrics, and fields by systems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fieldassay.io.text.shown import clip
from fieldassay.metrics.estimate import Estimate, format_number, format_share
from fieldassay.metrics.result.result import Result, find_main, list_fields
from fieldassay.reports.content.run.summary import summarize
from fieldassay.reports.reported import Reported, ReportOptions

_SPECIAL = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "—": "---", "…": r"\ldots{}",
}  # fmt: skip
_ESCAPED = frozenset("#$%&_{}")
_UNITS = {"percent": r" (\%)", "ms": " (ms)", "usd": " (USD)"}

Row = Sequence[Estimate | None]


def escape_latex(text: str) -> str:
    r"""Return the text so that LaTeX prints it as it is: no character of it is a command.

    >>> print(escape_latex("50 % of a_b\\input{x}"))
    50 \% of a\_b\textbackslash{}input\{x\}
    """
    return "".join(_SPECIAL.get(char) or (f"\\{char}" if char in _ESCAPED else char) for char in text)


def render_latex(reported: Sequence[Reported], options: ReportOptions) -> Iterator[str]:  # noqa: ARG001
    """Yield two tables for each run: systems by metrics with intervals, and fields by systems.

    The best value of a metric or a field is bold where it is the only best one.
    """
    yield "% needs \\usepackage{booktabs} and \\usepackage[T1]{fontenc}\n"
    for run in reported:
        yield _systems_table(run.result)
        if find_main(run.result) is not None:
            yield _fields_table(run.result)


def _systems_table(result: Result) -> str:
    summary = summarize(result)
    lines = [line for line in summary.headline if any(one and one.unit != "count" for one in line.estimates)]
    bold = [_best(line.estimates) for line in lines]
    rows = []
    for at, system in enumerate(summary.systems):
        estimates = [line.estimates[at] for line in lines]
        rows.append([_name(system), *map(_value, estimates, bold)])
        rows.append(["", *map(_interval, estimates)])
    units = [next((one.unit for one in line.estimates if one), "") for line in lines]
    labels = [_name(line.label[:1].upper() + line.label[1:]) for line in lines]
    heads = [label + _UNITS.get(unit, "") for label, unit in zip(labels, units, strict=True)]
    return _table(_caption(result), "tab:systems", ["System", *heads], rows)


def _fields_table(result: Result) -> str:
    by_system = {system: list_fields(result, system) for system in result.systems}
    rows = []
    for field in dict.fromkeys(field for fields in by_system.values() for field in fields):
        estimates = [by_system[system].get(field) for system in result.systems]
        best = _best(estimates)
        rows.append([_name(field), *(_value(each, best) for each in estimates)])
    return _table("Accuracy by field.", "tab:fields", ["Field", *map(_name, result.systems)], rows)


def _table(caption: str, label: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    begin = [r"\begin{table}", r"\centering", rf"\caption{{{caption}}}\label{{{label}}}"]
    begin += [rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}", r"\toprule"]
    lines = [f"{' & '.join(row)} \\\\" for row in (head, *rows)]
    end = [r"\bottomrule", r"\end{tabular}", r"\end{table}"]
    return "\n".join(["", *begin, lines[0], r"\midrule", *lines[1:], *end, ""])


def _best(estimates: Row) -> Estimate | None:
    """Return the best of several estimates; None if it is not the only one, or the only one there is."""
    ranked = sorted(
        (one for one in estimates if one is not None and one.value is not None),
        key=lambda one: (one.value or 0.0) * (1 if one.better == "lower" else -1),
    )
    return ranked[0] if len(ranked) > 1 and ranked[0].value != ranked[1].value else None


def _value(estimate: Estimate | None, best: Estimate | None) -> str:
    if estimate is None or estimate.value is None:
        return "---"
    shown = escape_latex(format_number(estimate.value, estimate.unit))
    return rf"\textbf{{{shown}}}" if estimate is best else shown


def _interval(estimate: Estimate | None) -> str:
    if estimate is None or estimate.interval is None:
        return ""
    low, high = (escape_latex(format_number(bound, estimate.unit)) for bound in estimate.interval)
    return rf"{{\footnotesize [{low}, {high}]}}"


def _name(text: str) -> str:
    return escape_latex(clip(text, 60))


def _caption(result: Result) -> str:
    spec, drawn = result.run.get("spec"), result.run.get("bootstrap")
    name = str(spec.get("name") or "") if isinstance(spec, Mapping) else ""
    caption = f"{_name(name or 'Results')}, {result.counts.get('documents', 0):,} documents."
    if isinstance(drawn, Mapping) and drawn.get("replicates"):
        level = escape_latex(format_share(float(drawn["level"])))
        caption += (
            f" In brackets: {level} bootstrap intervals over documents ({drawn['replicates']:,} replicates)."
        )
    return caption
