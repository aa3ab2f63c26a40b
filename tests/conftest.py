"""What holds for every suite: in CI a test that is left out for a reason that is not expected there is a failure."""
import os

import pytest

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
