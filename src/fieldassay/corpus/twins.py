"""Twins: documents as degraded pictures of their pages, with their gold where it stands then."""

from __future__ import annotations

from dataclasses import replace

from fieldassay.corpus.degrade import DEGRADATIONS, Chance, degrade, move
from fieldassay.corpus.pictures import render_pdf, save_pictures
from fieldassay.corpus.written import Written

_KINDS = {"scan": "pdf", "fax": "png"}
"""The kind of file of a degradation; the others are JPEG, or PDF where there are several pages."""


def as_picture(clean: Written, how: str, name: str, seed: int) -> tuple[Written, str]:
    """Return a PDF as degraded pictures of its pages, and the kind of the new file."""
    chosen = DEGRADATIONS[how]
    made = [
        degrade(picture, chosen, Chance(f"{name}/{number}", seed))
        for number, picture in enumerate(render_pdf(clean.data, chosen.dpi), start=1)
    ]
    kind = _KINDS.get(how, "jpg") if len(made) == 1 else "pdf"
    data = save_pictures([picture for picture, _ in made], f".{kind}", chosen.dpi, chosen.quality)
    placed = tuple(
        one if one.box is None else replace(one, box=move(one.box, made[one.page - 1][1]))
        for one in clean.placed
    )
    return Written(data, clean.pages, placed), kind
