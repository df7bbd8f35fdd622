"""Counts statements by package, and holds `src` and `tests` to their ceilings in `budget.toml`.

A statement is every `ast.stmt` but a bare text. Lines can be squeezed, and concepts cannot: what needs more room
makes it elsewhere, and a change that shrinks `src` lowers its ceiling by half of what it saved.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def count_statements(text: str) -> int:
    """Return the number of statements of a module, bare texts not counted."""
    return sum(isinstance(node, ast.stmt) and not _is_text(node) for node in ast.walk(ast.parse(text)))


def _is_text(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def count_packages(root: Path) -> Counter[str]:
    """Return the statements below a folder, by the first folder or file below it."""
    counts: Counter[str] = Counter()
    for path in root.rglob("*.py"):
        counts[path.relative_to(root).parts[0]] += count_statements(path.read_text(encoding="utf-8"))
    return counts


def main() -> int:
    """Print the counts; return 1 if a ceiling is exceeded."""
    ceilings = tomllib.loads((ROOT / "budget.toml").read_text(encoding="utf-8"))["statements"]
    packages = count_packages(ROOT / "src" / "fieldassay")
    print(", ".join(f"{name} {count:,}" for name, count in packages.most_common()))
    counted = {"src": packages.total(), "tests": count_packages(ROOT / "tests").total()}
    for name, count in counted.items():
        print(f"{name}: {count:,} statements of at most {ceilings[name]:,}")
    over = [name for name, count in counted.items() if count > ceilings[name]]
    for name in over:
        print(f"{name}: make room, or say in budget.toml why the ceiling rises", file=sys.stderr)
    return int(bool(over))


if __name__ == "__main__":
    sys.exit(main())
