"""The network of the learned tokenizer: characters in, scores of every character out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import linear
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from dyparse.tensors.mirrored_lstm import mirrored_positions, one_way, reorder
from dyparse.tokenizer._characters import N_RULES, PADDING, Ids
from dyparse.tokenizer._scores import N_SCORES, SegmenterSizes
from dyparse.tokenizer._windows import Scores


class Segmenter(nn.Module):
    """Embeddings of characters, words and rules; a BiLSTM and a convolution over them; a layer.

    scores = W · (BiLSTM(x) + relu(convolution(x))) + b,  x = character + word + rule
    """

    def __init__(self, sizes: SegmenterSizes, dropout: float = 0.0) -> None:
        super().__init__()
        D, H = sizes.embedding, sizes.hidden
        self.character = nn.Embedding(sizes.characters, D, padding_idx=PADDING)
        self.word = nn.Embedding(sizes.words, D, padding_idx=PADDING)
        self.rule = nn.Embedding(N_RULES, D, padding_idx=PADDING)
        self.lstm = nn.LSTM(D, H, bidirectional=True, batch_first=True)
        self.convolution = nn.Conv1d(D, 2 * H, sizes.convolution, padding="same")
        self.output = nn.Linear(2 * H, N_SCORES)
        self.dropout = nn.Dropout(dropout)
        nn.init.zeros_(self.word.weight)

    def forward(self, features: Tensor, lengths: Tensor) -> Tensor:
        """Scores of the characters of W windows, the longest first.  [3, W, n], [W] → [W, n, 5]"""
        characters, words, rules = features
        x = self.dropout(self.character(characters) + self.word(words) + self.rule(rules))
        packed = pack_padded_sequence(x, lengths, batch_first=True)
        context, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)  # [W, n, 2 H]
        near = torch.relu(self.convolution(x.transpose(1, 2))).transpose(1, 2)  # [W, n, 2 H]
        scores: Tensor = self.output(self.dropout(context + near))
        return scores

    @torch.inference_mode()
    def window_scores(self, windows: Sequence[Ids]) -> list[Scores]:
        """Scores of the characters of windows, the longest first.  [3, n] each → [n, 5] each"""
        lengths = [window.shape[1] for window in windows]
        padded = np.full((3, lengths[0], len(windows)), PADDING)
        for column, window in enumerate(windows):
            padded[:, : lengths[column], column] = window
        found = self.eval().inferred(torch.from_numpy(padded), torch.tensor(lengths)).numpy()
        return [found[:length, column] for column, length in enumerate(lengths)]

    def inferred(self, features: Tensor, lengths: Tensor) -> Tensor:
        """The same scores without dropout, in less time: nothing is packed.

        The two directions and the convolution go through the last layer apart, so that what is
        mirrored back is five numbers wide.  [3, n, W], [W] → [n, W, 5]
        """
        characters, words, rules = features
        x = self.character(characters) + self.word(words) + self.rule(rules)  # [n, W, D]
        mirror = mirrored_positions(lengths, len(x))
        of_ahead, of_back = self.output.weight.chunk(2, dim=1)  # [5, H] each
        ahead = linear(one_way(self.lstm, x), of_ahead, self.output.bias)
        back = linear(one_way(self.lstm, reorder(x, mirror), "_reverse"), of_back)
        near = torch.relu(self.convolution(x.permute(1, 2, 0)))  # [W, 2 H, n]
        of_near = (self.output.weight @ near).permute(2, 0, 1)
        return ahead + reorder(back, mirror) + of_near
