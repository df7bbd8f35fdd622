"""Changes one operator or constant of a package at a time, and sees whether its tests notice.

Each mutant runs against the tests of its own folder and of the packages that import it, until the first failure;
a survivor also with the arguments of `--also`. What lives is printed: it is equivalent, or a test is missing.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "fieldassay"
PACKAGES = ("engine", "metrics", "stats", "gates", "types")
SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.USub: ast.UAdd,
}  # fmt: skip


def sites(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the operations and constants of code; annotations, signatures and messages are no logic."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.arguments | ast.Raise | ast.JoinedStr):
            continue
        is_number = isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float)
        if is_number or type(operator_of(node)) in SWAPS:
            yield node
        yield from sites(node)


def operator_of(node: ast.AST) -> ast.AST | None:
    return node.ops[0] if isinstance(node, ast.Compare) else getattr(node, "op", None)


def mutate(node: ast.AST) -> None:
    """Change an operation or a constant; operators are shared by all operations, and are replaced."""
    if isinstance(node, ast.Constant):
        node.value = not node.value if isinstance(node.value, bool) else node.value + 1
    elif isinstance(node, ast.Compare):
        node.ops[0] = SWAPS[type(node.ops[0])]()
    else:
        node.op = SWAPS[type(node.op)]()


def tests_of(package: str, src: Path) -> list[str]:
    """Return the doctests and tests of a package, then the tests of the packages that import it."""
    uses = re.compile(rf"^ *from fieldassay\.{package}[. ]", re.MULTILINE)
    files = [file for folder in sorted(PACKAGE.iterdir()) for file in folder.rglob("*.py")]
    importers = [
        one.relative_to(PACKAGE).parts[0] for one in files if uses.search(one.read_text(encoding="utf-8"))
    ]
    folders = [ROOT / "tests" / name for name in dict.fromkeys((package, *importers))]
    return [str(path) for path in (src / "fieldassay" / package, *folders) if path.exists()]


def is_killed(src: Path, arguments: list[str]) -> bool:
    """Return whether a test fails, or does not end, with the package in `src`."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(src)}
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, timeout=600, check=False
        )
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0


def try_package(package: str, src: Path, options: argparse.Namespace) -> None:
    """Try mutants of a package, print each that its tests do not kill, and count."""
    files = sorted((PACKAGE / package).rglob("*.py"))
    trees = {file: ast.parse(file.read_text(encoding="utf-8")) for file in files}
    known = [(file, at) for file, tree in trees.items() for at, _ in enumerate(sites(tree))]
    counts = Counter[str]()
    for file, at in random.Random(f"{options.seed} {package}").sample(known, options.number):
        target, before = src / file.relative_to(ROOT / "src"), ast.unparse(trees[file])
        tree = ast.parse(file.read_text(encoding="utf-8"))
        mutate(list(sites(tree))[at])
        target.write_text(after := ast.unparse(tree), encoding="utf-8")
        result = "killed" if is_killed(src, tests_of(package, src)) else "lives"
        if result == "lives" and options.also:
            result = "killed later" if is_killed(src, shlex.split(options.also)) else "lives"
        shutil.copy(file, target)
        counts[result] += 1
        if result != "killed":
            lines = zip(before.split("\n"), after.split("\n"), strict=True)
            changed = next(f"{old.strip()} -> {new.strip()}" for old, new in lines if old != new)
            print(f"{result}: {file.relative_to(PACKAGE)}: {changed}", flush=True)
    print(package, dict(counts), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Change one operation at a time; do tests notice?")
    parser.add_argument("packages", nargs="*", default=PACKAGES)
    parser.add_argument("--number", type=int, default=20, help="mutants of each package")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--also", default="", help="pytest arguments that survivors are run with, too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        src = Path(shutil.copytree(ROOT / "src", Path(folder) / "src"))
        for package in options.packages:
            try_package(package, src, options)


if __name__ == "__main__":
    main()
