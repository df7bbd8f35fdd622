"""Changes one operator or constant of a package at a time, and sees whether its tests notice.

Each mutant runs until the first failure against the quick tests of its own folder (1), of the packages that import
it and of the golden numbers (2), then the slow ones of both (3, 4); a survivor also with the arguments of `--also`
(5). What lives is equivalent, or a test is missing. Packages take turns: a part of a run is a sample of them all.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "fieldassay"
PACKAGES = ["scoring/engine", "metrics", "metrics/uncertainty", "decisions/gates", "values/types"]
SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.USub: ast.UAdd,
}  # fmt: skip


def parse(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def sites(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the operations and constants of code; annotations, signatures and messages are no logic."""
    for node in ast.iter_child_nodes(tree):
        operator = node.ops[0] if isinstance(node, ast.Compare) else getattr(node, "op", None)
        if type(operator) in SWAPS or isinstance(getattr(node, "value", None), bool | int | float):
            yield node
        if not isinstance(node, ast.arguments | ast.Raise | ast.JoinedStr):
            yield from sites(node)


def mutate(node: ast.AST) -> None:
    """Change an operation or a constant; operators are shared by all operations, and are replaced."""
    if isinstance(node, ast.Constant):
        node.value = not node.value if isinstance(node.value, bool) else node.value + 1
    elif isinstance(node, ast.Compare):
        node.ops[0] = SWAPS[type(node.ops[0])]()
    else:
        node.op = SWAPS[type(node.op)]()


def stages_of(package: str, src: Path) -> list[list[str]]:
    """Return pytest arguments, quickest first: doctests and tests of a package, then those of its importers."""
    uses = re.compile(rf"^ *from fieldassay\.{package.replace('/', '.')}[. ]", re.MULTILINE)
    users = [file for file in PACKAGE.rglob("*.py") if uses.search(file.read_text(encoding="utf-8"))]
    names = {file.relative_to(PACKAGE).parts[0] for file in users} - {package.split("/")[0]}
    folders = [folder for name in names if (folder := ROOT / "tests" / name).exists()]
    folders.sort(key=lambda folder: len([*folder.rglob("*.py")]))
    own = [str(src / "fieldassay" / package), f"{ROOT}/tests/{package}"]
    importers = [*map(str, folders), f"{ROOT}/tests/test_golden.py"]  # for importers without a folder
    return [["-m", marker, *part] for marker in ("not slow", "slow") for part in (own, importers)]


def killer(src: Path, arguments: list[str]) -> str:
    """Return the test that fails first with the package in `src`, or else an empty text."""
    command = [sys.executable, "-m", "pytest", "-x", "-n", "0", "--hypothesis-seed=1", *arguments]
    own = {"PYTHONPATH": str(src), "HYPOTHESIS_STORAGE_DIRECTORY": f"{src}.db", "PYTHONDONTWRITEBYTECODE": ""}
    log = src.with_suffix(".log")  # a pipe would stay open as long as a process that a test has left
    with log.open("wb") as output, contextlib.suppress(subprocess.TimeoutExpired):
        code = subprocess.run(command, cwd=ROOT, env=os.environ | own, stdout=output, timeout=1800).returncode
        failed = re.search(r"^(?:FAILED|ERROR) (\S+)", log.read_text("utf-8"), re.MULTILINE)
        return "" if code in (0, 5) else failed[1] if failed else f"exit {code}"
    return "no end"


def try_mutant(src: Path, file: Path, at: int, stages: list[list[str]]) -> str:
    """Change one operation or constant; print and return at which stage it is killed, or that it lives."""
    before = ast.unparse(tree := parse(file))
    mutate(node := list(sites(tree))[at])
    target = src / file.relative_to(ROOT / "src")
    target.write_text(after := ast.unparse(tree), encoding="utf-8")
    tried = ((f"killed at {stage}", killer(src, one)) for stage, one in enumerate(stages, 1))
    result, test = next((pair for pair in tried if pair[1]), ("lives", ""))
    shutil.copy(file, target)
    lines = zip(before.split("\n"), after.split("\n"), strict=True)
    changed = next((f"{old.strip()} -> {new.strip()}" for old, new in lines if old != new), "no change")
    print(f"{result}: {file.relative_to(PACKAGE)}:{node.lineno}: {changed}  {test}", flush=True)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description="Change one operation at a time; do tests notice?")
    parser.add_argument("packages", nargs="*", default=PACKAGES)
    parser.add_argument("--number", type=int, default=20, help="mutants of each package")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--also", nargs=argparse.REMAINDER, default=[], help="pytest arguments, for survivors"
    )
    options = parser.parse_args()
    last, counts, chosen = [options.also] if options.also else [], Counter[str](), []
    for package in options.packages:
        files = sorted((PACKAGE / package).rglob("*.py"))
        known = [(package, file, at) for file in files for at, _ in enumerate(sites(parse(file)))]
        chosen.append(random.Random(f"{options.seed} {package}").sample(known, options.number))
    with tempfile.TemporaryDirectory() as folder:
        src = Path(shutil.copytree(ROOT / "src", Path(folder) / "src"))
        for package, file, at in (mutant for turn in zip(*chosen, strict=True) for mutant in turn):
            counts[f"{package} {try_mutant(src, file, at, [*stages_of(package, src), *last])}"] += 1
    print(*(f"{name}: {count}" for name, count in sorted(counts.items())), sep="\n")


if __name__ == "__main__":
    main()
