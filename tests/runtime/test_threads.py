"""The pool of threads for tasks that use torch."""

import threading

import pytest
import torch

from dyparse.runtime.threads import at_once, thread_pool

CPU, GPU = "cpu", "cuda"


@pytest.fixture
def torch_threads():
    """torch_threads(n) sets the number of torch threads, which is restored afterwards."""
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


def where(argument):
    return argument, threading.current_thread(), torch.get_num_threads()


def test_tasks_run_on_other_threads_with_one_torch_thread_each(torch_threads):
    torch_threads(3)
    with thread_pool(CPU) as submit:
        waits = [submit(where, k) for k in range(20)]
        found = [wait() for wait in waits]
    assert [argument for argument, _, _ in found] == list(range(20))
    assert threading.current_thread() not in {thread for _, thread, _ in found}
    assert {count for _, _, count in found} == {1}
    assert torch.get_num_threads() == 3


def test_a_single_torch_thread_needs_no_pool_unless_there_is_a_gpu(torch_threads):
    torch_threads(1)
    with thread_pool(CPU) as submit:
        assert submit is at_once
        assert submit(where, 5)() == (5, threading.current_thread(), 1)
    with thread_pool(GPU) as submit:
        assert submit(where, 5)()[1] is not threading.current_thread()


def test_the_error_of_a_task_is_raised_where_it_is_waited_for(torch_threads):
    torch_threads(2)
    with thread_pool(CPU) as submit:
        wait = submit(int, "no number")
        with pytest.raises(ValueError, match="no number"):
            wait()
