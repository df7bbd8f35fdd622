"""Documents made wrong: each ends as a transcript or as a failure of a known kind, within its limits.

`python -m tests.fuzz.documents --count 2000` runs as many as are asked for.
"""

import argparse
import io
import sys
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from random import Random

import xlsxwriter
from PIL import Image
from tests.documents.making import column, image, make_docx, make_pdf, p, r, stroke, tbl, tc, text
from tests.fuzz.mutations import flip_bytes, mutate_text

from fieldassay.documents.loaders.image import open_pictures
from fieldassay.documents.sources import DocumentPool, Limits, LoadOptions, load_bytes
from fieldassay.documents.transcript import DocumentError, encode, page_text

KINDS = frozenset(("unreadable", "encrypted", "no_text", "too_large"))
"""The kinds of failure that a document may end in; a loader that fails itself or dies is a defect."""

OPTIONS = LoadOptions(ocr="off", max_bytes=50_000_000, max_pixels=4_000_000, max_cells=100_000)
LIMITS = Limits(memory=2 << 30, seconds=30)


def seeds() -> dict[str, bytes]:
    """Return a sound document of every kind, by file name."""
    pdf = make_pdf(
        [
            column(72, 100, ["A line of text", "Total 12.00"]) + stroke(72, 200, 300, 200) + stroke(72, 200, 72, 260)
            + stroke(300, 200, 300, 260) + stroke(72, 260, 300, 260) + stroke(180, 200, 180, 260) + text(80, 230, "cell"),
            "q 100 0 0 100 72 400 cm /Im Do Q" + text(72, 100, "secret", more="3 Tr"),
        ],
        extra=[image(bytes(range(100)), 10, 10)], resources="/XObject << /Im 4 0 R >>", page_entries="/Rotate 90",
    )  # fmt: skip
    body = p("One ", r("two", "<w:vanish/>")) + tbl(
        tc("a", '<w:gridSpan w:val="2"/>') + tc("b"), tc("c") + tc(tbl(tc("d")))
    )
    docx = make_docx(body, {"header": p("Head"), "footnotes": p("Foot")})
    mail = b"From: a@b\r\nTo: c@d\r\nSubject: =?utf-8?q?x=C3=A9?=\r\nMIME-Version: 1.0\r\n" + _multipart(docx)
    csv = b'id;amount\n1;2,50\n2;"3\n4"\n'
    return {
        "a.pdf": pdf, "locked.pdf": make_pdf([text(9, 9, "x")], password="y"), "a.docx": docx, "a.xlsx": _workbook(),
        "a.eml": mail, "a.csv": csv,
        "a.html": b"<html><meta charset=utf-8><p hidden>x<table><tr><td colspan=2>a<td rowspan=3>b<tr><td>c</table><p>d",
        "a.md": b"# T\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\ntext\n", "a.txt": b"Item    Qty    Price\nNut     2      3\nBolt    4      5\n\fend\n",
        "words": b'{"id": "r", "pages": [{"width": 100, "height": 90, "words": [[1, 2, 30, 12, "a"], [40, 3, 60, 13, "b"]]}]}',
        **_pictures(),
    }  # fmt: skip


def _multipart(attachment: bytes) -> bytes:
    import base64

    parts = [
        b"Content-Type: text/html; charset=utf-8\r\n\r\n<p>hello <img src='http://127.0.0.1:9/x'>",
        b'Content-Type: application/octet-stream; name="a.docx"\r\nContent-Transfer-Encoding: base64\r\n'
        b'Content-Disposition: attachment; filename="a.docx"\r\n\r\n' + base64.encodebytes(attachment),
    ]
    joined = b"".join(b"--B\r\n" + part + b"\r\n" for part in parts)
    return b"Content-Type: multipart/mixed; boundary=B\r\n\r\n" + joined + b"--B--\r\n"


def _workbook() -> bytes:
    stream = io.BytesIO()
    with xlsxwriter.Workbook(stream, {"in_memory": True}) as book:
        sheet, day = book.add_worksheet(), book.add_format({"num_format": "dd/mm/yyyy"})
        sheet.merge_range("A1:B1", "Title")
        sheet.write_row("A2", ["a", 1.5, True])
        sheet.write_number("A3", 45000, day)
        sheet.write_formula("B3", "=A3*2", None, 90000)
        sheet.write_comment("A2", "why")
        sheet.set_row(3, None, None, {"hidden": True})
    return stream.getvalue()


def _pictures() -> dict[str, bytes]:
    made = {}
    for kind in ("PNG", "JPEG", "TIFF", "BMP", "GIF", "WEBP"):
        stream = io.BytesIO()
        more = {"save_all": True, "append_images": [Image.new("RGB", (9, 9))]} if kind == "TIFF" else {}
        Image.linear_gradient("L").resize((40, 30)).convert("RGB").save(stream, kind, **more)
        made[f"a.{kind.lower()}"] = stream.getvalue()
    return made


def mutate(data: bytes, rng: Random) -> bytes:
    """Return a document made wrong: in its bytes, or in a part of its archive."""
    if data.startswith(b"PK") and rng.random() < 0.8:
        return _mutate_part(data, rng)
    return rng.choice((mutate_text, flip_bytes, flip_bytes))(data, rng)


def _mutate_part(data: bytes, rng: Random) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(out, "w") as target:
        names = source.namelist()
        chosen = rng.choice(names)
        for name in names:
            held = source.read(name)
            target.writestr(
                name, rng.choice((mutate_text, flip_bytes))(held, rng) if name == chosen else held
            )
    return out.getvalue()


def read(name: str, data: bytes) -> int:
    """Read a document as far as can be without recognition; return the size of what came of it."""
    if name.rpartition(".")[2] in ("png", "jpeg", "tiff", "bmp", "gif", "webp"):
        return sum(picture.width for picture, _ in open_pictures(data, OPTIONS))
    found = load_bytes(data, name, OPTIONS)
    return len(encode(found)) + sum(len(page_text(page, hidden=True).text) for page in found.pages)


def run(count: int, seed: int, only: str = "") -> Iterator[tuple[str, int, str]]:
    """Yield the name, the seed and the outcome of each case: `read`, a kind of failure, or what is wrong."""
    sound = {name: data for name, data in seeds().items() if only in name}
    names = sorted(sound)
    with DocumentPool(1, LIMITS) as pool:
        for number in range(seed, seed + count):
            name = names[number % len(names)]
            rng = Random(f"{name} {number}")
            try:
                pool.submit(read, name, mutate(sound[name], rng)).result()
                yield name, number, "read"
            except DocumentError as error:
                yield name, number, error.kind if error.kind in KINDS else f"DEFECT {error.kind}: {error}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.documents")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    outcomes = Counter[str]()
    for name, number, outcome in run(given.count, given.seed, given.only):
        outcomes[outcome.partition(":")[0]] += 1
        if outcome.startswith("DEFECT"):
            print(f"{name} (seed {number}): {outcome}", flush=True)
    print(f"seed {given.seed}: {dict(outcomes)}")
    return any(outcome.startswith("DEFECT") for outcome in outcomes)


if __name__ == "__main__":
    from tests.fuzz import documents  # what workers run must have a module that can be imported

    sys.exit(documents.main())
