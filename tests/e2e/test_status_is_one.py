"""list, get, top job and their JSON agree at every instant of a job's life."""
import json
import threading
import time

from embedded_api import Api
from waiting import PATIENCE


def versions(api):
    """resourceVersion of each job and pod: while they stay, nothing has changed."""
    return {(path, item["metadata"]["name"]): item["metadata"]["resourceVersion"]
            for path in ("/apis/kubeflow.org/v1/namespaces/default/pytorchjobs",
                         "/api/v1/namespaces/default/pods")
            for item in api.call("GET", path)["items"]}


def rows(text, name):
    """The table row of the job by its header's words."""
    lines = [line.split() for line in text.splitlines()]
    for line in lines[1:]:
        if line and line[0] == name:
            return dict(zip(lines[0], line))
    return {}


def views(cluster, name):
    """What each command says of the job: (status, requested, allocated, chief), where it says it."""
    listed = [job for job in json.loads(cluster.run("list", "-o", "json").stdout)
              if job["name"] == name]
    topped = [job for job in json.loads(cluster.run("top", "job", "-o", "json").stdout)
              if job["name"] == name]
    got = cluster.run("get", name, "-o", "json", code=None)
    wide = rows(cluster.run("list", "-o", "wide").stdout, name)
    top_wide = rows(cluster.run("top", "job", "-o", "wide").stdout, name)
    said = {
        "list": rows(cluster.run("list").stdout, name).get("STATUS"),
        "list -o wide": wide.get("STATUS"),
        "list -o json": listed[0]["status"] if listed else None,
        "top job": rows(cluster.run("top", "job").stdout, name).get("STATUS"),
        "top job -o wide": top_wide.get("STATUS"),
        "top job -o json": topped[0]["status"] if topped else None,
        "get -o json": json.loads(got.stdout)["status"] if got.returncode == 0 else None,
    }
    for format in ("", "wide"):
        done = cluster.run("get", name, *(["-o", format] if format else []), code=None)
        line = next((line for line in done.stdout.splitlines()
                     if line.upper().startswith("STATUS:")), "")
        said[f"get {format}"] = line.split()[-1] if line else None
    whole = [{key: job[key] for key in job if key not in ("duration", "instances")} |
             {"instances": [{key: instance[key] for key in instance if key != "age"}
                            for instance in job["instances"]]}
             for job in (listed + topped + ([json.loads(got.stdout)] if got.returncode == 0 else []))]
    return said, whole


def watch(cluster, name, until, act):
    """Compares while `act` runs its course, until a view satisfies `until`; the statuses seen."""
    api = Api(cluster)
    seen = []
    compared = 0
    doing = threading.Thread(target=act)
    doing.start()
    deadline = time.monotonic() + PATIENCE
    while True:
        assert time.monotonic() < deadline, seen
        before = versions(api)
        said, whole = views(cluster, name)
        if versions(api) != before:
            continue  # something changed on the way: the views need not agree
        compared += 1
        assert len(set(said.values())) == 1, said
        assert all(one == whole[0] for one in whole), whole
        status = said["list"]
        if not seen or seen[-1] != status:
            seen.append(status)
        if not doing.is_alive() and until(status, before) and compared >= 3:
            break
    doing.join()
    return seen


def test_every_view_agrees_through_a_job_s_life(cluster):
    flag = cluster.path("tmp", "go")
    wait_for_flag = f"while [ ! -e {flag} ]; do sleep 0.1; done"
    assert watch(cluster, "pt", lambda status, _: status == "RUNNING",
                 lambda: cluster.submit("pt", wait_for_flag, "--workers=2"))[-1] == "RUNNING"
    seen = watch(cluster, "pt", lambda status, _: status == "SUSPENDED",
                 lambda: cluster.run("suspend", "pt"))
    assert seen[-1] == "SUSPENDED" and set(seen) <= {"RUNNING", "PENDING", "SUSPENDED"}
    seen = watch(cluster, "pt", lambda status, _: status == "RUNNING",
                 lambda: cluster.run("resume", "pt"))
    assert seen[-1] == "RUNNING"

    def release():
        with open(flag, "w"):
            pass
    seen = watch(cluster, "pt", lambda status, _: status == "SUCCEEDED", release)
    assert seen[-1] == "SUCCEEDED" and set(seen) <= {"RUNNING", "PENDING", "SUCCEEDED"}
    seen = watch(cluster, "pt", lambda status, _: status is None,
                 lambda: cluster.run("delete", "pt"))
    assert seen[-1] is None


def test_every_view_agrees_on_failures_and_on_jobs_that_go(cluster):
    seen = watch(cluster, "bad", lambda status, _: status == "FAILED",
                 lambda: cluster.submit("bad", "exit 3"))
    assert seen[-1] == "FAILED"
    cluster.run("delete", "bad")
    # One that ends slowly: it is going, and every view says the same of it meanwhile.
    cluster.submit("slow", "trap 'sleep 2; exit 0' TERM; while true; do sleep 0.1; done")
    cluster.wait("slow", "RUNNING")
    seen = watch(cluster, "slow", lambda status, _: status is None,
                 lambda: cluster.run("delete", "slow"))
    assert seen[-1] is None
