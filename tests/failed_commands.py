"""What a command said, in the report of a test that fails: `assert rushes(…).exit_code == 0` alone hides it."""

from __future__ import annotations

import traceback
from collections.abc import Generator
from typing import Any

import pytest
from typer.testing import CliRunner, Result

commands: list[Result] = []
"""What the command lines of the test at work gave, the last one last."""
_invoke = CliRunner.invoke


def _remembered(runner: CliRunner, *given: Any, **options: Any) -> Result:
    result = _invoke(runner, *given, **options)
    commands.append(result)
    return result


CliRunner.invoke = _remembered  # type: ignore[method-assign]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """A test that fails shows what its last command said, whatever the test asserts about it."""
    report = yield
    if report.failed and commands:
        report.sections.append(("what the last command said", said(commands[-1])))
    return report


def said(result: Result) -> str:
    """A command's exit code, output and exception, for people."""
    fault = result.exception
    is_exit = fault is None or isinstance(fault, SystemExit)
    trace = "" if is_exit else "".join(traceback.format_exception(fault))
    return f"exit code {result.exit_code}\n{result.output}{trace}"
