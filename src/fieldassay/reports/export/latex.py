"""Tables for papers in LaTeX (booktabs): systems by metrics, fields by systems, significance marks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from fieldassay.io.text.shown import clip
from fieldassay.metrics.estimate import Estimate
from fieldassay.metrics.notation import format_number, format_share
from fieldassay.metrics.result.comparison import Comparison
from fieldassay.metrics.result.headline import find_main, list_fields
from fieldassay.metrics.result.result import Result
from fieldassay.reports.content.run.summary import Line, summarize
from fieldassay.reports.reported import Reported, ReportOptions

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
    tables = [
        table for run in reported for table in (_systems_table(run), _fields_table(run.result)) if table
    ]
    parts = [part for table in tables for part in _split(table)]
    packages = "booktabs,longtable" if any(map(_is_long, parts)) else "booktabs"
    yield f"% needs \\usepackage{{{packages}}} and \\usepackage[T1]{{fontenc}}\n"
    yield from map(_render, parts)


MOST_ROWS = 40
"""The most rows of a float; a longer table goes on over several pages."""

TEXT_WIDTH, GAP, DIGIT, SMALL = 345.0, 12.0, 5.2, 4.3
"""In points: the text of an article on A4, the gap of two columns, a character, and a small one."""

_LONGEST, _LINE = 24, 12
"""The most characters of a name, and of the head of a column, on one line."""


class _Table(Struct, frozen=True):
    """A table's caption, label, head and rows of LaTeX; `widths` are those of its columns, in characters."""

    caption: str
    label: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    widths: Sequence[float]


def _split(table: _Table) -> list[_Table]:
    """Return a table as tables that fit the page: each has the first column and some of the others."""
    room = TEXT_WIDTH - table.widths[0] - GAP
    groups: list[list[int]] = [[]]
    for at in range(1, len(table.head)):
        used = sum(table.widths[other] + GAP for other in groups[-1])
        if groups[-1] and used + table.widths[at] + GAP > room:
            groups.append([])
        groups[-1].append(at)
    return [_choose(table, group, number) for number, group in enumerate(groups)]


def _choose(table: _Table, group: Sequence[int], number: int) -> _Table:
    kept = (0, *group)
    return _Table(
        caption=table.caption if not number else f"{table.caption.partition('.')[0]} (continued).",
        label=table.label if not number else f"{table.label}-{number + 1}",
        head=[table.head[at] for at in kept],
        rows=[[row[at] for at in kept] for row in table.rows],
        widths=[table.widths[at] for at in kept],
    )


def _is_long(table: _Table) -> bool:
    return len(table.rows) > MOST_ROWS


def _render(table: _Table) -> str:
    """Return a table as a float, or as one that goes on over pages."""
    is_wrapped = table.widths[0] >= _LONGEST * DIGIT
    columns = (f"p{{{table.widths[0]:.0f}pt}}" if is_wrapped else "l") + "r" * (len(table.head) - 1)
    about = rf"\caption{{{table.caption}}}\label{{{table.label}}}"
    head = [r"\toprule", f"{' & '.join(table.head)} \\\\", r"\midrule"]
    rows = [f"{' & '.join(row)} \\\\" for row in table.rows]
    if _is_long(table):
        begin = [
            rf"\begin{{longtable}}{{{columns}}}",
            rf"{about}\\",
            *head,
            r"\endfirsthead",
            *head,
            r"\endhead",
        ]
        return "\n".join(["", *begin, *rows, r"\bottomrule", r"\end{longtable}", ""])
    begin = [r"\begin{table}", r"\centering", about, rf"\begin{{tabular}}{{{columns}}}", *head]
    return "\n".join(["", *begin, *rows, r"\bottomrule", r"\end{tabular}", r"\end{table}", ""])


def _name_width(names: Sequence[str]) -> float:
    return DIGIT * min(_LONGEST, max(map(len, names), default=0))


def _systems_table(run: Reported) -> _Table:
    result = run.result
    summary = summarize(result)
    lines = [
        line
        for line in summary.headline
        if any(one is not None and one.unit != "count" for one in line.estimates)
    ]
    best = [_best(line.estimates) for line in lines]
    rows: list[list[str]] = []
    for at, system in enumerate(summary.systems):
        estimates = [line.estimates[at] for line in lines]
        values = (
            _value(one, one is found, _mark(result, one)) for one, found in zip(estimates, best, strict=True)
        )
        rows += [[_name(system), *values], ["", *map(_interval, estimates)]]
    widths = [
        max([DIGIT * max(map(len, _break(_label(line)))), *map(_width, line.estimates)]) for line in lines
    ]
    return _Table(
        _caption(result),
        "tab:systems",
        ["System", *(_stack(_break(_label(line))) for line in lines)],
        rows,
        [_name_width(summary.systems), *widths],
    )


def _width(estimate: Estimate | None) -> float:
    """Return the width of a value with its mark, and of its interval below it, in points."""
    if estimate is None or estimate.value is None:
        return 3 * DIGIT
    value = DIGIT * (2 + len(format_number(estimate.value, estimate.unit)))
    if estimate.interval is None:
        return value
    bounds = (format_number(bound, estimate.unit) for bound in estimate.interval)
    return max(value, SMALL * (4 + sum(map(len, bounds))))


def _break(label: str) -> list[str]:
    """Return a long head as two lines, broken at the space nearest to its middle."""
    spaces = [at for at, char in enumerate(label) if char == " "]
    if len(label) <= _LINE or not spaces:
        return [label]
    middle = min(spaces, key=lambda at: abs(2 * at - len(label)))
    return [label[:middle], label[middle + 1 :]]


def _stack(lines: Sequence[str]) -> str:
    return lines[0] if len(lines) == 1 else rf"\shortstack[r]{{{lines[0]}\\{lines[1]}}}"


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
    """Return a name; a long one may be broken behind its separators, and in words longer than a line."""
    shown = clip(text, 60)
    if len(shown) <= _LONGEST:
        return escape_latex(shown)
    parts = re.findall(rf"[^_.\]/-]{{1,{_LINE}}}[_.\]/-]*|[_.\]/-]+", shown)
    return r"\allowbreak{}".join(map(escape_latex, parts))


def _head(system: str) -> str:
    """Return a name as the head of a column; a long one in lines."""
    name = _name(system)
    return (
        name
        if len(clip(system, 60)) <= _LONGEST
        else rf"\parbox[b]{{{DIGIT * _LONGEST:.0f}pt}}{{\raggedleft {name}}}"
    )


def _fields_table(result: Result) -> _Table | None:
    """Return the accuracy of fields by system; None where it is not known."""
    by_system = {system: list_fields(result, system) for system in result.systems}
    names = list(dict.fromkeys(field for found in by_system.values() for field in found))
    if not names or find_main(result) is None:
        return None
    rows = []
    for field in names:
        estimates = [by_system[system].get(field) for system in result.systems]
        best = _best(estimates)
        rows.append([_name(field), *(_value(one, one is best and one is not None) for one in estimates)])
    heads = [DIGIT * max(8, min(_LONGEST, len(clip(system, 60)))) for system in result.systems]
    return _Table(
        "Accuracy by field.",
        "tab:fields",
        ["Field", *map(_head, result.systems)],
        rows,
        [_name_width(names), *heads],
    )
