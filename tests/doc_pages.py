"""The pages of the documentation, and the code blocks in them, for tests."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
FILES = {str(path.relative_to(ROOT)): path for path in (*ROOT.glob("*.md"), *sorted(DOCS.rglob("*.md")))}
TEXTS = {name: path.read_text(encoding="utf-8") for name, path in FILES.items()}
"""Every page by its path from the root of the repository."""

FENCE = re.compile(r"^```([a-z]*)[^\n]*\n(.*?)^```[ ]*$", re.MULTILINE | re.DOTALL)


def blocks(page: str | Path, language: str) -> list[str]:
    """Return the code blocks of one language in a page, or in a file, in order."""
    text = page.read_text(encoding="utf-8") if isinstance(page, Path) else TEXTS[page]
    return [body for found, body in FENCE.findall(text) if found == language]
