"""Tables of the documentation, as data for tests."""

import re
from pathlib import Path


def rows(path: Path, heading: str) -> list[dict[str, str]]:
    """Return the rows of the first pipe table under the heading, by column name.

    A cell that is one code span loses its backticks.
    """
    lines = path.read_text(encoding="utf-8").splitlines()
    start = next(
        index for index, line in enumerate(lines) if re.fullmatch(rf"#+ {re.escape(heading)}\s*", line)
    )
    table: list[list[str]] = []
    for line in lines[start + 1 :]:
        if line.startswith("|"):
            table.append(_cells(line))
        elif table or line.startswith("#"):
            break
    header, _, *body = table
    return [dict(zip(header, cells, strict=True)) for cells in body]


def _cells(line: str) -> list[str]:
    cells = re.split(r"(?<!\\)\|", line.strip())[1:-1]
    return [_plain(cell.strip().replace(r"\|", "|")) for cell in cells]


def _plain(cell: str) -> str:
    return cell[1:-1] if len(cell) > 1 and cell[0] == cell[-1] == "`" and cell.count("`") == 2 else cell
