"""Embedding models on this machine: checked early, loaded once per process, identified by a file digest."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, TypeAlias

from fieldassay.errors import MissingExtraError, problem
from fieldassay.io.files.whole_files import digest_file
from fieldassay.values.comparators.embedding.encoder import Encoder
from fieldassay.values.comparators.embedding.model_folders import ModelFolder, find_model
from fieldassay.values.comparators.embedding.model_settings import (
    lacks_for_any,
    lacks_for_numpy,
    model_files,
    module_folders,
    read_settings,
    weight_files,
)

Backend: TypeAlias = Literal["numpy", "sentence-transformers"]
_NEEDED: dict[str, tuple[str, tuple[str, ...]]] = {
    "numpy": ("embeddings", ("tokenizers", "safetensors")),
    "sentence-transformers": ("sentence-transformers", ("sentence_transformers",)),
}
_Stamps: TypeAlias = tuple[tuple[Path, int, int], ...]


def require_backend(backend: Backend) -> None:
    """Do nothing if the packages of a backend are installed. Raises `MissingExtraError`; imports nothing."""
    extra, modules = _NEEDED[backend]
    missing = [module.replace("_", "-") for module in modules if find_spec(module) is None]
    if missing:
        what = f"the comparator 'embedding' needs {' and '.join(missing)} for its backend {backend!r}"
        raise MissingExtraError(f"{what}; run `pip install 'fieldassay[{extra}]'`")


def check_model(model: str, backend: Backend, environment: Mapping[str, str]) -> ModelFolder:
    """Return the folder of the model.

    Raises `MissingExtraError` if it is not on this machine, ValueError if the backend cannot compute it.
    """
    folder = find_model(model, environment, lacks_for_numpy if backend == "numpy" else lacks_for_any)
    if backend == "numpy":
        read_settings(folder.path)
    return folder


def digest_model(folder: ModelFolder) -> str:
    """Return the SHA-256 over the model's weights, tokenizer and configurations, in hexadecimal.

    The folder's name is not part of it.
    Raises `ProblemsError` if the weights are not those that the folder must have.
    """
    return _digest(folder, _stamps(model_files(folder.path)))


def load_encoder(folder: ModelFolder, backend: Backend) -> Encoder:
    """Return the encoder of a model; loaded once per process as long as its files stay the same."""
    transformer = module_folders(folder.path).get("Transformer", folder.path)
    beside = [
        folder.path / "modules.json",
        folder.path / "config_sentence_transformers.json",
        transformer / "tokenizer_config.json",
    ]
    stamps = _stamps([path for path in beside if path.is_file()])
    return _encoder(folder.path, backend, digest_model(folder), stamps)


def _stamps(files: Iterable[Path]) -> _Stamps:
    status = [(path, path.stat()) for path in files]
    return tuple((path, told.st_size, told.st_mtime_ns) for path, told in status)


@lru_cache(maxsize=16)
def _digest(folder: ModelFolder, stamps: _Stamps) -> str:
    digests = {path: digest_file(path) for path, _, _ in stamps}
    weights = weight_files(module_folders(folder.path).get("Transformer", folder.path))
    found = [digests[path] for path in weights]
    if folder.pinned is not None and found != [folder.pinned]:
        what = (
            f"the weights of the {folder.source} are not the published ones "
            f"(SHA-256 {', '.join(found) or 'of nothing'})"
        )
        raise problem(
            folder.path,
            what,
            "install the package again, or give another folder as `model:`",
            "altered_model",
        )
    lines = (f"{path.relative_to(folder.path).as_posix()} {digest}\n" for path, digest in digests.items())
    return hashlib.sha256("".join(lines).encode()).hexdigest()


@lru_cache(maxsize=4)
def _encoder(folder: Path, backend: Backend, _digest: str, _beside: _Stamps) -> Encoder:
    if backend == "numpy":
        from fieldassay.values.comparators.embedding.numpy_encoder import NumpyEncoder

        return NumpyEncoder(folder)
    from fieldassay.values.comparators.embedding.sentence_transformers_encoder import (
        SentenceTransformersEncoder,
    )

    return SentenceTransformersEncoder(folder)


def identity_of(model: str, backend: Backend, folder: ModelFolder) -> dict[str, Any]:
    """Return what says which model made the numbers."""
    facts = load_encoder(folder, backend).facts()
    return {
        "name": model,
        "backend": backend,
        "digest": digest_model(folder),
        "source": folder.source,
        **facts,
    }
