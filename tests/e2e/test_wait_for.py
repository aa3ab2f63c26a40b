"""--wait-for: a job that starts when another has succeeded."""
import os

from embedded_muster import Cluster
from waiting import PATIENCE, await_true

GATE = 'while ! test -e {0}; do sleep 0.05; done; exit {1}'


def gated(cluster, name, code=0):
    """A job that ends with this code once the file that is returned is made."""
    go = cluster.path("home", "go-" + name)
    cluster.run("run", "-d", f"--name={name}", "--clean-env", GATE.format(go, code))
    return go


def reason_of(cluster, name):
    """Once there is one: the daemon says it when it has seen the job."""
    return await_true(lambda: next((line for line in cluster.run("get", name).stdout.splitlines() if line.startswith("REASON:")), None))


def test_a_job_starts_when_the_other_has_succeeded_across_a_restart_of_the_daemon(cluster):
    go = gated(cluster, "base")
    cluster.run("run", "-d", "--name=next", "--wait-for=base", "echo now")
    cluster.run("submit", "pytorch", "--name=last", "--wait-for=next", "--wait-for=base", "echo last")
    assert reason_of(cluster, "next") == "REASON: waits for base to succeed"
    assert reason_of(cluster, "last") == "REASON: waits for next, base to succeed"
    listed = {line.split()[0]: line.split()[1] for line in cluster.run("list").stdout.splitlines()}
    assert (listed["next"], listed["last"]) == ("PENDING", "PENDING")
    cluster.kill_daemon()
    assert reason_of(cluster, "next") == "REASON: waits for base to succeed"
    open(go, "w").close()
    cluster.wait("last", "SUCCEEDED")
    assert cluster.run("logs", "next").stdout == "now\n"
    # Those that have succeeded are not waited for, deleted ones neither.
    cluster.run("delete", "base")
    assert cluster.run("run", "--name=more", "--wait-for=base", "--wait-for=next", "echo more").stdout == "more\n"


def test_one_that_succeeded_while_no_daemon_was_there_to_tell(cluster):
    go = gated(cluster, "base")
    cluster.run("run", "-d", "--name=next", "--wait-for=base", "true")
    cluster.kill_daemon()
    open(go, "w").close()
    cluster.wait("next", "SUCCEEDED")


def test_it_fails_with_the_one_that_it_waits_for(cluster):
    go = gated(cluster, "bad", 3)
    gone = gated(cluster, "gone")
    for name, awaited in (("next", "bad"), ("other", "gone")):
        cluster.run("run", "-d", f"--name={name}", f"--wait-for={awaited}", "true")
    following = cluster.start("run", "--name=followed", "--wait-for=bad", "echo never")
    while "waits for bad to succeed" not in (said := following.stderr.readline()):
        assert said, "it does not say what it waits for"
    open(go, "w").close()
    cluster.wait("next", "FAILED")
    assert reason_of(cluster, "next").startswith("REASON: job bad, which this one waited for, has failed: rank 0")
    out, err = following.communicate(timeout=PATIENCE)
    assert following.returncode == 1 and out == "" and "job bad, which this one waited for, has failed" in err
    cluster.run("delete", "gone")
    cluster.wait("other", "FAILED")
    assert reason_of(cluster, "other") == "REASON: job gone, which this one waited for, was deleted"
    refused = cluster.run("run", "-d", "--wait-for=bad", "true", code=1).stderr
    assert "that job has failed" in refused
    assert not os.path.exists(gone)


def test_resumed_or_suspended_by_hand_it_waits_no_more(cluster):
    go = gated(cluster, "base")
    for name in ("early", "held"):
        cluster.run("run", "-d", f"--name={name}", "--wait-for=base", "true")
    cluster.run("resume", "early")
    cluster.wait("early", "SUCCEEDED")
    cluster.run("suspend", "held")
    open(go, "w").close()
    cluster.wait("base", "SUCCEEDED")
    cluster.run("run", "--wait-for=base", "true")
    assert cluster.get("held")["status"] == "SUSPENDED"
