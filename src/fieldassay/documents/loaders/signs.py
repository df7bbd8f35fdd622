"""Signs of office files and web pages as text: letters of symbol fonts, and formulas."""

import re
from collections.abc import Mapping
from typing import Any

from fieldassay.io.text.shown import clip

# The characters of symbol fonts: their codes are those of letters, or stand in a private area above U+F000.

_GREEK = (
    " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼",
    "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊⟨®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪",
    "⟩∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭",
)
SYMBOL_FONTS: Mapping[str, Mapping[int, str]] = {
    "symbol": {
        start + at: char
        for start, row in zip((0x20, 0xA0, 0xF1), _GREEK, strict=True)
        for at, char in enumerate(row)
    },
    "wingdings": {
        **dict(zip(range(0x80, 0x96), "⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿", strict=True)),
        **dict(zip(bytes.fromhex("28292A4546494A4B4C6C6E6F717275769FA0A1A7A8ABD8DFE0E1E2E8EFF0F1F2FBFCFDFE"),
                   "☎✆✉☜☞✋☺😐☹●■☐❑❒◆❖•▪○▪☐★➢←→↑↓➔⇦⇨⇧⇩✗✓☒☑", strict=True)),
    },
    "wingdings 2": dict(zip(bytes.fromhex("4F5051525354A3"), "✗✓☒☑☒☒☐", strict=True)),
    "wingdings 3": {},
    "webdings": dict(zip(bytes.fromhex("616372"), "✓☐✗", strict=True)),
}  # fmt: skip
"""Fonts whose characters are signs, and what they are; of the rest only what forms and lists show."""
_UNKNOWN = "\ufffd"


def read_signs(text: str, font: str, notes: set[str]) -> str:
    """Return the characters that a text in some font shows; U+FFFD, and a note, for signs that are not known.

    >>> notes = set[str]()
    >>> read_signs("5 mA", "Symbol", notes), read_signs("5 mA", "Arial", notes)
    ('5 μΑ', '5 mA')
    >>> read_signs("\\uf0fe\\uf0b7", "Wingdings", notes), notes
    ('☑�', {'unread_sign: B7 of Wingdings'})
    """
    signs = SYMBOL_FONTS.get(font.lower())
    if signs is None and text.isprintable():
        return text
    shown = []
    for char in text:
        is_sign = "\uf000" <= char < "\uf100" or (
            signs is not None and char < "\u0100" and not char.isspace()
        )
        shown.append((signs or {}).get(ord(char) & 0xFF, _UNKNOWN) if is_sign else char)
        if is_sign and shown[-1] == _UNKNOWN:
            notes.add(f"unread_sign: {ord(char) & 0xFF:02X} of {clip(font, 40)}")
    return "".join(shown)


# Formulas, of MathML and of Office: powers and fractions keep their meaning on one line.

_RAISED = str.maketrans("0123456789+-−=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱ")
_TERM = re.compile(r"[\w.,%°]*")
_UNSAID = re.compile("[\u2061-\u2064\\s]+")
_FRACTIONS = frozenset(("mfrac", "f"))
_SCRIPTS = {
    **dict.fromkeys(("msup", "sSup", "mover"), "^"), **dict.fromkeys(("msub", "sSub", "munder"), "_"),
    **dict.fromkeys(("msubsup", "sSubSup", "munderover"), "_^"),
}  # fmt: skip
_ABOUT = ("Pr", "annotation", "annotation-xml", "}del", "}moveFrom")
"""Ends of the names of elements that are no part of what a formula shows."""


def write_formula(element: Any) -> str:
    """Return the text of a formula: powers raised or behind `^`, fractions with `/`, roots with `√`.

    >>> from lxml.html import fromstring
    >>> power, sum = "<msup><mn>10</mn><mn>-6</mn></msup>", "<mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow>"
    >>> write_formula(fromstring(f"<math><mn>2</mn><mo>×</mo>{power}</math>"))
    '2×10⁻⁶'
    >>> write_formula(fromstring(f"<mfrac>{sum}<msup><mi>x</mi>{sum}</msup></mfrac>"))
    '(a+b)/(x^(a+b))'
    """
    name = _name(element)
    children = [child for child in element if isinstance(child.tag, str) and not child.tag.endswith(_ABOUT)]
    if not children:
        return _UNSAID.sub(" ", element.text or "").strip()
    parts = list(map(write_formula, children))
    if name in _FRACTIONS:
        return "/".join(map(_group, parts))
    if name in _SCRIPTS:
        return parts[0] + "".join(map(_write_script, _SCRIPTS[name], parts[1:]))
    if name in ("mroot", "rad"):
        degree, base = parts[::-1] if name == "mroot" else ("", *parts)[-2:]
        return f"{_write_script('^', degree)}√{_group(base)}"
    text = ""
    for child, part in zip(children, parts, strict=True):
        text += f" {part}" if _name(child) in _FRACTIONS and text[-1:].isdigit() else part
    if name in ("mfenced", "d"):
        settings = next((child for child in element if _name(child) == "dPr"), ())
        signs = {_name(setting): "".join(setting.values()[:1]) for setting in settings}
        begin = element.get("open", signs.get("begChr", "("))
        return f"{begin}{text}{element.get('close', signs.get('endChr', ')'))}"
    return f"√{_group(text)}" if name == "msqrt" else text


def _name(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]


def _group(text: str) -> str:
    return text if _TERM.fullmatch(text) else f"({text})"


def _write_script(kind: str, text: str) -> str:
    """Return a power (`^`) or an index (`_`) as it stands behind its base."""
    if kind == "_":
        return text if text.isdecimal() else f"_{_group(text)}"
    raised = text.translate(_RAISED)
    is_raised = not any(char.isascii() or char.isspace() for char in raised)
    return raised if is_raised else f"^{_group(text)}"
