"""Every regular expression of the package takes time in proportion to its text."""

import ast
import importlib
import re
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from re import _compiler, _constants, _parser
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import is_full

import fieldassay
from fieldassay.extraction.endpoints.endpoint import SecretKey
from fieldassay.records import matching
from fieldassay.records.rows import recover_id
from fieldassay.spec.drafts import guess_type
from fieldassay.values.types import text
from fieldassay.values.types.dates import parts
from fieldassay.values.types.numbers import amounts, money, numbers

# Every regular expression of the package takes time in proportion to its text, however hostile the text is

pytestmark = pytest.mark.slow

SOURCE = Path(fieldassay.__file__).parent
FOLDERS = sorted(
    path.name for path in SOURCE.iterdir() if path.suffix in ("", ".py") and path.stem[:1] != "_"
)
READS = ("match", "fullmatch", "search", "finditer")
METHODS = {name: name for name in READS} | dict.fromkeys(("sub", "subn", "split", "findall"), "finditer")
"""The methods that read a text, and by which one of `READS` the pattern is pumped for it."""
SIGNS = (*" \t\n\u00a0", *"09aA\\\"'[](){}<>.,;:/|-+_=`*&#%@$€é的", "\u200b")
ENDS = ("\ue000", "\n!")
USED = {
    "_LINE_MARKS": ["match"],
    "_regex": ["fullmatch"],
    **{name: ["finditer"] for name in ("_scale", "_without", "_spellings")},
}
"""The methods of patterns that go through several names."""
CHARACTERS = {_constants.LITERAL, _constants.NOT_LITERAL, _constants.IN, _constants.ANY}
REPEATS = {_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT}
MOST, MANY = 80, 60
"""So many texts are made of a pattern, and a piece that may stand so often is pumped."""
SIZES = (20, 200, 2_000, 20_000, 200_000) if is_full() else (20, 200, 2_000, 20_000)
SHORT, SLOW, GROWTH = 0.0002, 0.002, 30
"""Seconds below which no growth is looked for, and none is a failure; growth for ten times the text."""


PLAIN = [
    ("documents.loaders.plain", "_RULE", r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*"),
    ("records.answers.answer", "_KEY_BEFORE", r"""["'”＂*;]\s*[:：]\s*(?:\\n\s*)*\[?\s*$"""),
    ("records.envelope", "_OPENING", r"""[\s\u200b]*(?:<[\w:|-]{1,40}>\s*)*(?:```|["']?\s*\\?["']?\s*[\[{(｛［])"""),
    ("reports.writers.tables", "NUMBER", r"[−+-]?\$?[\d,]*\.?\d+(?:e[+-]?\d+)?…?%?(?: (?:s|points|tokens|few)|/min)?(?: \(.*\))?"),
    ("spec.language.fields", "_ACCEPT", r"\s*(>=|>)?\s*([0-9]{0,20}(?:\.[0-9]{0,20})?(?:[eE]-?[0-9]{1,3})?)\s*"),
    ("values.comparators.numbers", "_NUMBER", r"-?(?:\d+\.?\d*|\.\d+)"),
    ("values.types.dates.parts", "_MARK", r"\s*(?:ه\W{0,2}\s?(?P<which>ش|ق)|ه|ه‍|هـ)\.?\s*\Z"),
    ("values.types.dates.names", "_PREFIX", r"([^\W\d_a-zA-Z]+|'[^\W\d_]+')(?=MMM|LLL)"),
    ("values.types.dates.parts", "_ORDER", r"[WTs]*[dMyos]*(?:[WTs]+y)?[WTs]*"),
    ("values.types.dates.parts", "_SEPARATOR", r"\s*[./,\-–—’'\"()]?\s?[.,'’(]?\s*"),
    ("values.types.numbers.units", "_CELLS", r"(?:\A|[ *]+|(?<=\d))(?:cells?|zellen?|cellules?|células?|#)[ ]*\Z|(?<=\b[GTM])(?-i:pt)\Z"),
    ("values.types.numbers.units", "_STROKE", r"[ ]*/[ ]*|(?:^|[ ]+)(?:je|par|per|por|pro)[ ]+"),
    ("values.types.contacts", "_JOINT", r"\s*(?:[/|&;,\n]|\b(?:or|and|oder|und|ou|et|o|y|e)\b|\s[-–—]\s)\s*"),
]  # fmt: skip
"""Patterns as one would write them at first, some of which take the square or the cube of the length."""


class Use(NamedTuple):
    """A pattern, where it stands, and the methods that it is used by."""

    place: str
    pattern: re.Pattern[Any]
    methods: tuple[str, ...]


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_pattern_takes_time_in_proportion_to_the_text(folder: str) -> None:
    own = {use[1:]: use for use in uses() if use.place.split("/")[0] == folder}
    slow = [f"{use.place}: {said}" for use in own.values() for said in slowest(use)]
    assert not slow, "\n".join(slow)


@pytest.mark.parametrize(
    "hostile", [r"\s*\s*!", r"(?:a+)+b", r"<!--.*?-->", r"(\d+) tokens", r"x,*\s*;?\s*$"]
)
def test_a_pattern_that_does_not_is_noticed(hostile: str) -> None:
    assert list(slowest(Use("here", re.compile(hostile), ("search",))))


def test_no_pattern_is_missed() -> None:
    seen = {use.pattern.pattern for use in uses()}
    modules = [module for name, module in sys.modules.items() if name.startswith("fieldassay.")]
    values = [value for module in modules for value in vars(module).values()]
    values += [item for value in values if isinstance(value, tuple | list) for item in value]
    patterns = {value.pattern for value in values if isinstance(value, re.Pattern)}
    assert patterns <= seen and len(patterns) > 200


@pytest.mark.parametrize(("module", "name", "plain"), PLAIN, ids=[name for _, name, _ in PLAIN])
@given(data=st.data())
def test_it_reads_what_the_plain_pattern_reads(
    module: str, name: str, plain: str, data: st.DataObject
) -> None:
    linear = getattr(importlib.import_module(f"fieldassay.{module}"), name)
    pattern = re.compile(plain, linear.flags)
    pump, methods = (
        Pump(pattern),
        {one for use in uses() if use.pattern.pattern == linear.pattern for one in use.methods},
    )
    pieces = [
        *map(chr, _codes(pump.tree)),
        *"1a \n",
        *(pump.sample(pump.tree, variant) for variant in range(12)),
    ]
    text = "".join(data.draw(st.lists(st.sampled_from(pieces), max_size=9)))
    for method in methods - {"scan"}:
        assert _read(getattr(linear, method)(text)) == _read(getattr(pattern, method)(text))


def _read(found: Any) -> Any:
    matches = list(found) if hasattr(found, "__next__") else [found]
    return [match and (match.span(), match.groups()) for match in matches]


def slowest(use: Use) -> Iterator[str]:
    """Yield, for each method, a text for which a pattern takes time that grows faster than the text."""
    pump = Pump(use.pattern)
    for method in use.methods:
        read = getattr(use.pattern, method, partial(_scan, use.pattern))
        for start, unit, end in pump.texts():
            texts = [pump.encoded(start + unit * (size // len(unit) + 1) + end) for size in SIZES]
            if found := _growth(read, texts):
                yield f"{method} takes {found} of {start!r} + {unit!r} * n + {end!r}: {use.pattern.pattern[:200]!r}"
                break


def _growth(read: Callable[[Any], Any], texts: Sequence[Any]) -> str:
    before = 0.0
    for at, hostile in enumerate(texts):
        took = _seconds(read, hostile)
        if took > max(GROWTH * before, SLOW):  # once more: another process may have had the machine
            took = min(took, _seconds(read, hostile))
            before = max(before, _seconds(read, texts[at - 1]) if at else 0)
        if took > max(GROWTH * before, SLOW):
            return f"{took:.4f} s of {SIZES[at]:,} characters and {before:.6f} s of a tenth"
        if SIZES[at] == 2_000 and took < SHORT and not is_full():
            break
        before = took
    return ""


def _scan(pattern: re.Pattern[Any], text: Any) -> Iterator[Any]:
    """Yield one match behind the other."""
    return iter(pattern.scanner(text).match, None)  # type: ignore[attr-defined]


def _seconds(read: Callable[[Any], Any], text: Any) -> float:
    start = time.process_time()
    found = read(text)
    for _ in found if hasattr(found, "__next__") else ():
        pass
    return time.process_time() - start


class Pump:
    """Makes hostile texts for a pattern of what it is made of."""

    def __init__(self, pattern: re.Pattern[Any]) -> None:
        self.is_bytes = isinstance(pattern.pattern, bytes)
        self.tree = _parser.parse(pattern.pattern, pattern.flags)
        self.signs = list(dict.fromkeys([*SIGNS, *map(chr, _codes(self.tree))]))
        self.fitting: dict[str, list[str]] = {}

    def encoded(self, text: str) -> Any:
        """Return a text as the pattern reads it."""
        return text.encode("latin-1", "replace") if self.is_bytes else text

    def texts(self) -> list[tuple[str, str, str]]:
        """Return beginnings, what is repeated, and ends at which the pattern fails."""
        pumped = dict.fromkeys(("", sign) for sign in self.signs[:80])
        for variant in range(4):
            pumped.update(dict.fromkeys(self.pieces(self.tree, "", variant)))
        texts = [(start, unit, end) for start, unit in pumped if unit for end in ENDS]
        return texts if is_full() else texts[:: len(texts) // MOST + 1]

    def pieces(self, tree: Any, before: str, variant: int) -> Iterator[tuple[str, str]]:
        """Yield, for each piece that may stand often, what stands before it and what fits it."""
        for item in tree:
            kind, value = item
            if kind in REPEATS and value[1] > MANY:
                whole = self.sample(value[2], variant)
                units = {whole, self.sample(value[2], variant + 1), *self.characters(value[2])}
                yield from ((before, unit) for unit in sorted(units))
                yield from (("", before), ("", before + whole))
            for part in _parts(*item):
                yield from self.pieces(part, before, variant)
            before += self.sample([item], variant)
        yield "", before

    def sample(self, tree: Any, variant: int) -> str:
        """Return a text that fits a pattern, another one for each variant."""
        text = ""
        for kind, value in tree:
            if kind in CHARACTERS:
                fitting = self.fits((kind, value))
                text += fitting[variant * 7 % len(fitting)]
            elif kind in REPEATS:
                text += self.sample(value[2], variant) * max(min(value[0], MANY), variant % 2)
            elif kind is _constants.BRANCH:
                text += self.sample(value[1][variant % len(value[1])], variant)
            elif kind is not _constants.ASSERT_NOT and (kind is not _constants.ASSERT or value[0] < 0):
                text += "".join(self.sample(part, variant) for part in _parts(kind, value)[:1])
        return text

    def characters(self, tree: Any) -> Iterator[str]:
        """Yield the characters that fit anywhere in a pattern."""
        for item in tree:
            yield from self.fits(item)[:24] if item[0] in CHARACTERS else ()
            for part in _parts(*item):
                yield from self.characters(part)

    def fits(self, item: Any) -> list[str]:
        """Return the characters that fit a class."""
        if str(item) not in self.fitting:
            one = _compiler.compile(_parser.SubPattern(self.tree.state, [item]), 0)
            self.fitting[str(item)] = [sign for sign in self.signs if one.fullmatch(self.encoded(sign))] or [
                "a"
            ]
        return self.fitting[str(item)]


def _parts(kind: Any, value: Any) -> Sequence[Any]:
    if kind in REPEATS:
        return [value[2]]
    if kind in (_constants.SUBPATTERN, _constants.BRANCH):
        return [value[3]] if kind is _constants.SUBPATTERN else value[1]  # type: ignore[no-any-return]
    if kind in (_constants.ASSERT, _constants.ASSERT_NOT):
        return [value[1]]
    return [value] if kind is _constants.ATOMIC_GROUP else []


def _codes(tree: Any) -> Iterator[int]:
    for kind, value in tree:
        for sort, code in value if kind is _constants.IN else [(kind, value)]:
            if sort in (_constants.LITERAL, _constants.NOT_LITERAL):
                yield code
            if sort is _constants.RANGE:
                yield from (*code, sum(code) // 2)
        for part in _parts(kind, value):
            yield from _codes(part)


@cache
def uses() -> list[Use]:
    """Return all patterns: of each call that takes one, by its source, or by having run what composes it."""
    trees = {
        path: ast.parse(path.read_text("utf-8")) for path in SOURCE.rglob("*.py") if path.stem != "regex"
    }
    methods = defaultdict[tuple[str, str], set[str]](set)
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in METHODS and isinstance(node.value, ast.Name):
                methods[_owner(path, node.value.id)].add(METHODS[node.attr])
            if (
                isinstance(node, ast.Call)
                and len(node.args) > 1
                and ast.unparse(node.func).endswith(".match")
            ):
                methods[_owner(path, ast.unparse(node.func)[:-6])].add("scan")
    composed, found = _composed(), list[Use]()
    for path, tree in trees.items():
        above = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        for named in filter(_takes_pattern, ast.walk(tree)):
            call = above[named]
            assert isinstance(call, ast.Call) and call.func is named, f"{path}:{named.lineno}: write the call"
            user, place = above[call], f"{path.relative_to(SOURCE)}:{call.lineno}"
            called = (user if isinstance(user, ast.Attribute) else call.func).__dict__.get("attr", "")
            while not isinstance(user, ast.Assign | ast.FunctionDef):
                user = above[user]
            target = user.name if isinstance(user, ast.FunctionDef) else ast.unparse(user.targets[0])
            by = {METHODS[called]} if called in METHODS else methods[_owner(path, target)]
            lines = range(call.lineno, (call.end_lineno or 0) + 1)
            patterns = _written(path, call) or [one for line in lines for one in composed[str(path), line]]
            assert patterns, f"{place}: nothing makes this pattern here; call what does in `_composed`"
            found += [
                Use(place, pattern, tuple(sorted(USED.get(target, by))) or READS) for pattern in patterns
            ]
    return found


def _takes_pattern(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "re":
        return node.attr in {*METHODS, "compile"}
    return False


def _owner(path: Path, name: str) -> tuple[str, str]:
    return (str(path) if name[:1] in ("_", "") else "", name)


def _written(path: Path, call: Any) -> list[re.Pattern[Any]]:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    module = importlib.import_module(".".join(parts).removesuffix(".__init__"))
    flags = [word.value for word in call.keywords if word.arg == "flags"]
    flags += call.args[1:2] if ast.unparse(call.func) == "re.compile" else []
    try:
        text, *flag = (eval(ast.unparse(node), {**vars(module)}) for node in (call.args[0], *flags))
    except NameError:  # it takes the names of a function
        return []
    return [re.compile(text, *flag)]


def _composed() -> dict[tuple[str, int], list[re.Pattern[Any]]]:
    """Call the functions that compose patterns, and return the patterns by the file and the line."""
    seen = defaultdict[tuple[str, int], list[re.Pattern[Any]]](list)
    plain = re._compile  # type: ignore[attr-defined]

    def noted(pattern: Any, flags: int) -> Any:
        caller = sys._getframe(2)
        seen[caller.f_code.co_filename, caller.f_lineno].append(plain(pattern, flags))
        return plain(pattern, flags)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(re, "_compile", noted)
        matching.join_names(["a_scan.pdf"], ["a"], "{id}_{reading}.pdf")
        matching.join_names(["a A7.pdf"], ["A7-gold", "A8-gold"])
        for key in ("sk-canary-1234", r"tnr\\tn-98"):
            SecretKey(key).removed_from("no key")
        recover_id(b"{", ["id"])
        for values in (
            ["01.02.2024", "1.3.2024"],
            ["12,50", "1.300,00"],
            ["EUR 5", "7 kg"],
            ["AB-1", "+49 30 901820"],
        ):
            guess_type("total", values)
        parts._whole_dates("12 mehr 1400", "persian")
        text._punctuation(frozenset({"decimal_point", "minus_sign", "slash", "$"}))
        money._scale(("million", "mio", "万"))
        amounts._without(("EUR", "x.", "-"))
        for words in (numbers._WORDS, numbers.POWERS_OF_TEN):
            numbers._pattern(words)
    return seen
