"""Where vectors are kept between runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

VARIABLE = "FIELDASSAY_CACHE"
"""The environment variable that names another cache folder, or says `off`."""


def cache_folder(environment: Mapping[str, str], platform: str) -> Path | None:
    """Return the folder of the embedding cache on a platform (as in `sys.platform`); None if it is switched off or cannot be anywhere.

    >>> cache_folder({"FIELDASSAY_CACHE": "/scratch"}, "linux").as_posix()
    '/scratch/embeddings'
    >>> cache_folder({"FIELDASSAY_CACHE": "off"}, "linux") is None
    True
    """
    given = environment.get(VARIABLE, "").strip()
    if given.lower() == "off":
        return None
    try:
        home = Path(given).expanduser() if given else _user_folder(environment, platform)
        return home.absolute() / "embeddings"
    except (RuntimeError, OSError):  # nobody's home; a working folder that is gone
        return None


def _user_folder(environment: Mapping[str, str], platform: str) -> Path:
    if platform == "win32":
        local = environment.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "fieldassay" / "Cache"
    if platform == "darwin":
        return Path.home() / "Library" / "Caches" / "fieldassay"
    told = Path(environment.get("XDG_CACHE_HOME", ""))
    return (told if told.is_absolute() else Path.home() / ".cache") / "fieldassay"  # a relative one does not count, says the XDG standard
