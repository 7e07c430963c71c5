"""What tests of pretrained encoders share."""

import socket

import pytest


@pytest.fixture
def no_network(monkeypatch):
    """No socket can be made, and nothing is asked of the Hub."""

    class Forbidden(socket.socket):
        def __init__(self, *_, **__):
            raise AssertionError("a socket")

    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setattr(socket, "socket", Forbidden)
    monkeypatch.setattr("huggingface_hub.snapshot_download", Forbidden)
