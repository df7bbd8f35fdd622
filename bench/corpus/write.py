"""A recipe as a file: the writer of its kind."""

from __future__ import annotations

from importlib import import_module

from bench.corpus.recipe import Recipe
from bench.corpus.written import Written

_WRITERS = {
    "pdf": "pdf:write_pdf",
    "docx": "docx:write_docx",
    "xlsx": "xlsx:write_xlsx",
    "csv": "plain:write_csv",
    "tsv": "plain:write_csv",
    "txt": "plain:write_text",
    "html": "plain:write_html",
    "eml": "plain:write_mail",
}


def write(recipe: Recipe) -> Written:
    """Return the file of a recipe, with the text of its pages and the places of its gold."""
    module, _, name = _WRITERS[recipe.kind].partition(":")
    written: Written = getattr(import_module(f"bench.corpus.writers.{module}"), name)(recipe)
    return written
