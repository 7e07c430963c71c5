"""AdamW is that of torch, without torch's compiler."""

import copy
import subprocess
import sys

import pytest
import torch

from dyparse.tensors.adamw import AdamW

RATES = (1.0, 0.2)
BETAS, DECAY = (0.9, 0.98), 0.1


def two_groups():
    random = torch.Generator().manual_seed(1)
    shapes = ([(3, 4), (5,)], [(40, 7)])
    return [[torch.nn.Parameter(torch.randn(s, generator=random)) for s in g] for g in shapes]


def gradients(groups, number):
    """Random gradients; in every other step the first parameter has none."""
    random = torch.Generator().manual_seed(number)
    for group in groups:
        for parameter in group:
            parameter.grad = torch.randn(parameter.shape, generator=random)
    if number % 2:
        groups[0][0].grad = None


def test_steps_are_those_of_torch():
    own, of_torch = two_groups(), two_groups()
    adamw = AdamW(zip(own, RATES, strict=True), BETAS, DECAY)
    expected = torch.optim.AdamW(
        [{"params": group} for group in of_torch], betas=BETAS, weight_decay=DECAY, fused=True
    )
    for number in range(6):
        gradients(own, number)
        gradients(of_torch, number)
        for group, rate in zip(expected.param_groups, RATES, strict=True):
            group["lr"] = rate * 0.1 / (number + 1)
        adamw.step(0.1 / (number + 1))
        expected.step()
        for group, other in zip(own, of_torch, strict=True):
            assert all(map(torch.equal, group, other))
    assert not torch.equal(own[0][0], two_groups()[0][0])


def test_a_saved_state_is_resumed():
    groups, resumed = two_groups(), two_groups()
    first, second = (AdamW(zip(g, RATES, strict=True), BETAS, DECAY) for g in (groups, resumed))
    for number in (1, 3):  # the first parameter has had no gradient yet
        gradients(groups, number)
        first.step(0.1)
    for group, other in zip(groups, resumed, strict=True):
        for parameter, same in zip(group, other, strict=True):
            same.data.copy_(parameter.data)
    second.load_state(copy.deepcopy(first.state()))
    for number in (4, 5):
        for parameters, adamw in ((groups, first), (resumed, second)):
            gradients(parameters, number)
            adamw.step(0.1)
    for group, other in zip(groups, resumed, strict=True):
        assert all(map(torch.equal, group, other))
    with pytest.raises(ValueError, match="other parameters"):
        AdamW([(groups[0][::-1], 1.0), (groups[1], 1.0)], BETAS, DECAY).load_state(first.state())


def test_a_step_does_not_import_the_compiler_of_torch():
    """That would take as much time and memory as the rest of torch."""
    program = (
        "import sys, torch\n"
        "from dyparse.tensors.adamw import AdamW\n"
        "parameter = torch.nn.Parameter(torch.ones(2))\n"
        "parameter.grad = torch.ones(2)\n"
        "AdamW([([parameter], 1.0)], (0.9, 0.98), 0.0).step(0.1)\n"
        "sys.exit('torch._dynamo' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
