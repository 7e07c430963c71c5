"""Signals: the first is recorded, the second acts; ignored signals stay ignored."""

import os
import pickle
import signal
import threading
import time

import pytest

from dyparse.runtime.signals import Stopped, StopRequest, deferring_signals, preserving_handlers


def send(number):
    """Send a signal to this process; its handler has run when this returns."""
    os.kill(os.getpid(), number)
    time.sleep(0.05)


def test_the_first_signal_is_recorded_and_the_second_acts(capfd):
    request = StopRequest()
    with deferring_signals(request):
        assert request.signal_number == 0
        send(signal.SIGINT)
        assert request.signal_number == signal.SIGINT
        assert "stopping after this batch" in capfd.readouterr().err
        with pytest.raises(KeyboardInterrupt):
            send(signal.SIGINT)


def test_handlers_are_restored_afterwards():
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with deferring_signals(StopRequest()):
        assert signal.getsignal(signal.SIGTERM) not in before
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_an_ignored_signal_stays_ignored():
    request, before = StopRequest(), signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with deferring_signals(request):
            send(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    assert request.signal_number == 0


def test_outside_the_main_thread_nothing_is_changed():
    found = []

    def look():
        with deferring_signals(StopRequest()):
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert found == [signal.getsignal(signal.SIGINT)]


def test_the_exception_of_a_signal_can_be_sent_to_another_process():
    stopped = pickle.loads(pickle.dumps(Stopped(signal.SIGTERM, "saved")))
    assert (str(stopped), stopped.status) == ("saved", 143)
    assert isinstance(stopped, KeyboardInterrupt)


def test_handlers_that_a_library_installs_are_replaced_by_the_old_ones():
    before = signal.getsignal(signal.SIGTERM)
    with preserving_handlers():
        signal.signal(signal.SIGTERM, lambda *_: None)
    assert signal.getsignal(signal.SIGTERM) == before
