"""Pretrained models of a few thousand random weights, in directories as `save_pretrained` writes
them: made in the tests, without a network.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

from dyparse import system as systems
from dyparse.data.sentence import Sentence
from dyparse.encoder._pretrained import quiet
from dyparse.encoder.transformer import Transformer
from dyparse.head import load_heads
from dyparse.model.parser import Parser
from dyparse.model.parts import ModelConfig
from dyparse.model.sizes import ScorerSizes
from dyparse.training import loop
from dyparse.training.session import Session
from dyparse.training.settings import TrainingSettings
from helpers.tiny import plan, sample

N_PIECES = 300
SETTINGS = TrainingSettings(
    epochs=1,
    max_tokens_per_batch=300,
    learning_rate=1e-2,
    average_decay=0.5,
    precision="float32",
)
BERT = {
    "hidden_size": 16,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "intermediate_size": 20,
    "max_position_embeddings": 96,
    "initializer_range": 0.3,  # far from uniform attention
    "pad_token_id": 0,
}
ROBERTA = BERT | {"pad_token_id": 1, "type_vocab_size": 1}
DEBERTA = BERT | {
    "relative_attention": True,
    "pos_att_type": ["p2c", "c2p"],
    "position_biased_input": False,
    "type_vocab_size": 0,
}
MODERNBERT = BERT | {"hidden_activation": "gelu", "local_attention": 8}
MODERNBERT |= {"global_attn_every_n_layers": 2, "initializer_cutoff_factor": 2.0}
DISTILBERT = {
    "dim": 16,
    "n_layers": 3,
    "n_heads": 2,
    "hidden_dim": 20,
    "max_position_embeddings": 96,
    "initializer_range": 0.3,
    "pad_token_id": 0,
}
SIZES: dict[str, dict[str, Any]] = {
    "albert": BERT | {"embedding_size": 8},
    "bert": BERT,
    "camembert": ROBERTA,
    "deberta": DEBERTA,
    "deberta-v2": DEBERTA | {"share_att_key": True, "norm_rel_ebd": "layer_norm"},
    "distilbert": DISTILBERT,
    "electra": BERT | {"embedding_size": 8},
    "modernbert": MODERNBERT,
    "mpnet": ROBERTA,
    "roberta": ROBERTA,
    "xlm-roberta": ROBERTA,
}
BERT_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
ROBERTA_SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]


def _texts() -> list[str]:
    return [" ".join(sentence.form) for sentence in sample("train")[:200]]


def word_piece() -> Tokenizer:
    """As BERT has it; not trained, for the library's trainer gives another one every time."""
    words = Counter(word for text in _texts() for word in text.lower().split() if word.isalpha())
    letters = sorted(set("".join(_texts()).lower()) - {" "})
    known = [*BERT_SPECIAL, *letters, *(f"##{letter}" for letter in letters)]
    ends = Counter(word[-n:] for word in words for n in (2, 3) if len(word) > n)
    known += [word for word, _ in words.most_common(100) if len(word) > 1]
    known += [f"##{end}" for end, _ in ends.most_common(100)]
    vocabulary = {piece: k for k, piece in enumerate(dict.fromkeys(known))}
    tokenizer = Tokenizer(models.WordPiece(vocab=vocabulary, unk_token="[UNK]"))
    tokenizer.add_special_tokens(BERT_SPECIAL)
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    return _between(tokenizer, "[CLS]", "[SEP]")


def byte_level() -> Tokenizer:
    """As RoBERTa has it: a word after a space is another one than at the start of a text."""
    tokenizer = Tokenizer(models.BPE(unk_token=None))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=N_PIECES + 100,
        special_tokens=ROBERTA_SPECIAL,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_texts(), trainer)
    return _between(tokenizer, "<s>", "</s>")


def unigram() -> Tokenizer:
    """As XLM-RoBERTa has it; not trained, for the same reason."""
    words = Counter(f"▁{word}" for text in _texts() for word in text.split())
    parts = Counter("".join(words.elements()))
    for word, count in words.items():
        for n in (2, 3):
            parts.update({word[k : k + n]: count for k in range(len(word) - n + 1)})
    known = Counter({part: n for part, n in parts.items() if len(part) == 1})
    known |= Counter(dict((parts | words).most_common(N_PIECES - len(known))))
    total = known.total()
    scores = sorted((piece, math.log(n / total)) for piece, n in known.items())
    pieces = [*((piece, 0.0) for piece in ROBERTA_SPECIAL), *scores]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=ROBERTA_SPECIAL.index("<unk>")))
    tokenizer.add_special_tokens(ROBERTA_SPECIAL)
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.WhitespaceSplit(),
            pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="never"),
        ]
    )
    tokenizer.decoder = decoders.Metaspace()
    return _between(tokenizer, "<s>", "</s>")


def _between(tokenizer: Tokenizer, first: str, last: str) -> Tokenizer:
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}",
        special_tokens=[(t, tokenizer.token_to_id(t)) for t in (first, last)],
    )
    return tokenizer


TOKENIZERS: dict[str, Callable[[], Tokenizer]] = {
    "albert": unigram,
    "bert": word_piece,
    "camembert": unigram,
    "deberta": byte_level,
    "deberta-v2": unigram,
    "distilbert": word_piece,
    "electra": word_piece,
    "modernbert": byte_level,
    "mpnet": word_piece,
    "roberta": byte_level,
    "xlm-roberta": unigram,
}


WITHOUT_DROPOUT = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}


def write_pretrained(directory: Path, family: str, *, seed: int = 1, **changed: Any) -> Path:
    """A tiny model of a family with its tokenizer, as a directory of files."""
    import transformers  # takes two seconds

    tokenizer = TOKENIZERS[family]()
    options = SIZES[family] | {"vocab_size": tokenizer.get_vocab_size()} | changed
    directory.mkdir(parents=True, exist_ok=True)
    with quiet(transformers), torch.random.fork_rng():
        torch.manual_seed(seed)
        config = transformers.AutoConfig.for_model(family, **options)
        model = transformers.AutoModel.from_config(config)
        model.save_pretrained(directory)
    tokenizer.save(str(directory / "tokenizer.json"))
    return directory


def tiny_options(pretrained: Path | str, **changed: Any) -> Transformer:
    """The transformer encoder with few units on top."""
    options: dict[str, Any] = {
        "pretrained": str(pretrained),
        "features": ["upos"],
        "widths": {"word": 8, "subword": 8, "character": 8, "upos": 8, "xpos": 8, "feats": 8},
        "mixed_layers": 2,
        "hidden": 12,
        "layers": 1,
        "input_dropout": 0.1,
        "layer_dropout": 0.1,
        "overlap": 16,
    }
    return Transformer(**(options | changed))


def tiny_parser(encoder: Transformer, sentences: list[Sentence], *, seed: int = 1) -> Parser:
    """A parser with this encoder, untrained."""
    torch.manual_seed(seed)
    sizes = ScorerSizes(hidden=24, dropout=0.1)
    config = ModelConfig(systems.load("arc_eager"), encoder, load_heads(["labels"]), sizes)
    return Parser.untrained(config, sentences)


def short_training(encoder: Transformer, train: list[Sentence], dev: list[Sentence]) -> Session:
    """One epoch with this encoder."""
    session = Session(SETTINGS, tiny_parser(encoder, train), plan(train, dev))
    deque(loop.train(session, lambda *_: None), maxlen=0)
    return session
