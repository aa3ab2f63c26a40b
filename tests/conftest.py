"""What holds for every suite: threads of trainings wait asleep, and in CI a test that is left out for a reason that is not expected there is a failure."""
import collections
import functools
import glob
import json
import os
import sys

import pytest

from places import ROOT, TRAINING
from skips import is_expected

os.environ.update(TRAINING)  # of tests that train in this process
# Compiled tests are kept, whatever PYTHONDONTWRITEBYTECODE says to the programs that they start: each worker reads all of them.
sys.pycache_prefix = os.path.join(ROOT, "build", "pycache")
sys.dont_write_bytecode = False

# A worker runs a file as a whole, or the files of a group: the longest begin first, so that none is alone at the end. What each took is
# kept for the next run; of a first run it is known which take a minute.
TIMES = os.path.join(ROOT, "build", "test-times.json")
LONGEST = ("test_on_stall.py", "test_stalls.py", "test_stalls_of_jobs.py", "test_recorder.py", "test_warm_libraries.py", "test_manual.py",
           "test_operator_faults.py", "test_tensorboard.py", "test_oci_goes_wrong.py", "test_sweep_on_kubernetes.py", "test_store.py",
           "test_dash.py", "test_operator_rights.py", "test_report.py", "test_mnist_bare_metal.py", "test_warm.py", "test_mnist_yamls.py",
           "test_operator_recovery.py", "test_opctl.py", "test_watch_cancel_delete.py", "test_documents.py", "test_run_on_oci.py",
           "test_in_process.py", "test_nodes.py", "test_test_runner.py", "test_operator.py", "test_run.py", "test_launch_failures.py",
           "test_warm_pods.py", "test_mnist_cpp.py")

# An API server takes 2.4 s of a processor to start and a sixtieth of one while it idles: not every worker is to have one.
API_SERVERS = 3


@functools.cache
def seconds_of_files():
    try:
        with open(TIMES) as file:
            known = json.load(file)
    except (OSError, ValueError):
        known = {}
    return {**{name: 60 - place for place, name in enumerate(LONGEST)}, **known}


@functools.cache
def groups():
    """(the group of each file that asks for the session's API server, the seconds of each group)."""
    seconds, group_of, taken = seconds_of_files(), {}, {f"API server {number}": 0 for number in range(API_SERVERS)}
    files = [os.path.basename(path) for path in glob.glob(os.path.join(ROOT, "tests", "integration", "test_*.py"))]
    files = set(files) - {"test_operator_faults.py"}  # it has one of its own
    for name in sorted(files, key=lambda name: (-seconds.get(name, 1), name)):
        group_of[name] = min(taken, key=taken.get)
        taken[group_of[name]] += seconds.get(name, 1)
    return group_of, taken


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    seconds = seconds_of_files()
    group_of, taken = groups()

    def place(item):
        group = group_of.get(item.path.name)
        return -taken.get(group, seconds.get(item.path.name, 0)), group or ""
    items.sort(key=place)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling  # pylint: disable=import-outside-toplevel

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid):
            path = super()._split_scope(nodeid)
            return groups()[0].get(os.path.basename(path), path)
    return Scheduling(config, log)


def keep_times(stats):
    """Only of a whole run: another kind of run takes other times."""
    taken = collections.Counter()
    for report in (report for reports in stats.values() for report in reports if hasattr(report, "duration")):
        taken[os.path.basename(report.nodeid.split("::")[0])] += report.duration
    if len(taken) > len(LONGEST):
        with open(TIMES + ".new", "w") as file:
            json.dump(taken, file)
        os.replace(TIMES + ".new", TIMES)


def unexpected_skips(reports):
    """The names and reasons, a line each, of skipped tests whose reason is not expected."""
    for report in reports:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        reason = reason.removeprefix("Skipped: ")
        if not is_expected(reason):
            yield f"{report.nodeid}: {reason}"


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter):
    keep_times(terminalreporter.stats)
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
