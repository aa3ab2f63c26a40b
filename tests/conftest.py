"""What holds for every suite: one runs at a time, since conftests, helpers and tests of two have the same names;
and in CI a test that is left out for a reason that is not expected there is a failure."""
import os
import pathlib

import pytest

HERE = pathlib.Path(__file__).resolve().parent


def _suites_of(argument):
    path = pathlib.Path(argument.split("::")[0]).resolve()
    suites = [conftest.parent for conftest in HERE.glob("*/**/conftest.py")]
    return {suite for suite in suites if path in (suite, *suite.parents) or suite in path.parents}


def pytest_configure(config):
    suites = set().union(*map(_suites_of, config.args))
    if len(suites) > 1:
        names = sorted(str(suite.relative_to(HERE.parent)) for suite in suites)
        raise pytest.UsageError(
            f"one suite at a time: {', '.join(names)}; `make test` runs them all")


# How the reason begins of each skip that a machine of CI may have; any other is something that could not be installed.
EXPECTED_SKIPS = (
    "ssh wants its user to have a name",
    "no torch 2.15",  # 3 GB
    "no PyTorch with Kineto",  # the same
    "makes an image of 1.7 GB",  # make soak
)


def unexpected_skips(reports):
    """The names and reasons, a line each, of skipped tests whose reason is not expected."""
    for report in reports:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        reason = reason.removeprefix("Skipped: ")
        if not reason.startswith(EXPECTED_SKIPS):
            yield f"{report.nodeid}: {reason}"


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter):
    left_out = list(unexpected_skips(terminalreporter.stats.get("skipped", [])))
    if left_out:
        terminalreporter.section("not tested on this machine")
        for line in left_out:
            terminalreporter.line(line)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("CI") and reporter and session.exitstatus == pytest.ExitCode.OK:
        if any(unexpected_skips(reporter.stats.get("skipped", []))):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
