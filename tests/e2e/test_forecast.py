"""When a job that waits will start: `get`, `what-if`, `--dry-run=schedule`. GPUs are those of a stand-in for NVIDIA's library."""
import json
import os
import re
from datetime import datetime, timezone

import pytest

from embedded_muster import Cluster
from test_manual import fields_of
from waiting import PATIENCE, await_true, await_words


@pytest.fixture
def two_gpus():
    made = Cluster()
    made.show_gpus("2")
    made.run("up")
    await_words("0/2 (0%)", lambda: made.run("top", "node").stdout)
    yield made
    made.close()


def asked(cluster, *words):
    return json.loads(cluster.run("what-if", "-o", "json", *words).stdout)


def seconds_from_now(text):
    return (datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc) - datetime.now(timezone.utc)).total_seconds()


def test_a_job_that_fits_starts_now_and_one_that_is_too_large_never(two_gpus):
    assert asked(two_gpus, "--gpus=1", "--nodes=2")["kind"] == "now"
    assert two_gpus.run("what-if", "--gpus", "2").stdout == "It fits, and starts at once.\n"
    assert asked(two_gpus, "--gpus=8", "--nodes=2")["kind"] == "never"
    assert "never starts" in two_gpus.run("submit", "pytorch", "--name=x", "--gpus=3", "--dry-run=schedule", "true").stdout
    assert two_gpus.run("list", "-o", "json").stdout == "[]"


def test_without_gpus_it_says_that_the_job_would_run_on_the_cpu(cluster):
    done = cluster.run("what-if", "--gpus=8")
    assert done.stdout == "It fits, and starts at once.\n"
    assert "the job asks for 8 nvidia.com/gpu, this machine has none" in done.stderr
    assert "runs on the CPU" in asked(cluster, "--gpus=8")["gpus"]


def test_the_start_is_foretold_by_deadlines(two_gpus):
    two_gpus.submit("long", "sleep 600", "--gpus=2", "--running-timeout=300s")
    two_gpus.wait("long", "RUNNING")
    answer = asked(two_gpus, "--gpus=2")
    assert fields_of("muster what-if -o json") == (
        set(answer) | set(answer["endings"][0]) | set(answer["accuracy"]) | {"gpus"})
    two_gpus.submit("next", "true", "--gpus=1")
    starts = re.compile(r"^STARTS: about \d\d:\d\d \(in [45]m\), by ", re.MULTILINE)
    await_true(lambda: starts.search(two_gpus.run("get", "next").stdout))
    said = two_gpus.run("run", "--gpus=1", "--dry-run=schedule", "sleep", "1").stdout
    assert re.search(r"^It does not fit now\. It starts about .*\n  default/long  about .*, its deadline\n", said), said
    assert re.search(r"No job has waited here before", said)


def test_the_start_is_foretold_by_past_runs_of_the_command(two_gpus):
    for name in ("first", "second"):
        two_gpus.submit(name, "sleep 3", "--gpus=2", "--wait")
    two_gpus.run("delete", "first")
    two_gpus.submit("third", "sleep 3", "--gpus=2")
    two_gpus.wait("third", "RUNNING")
    answer = asked(two_gpus, "--gpus=1")
    assert answer["kind"] == "later"
    (ending,) = answer["endings"]
    assert (ending["job"], ending["like"], ending["runs"]) == ("default/third", "command", 2)
    took = [run["seconds"] for run in json.loads(two_gpus.run("history", "-o", "json").stdout) if run["ended"]]
    assert len(took) == 2 and -1 <= seconds_from_now(answer["start"]) <= max(took) + 1
    assert "like 2 runs of its command" in two_gpus.run("what-if").stdout


def test_a_job_that_has_waited_long_is_expected_to_run_as_long_as_others(two_gpus):
    two_gpus.submit("once", "sleep 3", "--gpus=2", "--wait")
    two_gpus.submit("runs", "sleep 3", "--gpus=2")
    for i in range(4):
        two_gpus.submit(f"waits-{i}", "sleep 3", "--gpus=2")
    two_gpus.wait("waits-1", "RUNNING", timeout=PATIENCE)
    answer = asked(two_gpus, "--gpus=2")
    assert [ending["job"] for ending in answer["endings"]] == [f"default/waits-{i}" for i in (1, 2, 3)]
    took = [run["seconds"] for run in json.loads(two_gpus.run("history", "-o", "json").stdout) if run["ended"]]
    assert seconds_from_now(answer["start"]) <= 3 * (max(took) + 1)


def test_a_deadline_that_ends_a_job_while_it_waits_is_told(two_gpus):
    two_gpus.submit("holds", "sleep 600", "--gpus=2", "--running-timeout=500s")
    two_gpus.wait("holds", "RUNNING")
    two_gpus.submit("short", "true", "--gpus=1", "--running-timeout=60s")
    starts = re.compile(r"^STARTS: probably never: its deadline", re.MULTILINE)
    await_true(lambda: starts.search(two_gpus.run("get", "short").stdout))
    assert asked(two_gpus, "--timeout=60s")["kind"] == "expires"
    assert "its deadline, which counts from its submission, ends it first" in two_gpus.run("what-if", "--timeout=60s").stdout


def test_a_suspension_is_no_wait(two_gpus):
    two_gpus.submit("ends", "sleep 6", "--gpus=1")
    two_gpus.submit("after", "true", "--gpus=1", "--wait-for=ends", "--wait")
    assert asked(two_gpus)["accuracy"]["medianSeconds"] < 5


def test_forecasts_are_measured_by_what_became_of_jobs_that_waited(two_gpus):
    gate = two_gpus.path("gate")
    program = f"while [ -e {gate} ]; do sleep 0.1; done; sleep 2"
    two_gpus.submit("a", program, "--gpus=2", "--wait")
    open(gate, "w").close()
    two_gpus.submit("b", program, "--gpus=2")
    two_gpus.wait("b", "RUNNING")
    two_gpus.submit("c", "true", "--gpus=1")
    two_gpus.wait("c", "PENDING")
    os.unlink(gate)
    two_gpus.wait("c", "SUCCEEDED")
    accuracy = await_true(lambda: (found := asked(two_gpus, "--gpus=1")["accuracy"])["runs"] and found)
    # Starting "a" or "b" may take long on a busy machine, and then counts as a wait.
    assert accuracy["runs"] <= 3 and accuracy["p90Seconds"] < 60


@pytest.mark.parametrize("words, told", [(("--gpus=-1",), "--gpus"), (("--nodes=0",), "--nodes"), (("--timeout=-1s",), "--timeout"),
                                         (("--timeout=0.5s",), "whole seconds"), (("--gpus=x",), "--gpus"), (("-o", "xml"), "output")])
def test_bad_flags(cluster, words, told):
    failed = cluster.run("what-if", *words, code=2)
    assert told in failed.stderr and failed.stderr.count("\n") == 1 and failed.stdout == ""


def test_a_priority_class_that_does_not_exist_is_refused(cluster):
    failed = cluster.run("what-if", "--priority=nope", code=1)
    assert "the priority nope doesn't exist" in failed.stderr and failed.stdout == ""


def test_a_dry_run_of_the_schedule_prints_no_objects(cluster):
    failed = cluster.run("submit", "pytorch", "--name=x", "--dry-run=schedule", "-o", "json", "true", code=2)
    assert "--dry-run=schedule prints no objects" in failed.stderr
