"""What the site that mkdocs builds needs besides its pages: links to the repository, a name of its search."""

import re
from pathlib import PurePosixPath
from posixpath import normpath
from typing import Any


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Return a page whose links to files outside of docs/ lead to the repository."""
    folder = PurePosixPath("docs") / PurePosixPath(page.file.src_uri).parent
    repository = f"{config.extra['repository']}/blob/main"

    def lead(found: re.Match[str]) -> str:
        target = normpath(folder / found[1])
        return found[0] if target.startswith("docs/") else f"]({repository}/{target}"

    return re.sub(r"\]\((\.\./[^)#\s]+)", lead, markdown)


def on_post_page(output: str, **_: Any) -> str:
    """Return a page whose dialog for searching has a name."""
    return output.replace('role="dialog"', 'role="dialog" aria-label="Search"')
