"""The parsers that a run compares, and which lines of the table they have."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dyparse_itself
import dyparse_text
import maltparser
import spacy_arc_eager
import stanza_depparse
import supar_biaffine
import udpipe
import udpipe_text
import uuparser_arc_hybrid
from environments import Steps
from measurement import Row

from dyparse.errors import ConfigError


@dataclass(frozen=True)
class Peer:
    """A parser: the script that runs it, and its lines of the table."""

    name: str
    script: Path
    requirements: Steps
    rows: tuple[Row, ...]


def peer_of(name: str, module: Any, rows: tuple[Row, ...] | None = None) -> Peer:
    lines = module.ROWS if rows is None else rows
    return Peer(name, Path(module.__file__), module.REQUIREMENTS, lines)


PEERS = {
    peer.name: peer
    for peer in (
        peer_of("udpipe", udpipe),
        peer_of("spacy", spacy_arc_eager),
        peer_of("supar", supar_biaffine),
        peer_of("uuparser", uuparser_arc_hybrid),
        peer_of("stanza", stanza_depparse),
        peer_of("maltparser", maltparser),
    )
}


def word_peers(options: argparse.Namespace) -> list[Peer]:
    """The parsers of gold words."""
    experiments = options.dyparse or ["gold_tags", "fast_gold_tags"]
    own = peer_of("dyparse", dyparse_itself, dyparse_itself.rows(experiments))
    return [own, *(PEERS[name] for name in options.peers)]


def text_peers(options: argparse.Namespace) -> list[Peer]:
    """The parsers of raw text: models of dyparse, and UDPipe with its options."""
    own = dyparse_text.rows(options.dyparse, options.models)
    parts = udpipe_text.QUICK if options.quick else udpipe_text.PARTS
    given = {part: getattr(options, f"udpipe_{part}") or parts[part] for part in parts}
    others = udpipe_text.rows(given, heldout=options.udpipe_heldout)
    peers = [peer_of("dyparse", dyparse_text, own), peer_of("udpipe", udpipe_text, others)]
    return [peer for peer in peers if peer.rows and peer.name in ("dyparse", *options.peers)]


def chosen(peers: list[Peer], names: list[str] | None) -> list[tuple[Peer, Row]]:
    """The lines of the table with these names, or all, in the order of the peers."""
    require_known(peers, names or (), "--rows")
    lines = [(peer, row) for peer in peers for row in peer.rows]
    return [(peer, row) for peer, row in lines if names is None or row.name in names]


def require_known(peers: list[Peer], names: Iterable[str], option: str) -> None:
    """ConfigError if an option names a line that there is not."""
    known = [row.name for peer in peers for row in peer.rows]
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise ConfigError(f"{option} has {', '.join(unknown)}; expected any of {', '.join(known)}")
