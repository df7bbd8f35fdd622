"""The loader of pictures, and the recognition of their text."""

import io
import re
import warnings
from collections.abc import Generator, Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.documents.layout import TurnedWord, lay_out_turned
from fieldassay.documents.sources import Content, LoadOptions, LoadTask, require
from fieldassay.documents.transcript import Box, DocumentError, Page, Word, is_wide_gap, turn, union

# Recognition by rapidocr: its models come with the package, and nothing is downloaded.

_SEARCHED = (1280, 1600, 2000)
"""The longer sides, in pixels, of the pictures in which lines are searched for: at least 60 % of the page's.

They are found as well there, in half the time; characters are recognized in the picture as it was given.
"""


def recognize_rapidly(image: Any) -> list[Word]:
    """Return the words of an image (rows, columns, RGB) with boxes in pixels and confidences."""
    longest = max(image.shape[:2])
    searched = next((side for side in _SEARCHED if side >= 0.6 * longest), _SEARCHED[-1])
    output = _engine(searched if longest > searched else None)(
        image[:, :, ::-1], use_cls=False, return_word_box=True
    )
    words: list[Word] = []
    if output.boxes is None or not len(output.boxes):  # its words are then one empty text, of another shape
        return words
    for line in output.word_results or ():
        line_words: list[Word] = []
        for text, confidence, corners in line:
            if text and text.strip() and corners is not None:
                xs, ys = [float(x) for x, _ in corners], [float(y) for _, y in corners]
                box = Box(min(xs), min(ys), max(xs), max(ys))
                line_words.append(Word(text.strip(), box, confidence=round(float(confidence), 4)))
        words += join_ideographs(line_words)
    return words


_IDEOGRAPHS = re.compile("[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]+")
"""Han, kana, and the punctuation and letters that are as wide: written without blanks between them."""


def join_ideographs(words: Sequence[Word]) -> list[Word]:
    """Return the words of a line, ideographs that follow each other as one word: they come one by one."""
    joined: list[Word] = []
    for word in words:
        before = joined[-1] if joined else None
        is_next = before is not None and not is_wide_gap(before.box, word.box)
        if before is None or not is_next or not _IDEOGRAPHS.fullmatch(before.text[-1] + word.text):
            joined.append(word)
            continue
        sizes = len(before.text), len(word.text)
        mean = ((before.confidence or 0.0) * sizes[0] + (word.confidence or 0.0) * sizes[1]) / sum(sizes)
        joined[-1] = Word(before.text + word.text, union([before.box, word.box]), confidence=round(mean, 4))
    return joined


@lru_cache(maxsize=1)
def _engine(searched: int | None) -> Any:
    """Return the engine that searches for lines in pictures whose longer side is shrunk to so many pixels.

    None enlarges small pictures, as the engine does by itself. One thread, as pages are recognized in
    processes beside each other.
    """

    import cv2
    import rapidocr

    if not list((Path(rapidocr.__file__).parent / "models").glob("*rec*.onnx")):
        remedy = "install it again with: pip install --force-reinstall rapidocr"
        raise DocumentError(
            "missing_extra", f"needs the models of rapidocr, which its package lacks; {remedy}"
        )
    cv2.setNumThreads(1)
    single_thread = {
        "EngineConfig.onnxruntime.intra_op_num_threads": 1,
        "EngineConfig.onnxruntime.inter_op_num_threads": 1,
    }
    search = {"Det.limit_type": "max", "Det.limit_side_len": searched} if searched is not None else {}
    return rapidocr.RapidOCR(params={**single_thread, **search, "Global.log_level": "critical"})


# Recognizes the words of an image, and which way up it is.

_GOOD = 0.8
"""The mean confidence of characters from which an image counts as the right way up."""

_FEW = 10
"""With fewer words than this an image is recognized on its head, too."""


class _TurnTrial(Struct, frozen=True):
    """The words of an image after it was turned back by some quarter turns, boxes in pixels of that image."""

    words: Sequence[Word]
    quarters: int
    size: tuple[int, int]

    @property
    def certain_characters(self) -> float:
        """The sum of the confidences of all characters."""
        return sum((word.confidence or 0.0) * len(word.text) for word in self.words)

    @property
    def quality(self) -> float:
        """The mean confidence of the characters."""
        return self.certain_characters / max(sum(len(word.text) for word in self.words), 1)

    @property
    def is_upright(self) -> bool:
        """Whether most characters stand in words that are wider than high."""
        upright = sideways = 0
        for word in self.words:
            if word.box is not None and len(word.text) > 2:
                is_wide = word.box.right - word.box.left >= word.box.bottom - word.box.top
                upright += len(word.text) * is_wide
                sideways += len(word.text) * (not is_wide)
        return upright >= sideways


def recognize(image: Any) -> list[TurnedWord]:
    """Return the words of an image (rows, columns, RGB), boxes in pixels, with the image's turns.

    The image is turned by quarters, and recognized again, if it lies on its side, if few characters are
    confident, or if there are few words: fragments of a text on its head may look good. The turn in which
    most characters are certain is kept.
    """
    best = _try(image, 0)
    if not best.words:
        best = _try(image, 2)
        if not best.words:  # lines on their side would have been found in one of the two
            return []
    is_good = best.quality >= _GOOD and best.is_upright
    is_short = len(best.words) < _FEW
    if not is_good or is_short:
        for quarters in (2,) if is_good else (2, 1, 3) if best.is_upright or is_short else (1, 3):
            trial = _try(image, quarters)
            key = (trial.is_upright, trial.certain_characters)
            best = trial if key > (best.is_upright, best.certain_characters) else best
            if best.quality >= _GOOD and best.is_upright and len(best.words) >= _FEW:
                break
    return [
        TurnedWord(replace(word, box=turn(word.box, best.quarters, *best.size)), best.quarters)
        for word in best.words
        if word.box is not None
    ]


def _try(image: Any, quarters: int) -> _TurnTrial:
    import numpy as np

    straight = np.ascontiguousarray(np.rot90(image, quarters))
    return _TurnTrial(recognize_rapidly(straight), quarters, (straight.shape[1], straight.shape[0]))


# Pictures of pages to pages, by recognition.


def can_recognize(options: LoadOptions) -> bool:
    """Return whether pictures are recognized: the options allow it, and rapidocr is there."""
    if options.ocr != "auto":
        return options.ocr == "always"  # a missing engine is then a failure
    return all(find_spec(module) is not None for module in ("rapidocr", "onnxruntime", "PIL"))


def require_engine() -> None:
    """Raise `DocumentError` where rapidocr is not installed."""
    for module in ("rapidocr", "onnxruntime"):
        require(module, "ocr")


def recognized_page(image: Any, number: int, size: tuple[float, float]) -> Page:
    """Return the page of an RGB picture; `size` is that of the page in points."""
    layout = lay_out_turned(recognized_words(image, size), size, source="ocr", is_scan=True)
    return Page(number, layout.lines, layout.tables, round(size[0], 2), round(size[1], 2))


def recognized_words(
    image: Any, size: tuple[float, float], at: tuple[float, float] = (0.0, 0.0)
) -> list[TurnedWord]:
    """Return the words of an RGB picture of a page, or of a part from `at` on, boxes in points."""
    import numpy as np

    require_engine()
    across, down = size[0] / image.width, size[1] / image.height
    return [
        TurnedWord(_scaled(turned_word.word, across, down, at), turned_word.quarters)
        for turned_word in recognize(np.asarray(image))
    ]


def _scaled(word: Word, across: float, down: float, at: tuple[float, float]) -> Word:
    box = word.box
    assert box is not None
    places = (box.left * across, box.top * down, box.right * across, box.bottom * down)
    return replace(
        word, box=Box(*(round(place + begin, 2) for place, begin in zip(places, (*at, *at), strict=True)))
    )


_PAGE_WIDTH, _PAGE_HEIGHT = 400, 100
"""The least size, in pixels, of a picture inside of a text that is read as a page: larger than most logos."""


def is_page(data: bytes, options: LoadOptions) -> bool:
    """Return whether a picture inside of a text is large enough for a page, and can be recognized."""
    if find_spec("PIL") is None or not can_recognize(options):
        return False
    from PIL import Image

    try:
        with Image.open(io.BytesIO(data), formats=_FORMATS) as image:
            return bool(image.width >= _PAGE_WIDTH and image.height >= _PAGE_HEIGHT)
    except Exception:  # decoders raise whatever they like; what is no picture is no page
        return False


# Images to pages by recognition: every page of a TIFF, upright as its EXIF data say.

_FORMATS = ("PNG", "JPEG", "TIFF", "BMP", "GIF", "WEBP")
_USUAL_DPI = 200.0
_MOST_DOTS = 4000


def load_image(data: bytes, task: LoadTask) -> Content:
    """Return the pages of an image, recognized. Raises `DocumentError` without recognition."""
    require("PIL", "documents")
    if task.options.ocr == "off":
        raise DocumentError("no_text", "is an image, and recognition is off; load it with recognition")
    require_engine()
    pages = []
    for number, (picture, size) in enumerate(open_pictures(data, task.options), start=1):
        shrunk = picture.copy()
        shrunk.thumbnail((_MOST_DOTS, _MOST_DOTS))
        pages.append(recognized_page(shrunk, number, size))
        task.beat()
    return Content(tuple(pages), ("ocr",))


def open_pictures(
    data: bytes, options: LoadOptions
) -> Generator[tuple[Any, tuple[float, float]], None, None]:
    """Yield each page of an image as an upright RGB picture, with its size in points."""
    from PIL import Image, ImageOps, UnidentifiedImageError

    number = 0
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            Image.MAX_IMAGE_PIXELS = options.max_pixels
            with Image.open(io.BytesIO(data), formats=_FORMATS) as image:
                frames = getattr(image, "n_frames", 1) if image.format == "TIFF" else 1
                if frames > options.max_pages:
                    raise DocumentError("too_large", f"has more than {options.max_pages:,} pages")
                for number in range(1, frames + 1):
                    image.seek(number - 1)
                    if image.width * image.height > options.max_pixels:
                        raise DocumentError(
                            "too_large", f"has {image.width:,} x {image.height:,} pixels", number
                        )
                    upright = ImageOps.exif_transpose(_flat(image))
                    yield upright, _size(upright, image.info.get("dpi"))
    except (Image.DecompressionBombError, MemoryError):
        raise DocumentError(
            "too_large", f"has more than {options.max_pixels:,} pixels", number or None
        ) from None
    except UnidentifiedImageError:
        raise DocumentError("unreadable", "is not a readable image") from None
    except (
        OSError,
        ValueError,
        SyntaxError,
        EOFError,
        TypeError,
        KeyError,
        IndexError,
        ZeroDivisionError,
    ) as error:
        message = " ".join(str(error).split())[:100]
        raise DocumentError("unreadable", f"is a damaged image ({message})", number or None) from None
    except Exception as error:  # decoders raise whatever they like: struct.error, OverflowError
        raise DocumentError(
            "unreadable", f"is a damaged image ({type(error).__name__})", number or None
        ) from None


def _flat(image: Any) -> Any:
    """Return a picture in RGB on white, whatever its mode, with the EXIF data of the image."""
    from PIL import Image

    exif = image.getexif()
    if image.mode.startswith("I") or image.mode == "F":
        low, high = image.getextrema()
        scaled = image.convert("F").point(lambda value: (value - low) * (255 / max(high - low, 1)))
        flat = scaled.convert("L").convert("RGB")
    elif image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        clear = image.convert("RGBA")
        flat = Image.new("RGB", clear.size, "white")
        flat.paste(clear, mask=clear.getchannel("A"))
    else:
        flat = image.convert("RGB")
    if exif:
        flat.info["exif"] = exif.tobytes()
    return flat


def _size(image: Any, dpi: Any) -> tuple[float, float]:
    try:
        dots = float(dpi[0])
    except (TypeError, ValueError, IndexError, ZeroDivisionError):
        dots = 0.0
    dots = dots if 50 <= dots <= 1200 else _USUAL_DPI
    return image.width * 72 / dots, image.height * 72 / dots
