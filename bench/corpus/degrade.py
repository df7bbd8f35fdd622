"""Degradation of pages: what scanners, fax machines and telephones do to them, the same every time.

Noise comes from a counter hash, not from a generator whose stream a library may change.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
from bench.corpus.written import Frame, around
from msgspec import Struct

from fieldassay.metrics.uncertainty.bootstrap import document_keys, draw_words

if TYPE_CHECKING:
    from PIL.Image import Image

Shades: TypeAlias = npt.NDArray[np.float64]
"""A page in shades from 0 (black) to 255, rows x columns."""

Affine: TypeAlias = npt.NDArray[np.float64]
"""Where a point (x, y, 1) of the page goes, in shares of width and height: 2 x 3."""

_STILL: Affine = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


class Degradation(Struct, frozen=True):
    """A resolution, the steps in their order with their strength, and the quality of the picture's file."""

    dpi: float
    steps: tuple[tuple[str, float], ...]
    quality: int = 50


DEGRADATIONS: Mapping[str, Degradation] = {
    "scan": Degradation(130, (("turn", 0.6), ("blur", 0.5), ("shadow", 0.15), ("noise", 4.0))),
    "fax": Degradation(110, (("turn", 0.4), ("blur", 0.4), ("noise", 30.0), ("threshold", 150.0))),
    "rotation": Degradation(130, (("quarter", 1.0), ("noise", 3.0))),
    "low_resolution": Degradation(72, (("blur", 0.3), ("noise", 4.0))),
    "skew": Degradation(130, (("turn", 3.0), ("shear", 0.02), ("noise", 3.0))),
    "faint": Degradation(130, (("fade", 0.75), ("noise", 3.0))),
    "stamp": Degradation(130, (("stamp", 0.35), ("noise", 3.0))),
    "fold": Degradation(130, (("fold", 0.5), ("shadow", 0.3), ("noise", 3.0))),
    "photo": Degradation(
        110, (("shear", 0.03), ("turn", 1.5), ("blur", 0.7), ("shadow", 0.45), ("jpeg", 25))
    ),
}
"""The degradations by name."""


class Chance(Struct, frozen=True, eq=False):
    """Draws for one page: the same for the same key, whatever is drawn beside them."""

    key: str
    seed: int = 0

    def shares(self, name: str, count: int) -> Shades:
        """Return draws between 0 and 1."""
        words = draw_words(document_keys([f"{self.key}/{name}"], self.seed), 0, count)[0]
        found: Shades = (words >> np.uint64(11)) * 2.0**-53
        return found

    def bells(self, name: str, count: int) -> Shades:
        """Return draws around 0 with deviation 1: sums of four even ones, from -3.5 to 3.5."""
        words = draw_words(document_keys([f"{self.key}/{name}"], self.seed), 0, count)[0]
        sums = words.astype("<u8").view("<u2").reshape(-1, 4).sum(axis=1, dtype=np.int64)
        found: Shades = (sums - 2.0 * 65535) / (65535 * math.sqrt(4 / 12))
        return found

    def side(self, name: str) -> float:
        """Return 1 or -1."""
        return 1.0 if self.shares(name, 1)[0] < 0.5 else -1.0


def degrade(picture: Image, how: Degradation, chance: Chance) -> tuple[Image, Affine]:
    """Return a page as it looks after all steps, and where its points are then."""
    whole = _STILL
    for at, (name, strength) in enumerate(how.steps):
        picture, moved = STEPS[name](picture, strength, Chance(f"{chance.key}/{at}", chance.seed))
        linear = moved[:, :2]
        whole = np.column_stack([linear @ whole[:, :2], linear @ whole[:, 2] + moved[:, 2]])
    return picture, whole


def move(frame: Frame, how: Affine) -> Frame:
    """Return the rectangle around a rectangle that was moved.

    >>> move((0.0, 0.0, 0.5, 0.25), np.array([[0.0, -1.0, 1.0], [1.0, 0.0, 0.0]]))
    (0.75, 0.0, 1.0, 0.5)
    """
    left, top, right, bottom = frame
    corners = np.array([[left, top, 1.0], [right, top, 1.0], [left, bottom, 1.0], [right, bottom, 1.0]])
    points = (corners @ how.T).clip(0.0, 1.0).tolist()
    return around([(x, y, x, y) for x, y in points])


def _as_shades(picture: Image) -> Shades:
    return np.asarray(picture.convert("L"), np.float64)


def _as_picture(shades: Shades) -> Image:
    from PIL import Image

    return Image.fromarray(np.rint(shades.clip(0, 255)).astype(np.uint8))


def _transformed(picture: Image, forward: Affine) -> tuple[Image, Affine]:
    """Return a picture with its points moved (in pixels) as a matrix says, white where nothing was."""
    from PIL import Image

    linear, shift = np.linalg.inv(forward[:, :2]), forward[:, 2]
    back = np.column_stack([linear, -linear @ shift])
    data = tuple(round(float(one), 9) for one in back.reshape(-1))
    moved = picture.transform(
        picture.size, Image.Transform.AFFINE, data, Image.Resampling.BICUBIC, fillcolor=255
    )
    size = np.array(picture.size, np.float64)
    return moved, np.column_stack([forward[:, :2] * size[None, :] / size[:, None], shift / size])


def _turn(picture: Image, degrees: float, chance: Chance) -> tuple[Image, Affine]:
    angle = math.radians(degrees) * chance.side("turn")
    cos, sin = math.cos(angle), math.sin(angle)
    x, y = picture.width / 2, picture.height / 2
    linear = np.array([[cos, -sin], [sin, cos]])
    return _transformed(picture, np.column_stack([linear, np.array([x, y]) - linear @ np.array([x, y])]))


def _shear(picture: Image, share: float, chance: Chance) -> tuple[Image, Affine]:
    slope = share * chance.side("shear")
    return _transformed(picture, np.array([[1.0, slope, -slope * picture.height / 2], [0.0, 1.0, 0.0]]))


def _quarter(picture: Image, _: float, chance: Chance) -> tuple[Image, Affine]:
    from PIL import Image

    if chance.side("quarter") > 0:
        return picture.transpose(Image.Transpose.ROTATE_270), np.array([[0.0, -1.0, 1.0], [1.0, 0.0, 0.0]])
    return picture.transpose(Image.Transpose.ROTATE_90), np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 1.0]])


def _blur(picture: Image, radius: float, _: Chance) -> tuple[Image, Affine]:
    from PIL import ImageFilter

    return picture.filter(ImageFilter.GaussianBlur(radius)), _STILL


def _noise(picture: Image, deviation: float, chance: Chance) -> tuple[Image, Affine]:
    shades = _as_shades(picture)
    return _as_picture(shades + deviation * chance.bells("noise", shades.size).reshape(shades.shape)), _STILL


def _threshold(picture: Image, shade: float, _: Chance) -> tuple[Image, Affine]:
    return _as_picture(np.where(_as_shades(picture) < shade, 0.0, 255.0)).convert("1", dither=0), _STILL


def _fade(picture: Image, share: float, _: Chance) -> tuple[Image, Affine]:
    return _as_picture(255.0 - (255.0 - _as_shades(picture)) * (1.0 - share)), _STILL


def _shadow(picture: Image, share: float, chance: Chance) -> tuple[Image, Affine]:
    """Darken the page toward one of its edges."""
    shades = _as_shades(picture)
    across = np.linspace(0.0, 1.0, shades.shape[1]) ** 2
    across = across if chance.side("shadow") > 0 else across[::-1]
    return _as_picture(shades * (1.0 - share * across)[None, :]), _STILL


def _fold(picture: Image, share: float, chance: Chance) -> tuple[Image, Affine]:
    """Darken a crease across the page; the ink on it is worn off."""
    shades = _as_shades(picture)
    height = shades.shape[0]
    crease = height * (0.35 + 0.3 * chance.shares("fold", 1)[0])
    near = np.exp(-(((np.arange(height) - crease) / (height * 0.004)) ** 2))[:, None]
    return _as_picture(shades + (225.0 - shades) * share * near - 40.0 * share * near), _STILL


def _stamp(picture: Image, share: float, chance: Chance) -> tuple[Image, Affine]:
    """Put two rings, as of a rubber stamp, over the page."""
    shades = _as_shades(picture)
    height, width = shades.shape
    x, y = chance.shares("stamp", 2) * (0.4, 0.3) + (0.3, 0.15)
    rows, columns = np.ogrid[0:height, 0:width]
    far = np.hypot(rows - y * height, columns - x * width) / (0.11 * width)
    ring = (np.abs(far - 1.0) < 0.05) | (np.abs(far - 0.72) < 0.03)
    return _as_picture(np.where(ring, shades * (1.0 - share) + 90.0 * share, shades)), _STILL


def _jpeg(picture: Image, quality: float, _: Chance) -> tuple[Image, Affine]:
    from PIL import Image

    stream = io.BytesIO()
    picture.convert("L").save(stream, "JPEG", quality=int(quality))
    return Image.open(io.BytesIO(stream.getvalue())).convert("L"), _STILL


STEPS: Mapping[str, Callable[[Any, float, Chance], tuple[Any, Affine]]] = {
    "turn": _turn,
    "shear": _shear,
    "quarter": _quarter,
    "blur": _blur,
    "noise": _noise,
    "threshold": _threshold,
    "fade": _fade,
    "shadow": _shadow,
    "fold": _fold,
    "stamp": _stamp,
    "jpeg": _jpeg,
}
"""The steps by name: each takes a page, its strength and draws, and says where points go."""
