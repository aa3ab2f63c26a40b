"""The page and `get` of a cluster that is known by a kubeconfig alone: here a muster that listens, whose pods are real. What nobody keeps
there is read from the pods while somebody looks: event files through the exec door, ranks over time."""
import json
import os
import time

import pytest

from dash_page import Dash
from places import ROOT
from waiting import await_true

WRITES = f"""
import os, struct, sys, time
sys.path.insert(0, {os.path.join(ROOT, "tests", "support")!r})
from event_records import record
def event(step, loss):
    value = b"\\x0a\\x04loss\\x15" + struct.pack("<f", loss)
    summary = b"\\x0a" + bytes([len(value)]) + value
    return record(b"\\x09" + struct.pack("<d", time.time()) + b"\\x10" + bytes([step]) + b"\\x2a" + bytes([len(summary)]) + summary)
folder = sys.argv[sys.argv.index("--logdir") + 1]
os.makedirs(folder + "/run 1", exist_ok=True)
print("it writes", flush=True)
with open(folder + "/run 1/events.out.tfevents.1.host", "ab", buffering=0) as file:
    file.write(event(3, 0.5))
    while not os.path.exists(folder + "/more"):
        time.sleep(0.1)
    whole = event(4, 0.25)
    file.write(whole[:20])  # cut in its middle
    while not os.path.exists(folder + "/rest"):
        time.sleep(0.1)
    file.write(whole[20:])
    time.sleep(300)
"""


class Distant:
    """The same cluster, as somebody sees it who has its kubeconfig."""

    def __init__(self, cluster):
        cluster.run("up", "--listen")
        self.cluster = cluster
        self.kubeconfig = cluster.path("kubeconfig")
        with open(self.kubeconfig, "w") as file:
            file.write(cluster.run("kubeconfig").stdout)
        os.chmod(self.kubeconfig, 0o600)

    def run(self, *args, **options):
        return self.cluster.run(*args, "--kubeconfig", self.kubeconfig, env={"MUSTER_CLUSTER": ""}, **options)

    def start(self, *args):
        del self.cluster.env["MUSTER_CLUSTER"]
        try:
            return self.cluster.start(*args, "--kubeconfig", self.kubeconfig)
        finally:
            self.cluster.env["MUSTER_CLUSTER"] = "local"


@pytest.fixture
def distant(cluster):
    return Distant(cluster)


@pytest.fixture
def page(distant, chromium):
    made = Dash(distant)
    with chromium.window() as window:
        window.open(made.link)
        window.wait("return document.querySelector('.screen') && document.getElementById('link-state').textContent === 'live'")
        yield window
    made.end()


def progress(distant, name):
    return json.loads(distant.run("get", name, "-o", "json").stdout).get("progress", [])


def test_event_files_and_ranks_over_time_are_seen_while_the_page_looks(cluster, distant, page):
    folder = cluster.path("home", "logs")
    with open(cluster.path("home", "writes.py"), "w") as file:
        file.write(WRITES)
    cluster.submit("writes", f"python {cluster.path('home', 'writes.py')} --logdir {folder}", "--nproc-per-node=1")
    cluster.wait("writes", "RUNNING")
    assert "this machine" not in page.evaluate("return document.querySelector('.where').innerText")
    page.evaluate("location.hash = '#/job/default/writes'")
    strip = "document.querySelector('[aria-label=\"Ranks over time\"]')"
    page.wait(f"return !{strip}.hidden")
    said = page.evaluate(f"return {strip}.innerText")
    assert "seen from this machine while it looked" in said and "since 20" in said, said

    told = await_true(lambda: progress(distant, "writes"))
    assert [(one["source"], one["step"], one["scalars"]) for one in told] == [("event files", 3, {"loss": 0.5})]
    curves = "document.querySelector('[aria-label=Curves]')"
    page.wait(f"return !{curves}.hidden && {curves}.innerText.includes('3: 0.5')")
    open(os.path.join(folder, "more"), "w").close()
    time.sleep(1)
    assert progress(distant, "writes")[0]["step"] == 3, "what is not whole is not read"
    open(os.path.join(folder, "rest"), "w").close()
    await_true(lambda: progress(distant, "writes")[0]["step"] == 4)
    page.wait(f"return {curves}.innerText.includes('4: 0.25')")


def test_a_folder_that_is_not_there_and_a_pod_without_a_shell_are_no_errors(cluster, distant):
    cluster.submit("none", "echo step 1/2; sleep 100 # --logdir /no/such/folder")
    cluster.wait("none", "RUNNING")
    told = await_true(lambda: progress(distant, "none"))
    assert [one["source"] for one in told] == ["log of none-master-0"]
    assert "error" not in distant.run("get", "none").stderr.lower()
