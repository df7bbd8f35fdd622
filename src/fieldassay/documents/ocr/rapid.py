"""Recognition by rapidocr: its models come with the package, and nothing is downloaded."""

from __future__ import annotations

from functools import cache
from typing import Any

from fieldassay.documents.transcript import Box, DocumentError, Word


def recognize_rapidly(image: Any) -> list[Word]:
    """Return the words of an image (rows, columns, RGB) with boxes in pixels and confidences."""
    found = _engine()(image[:, :, ::-1], use_cls=False, return_word_box=True)
    words = []
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


@cache
def _engine() -> Any:
    """Return the engine; one thread, as pages are recognized in processes beside each other."""
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
    return rapidocr.RapidOCR(params={**one, "Global.log_level": "critical"})
