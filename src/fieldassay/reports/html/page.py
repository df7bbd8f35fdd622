"""The HTML report."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from fieldassay.decisions.calibration.certificate import describe_certificate, describe_guarantee
from fieldassay.decisions.calibration.observations import choose_confidences, thin
from fieldassay.decisions.calibration.policy import CalibrationOptions, calibrate
from fieldassay.errors import ProblemsError
from fieldassay.io.text.shown import clip, format_json, visible
from fieldassay.metrics.result.verdicts import name_changes
from fieldassay.reports import wording as wording
from fieldassay.reports.content.run.sections import (
    describe_change,
    describe_first_violation,
    describe_rest,
    worst_fields,
)
from fieldassay.reports.html.chunks import (
    CROPS,
    chunk_rows,
    index_errors,
    list_errors,
    name_rows,
    order_documents,
)
from fieldassay.reports.html.fields import describe_changes, describe_fields, list_changes, methods
from fieldassay.reports.html.overview import (
    ANSWERS,
    MOST_CARDS,
    Overview,
    describe_gates,
    describe_systems,
    format_estimate,
    overview,
)
from fieldassay.reports.html.source import Crops, ReportSource, pack, pack_text
from fieldassay.reports.report import Reported, ReportOptions
from fieldassay.reports.wording import MEANINGS, name_metric
from fieldassay.runs.value_sources import ValueSources

if TYPE_CHECKING:
    from jinja2 import Template
    from markupsafe import Markup

    from fieldassay.decisions.calibration.policy import CalibrationPage


# The report as one HTML file.

SCRIPTS = (
    "dom.js", "blocks.js", "visible.js", "differences.js", "csv.js", "markdown.js", "charts.js",
    "specs.js", "state.js", "pictures.js", "systems.js", "fields.js",
    "field.js", "table.js", "errors.js", "documents.js", "changes.js",
    "alignment.js", "items.js", "answers.js", "document.js", "confidence.js", "print.js",
    "keys.js", "main.js",
)  # fmt: skip
"""The page's own scripts, in the order of their concatenation."""

STYLES = ("base.css", "parts.css", "document.css", "print.css")


def read_asset(name: str) -> str:
    """Return the text of a file that comes with the package."""
    return files("fieldassay.reports.html").joinpath("assets").joinpath(name).read_text(encoding="utf-8")


def join_scripts() -> str:
    """Return the page's own script: one function, so that nothing of it is global."""
    return '(() => {\n"use strict";\n' + "\n".join(map(read_asset, SCRIPTS)) + "\n})();"


def join_styles() -> str:
    """Return the page's style sheet."""
    return "\n".join(map(read_asset, STYLES))


def join_charts() -> str:
    """Return the libraries for charts as one script: Vega, Vega-Lite, and the expression interpreter.

    The interpreter makes Vega work without `eval`.
    """
    return "\n;".join(
        [read_asset("vendor/vega.min.js"), read_asset("vendor/vega-lite.min.js"), _interpreter()]
    )


def _interpreter() -> str:
    """Return the interpreter, a module, as a plain script that adds itself to `vega`."""
    text = re.sub(
        r"^import (\{[^}]*\}) from 'vega-util';",
        r"const \1 = vega;",
        read_asset("vendor/vega-interpreter.js"),
    )
    text, count = re.subn(
        r"export \{ (\w+) as expressionInterpreter \};", r"vega.expressionInterpreter = \1;", text
    )
    if count != 1 or "import " in text:
        raise AssertionError("the vendored interpreter has another form than was expected")
    return f"(() => {{\n{text}\n}})();"


def hash_source(text: str) -> str:
    """Return a script or style as a content security policy names it.

    >>> hash_source("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


VIEWS = (
    ("summary", "Summary"), ("changes", "Changes"), ("systems", "Systems"), ("fields", "Fields"),
    ("errors", "Errors"), ("documents", "Documents"), ("confidence", "Confidence"), ("gates", "Gates"),
    ("methods", "Methods"),
)  # fmt: skip


def render_html_report(reported: Reported, options: ReportOptions) -> Iterator[str]:
    """Yield the report of a run as one self-contained HTML page: no other file, no network.

    With documents, it has pictures of the places of wrong values, and links to the documents.
    """
    source = ReportSource(
        result=reported.result,
        evidence=reported.evidence,
        decisions=reported.decisions,
        extent="none" if reported.evidence is None else reported.extent,
        facts=reported.facts or reported.result.run,
        sources=ValueSources() if reported.evidence is None else reported.open_sources(),
        diffs=reported.diffs,
    )
    if options.documents is None:
        yield from render_page(source)
        return

    with Crops(options.documents, options.folder) as crops:
        yield from render_page(source, crops)


def render_page(source: ReportSource, crops: Crops | None = None) -> Iterator[str]:
    """Yield the page in parts, so that evidence need not be in memory as a whole."""
    script, style, charts = join_scripts(), join_styles(), join_charts()
    page = overview(source)
    documents = order_documents(source, crops)
    names = name_rows(source)
    confidences = describe_confidences(source)
    yield _template().render(
        policy=_policy(script, style, charts), style=style, views=_views(source, bool(confidences)),
        source=source.without_tables(), page=page, confidences=confidences,
        changes=describe_changes(source.diffs),
        gates=[(decision, describe_gates(decision)) for decision in source.decisions],
        methods=methods(source), answers=ANSWERS, most_cards=MOST_CARDS, format_estimate=format_estimate,
        meanings=MEANINGS, headline=_metric_names(page), describe_change=describe_change,
        describe_rest=describe_rest, worst_fields=worst_fields, most_fields=MOST_ROWS,
    )  # fmt: skip
    yield _block("documents", pack(documents.block))
    yield _block("errors", pack(index_errors(source, documents.ids)))
    yield _block("values", pack(list_errors(source, documents.ids)))
    if source.diffs:
        yield _block("changes", pack(list_changes(source.diffs)))
    if confidences:
        yield _block("confidences", pack(confidences))
    yield _block("systems", pack(describe_systems(source, page)))
    yield _block("fields", pack(describe_fields(source)))
    spans = []
    for number, chunk in enumerate(chunk_rows(source, documents.ids, names, crops)):
        spans.append([chunk.first, chunk.last])
        yield _block(f"rows-{number}", pack(chunk.data))
        if chunk.crops:
            yield _block(f"{CROPS}-{number}", pack(chunk.crops))
    yield _block("charts", pack_text(charts))
    yield _block("core", pack({**_core(source), "names": names.words, "spans": spans}))
    yield f"<script>{script}</script>\n</body>\n</html>\n"


def _views(source: ReportSource, has_confidences: bool) -> tuple[tuple[str, str], ...]:
    """Return the pages of the report: of changes and of confidences only where there are any."""
    absent = {"changes": not source.diffs, "confidence": not has_confidences}
    return tuple((name, title) for name, title in VIEWS if not absent.get(name))


def _policy(script: str, style: str, charts: str) -> str:
    """Return the page's content security policy: its own scripts and style only, and no request at all."""
    scripts = f"{hash_source(script)} {hash_source(charts)}"
    none = "; ".join(
        f"{name} 'none'" for name in ("default-src", "connect-src", "object-src", "base-uri", "form-action")
    )
    return f"{none}; script-src {scripts}; style-src {hash_source(style)}; img-src data:"


def _block(name: str, packed: str) -> str:
    return f'<script type="application/octet-stream" data-block="{name}">{packed}</script>\n'


def _core(source: ReportSource) -> dict[str, Any]:
    """Return the data for every view of the page."""
    return {
        "name": source.name,
        "systems": list(source.systems),
        "kept": source.extent,
        "sliceKeys": list(source.slice_keys),
        "metrics": {
            name: [name_metric(name, source.result.run), *meaning]
            for name, meaning in {**MEANINGS, **source.definitions}.items()
        },
        "words": {
            "outcomes": wording.OUTCOMES,
            "reasons": wording.REASONS,
            "diagnoses": wording.DIAGNOSES,
            "kinds": wording.SHORT_DIAGNOSES,
            "flags": wording.FLAGS,
        },
    }


def _metric_names(page: Overview) -> Mapping[str, str]:
    """Return the metric behind each line of the head."""
    return {
        line.label: next((estimate.metric for estimate in line.estimates if estimate is not None), "")
        for line in page.lines
    }


def _mark_code(text: str) -> Markup:
    """Return a sentence for the page, cut to 600 characters, with what stands in backticks as code."""
    from markupsafe import Markup, escape

    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(clip(str(text), 600)))))


@cache
def _template() -> Template:
    """Return the page's template; every text that is put into it is escaped."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    folder = files("fieldassay.reports.html").joinpath("templates")
    environment = Environment(
        loader=FunctionLoader(lambda name: folder.joinpath(name).read_text(encoding="utf-8")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["visible"] = lambda text: visible(str(text))
    environment.filters["value"] = lambda text: format_json(text, 60)
    environment.filters["compared"] = lambda change: name_changes([change], 1)
    environment.filters["prose"] = _mark_code
    environment.filters["first_violation"] = lambda count: describe_first_violation(count, 60)
    environment.filters["short"] = lambda text, width=60: clip(str(text), width)
    return environment.get_template("page.html")


MOST_ROWS = 12
"""The most fields on the first page."""

MOST_POINTS = 200
"""The points of a curve on the page at most."""

MOST_SYSTEMS = 8
"""The systems with confidences that the page has at most."""


def describe_confidences(source: ReportSource) -> list[dict[str, Any]]:
    """Return, by system with confidences, the curve, the bins and the guarantee of `calibrate`, in words.

    Systems that cannot be calibrated have the reason only.
    """
    import polars as pl

    evidence = source.evidence
    if evidence is None or source.result.documents is None or "confidence" not in evidence.collect_schema():
        return []
    is_sure = (pl.col("kind") == "value") & pl.col("confidence").is_not_null()
    systems = set(evidence.filter(is_sure).select(pl.col("system").unique()).collect()["system"])
    return [
        _describe(source, system)
        for system in [name for name in source.systems if name in systems][:MOST_SYSTEMS]
    ]


def _describe(source: ReportSource, system: str) -> dict[str, Any]:
    assert source.evidence is not None
    assert source.result.documents is not None
    options = CalibrationOptions(system=system, is_brief=True)
    try:
        confidences = choose_confidences(source.evidence, source.result.documents, system, source.extent)
        page = calibrate(confidences, options).page
    except ProblemsError as error:
        return {"system": system, "reason": "; ".join(fault.what for fault in error.problems)}
    return {"system": system, **_shown(page)}


def _shown(page: CalibrationPage) -> dict[str, Any]:
    selection, calibration = page.pooled.selection, page.pooled.calibration
    return {
        "sentences": [describe_certificate(page.certificate, page.guarantee)],
        "guarantee": describe_guarantee(page.guarantee),
        "threshold": page.certificate.threshold,
        "points": []
        if selection is None
        else [
            [point.coverage, point.selective_risk, point.threshold, point.accepted, point.errors]
            for point in thin(selection.points, MOST_POINTS)
        ],
        "bins": []
        if calibration is None
        else [[bin_.confidence, bin_.accuracy, bin_.n, bin_.low, bin_.high] for bin_ in calibration.bins],
        "remarks": list(page.remarks),
    }
