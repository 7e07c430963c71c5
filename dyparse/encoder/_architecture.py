"""The architecture of a pretrained model as data: numbers within bounds and known words.

A `config.json` is not harmless: it can name code, in `auto_map`, or a kernel to fetch, in
`attn_implementation`. Only what is listed here is taken from one, and only this is handed to
`transformers`; a model directory keeps it as `architecture.json`.
"""

import json
from typing import Any

FAMILIES = {  # `model_type`, and how attention is computed: sdpa is torch's fused one
    "albert": "sdpa",
    "bert": "sdpa",
    "camembert": "sdpa",
    "deberta": "eager",
    "deberta-v2": "eager",
    "distilbert": "sdpa",
    "electra": "sdpa",
    "modernbert": "sdpa",
    "mpnet": "eager",
    "roberta": "sdpa",
    "xlm-roberta": "sdpa",
}
POSITIONS_AFTER_PADDING = ("camembert", "roberta", "xlm-roberta")
WHOLE = {  # from, to
    "vocab_size": (1, 4_000_000),
    "hidden_size": (1, 16_384),
    "embedding_size": (1, 16_384),
    "dim": (1, 16_384),
    "intermediate_size": (1, 131_072),
    "hidden_dim": (1, 131_072),
    "num_hidden_layers": (1, 256),
    "n_layers": (1, 256),
    "num_hidden_groups": (1, 256),
    "inner_group_num": (1, 256),
    "num_attention_heads": (1, 1024),
    "n_heads": (1, 1024),
    "max_position_embeddings": (1, 131_072),
    "type_vocab_size": (0, 1024),
    "pad_token_id": (0, 4_000_000),
    "max_relative_positions": (-1, 131_072),
    "position_buckets": (-1, 131_072),
    "relative_attention_num_buckets": (1, 4096),
    "conv_kernel_size": (0, 64),
    "local_attention": (1, 131_072),
    "global_attn_every_n_layers": (1, 256),
}
FRACTION, THETA = (0.0, 1.0), (1.0, 1e9)
NUMBERS = {
    "hidden_dropout_prob": FRACTION,
    "attention_probs_dropout_prob": FRACTION,
    "dropout": FRACTION,
    "attention_dropout": FRACTION,
    "embedding_dropout": FRACTION,
    "mlp_dropout": FRACTION,
    "layer_norm_eps": FRACTION,
    "norm_eps": FRACTION,
    "global_rope_theta": THETA,
    "local_rope_theta": THETA,
}
ACTIVATIONS = ("gelu", "gelu_new", "gelu_fast", "gelu_pytorch_tanh", "relu", "silu", "tanh")
TRUTH = (True, False)
WORDS = {
    "sinusoidal_pos_embds": TRUTH,
    "relative_attention": TRUTH,
    "position_biased_input": TRUTH,
    "share_att_key": TRUTH,
    "norm_bias": TRUTH,
    "attention_bias": TRUTH,
    "mlp_bias": TRUTH,
    "legacy": TRUTH,
    "hidden_act": ACTIVATIONS,
    "activation": ACTIVATIONS,
    "hidden_activation": ACTIVATIONS,
    "conv_act": ACTIVATIONS,
    "norm_rel_ebd": ("layer_norm", "none"),
    "position_embedding_type": ("absolute",),
}
LISTS = {
    "pos_att_type": ("p2c", "c2p", "p2p"),
    "layer_types": ("full_attention", "sliding_attention"),
}
ATTENTION = (None, "eager", "sdpa", "flash_attention_2")  # a name such as org/kernel is code
FORBIDDEN = ("auto_map", "trust_remote_code", "quantization_config")
ROPE = ("full_attention", "sliding_attention")


def architecture_of(config: Any) -> dict[str, Any]:
    """The options above, of a `config.json` or `architecture.json`; ValueError if one is wrong."""
    kind = config.get("model_type") if isinstance(config, dict) else config
    if not isinstance(config, dict) or not isinstance(kind, str) or kind not in FAMILIES:
        raise ValueError(
            f"model_type is {str(kind)[:40]!r}, expected an encoder: one of {', '.join(FAMILIES)}"
        )
    for name in FORBIDDEN:
        if config.get(name):
            raise ValueError(f"{name} names code or a format that is not loaded; remove it")
    for name in ("attn_implementation", "_attn_implementation"):
        if config.get(name) not in ATTENTION:
            raise ValueError(f"{name} is {str(config[name])[:60]!r}: kernels are not fetched")
    taken = {name: _taken(name, value) for name, value in config.items() if value is not None}
    found = {name: value for name, value in sorted(taken.items()) if value is not None}
    architecture = {"model_type": kind, **found}
    n_positions(architecture)
    if found.get("type_vocab_size") == 0 and not kind.startswith("deberta"):
        raise ValueError("type_vocab_size is 0, expected 1 or more")
    return architecture


def architecture_in(content: bytes) -> dict[str, Any]:
    """The architecture in the bytes of a json file."""
    try:
        return architecture_of(json.loads(content))
    except RecursionError as error:
        raise ValueError("lists within each other, too many") from error


def _taken(name: str, value: Any) -> Any:
    """The value of an option, None if it is not taken; ValueError if it is out of bounds."""
    if name in WHOLE:
        return _number(name, value, WHOLE[name], (int,))
    if name in NUMBERS:
        return _number(name, value, NUMBERS[name], (int, float))
    if name in WORDS:
        return _known(name, value, WORDS[name])
    if name in LISTS:
        return _list(name, value.split("|") if isinstance(value, str) else value)
    return _rope(value) if name == "rope_parameters" else None


def _list(name: str, value: Any) -> list[Any]:
    if not isinstance(value, list) or len(value) > WHOLE["num_hidden_layers"][1]:
        raise ValueError(f"{name} is {str(value)[:60]!r}, expected a list")
    return [_known(name, item, LISTS[name]) for item in value]


def _rope(value: Any) -> dict[str, dict[str, Any]]:
    """Bases of rotary positions, by the kind of attention."""
    if not isinstance(value, dict) or not set(value) <= set(ROPE):
        raise ValueError(f"rope_parameters are {str(value)[:60]!r}, expected {' and '.join(ROPE)}")
    found = {}
    for kind, parameters in value.items():
        if not isinstance(parameters, dict) or parameters.get("rope_type") != "default":
            raise ValueError(f"rope_parameters.{kind} are not of the rope_type 'default'")
        theta = _number("rope_theta", parameters.get("rope_theta"), THETA, (int, float))
        found[kind] = {"rope_type": "default", "rope_theta": theta}
    return found


def _number(name: str, value: Any, bounds: tuple[float, float], kinds: tuple[type, ...]) -> Any:
    least, most = bounds
    if type(value) not in kinds or not least <= value <= most:
        raise ValueError(f"{name} is {str(value)[:60]}, expected {least} to {most}")
    return value


def _known(name: str, value: Any, known: tuple[Any, ...]) -> Any:
    if type(value) is not type(known[0]) or value not in known:
        raise ValueError(f"{name} is {str(value)[:60]!r}, expected {', '.join(map(str, known))}")
    return value


def n_positions(architecture: dict[str, Any]) -> int:
    """How many pieces the model can read at a time, special ones included; 512 unless it says.

    ValueError if they are too few.
    """
    positions = int(architecture.get("max_position_embeddings", 512))
    if architecture["model_type"] in POSITIONS_AFTER_PADDING:
        positions -= int(architecture.get("pad_token_id", 1)) + 1
    elif architecture["model_type"] == "mpnet":
        positions -= 2  # whatever its padding is
    if positions < 8:
        raise ValueError(f"max_position_embeddings leaves {positions} places, expected 8 or more")
    return positions
