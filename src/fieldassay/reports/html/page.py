"""The report as one HTML file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from fieldassay.reports import wording
from fieldassay.reports.html.assets_text import hash_source, join_charts, join_scripts, join_styles
from fieldassay.reports.html.chunks import chunk_rows, name_rows
from fieldassay.reports.html.documents import order_documents
from fieldassay.reports.html.errors import index_errors
from fieldassay.reports.html.fields import describe_fields
from fieldassay.reports.html.joined import join_runs
from fieldassay.reports.html.methods import methods
from fieldassay.reports.html.overview import ANSWERS, MOST_CARDS, Overview, overview, show_estimate
from fieldassay.reports.html.packing import pack, pack_text
from fieldassay.reports.html.source import ReportSource
from fieldassay.reports.html.systems import describe_systems
from fieldassay.reports.html.verdicts import have_common_gates, list_verdicts
from fieldassay.reports.meanings import MEANINGS
from fieldassay.reports.meanings import NAMES as METRIC_NAMES
from fieldassay.reports.reported import Reported, ReportOptions
from fieldassay.reports.shown import show, show_json, visible

if TYPE_CHECKING:
    from jinja2 import Template

VIEWS = (
    ("summary", "Summary"), ("systems", "Systems"), ("fields", "Fields"), ("documents", "Documents"), ("gates", "Gates"), ("methods", "Methods"),
)  # fmt: skip


def render_html_report(reported: Sequence[Reported], options: ReportOptions) -> Iterator[str]:  # noqa: ARG001
    """Yield the report of runs, side by side, as one HTML page that needs nothing else: no file, no network."""
    yield from render_page(join_runs(reported))


def render_page(source: ReportSource) -> Iterator[str]:
    """Yield the page in parts, so that evidence need not be in memory as a whole."""
    script, style, charts = join_scripts(), join_styles(), join_charts()
    page = overview(source)
    documents = order_documents(source)
    names = name_rows(source)
    gates = list_verdicts(source.decisions)
    yield _template().render(
        policy=_policy(script, style, charts), style=style, views=VIEWS, source=source, page=page, gates=gates,
        has_common_gates=have_common_gates(gates),
        methods=methods(source), answers=ANSWERS, most_cards=MOST_CARDS, show_estimate=show_estimate, meanings=MEANINGS, headline=_metric_names(page),
    )  # fmt: skip
    yield _block("documents", pack(documents.block))
    yield _block("errors", pack(index_errors(source, documents.ids)))
    yield _block("systems", pack(describe_systems(source, page)))
    yield _block("fields", pack(describe_fields(source)))
    spans = []
    for number, chunk in enumerate(chunk_rows(source, documents.ids, names)):
        spans.append([chunk.first, chunk.last])
        yield _block(f"rows-{number}", pack(chunk.data))
    yield _block("charts", pack_text(charts))
    yield _block("core", pack({**_core(source), "names": names.words, "spans": spans}))
    yield f"<script>{script}</script>\n</body>\n</html>\n"


def _policy(script: str, style: str, charts: str) -> str:
    """Return the page's content security policy: its own scripts and style only, and no request at all."""
    scripts = f"{hash_source(script)} {hash_source(charts)}"
    none = "; ".join(f"{name} 'none'" for name in ("default-src", "connect-src", "object-src", "base-uri", "form-action"))
    return f"{none}; script-src {scripts}; style-src {hash_source(style)}; img-src data:"


def _block(name: str, packed: str) -> str:
    return f'<script type="application/octet-stream" data-block="{name}">{packed}</script>\n'


def _core(source: ReportSource) -> dict[str, Any]:
    """Return what every view of the page needs."""
    return {
        "name": source.name,
        "systems": list(source.systems),
        "kept": source.kept,
        "sliceKeys": list(source.slice_keys),
        "metrics": {name: [_call(name, source), *meaning] for name, meaning in {**MEANINGS, **source.definitions}.items()},
        "words": {
            "outcomes": wording.OUTCOMES,
            "reasons": wording.REASONS,
            "diagnoses": wording.DIAGNOSES,
            "flags": wording.FLAGS,
        },
    }


def _call(name: str, source: ReportSource) -> str:
    """Return what the page calls a metric; a spec's own metric has the name that the spec gives it."""
    spaced = name.replace("_", " ")
    return spaced if name in source.definitions else METRIC_NAMES.get(name, spaced)


def _metric_names(page: Overview) -> Mapping[str, str]:
    """Return the metric behind each line of the head."""
    return {line.label: next((one.metric for one in line.estimates if one is not None), "") for line in page.lines}


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
    environment.filters["value"] = lambda text: show_json(text, 60)
    environment.filters["short"] = lambda text, width=60: show(str(text), width)
    return environment.get_template("page.html")
