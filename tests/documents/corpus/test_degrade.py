"""Degradations: the same every time, and gold boxes follow the ink."""

import numpy as np
import pytest
from bench.corpus.degrade import DEGRADATIONS, STEPS, Chance, degrade, move
from PIL import Image, ImageDraw

pytestmark = pytest.mark.full


def page() -> Image.Image:
    picture = Image.new("L", (400, 560), 255)
    ImageDraw.Draw(picture).rectangle((80, 112, 160, 140), fill=0)
    return picture


FRAME = (0.2, 0.2, 0.4025, 0.2518)


@pytest.mark.parametrize("name", DEGRADATIONS)
def test_a_page_is_degraded_the_same_way_every_time_and_by_key(name: str) -> None:
    first, again, other = (
        np.asarray(degrade(page(), DEGRADATIONS[name], Chance(key))[0].convert("L"))
        for key in ("a", "a", "b")
    )
    assert (first == again).all()
    assert first.shape != np.asarray(page()).shape or (first != np.asarray(page())).any()
    assert first.shape == other.shape and (first != other).any()


@pytest.mark.parametrize("name", ["turn", "shear", "quarter"])
@pytest.mark.parametrize("key", ["a", "b", "c"])
def test_a_box_goes_where_its_ink_goes(name: str, key: str) -> None:
    strength = {"turn": 4.0, "shear": 0.05, "quarter": 1.0}[name]
    picture, moved = STEPS[name](page(), strength, Chance(key))
    rows, columns = np.nonzero(np.asarray(picture.convert("L")) < 128)
    ink = (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)
    box = [share * side for share, side in zip(move(FRAME, moved), picture.size * 2, strict=True)]
    assert np.abs(np.array(box) - ink).max() <= 2.5


def test_every_step_is_used_or_known() -> None:
    assert {name for one in DEGRADATIONS.values() for name, _ in one.steps} <= STEPS.keys()
