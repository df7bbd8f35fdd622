"""Tables for papers in LaTeX (booktabs): systems by metrics, fields by systems, significance marks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fieldassay.reports.reported import Reported, ReportOptions
from fieldassay.reports.summary import Line, summarize
from fieldassay.result.comparison import Comparison
from fieldassay.result.estimate import Estimate
from fieldassay.result.headline import find_main, list_fields
from fieldassay.result.result import Result
from fieldassay.wording.numbers import format_number, format_share
from fieldassay.wording.shown import clip

BETTER, WORSE, LEVEL = r"\textsuperscript{$\ast$}", r"\textsuperscript{$\dagger$}", r"\textsuperscript{$=$}"
"""The marks behind a value: significantly better or worse than the reference, or no difference shown."""

_MARKS = {"better": BETTER, "worse": WORSE, "no_difference_shown": LEVEL, "identical": LEVEL}
_SPECIAL = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "—": "---", "…": r"\ldots{}",
}  # fmt: skip
_ESCAPED = frozenset("#$%&_{}")


def escape_latex(text: str) -> str:
    r"""Return the text so that LaTeX prints it as it is: no character of it is a command.

    >>> print(escape_latex("50 % of a_b\\input{x}"))
    50 \% of a\_b\textbackslash{}input\{x\}
    """
    return "".join(_SPECIAL.get(char) or (f"\\{char}" if char in _ESCAPED else char) for char in text)


def render_latex(reported: Sequence[Reported], options: ReportOptions) -> Iterator[str]:  # noqa: ARG001
    """Yield the tables of runs: of each, systems by metrics, and fields by systems.

    A value has its interval below it. The best value of a column is bold where it is the only best one. Marks
    show the paired comparison with the reference, p values adjusted; a metric without comparisons has
    none.
    """
    yield "% needs \\usepackage{booktabs} and \\usepackage[T1]{fontenc}\n"
    for run in reported:
        yield _systems_table(run)
        yield _fields_table(run.result)


@dataclass(frozen=True, slots=True)
class _Table:
    """A table's caption, label, head and rows of LaTeX; a row of None is a rule."""

    caption: str
    label: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    def render(self) -> str:
        """Return the table as a float."""
        columns = "l" + "r" * (len(self.head) - 1)
        lines = [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{self.caption}}}",
            rf"\label{{{self.label}}}",
            rf"\begin{{tabular}}{{{columns}}}",
        ]
        lines += [
            r"\toprule",
            f"{' & '.join(self.head)} \\\\",
            r"\midrule",
            *(f"{' & '.join(row)} \\\\" for row in self.rows),
        ]
        return "\n".join(["", *lines, r"\bottomrule", r"\end{tabular}", r"\end{table}", ""])


def _systems_table(run: Reported) -> str:
    result = run.result
    lines = [
        line
        for line in summarize(result).headline
        if any(one is not None and one.unit != "count" for one in line.estimates)
    ]
    best = [_best(line.estimates) for line in lines]
    rows: list[list[str]] = []
    for at, system in enumerate(result.systems):
        estimates = [line.estimates[at] for line in lines]
        rows.append(
            [
                _name(system),
                *(
                    _value(one, one is found, _mark(result, one))
                    for one, found in zip(estimates, best, strict=True)
                ),
            ]
        )
        rows.append(["", *map(_interval, estimates)])
    return _Table(
        _caption(result), "tab:systems", ["System", *(_label(line) for line in lines)], rows
    ).render()


def _label(line: Line) -> str:
    unit = next((one.unit for one in line.estimates if one is not None), "ratio")
    name = escape_latex(clip(line.label, 60))
    return f"{name[:1].upper()}{name[1:]}" + {"percent": r" (\%)", "ms": " (ms)", "usd": " (USD)"}.get(
        unit, ""
    )


def _best(estimates: Sequence[Estimate | None]) -> Estimate | None:
    """Return the best of several estimates; None if it is not the only one, or the only one there is."""
    known = [one for one in estimates if one is not None and one.value is not None]
    if len(known) < 2:
        return None
    sign = -1.0 if known[0].better == "lower" else 1.0
    ordered = sorted(known, key=lambda one: -sign * float(one.value or 0.0))
    return ordered[0] if ordered[0].value != ordered[1].value else None


def _value(estimate: Estimate | None, is_best: bool, mark: str = "") -> str:
    if estimate is None or estimate.value is None:
        return "---"
    shown = _number(estimate.value, estimate.unit)
    return (rf"\textbf{{{shown}}}" if is_best else shown) + mark


def _number(value: float, unit: str) -> str:
    return format_number(value, unit).replace("…", r"\ldots{}")


def _interval(estimate: Estimate | None) -> str:
    if estimate is None or estimate.interval is None:
        return ""
    low, high = (_number(bound, estimate.unit) for bound in estimate.interval)
    return rf"{{\footnotesize [{low}, {high}]}}"


def _mark(result: Result, estimate: Estimate | None) -> str:
    if estimate is None:
        return ""
    found = _find(result.comparisons, estimate)
    return "" if found is None else _MARKS.get(found.verdict, "")


def _find(comparisons: Sequence[Comparison], estimate: Estimate) -> Comparison | None:
    """Return the comparison of the estimate's system with the reference over all documents.

    It is by the metric of the estimate (with its parameters) and its field.
    """
    names = (
        {estimate.metric, f"{estimate.metric}(regime={estimate.regime})"}
        if not estimate.parameters
        else set()
    )
    for one in comparisons:
        if (
            one.systems[1] == estimate.system
            and one.metric in names
            and one.field == estimate.field
            and not one.slice
        ):
            same = (
                one.values[1] is not None
                and estimate.value is not None
                and abs(one.values[1] - estimate.value) < 1e-12
            )
            return one if same else None
    return None


def _caption(result: Result) -> str:
    spec = result.run.get("spec")
    name = str(spec.get("name") or "") if isinstance(spec, Mapping) else ""
    documents = result.counts.get("documents", 0)
    told = f"{escape_latex(clip(name or 'Results', 80))}, {documents:,} documents."
    drawn = result.run.get("bootstrap")
    if isinstance(drawn, Mapping) and drawn.get("replicates"):
        level = escape_latex(format_share(float(drawn["level"])))
        told += (
            rf" In brackets: {level} bootstrap intervals over documents "
            rf"({drawn['replicates']:,} replicates)."
        )
    if result.comparisons:
        reference = escape_latex(clip(result.comparisons[0].systems[0], 60))
        marks = (
            rf"{BETTER}\,/\,{WORSE}: significantly better\,/\,worse than {reference} (paired by "
            r"document, adjusted for all comparisons)"
        )
        told += f" {marks}; {LEVEL}: no difference shown."
    return told


def _name(text: str) -> str:
    return escape_latex(clip(text, 60))


def _fields_table(result: Result) -> str:
    """Return the accuracy of fields by system; the empty text where it is not known."""
    by_system = {system: list_fields(result, system) for system in result.systems}
    names = list(dict.fromkeys(field for found in by_system.values() for field in found))
    if not names or find_main(result) is None:
        return ""
    rows = []
    for field in names:
        estimates = [by_system[system].get(field) for system in result.systems]
        best = _best(estimates)
        rows.append([_name(field), *(_value(one, one is best and one is not None) for one in estimates)])
    return _Table("Accuracy by field.", "tab:fields", ["Field", *map(_name, result.systems)], rows).render()
