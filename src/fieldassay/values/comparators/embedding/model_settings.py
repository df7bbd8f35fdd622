"""What the configuration files of a model folder say about how a text becomes a vector."""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath
from typing import Any

from msgspec import Struct

INDEX = "model.safetensors.index.json"
_TOKENIZERS = (
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "sentencepiece.bpe.model",
    "spiece.model",
    "tokenizer.model",
)
_POOLINGS = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
_OTHER = "use `backend: sentence-transformers`"
_LEAST_LENGTH = 4
FAMILIES = ("bert", "camembert", "distilbert", "roberta", "xlm-roberta")
"""The model types that the numpy backend computes."""
ACTIVATIONS = ("gelu", "gelu_new", "gelu_pytorch_tanh", "relu")


class Settings(Struct, frozen=True):
    """What the numpy backend needs to know of a model, besides its weights and its tokenizer."""

    folder: Path
    """Holds the weights and the tokenizer."""
    family: str
    layers: int
    heads: int
    dimension: int
    activation: str
    epsilon: float
    pad: int
    max_length: int
    """The number of tokens after which a text is cut, special tokens included."""
    pooling: str
    is_lowercase: bool


def module_folders(folder: Path) -> dict[str, Path]:
    """Return the folders of a model's modules by kind, in order; without a list only a transformer."""
    if not (folder / "modules.json").is_file():
        if (folder / "1_Pooling").exists():
            raise ValueError(
                f"{folder} has a pooling module but no modules.json, without which its modules do not count; "
                "restore the file"
            )
        return {"Transformer": folder}
    modules = _json(folder / "modules.json")
    try:
        return {str(module["type"]).rpartition(".")[2]: folder / _inner(module["path"]) for module in modules}
    except (TypeError, KeyError, ValueError) as error:
        raise ValueError(
            f"{folder / 'modules.json'} is not a list of modules in folders of the model; restore the file"
        ) from error


def weight_files(folder: Path) -> tuple[Path, ...]:
    """Return the weight files in a folder: one, or the parts that an index names; empty if there are none."""
    if (folder / "model.safetensors").is_file():
        return (folder / "model.safetensors",)
    if (folder / INDEX).is_file():
        try:
            return tuple(
                folder / _inner(name) for name in sorted(set(_mapping(folder / INDEX)["weight_map"].values()))
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{folder / INDEX} names no files of the folder; restore the file") from error
    return ()


def model_files(folder: Path) -> tuple[Path, ...]:
    """Return the files of a model that determine its numbers, in order.

    They are the configurations, tokenizer and weights of every module.
    """
    found: list[Path] = []
    for module in module_folders(folder).values():
        tokenizer = ("tokenizer.json",) if (module / "tokenizer.json").is_file() else _TOKENIZERS
        named = [module / name for name in ("config.json", "sentence_bert_config.json", *tokenizer)]
        weights = weight_files(module) or (module / "pytorch_model.bin",)
        found += [path for path in (*named, *weights) if path.is_file()]
    return tuple(dict.fromkeys(found))


def lacks_for_numpy(folder: Path) -> str:
    """Return what a folder lacks for the numpy backend, in words; empty if it lacks nothing."""
    transformer = module_folders(folder).get("Transformer", folder)
    for name in ("config.json", "tokenizer.json"):
        if not (transformer / name).is_file():
            return name
    weights = weight_files(transformer)
    missing = [path.name for path in weights if not path.is_file()]
    return missing[0] if missing else "" if weights else "model.safetensors"


def lacks_for_any(folder: Path) -> str:
    """Return a description of the files that a sentence-transformers model folder lacks; empty if none."""
    transformer = module_folders(folder).get("Transformer", folder)
    if not (transformer / "config.json").is_file():
        return "config.json"
    return (
        ""
        if weight_files(transformer) or (transformer / "pytorch_model.bin").is_file()
        else "model.safetensors or pytorch_model.bin"
    )


def read_settings(folder: Path) -> Settings:
    """Return the settings of the model in a folder.

    Raises ValueError where the numpy backend would compute something other than the model does.
    """
    modules = module_folders(folder)
    _refuse_modules(folder, modules)
    transformer = modules.get("Transformer", folder)
    config = _mapping(transformer / "config.json")
    family = str(config.get("model_type"))
    if family not in FAMILIES:
        raise ValueError(
            f"{folder}: the numpy backend does not compute models of the type {family!r} "
            f"(only {', '.join(FAMILIES)}); {_OTHER}"
        )
    _refuse_variants(folder, config)
    reading = _optional(transformer / "sentence_bert_config.json") if "Pooling" in modules else {}
    is_distilled = family == "distilbert"
    activation = str(config.get("activation" if is_distilled else "hidden_act", "gelu"))
    if activation not in ACTIVATIONS:
        raise ValueError(f"{folder}: the numpy backend does not know the activation {activation!r}; {_OTHER}")
    heads = _number(folder, config, "n_heads" if is_distilled else "num_attention_heads")
    dimension = _number(folder, config, "dim" if is_distilled else "hidden_size")
    if dimension % heads:
        raise ValueError(
            f"{folder}: config.json has {dimension} dimensions, which {heads} heads cannot share; "
            "restore the file"
        )
    return Settings(
        folder=transformer,
        family=family,
        layers=_number(folder, config, "n_layers" if is_distilled else "num_hidden_layers"),
        heads=heads,
        dimension=dimension,
        activation=activation,
        epsilon=1e-12 if is_distilled else float(config.get("layer_norm_eps", 1e-12)),
        pad=int(config.get("pad_token_id") or 0),
        max_length=_max_length(folder, transformer, config, reading),
        pooling=_pooling(folder, modules),
        is_lowercase=bool(reading.get("do_lower_case", False)),
    )


def has_shifted_positions(family: str) -> bool:
    """Return whether the positions of a family start after the padding token's number."""
    return family in ("camembert", "roberta", "xlm-roberta")


def _refuse_modules(folder: Path, modules: dict[str, Path]) -> None:
    others = [name for name in modules if name not in ("Transformer", "Pooling", "Normalize")]
    if others:
        raise ValueError(f"{folder}: the numpy backend has no module {others[0]!r}; {_OTHER}")
    if "Pooling" not in modules and (folder / "modules.json").is_file():
        raise ValueError(
            f"{folder}: modules.json names no pooling, so the model makes no vector of a text; "
            "restore the file"
        )
    told = _optional(folder / "config_sentence_transformers.json")
    prompt = (told.get("prompts") or {}).get(told.get("default_prompt_name"))
    if prompt:
        raise ValueError(
            f"{folder}: the model puts a prompt before every text, which the numpy backend does not; {_OTHER}"
        )


def _refuse_variants(folder: Path, config: dict[str, Any]) -> None:
    if config.get("position_embedding_type", "absolute") != "absolute":
        raise ValueError(f"{folder}: the numpy backend knows absolute positions only; {_OTHER}")
    if config.get("is_decoder"):
        raise ValueError(
            f"{folder}: the model is a decoder, and the numpy backend computes encoders only; {_OTHER}"
        )


def _pooling(folder: Path, modules: dict[str, Path]) -> str:
    if "Pooling" not in modules:
        return "mean"
    told = _optional(modules["Pooling"] / "config.json")
    modes = [name for key, name in _POOLINGS.items() if told.get(key)]
    newer = told.get("pooling_mode")
    if newer:
        modes = [newer] if isinstance(newer, str) else [str(mode) for mode in newer]
    modes = modes or ["mean"]
    if len(modes) != 1 or modes[0] not in ("cls", "max", "mean"):
        raise ValueError(
            f"{folder}: the numpy backend does not pool by {' and '.join(modes)} "
            f"(only by cls, max or mean); {_OTHER}"
        )
    return modes[0]


def _max_length(folder: Path, transformer: Path, config: dict[str, Any], reading: dict[str, Any]) -> int:
    positions = _number(folder, config, "max_position_embeddings")
    if has_shifted_positions(str(config["model_type"])):
        positions -= int(config.get("pad_token_id") or 0) + 1
    told = (
        reading.get("max_seq_length")
        or _optional(transformer / "tokenizer_config.json").get("model_max_length")
        or positions
    )
    if not isinstance(told, int | float) or not told >= _LEAST_LENGTH:
        raise ValueError(f"{folder}: the model is said to read {told!r} tokens of a text; restore its files")
    return int(min(told, positions))


def _number(folder: Path, config: dict[str, Any], key: str) -> int:
    value = config.get(key)
    if not isinstance(value, int) or value < 1:
        raise ValueError(
            f"{folder}: config.json does not say {key!r} as a number of 1 or more; restore the file"
        )
    return value


def _optional(path: Path) -> dict[str, Any]:
    return _mapping(path) if path.is_file() else {}


def _mapping(path: Path) -> dict[str, Any]:
    told = _json(path)
    if not isinstance(told, dict):
        raise ValueError(f"{path} is not a JSON object; restore the file")
    return told


def _inner(name: Any) -> str:
    """Return a path that stays inside its folder. Raises ValueError for any other."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts:
        raise ValueError(f"{name!r} is outside the model's folder")
    return str(path)


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise ValueError(f"{path} cannot be read as JSON ({error}); restore the file") from error
