"""An attribution as one self-contained HTML page: the answer, bars of shares, then the tables."""

from __future__ import annotations

from html import escape

from fieldassay.attribution.attribute import Attribution, SystemShares
from fieldassay.attribution.share import Share
from fieldassay.io.text.shown import visible
from fieldassay.reports.content.attribution import NAMES, answer_of, format_stage
from fieldassay.reports.writers.html import lay_out_html
from fieldassay.reports.writers.tables import Told

_COLORS = {
    "reading": "#b3541e", "model": "#2f5d8a", "decoding": "#7a6bb0", "post": "#4d7f4d",
    "gold": "#8a8a3c", "runtime": "#6f6f6f",
}  # fmt: skip
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; } dd { margin: 0 0 .6rem; font-weight: 600; }
table { border-collapse: collapse; margin: .5rem 0; display: block; overflow-x: auto; }
caption { text-align: left; color: #555; } th, td { padding: .2rem .7rem; border-bottom: 1px solid #ddd; }
th { text-align: left; vertical-align: top; } td { vertical-align: top; }
.bar { display: flex; height: 1.6rem; margin: .2rem 0; background: #eee; } .bar div { min-width: 1px; }
.key span { display: inline-block; margin-right: 1.2rem; } .key i { display: inline-block; width: .8em;
height: .8em; margin-right: .3em; } .answer { font-size: 1.1rem; font-weight: 600; }
@media (prefers-color-scheme: dark) { body { background: #181818; color: #e8e8e8; }
th, td { border-color: #444; } .bar { background: #333; } caption { color: #aaa; } }
"""


def render_attribution_html(found: Attribution, told: Told) -> str:
    """Return the page in ASCII: no scripts, nothing loaded, every text escaped."""
    heads = "\n".join(map(_system, found.systems))
    tables = lay_out_html(Told(f"{told.title.partition(': ')[2]}", told.warnings, (), told.parts, told.notes))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>What to fix</title>\n<style>{_STYLE}</style></head>\n<body>\n"
        f"<h1>What to fix, the reader or the model</h1>\n{heads}\n{tables}</body>\n</html>\n"
    )


def _system(one: SystemShares) -> str:
    shares = {share.stage: share for share in one.whole.shares if share.value and share.value > 0}
    bars = "".join(
        f'<div style="width:{(share.value or 0.0) * 100:.1f}%;background:{_COLORS[stage]}" '
        f'title="{_text(_named(stage, share))}"></div>'
        for stage, share in shares.items()
    )
    key = "".join(
        f'<span><i style="background:{_COLORS[stage]}"></i>{_text(_named(stage, share))}</span>'
        for stage, share in shares.items()
    )
    names = ", ".join(_named(stage, share) for stage, share in shares.items())
    bar = f'<div class="bar" role="img" aria-label="{_text(names)}">{bars}</div>'
    answer = _text(answer_of(one))
    return (
        f'<section><h2><bdi>{_text(one.system)}</bdi></h2>\n<p class="answer">{answer}</p>\n'
        + (f'{bar}\n<p class="key">{key}</p>\n' if shares else "")
        + "</section>"
    )


def _named(stage: str, share: Share) -> str:
    return f"{NAMES[stage]} {format_stage(share)}"


def _text(text: str) -> str:
    return escape(visible(text)).encode("ascii", "xmlcharrefreplace").decode()
