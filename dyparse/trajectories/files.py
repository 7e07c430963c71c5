"""Trajectories on disk: one npz of flat arrays, or Parquet with a row per sentence.

Both have the same names, and appear whole or not at all.
"""

import json
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dyparse.config.extras import require_libraries
from dyparse.data.sampler import windows
from dyparse.runtime.atomic_files import replacing
from dyparse.trajectories.arrays import Derivation, Trajectories, flattened, metadata
from dyparse.trajectories.sources import Source

WORDS_PER_ROW_GROUP = 20_000
OF_STATES = ("canonical", "move", "paid", "arc_head", "arc_dependent")  # one number each
ROWS_OF_STATES = ("slots", "legal", "cost", "score")  # several numbers each


def write_npz(
    path: Path, source: Source, derivations: Iterable[Derivation], **more: str | int
) -> None:
    """Write the arrays of `Trajectories`, compressed; all of them are in memory first."""
    with replacing(path) as temporary:
        arrays = flattened(source, list(derivations), **more)._asdict()
        with temporary.open("wb") as file:
            np.savez_compressed(file, **{k: a for k, a in arrays.items() if a is not None})


def write_parquet(
    path: Path, source: Source, derivations: Iterable[Derivation], **more: str | int
) -> None:
    """Write a row per sentence, some thousand words at a time; pyarrow is needed."""
    require_libraries("writing Parquet", "parquet", "pyarrow")
    import pyarrow as pa
    from pyarrow import parquet

    about = json.dumps(metadata(source, **more), ensure_ascii=False)
    groups = windows(derivations, lambda each: len(each.sentence), WORDS_PER_ROW_GROUP)
    with replacing(path) as temporary:
        first = _table(flattened(source, next(groups, [])))
        schema = first.schema.with_metadata({"dyparse": about})
        with parquet.ParquetWriter(temporary, schema, compression="zstd") as writer:
            for table in chain([first], (_table(flattened(source, group)) for group in groups)):
                writer.write_table(pa.Table.from_arrays(table.columns, schema=schema))


def _table(t: Trajectories) -> Any:
    """A row per sentence: lists of its words and of its states."""
    import pyarrow as pa

    def of_words(values: Any) -> Any:
        return pa.ListArray.from_arrays(t.word_offsets.astype(np.int32), values)

    def of_states(values: Any) -> Any:
        return pa.ListArray.from_arrays(t.state_offsets.astype(np.int32), values)

    def rows(array: NDArray[Any]) -> Any:
        offsets = np.arange(0, array.size + 1, array.shape[1], dtype=np.int32)
        return pa.ListArray.from_arrays(offsets, pa.array(array.ravel()))

    def ragged(offsets: NDArray[np.int64], values: NDArray[Any]) -> Any:
        return pa.ListArray.from_arrays(offsets.astype(np.int32), pa.array(values))

    columns = {
        "sent_id": pa.array(t.sent_id.tolist(), pa.string()),
        "n_words": pa.array(t.n_words),
        "form": of_words(pa.array(t.forms[t.form].tolist(), pa.string())),
        "upos": of_words(pa.array(t.upos_tags[t.upos].tolist(), pa.string())),
        "gold_head": of_words(pa.array(t.gold_head)),
        "head": of_words(pa.array(t.head)),
        "stack": of_states(ragged(t.stack_offsets, t.stack)),
        "buffer": of_states(ragged(t.buffer_offsets, t.buffer)),
    }
    columns |= {name: of_states(pa.array(getattr(t, name))) for name in OF_STATES}
    several = {name: getattr(t, name) for name in ROWS_OF_STATES}
    columns |= {name: of_states(rows(a)) for name, a in several.items() if a is not None}
    return pa.table(columns)
