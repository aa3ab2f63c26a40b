"""The progress of a job on a real API server, where no daemon reads its log: `get`, `show`, `report` and the page read it through the API server."""
import json
import os
import re
import sys
import time

import pytest

from fake_servers import FakeKubelet
from running_operator import wait_until
from test_client import play_operator, submit

sys.path.append(os.path.join(os.path.dirname(__file__), "..", "e2e"))
from dash_page import Dash  # noqa: E402


@pytest.fixture
def kubelet(real_cluster):
    made = FakeKubelet(real_cluster, "node-of-progress")
    yield made
    made.close()


@pytest.fixture
def training(real_cluster, namespace, muster, kubelet):
    """A job that has printed ten steps; say(LINE...) prints more."""
    submit(muster, "far", namespace)
    play_operator(real_cluster, namespace, "far", node="node-of-progress")

    def say(*lines):
        kubelet.write(namespace, "far-master-0", "pytorch", *lines)
    for step in range(1, 11):
        say(f"step {step}/100 loss {1 / step:.3f}")
        time.sleep(0.01)
    return say


def test_get_and_show_read_the_log(training, namespace, muster):
    shown = muster.run("get", "far", "-n", namespace).stdout
    assert re.search(r"^Progress: step 10/100 \(10%\),.* loss 0.1 \(log of far-master-0\)$", shown, re.M), shown
    told, = json.loads(muster.run("get", "far", "-n", namespace, "-o", "json").stdout)["progress"]
    assert (told["source"], told["step"], told["steps"], told["scalars"]) == ("log of far-master-0", 10, 100, {"loss": 0.1})
    kept = json.loads(muster.run("show", "far", "-n", namespace, "-o", "json").stdout)["progress"]
    series, = kept["series"]
    assert (series["source"], series["name"]) == ("log of far-master-0", "loss")
    assert series["points"][-1][1:] == [10, 0.1]


def test_the_page_has_curves_that_grow(training, namespace, muster):
    muster.run("get", "far", "-n", namespace)
    dash = Dash(muster, "-n", namespace)
    try:
        dash.enter()
        page = dash.get(f"/api/progress/{namespace}/far")
        assert page["series"][0]["points"][-1][1:] == [10, 0.1] and "steps" not in page
        events = dash.events(f"job={namespace}/far")
        uid = page["uid"]
        wait_until("its log is read", lambda: events.last("progress").get(uid, {}).get("step") == 10)
        training("step 55/100 loss 0.01")
        wait_until("it is read again", lambda: events.last("progress").get(uid, {}).get("step") == 55)
        events.close()
    finally:
        dash.end()


def test_a_job_whose_log_cannot_be_read_has_none(real_cluster, namespace, muster):
    submit(muster, "mute", namespace)
    play_operator(real_cluster, namespace, "mute", node="no-such-node")
    assert json.loads(muster.run("get", "mute", "-n", namespace, "-o", "json").stdout)["progress"] == []
    assert json.loads(muster.run("show", "mute", "-n", namespace, "-o", "json").stdout)["progress"] is None
