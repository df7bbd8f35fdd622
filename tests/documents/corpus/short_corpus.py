"""A part of the shipped corpus, as a corpus of its own."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fieldassay.documents.corpus.manifest import SHIPPED


def shorten_corpus(folder: Path, is_in: Callable[[dict[str, Any]], bool]) -> Path:
    """Return a folder with the documents that are in, and with their tasks."""
    corpus = json.loads((SHIPPED / "corpus.json").read_text(encoding="utf-8"))
    corpus["documents"] = [one for one in corpus["documents"] if is_in(one)]
    ids = {one["id"] for one in corpus["documents"]}
    tasks = {one["task"] for one in corpus["documents"]}
    corpus["tasks"] = {name: files for name, files in corpus["tasks"].items() if name in tasks}
    for one in corpus["documents"]:
        (folder / one["file"]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(SHIPPED / one["file"], folder / one["file"])
    for files in corpus["tasks"].values():
        shutil.copyfile(SHIPPED / files["spec"], folder / files["spec"])
        rows = (SHIPPED / files["gold"]).read_text(encoding="utf-8").splitlines(keepends=True)
        kept = [row for row in rows if not ids.isdisjoint(map(str, json.loads(row).values()))]
        (folder / files["gold"]).write_text("".join(kept), encoding="utf-8")
    (folder / "corpus.json").write_text(json.dumps(corpus), encoding="utf-8")
    return folder
