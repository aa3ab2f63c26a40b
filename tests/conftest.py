"""What holds for every suite: threads of trainings wait asleep, and in CI a test that is left out for a reason that is not expected there is a failure."""
import os

import pytest

from places import TRAINING
from skips import is_expected

os.environ.update(TRAINING)  # of tests that train in this process


def unexpected_skips(reports):
    """The names and reasons, a line each, of skipped tests whose reason is not expected."""
    for report in reports:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        reason = reason.removeprefix("Skipped: ")
        if not is_expected(reason):
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
