"""The scripts and styles of the page, as they go into it."""

from __future__ import annotations

import base64
import hashlib
import re
from importlib.resources import files

SCRIPTS = (
    "dom.js", "blocks.js", "visible.js", "differences.js", "csv.js", "charts.js", "specs.js", "state.js", "summary.js", "systems.js", "fields.js",
    "field.js", "table.js", "documents.js", "alignment.js", "document.js", "keys.js", "main.js",
)  # fmt: skip
"""The page's own scripts, in the order in which they are put together."""

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
    """Return the libraries that draw charts, as one script: Vega, Vega-Lite, and the interpreter that lets Vega work without `eval`."""
    return "\n;".join([read_asset("vendor/vega.min.js"), read_asset("vendor/vega-lite.min.js"), _interpreter()])


def _interpreter() -> str:
    """Return the interpreter, which comes as a module, as a plain script that adds itself to `vega`."""
    text = re.sub(r"^import (\{[^}]*\}) from 'vega-util';", r"const \1 = vega;", read_asset("vendor/vega-interpreter.js"))
    text, count = re.subn(r"export \{ (\w+) as expressionInterpreter \};", r"vega.expressionInterpreter = \1;", text)
    if count != 1 or "import " in text:
        raise AssertionError("the vendored interpreter has another form than was expected")
    return f"(() => {{\n{text}\n}})();"


def hash_source(text: str) -> str:
    """Return a script or style as a content security policy names it.

    >>> hash_source("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
