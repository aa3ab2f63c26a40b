"""muster run --notify against a real API server: no daemon notices the end there, so the command itself tells it."""
import json
import os

import pytest

from fake_servers import FakeKubelet
from running_operator import wait_until
from test_client import play_operator


@pytest.fixture
def kubelet(real_cluster):
    made = FakeKubelet(real_cluster, "node-of-runs")
    yield made
    made.close()


def end(cluster, namespace, job, exit_code):
    """As a kubelet and the operator say it."""
    word = "Failed" if exit_code else "Succeeded"
    cluster.patch_status("pod", f"{job}-master-0", namespace, {
        "phase": word, "containerStatuses": [{
            "name": "pytorch", "ready": False, "restartCount": 0, "image": "x", "imageID": "x", "started": False,
            "state": {"terminated": {"exitCode": exit_code, "reason": "Error" if exit_code else "Completed",
                                     "startedAt": "2026-01-01T00:00:00Z", "finishedAt": "2026-01-01T00:01:00Z"}}}]})
    cluster.patch_status("pytorchjob", job, namespace, {
        "completionTime": "2026-01-01T00:01:00Z",
        "conditions": [{"type": word, "status": "True", "reason": f"PyTorchJob{word}", "message": "",
                        "lastUpdateTime": "2026-01-01T00:01:00Z", "lastTransitionTime": "2026-01-01T00:01:00Z"}]})


@pytest.mark.parametrize("job, exit_code, flags, told", [
    ("good", 0, (), True), ("bad", 3, (), True), ("fine", 0, ("--notify-on=fail",), False), ("worse", 3, ("--notify-on=fail",), True)])
def test_a_run_that_follows_tells_how_its_job_ended(real_cluster, namespace, muster, kubelet, job, exit_code, flags, told):
    code = muster.path("code")
    os.makedirs(code)
    open(os.path.join(code, "train.py"), "w").close()
    following = muster.start("run", "--namespace", namespace, "-C", code, "--image=registry.local/train:1", f"--name={job}",
                             f"--notify=cat >{muster.path('told')}", *flags, "train.py")
    wait_until("the job", lambda: real_cluster.kubectl("get", "pytorchjob", job, "-n", namespace, code=None).returncode == 0)
    play_operator(real_cluster, namespace, job, node="node-of-runs")
    where = (namespace, f"{job}-master-0", "pytorch")
    kubelet.write(*where, "first", "loss 0.25")
    kubelet.end(*where)
    end(real_cluster, namespace, job, exit_code)
    out, err = following.communicate(timeout=120)
    assert following.returncode == exit_code and "loss 0.25" in out, err
    assert os.path.exists(muster.path("told")) == told
    shown = muster.run("show", job, "-n", namespace).stdout
    assert ("end: told at " in shown) == told
    if told:
        notice = json.load(open(muster.path("told")))
        assert (notice["job"], notice["event"], notice["status"]) == (job, "end", "FAILED" if exit_code else "SUCCEEDED")
        assert notice["lastLine"] == "loss 0.25" and notice["text"].startswith(f"{job} {'failed' if exit_code else 'succeeded'}")
    # Nobody else learns whom it told.
    assert "cat >" not in json.dumps(real_cluster.get("pytorchjob", job, "-n", namespace))
