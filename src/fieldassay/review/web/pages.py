"""The pages of a server: shells without data, and the scripts and styles that fill them."""

from __future__ import annotations

import hashlib
import html
from collections.abc import Callable
from functools import lru_cache
from importlib.resources import files

from starlette.responses import Response

from fieldassay.review.sheets.sheets import RefusedError
from fieldassay.review.web.room import WebCall

_SHARED = ("dom.js", "visible.js")
_SCRIPTS = ("api.js", "page.js", "labels.js", "grid.js", "keys.js", "sheet.js", "lead.js", "screens.js")
_STYLES = ("review.css",)
_TYPES = {"review.js": "text/javascript; charset=utf-8", "review.css": "text/css; charset=utf-8"}


@lru_cache(maxsize=64)
def bundle(name: str) -> bytes:
    """Return the script or the style of all pages, as one file."""
    own, shared = (
        files("fieldassay.review.web").joinpath("assets"),
        files("fieldassay.reports.html").joinpath("assets"),
    )
    if name == "review.js":
        parts = [shared.joinpath(one) for one in _SHARED] + [own.joinpath(one) for one in _SCRIPTS]
        return b'"use strict";\n' + b"\n".join(part.read_bytes() for part in parts)
    return b"\n".join(
        part.read_bytes() for part in (shared.joinpath("base.css"), *(own.joinpath(one) for one in _STYLES))
    )


@lru_cache(maxsize=64)
def digest(name: str) -> str:
    """Return the digest in the address of a script or style, so that a browser may keep it."""
    return hashlib.sha256(bundle(name)).hexdigest()[:16]


def shell(screen: str) -> Callable[[WebCall], Response]:
    """Return the handler of a page: a shell that its script fills."""

    def handle(call: WebCall) -> Response:  # noqa: ARG001 - every page is the same for everybody
        script, style = (f"/assets/{digest(name)}/{name}" for name in ("review.js", "review.css"))
        text = (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>Review</title>"
            f'<link rel="stylesheet" href="{html.escape(style)}">'
            f'<script src="{html.escape(script)}" defer></script></head>'
            f'<body data-screen="{html.escape(screen)}">'
            "<noscript>Reviewing needs JavaScript.</noscript></body></html>"
        )
        return Response(text, media_type="text/html; charset=utf-8")

    return handle


def asset(call: WebCall) -> Response:
    """Return a script or style."""
    name = call.params["name"]
    if name not in _TYPES or call.params["digest"] != digest(name):
        raise RefusedError("unknown", "there is no such file")
    headers = {"cache-control": "public, max-age=31536000, immutable"}
    return Response(bundle(name), media_type=_TYPES[name], headers=headers)


def no_icon(call: WebCall) -> Response:  # noqa: ARG001 - a browser asks for it by itself
    """Return nothing, which is no error."""
    return Response(status_code=204)
