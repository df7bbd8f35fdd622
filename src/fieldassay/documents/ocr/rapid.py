"""Recognition by rapidocr: its models come with the package, and nothing is downloaded."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from fieldassay.documents.transcript import Box, DocumentError, Word

_SEARCHED = (1280, 1600, 2000)
"""The longer sides, in pixels, of the pictures in which lines are searched for: at least 60 % of the page's.

They are found as well there, in half the time; characters are recognized in the picture as it was given.
"""


def recognize_rapidly(image: Any) -> list[Word]:
    """Return the words of an image (rows, columns, RGB) with boxes in pixels and confidences."""
    longest = max(image.shape[:2])
    searched = next((side for side in _SEARCHED if side >= 0.6 * longest), _SEARCHED[-1])
    found = _engine(searched if longest > searched else None)(
        image[:, :, ::-1], use_cls=False, return_word_box=True
    )
    words: list[Word] = []
    if found.boxes is None or not len(found.boxes):  # its words are then one empty text, of another shape
        return words
    for line in found.word_results or ():
        for text, confidence, corners in line:
            if text and text.strip() and corners is not None:
                xs, ys = [float(x) for x, _ in corners], [float(y) for _, y in corners]
                words.append(
                    Word(
                        text.strip(),
                        Box(min(xs), min(ys), max(xs), max(ys)),
                        confidence=round(float(confidence), 4),
                    )
                )
    return words


@lru_cache(maxsize=1)
def _engine(searched: int | None) -> Any:
    """Return the engine that searches for lines in pictures whose longer side is shrunk to so many pixels.

    None enlarges small pictures, as the engine does by itself. One thread, as pages are recognized in
    processes beside each other.
    """
    from pathlib import Path

    import cv2
    import rapidocr

    if not list((Path(rapidocr.__file__).parent / "models").glob("*rec*.onnx")):
        remedy = "install it again with: pip install --force-reinstall rapidocr"
        raise DocumentError(
            "missing_extra", f"needs the models of rapidocr, which its package lacks; {remedy}"
        )
    cv2.setNumThreads(1)
    one = {
        "EngineConfig.onnxruntime.intra_op_num_threads": 1,
        "EngineConfig.onnxruntime.inter_op_num_threads": 1,
    }
    search = {"Det.limit_type": "max", "Det.limit_side_len": searched} if searched is not None else {}
    return rapidocr.RapidOCR(params={**one, **search, "Global.log_level": "critical"})
