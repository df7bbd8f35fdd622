"""Changes one operator or constant of a package at a time, and sees whether its tests notice.

`python bench/mutants.py [PACKAGE ...] [--number 20] [--seed 1] [--also PYTEST ARGUMENTS]`: each mutant runs against
the tests of its own folder and of the packages that import it directly, until the first failure. A survivor also
runs with the arguments of `--also`, such as `--hypothesis-profile full -m full tests`. What lives is printed as a
changed line, for a person to look at: it is equivalent, or a test is missing.
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
    """Yield the operators and constants of code; annotations, signatures and messages are no logic."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.arguments | ast.Raise | ast.JoinedStr) or (
            isinstance(node, ast.Constant) and not isinstance(node.value, bool | int | float)
        ):
            continue
        if type(node) in SWAPS or isinstance(node, ast.Constant):
            yield node
        yield from sites(node)


class Mutation(ast.NodeTransformer):
    """Changes one site of a tree."""

    def __init__(self, site: ast.AST) -> None:
        self.site = site

    def visit(self, node: ast.AST) -> ast.AST:
        if node is not self.site:
            return self.generic_visit(node)
        if isinstance(node, ast.Constant):
            return ast.Constant(not node.value if isinstance(node.value, bool) else node.value + 1)
        return SWAPS[type(node)]()


def tests_of(package: str, src: Path) -> list[str]:
    """Return the doctests and tests of a package, then the tests of the packages that import it."""
    importers = [
        folder.name
        for folder in sorted(PACKAGE.iterdir())
        for file in folder.rglob("*.py")
        if re.search(rf"^ *from fieldassay\.{package}[. ]", file.read_text(encoding="utf-8"), re.MULTILINE)
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
        after = ast.unparse(Mutation(list(sites(tree))[at]).visit(tree))
        target.write_text(after, encoding="utf-8")
        result = "killed" if is_killed(src, tests_of(package, src)) else "lives"
        if result == "lives" and options.also:
            result = "killed later" if is_killed(src, shlex.split(options.also)) else "lives"
        shutil.copy(file, target)
        counts[result] += 1
        if result != "killed":
            pairs = zip(before.split("\n"), after.split("\n"), strict=True)
            old, new = next(pair for pair in pairs if pair[0] != pair[1])
            print(f"{result}: {file.relative_to(PACKAGE)}: {old.strip()} -> {new.strip()}", flush=True)
    print(package, dict(counts), flush=True)


def main() -> None:
    """Try mutants of each package."""
    parser = argparse.ArgumentParser(
        description="Change one operator or constant at a time; do tests notice?"
    )
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
