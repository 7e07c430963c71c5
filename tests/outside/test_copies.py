"""A copy of a system that keeps all its names is another system, in every process and cache."""

import json
import shutil

import pytest
from helpers.extend_page import write_files
from helpers.programs import python
from helpers.tiny import PROJECT, run

COSTS = """
import json
from importlib import import_module
costs = []
for module in {modules}:
    system = import_module(module).ArcEager()
    costs.append(int(system.cost(system.start([3]), [[0, 2, 3, 0]])[0, 0]))
print(json.dumps(costs))
"""
PACKAGE, COPY = "dyparse.system.arc_eager", "my_eager"
BONUS = """
from dyparse.runtime.kernels import njit

@njit
def bonus(options):
    return {value}
"""


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """A directory with a copy of arc_eager.py, by which SHIFT costs 10 more, and with a cache."""
    directory = tmp_path_factory.mktemp("copied")
    source = (PROJECT / "dyparse" / "system" / "arc_eager.py").read_text()
    last = "    compare_best_gains(states, i, gold.gains, out)\n"
    assert last in source
    changed = source.replace(last, f"{last}    out[SHIFT] += bonus(options)\n")
    (directory / "my_eager.py").write_text(f"{changed}\n\nfrom my_bonus import bonus\n")
    (directory / "my_bonus.py").write_text(BONUS.format(value=10))
    return directory


def costs_of_shift(directory, *modules):
    """What SHIFT costs in the same state by the oracle of each module, one after the other."""
    program = COSTS.format(modules=modules)
    return python(program, directory, DYPARSE_CACHE=str(directory / "cache"))


@pytest.mark.parametrize("modules", [(PACKAGE, COPY), (COPY, PACKAGE), (PACKAGE,), (COPY,)])
def test_each_has_its_own_costs_in_any_order(copied, modules):
    expected = {PACKAGE: 0, COPY: 10}
    assert costs_of_shift(copied, *modules) == [expected[module] for module in modules]


def test_an_edit_of_a_module_that_the_copy_imports_is_seen_at_the_next_start(copied, tmp_path):
    directory = shutil.copytree(copied, tmp_path / "edited")
    assert costs_of_shift(directory, COPY) == [10]
    (directory / "my_bonus.py").write_text(BONUS.format(value=20))
    assert costs_of_shift(directory, COPY, PACKAGE) == [20, 0]


def test_when_the_copy_is_gone_everything_else_works_as_before(copied, tmp_path):
    directory = shutil.copytree(copied, tmp_path / "without")
    assert costs_of_shift(directory, COPY) == [10]
    (directory / "my_eager.py").unlink()
    assert costs_of_shift(directory, PACKAGE) == [0]


@pytest.mark.slow  # a minute; the order of classes is tested above, without training
def test_compare_trains_systems_of_the_same_name_each_with_its_own_kernels(tmp_path):
    """One of them only ever takes LEFT, the other one RIGHT; one process trains both."""
    write_files(tmp_path)
    source = (tmp_path / "short_stack.py").read_text()
    both = "out[LEFT] = out[RIGHT] = not is_finished(options, states, i)\n"
    assert both in source
    for name, other in (("left_only", "RIGHT"), ("right_only", "LEFT")):
        only = source.replace(both, f"{both}    out[{other}] = False\n")
        (tmp_path / f"{name}.py").write_text(only)
    systems = [f"--system={name}.ShortStack" for name in ("left_only", "right_only")]
    small = ["trainer=debug", "trainer.max_sentences=8", "encoder.hidden=8", "network.hidden=8"]
    done = run(
        *("-m", "dyparse", "compare", *systems, "--exploration=static", "--seeds=1", "--jobs=1"),
        *("--experiment=none", *small, "-o", "compared"),
        cwd=tmp_path,
        PYTHONSAFEPATH="1",
    )
    assert done.returncode == 0, done.stderr
    heads = {}
    for result in tmp_path.glob("compared/*/result.json"):
        parsed = (result.parent / "parsed.conllu").read_text().splitlines()
        words = [line.split("\t") for line in parsed if line.partition("\t")[0].isdigit()]
        distances = {int(w[6]) - int(w[0]) for w in words if w[6] != "0"}
        heads[json.loads(result.read_text())["cell"]["system"]] = distances
    assert heads["left_only.ShortStack"] == {1}  # the next word
    assert max(heads["right_only.ShortStack"]) == -1  # the first word
