"""Images to pages by recognition: every page of a TIFF, upright as its EXIF data say."""

from __future__ import annotations

import io
import warnings
from collections.abc import Generator
from typing import Any

from fieldassay.documents.loaders.content import Content, Task, require
from fieldassay.documents.loaders.recognize import can_recognize, recognized_page
from fieldassay.documents.options import LoadOptions
from fieldassay.documents.transcript import DocumentError

_FORMATS = ("PNG", "JPEG", "TIFF", "BMP", "GIF", "WEBP")
_USUAL_DPI = 200.0
_MOST_DOTS = 4000


def load_image(data: bytes, task: Task) -> Content:
    """Return the pages of an image, recognized. Raises `DocumentError` without recognition."""
    require("PIL", "documents")
    if not can_recognize(task.options):
        if task.options.ocr == "off":
            raise DocumentError("no_text", "is an image, and recognition is off; load it with recognition")
        require("rapidocr", "ocr")
        require("onnxruntime", "ocr")
        raise DocumentError(
            "missing_extra", "needs the program tesseract, which is not on the PATH; install it"
        )
    pages = []
    for number, (picture, size) in enumerate(open_pictures(data, task.options), start=1):
        shrunk = picture.copy()
        shrunk.thumbnail((_MOST_DOTS, _MOST_DOTS))
        pages.append(recognized_page(shrunk, number, size, task.options))
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
        raise DocumentError("unreadable", "is no image that can be read") from None
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
        told = " ".join(str(error).split())[:100]
        raise DocumentError("unreadable", f"is a damaged image ({told})", number or None) from None
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
