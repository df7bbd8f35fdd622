"""Recognition by tesseract, the program on the PATH."""

from __future__ import annotations

import io
import subprocess
from pathlib import Path
from typing import Any

from fieldassay.documents.transcript import Box, DocumentError, Word
from fieldassay.io.workers.programs import clean_environment, find_program

_SECONDS = 110


def recognize_by_tesseract(image: Any) -> list[Word]:
    """Return the words of an image (rows, columns, RGB) with boxes in pixels and confidences."""
    from PIL import Image

    program = find_program("tesseract")
    if program is None:
        raise DocumentError(
            "missing_extra", "needs the program tesseract, which is not on the PATH; install it"
        )
    stream = io.BytesIO()
    Image.fromarray(image).save(stream, "PNG")
    try:
        done = subprocess.run(
            [program, "-", "-", "--psm", "3", "tsv"],
            input=stream.getvalue(),
            capture_output=True,
            timeout=_SECONDS,
            cwd=Path(program).parent,  # it also looks for its settings in the current folder
            env=clean_environment(OMP_THREAD_LIMIT="1"),
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DocumentError("loader_crash", f"made tesseract fail ({type(error).__name__})") from None
    if done.returncode:
        told = " ".join(done.stderr.decode("utf-8", "replace").split())[:200]
        raise DocumentError("loader_crash", f"made tesseract fail ({told})")
    return list(filter(None, map(_word, done.stdout.decode("utf-8", "replace").splitlines())))


def _word(line: str) -> Word | None:
    """Return the word of a row of tesseract's table: level, …, left, top, width, height, confidence, text."""
    cells = line.split("\t")
    if len(cells) < 12 or cells[0] != "5" or not cells[11].strip():
        return None
    left, top, width, height, confidence = map(float, cells[6:11])
    box = Box(left, top, left + width, top + height)
    return Word(cells[11].strip(), box, confidence=round(max(confidence, 0.0) / 100, 4))
