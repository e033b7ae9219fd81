"""Ensures that a framework's tests run over utterd, except those in left_out.txt: pytest -p oversight."""

from importlib import import_module
from pathlib import Path

import pytest

import utterd

LEFT_OUT = Path(__file__).with_name("left_out.txt")


def pytest_collection_modifyitems(config, items):
    names = {item: item.nodeid.partition("[")[0] for item in items}
    files = {name.partition("::")[0] for name in names.values()}
    left_out = {test for test in left_out_tests() if test.partition("::")[0] in files}
    if missing := left_out.difference(names.values()):
        raise pytest.UsageError(f"{LEFT_OUT.name} names tests that do not exist: {', '.join(sorted(missing))}")
    config.hook.pytest_deselected(items=[item for item in items if names[item] in left_out])
    items[:] = [item for item in items if names[item] not in left_out]


def left_out_tests():
    lines = LEFT_OUT.read_text(encoding="utf-8").splitlines()
    return [line.rpartition(": ")[0] for line in lines if line and not line.startswith("#")]


def pytest_sessionfinish(session, exitstatus):
    """Tests that never reached the server used the framework's own store."""
    (plugin,) = [name for name in session.config.option.plugins if name.startswith("plugin_")]
    with utterd.connect(import_module(plugin).memory.address) as memory:
        reached = any(True for _ in memory.conversations(all_recipients=True))
    if exitstatus == pytest.ExitCode.OK and not reached:
        print(f"\n{plugin} is in the place of nothing: no test stored anything")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
