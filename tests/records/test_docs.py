"""The page on inputs names everything that can be met."""

import ast
from collections.abc import Iterator
from pathlib import Path

from fieldassay.records.envelope import META_SHAPES
from fieldassay.spec.language.names import ID_NAMES

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "inputs.md").read_text("utf-8")
TREES = [
    ast.parse(path.read_text("utf-8"))
    for path in sorted((ROOT / "src" / "fieldassay" / "records").rglob("*.py"))
]


def calls(*names: str) -> Iterator[ast.Call]:
    for tree in TREES:
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and (
                getattr(node.func, "id", None) in names or getattr(node.func, "attr", None) in names
            ):
                yield node


def test_every_kind_of_problem_is_documented() -> None:
    kinds = {
        call.args[3].value
        for call in calls("Problem", "_error")
        if len(call.args) > 3 and isinstance(call.args[3], ast.Constant)
    }
    assert len(kinds) > 15
    assert [kind for kind in sorted(kinds) if f"`{kind}`" not in PAGE] == []


def test_every_repair_is_documented() -> None:
    appended = [
        node.value
        for call in calls("append")
        if isinstance(call.func, ast.Attribute) and "repairs" in ast.unparse(call.func.value)
        for node in ast.walk(call)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "_" in node.value
    ]
    assert len(set(appended)) > 10
    assert [name for name in sorted(set(appended)) if f"`{name}`" not in PAGE] == []


def test_every_id_name_and_key_beside_the_data_is_documented() -> None:
    assert [name for name in (*ID_NAMES, *META_SHAPES) if f"`{name}" not in PAGE] == []
