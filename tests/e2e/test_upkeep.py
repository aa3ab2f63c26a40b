"""The store's backup and what is done with a damaged store; how long finished jobs and how much of
their logs are kept."""
import glob
import json
import os
import sqlite3
import time

import pytest
from embedded_api import Api
from waiting import await_true, await_words

WAITS = "echo begun; sleep 600"


def settings(cluster, *lines):
    with open(cluster.path("config/muster/config.yaml"), "a") as file:
        file.writelines(f"  {line}\n" for line in lines)


def damage(path):
    with open(path, "r+b") as file:
        size = file.seek(0, os.SEEK_END)
        for at in range(8192, size, 101):
            file.seek(at)
            file.write(b"\x5a\xa5")


def with_backup(cluster):
    cluster.submit("before", "echo of before")
    cluster.wait_for_all("before", "SUCCEEDED")
    cluster.run("down")
    assert os.path.exists(cluster.path("state/muster/cluster.db.backup"))
    cluster.submit("runs", WAITS)
    cluster.wait("runs", "RUNNING")
    return cluster.pod_processes()


def test_a_damaged_store_is_kept_and_told_and_restored(cluster):
    before = with_backup(cluster)
    cluster.kill_daemon()
    damage(cluster.path("state/muster/cluster.db"))
    for _ in range(2):
        told = cluster.run("list", code=1).stderr
        assert len(told.splitlines()) == 1, told
        assert "is damaged" in told and "`muster cluster --restore`" in told, told
    (kept,) = glob.glob(cluster.path("state/muster/lost+found/store-*"))
    assert kept in told and os.path.exists(kept + "/cluster.db")
    assert cluster.pod_processes() == before

    cluster.run("cluster", "--restore")
    table = cluster.run("list")
    assert "before" in table.stdout and "runs" not in table.stdout
    assert "of before" in cluster.run("logs", "before").stdout
    cluster.submit("next", "true")
    cluster.wait("next", "SUCCEEDED")
    assert "is left alone: `kill " in cluster.run("list").stderr
    assert set(before) <= set(cluster.pod_processes())
    for line in cluster.run("list").stderr.splitlines():
        if "`kill " in line:
            os.kill(int(line.split("`kill ")[1].split("`")[0]), 15)
    cluster.await_no_process()


def test_a_restore_waits_for_no_running_job_unless_it_is_told_to(cluster):
    before = with_backup(cluster)
    assert "--force is for --restore" in cluster.run("cluster", "--force", code=2).stderr
    refused = cluster.run("cluster", "--restore", code=None)
    assert refused.returncode != 0 and "not restored" in refused.stderr, refused
    assert cluster.get("runs")["status"] == "RUNNING"
    cluster.run("cluster", "--restore", "--force")
    assert "runs" not in cluster.run("list").stdout
    assert set(before) <= set(cluster.pod_processes())
    told = await_words("`kill ", lambda: cluster.run("list").stderr)
    os.kill(int(told.split("`kill ")[1].split("`")[0]), 15)
    cluster.await_no_process()


def test_a_restore_without_a_backup_changes_nothing(cluster):
    cluster.submit("job", "true")
    cluster.wait("job", "SUCCEEDED")
    cluster.kill_daemon()
    assert "there is no backup" in cluster.run("cluster", "--restore", code=1).stderr
    assert "job" in cluster.run("list").stdout


def test_finished_jobs_go_by_age_with_their_logs(cluster):
    settings(cluster, "keep_days: 2")
    for name in ("old", "young"):
        cluster.submit(name, "echo done")
        cluster.wait_for_all(name, "SUCCEEDED")
    time_of = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 49 * 3600))
    Api(cluster).call(
        "PATCH", "/apis/kubeflow.org/v1/namespaces/default/pytorchjobs/old/status",
        {"status": {"conditions": [{"type": "Succeeded", "status": "True",
                                    "lastTransitionTime": time_of, "lastUpdateTime": time_of}]}})
    assert len(os.listdir(cluster.path("state/muster/pods"))) == 2
    await_true(lambda: "old" not in cluster.run("list").stdout)
    await_true(lambda: len(os.listdir(cluster.path("state/muster/pods"))) == 1)
    assert "young" in cluster.run("list").stdout
    with open(cluster.path("state/muster/daemon.log")) as log:
        assert "no longer kept (local.keep_*): old" in log.read()


def test_old_records_go_with_their_logs_and_what_nobody_remembers_too(cluster):
    settings(cluster, "keep_days: 2")
    for name in ("old", "young"):
        cluster.run("run", f"--name={name}", "echo done")
        cluster.run("delete", name)
    cluster.run("down")
    with sqlite3.connect(cluster.path("state/muster/cluster.db")) as store:
        long_ago = int((time.time() - 49 * 3600) * 1e6)
        for uid, text in store.execute("SELECT uid, json FROM kept WHERE name = 'old'").fetchall():
            job = json.loads(text)
            job["metadata"]["creationTimestamp"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(long_ago / 1e6))
            store.execute("UPDATE kept SET created = ?, json = ? WHERE uid = ?", (long_ago, json.dumps(job), uid))
    records, runs = cluster.path("state/muster/records"), cluster.path("state/muster/runs")
    os.makedirs(f"{records}/stray/logs")
    assert len(os.listdir(records)) == 3
    cluster.run("up")
    await_true(lambda: len(os.listdir(records)) == 1 and os.listdir(runs) == ["young"], lambda: os.listdir(records))
    assert [run["name"] for run in json.loads(cluster.run("history", "-o", "json").stdout)] == ["young"]
    assert cluster.run("logs", "young").stdout == "done\n"


def test_a_long_log_keeps_its_newest_and_says_so(cluster):
    settings(cluster, "log_limit: 1M")
    assert "the newest 1M of each rank's log" in cluster.run("cluster").stdout
    cluster.submit("prints", "python -c \"for i in range(50000): print('line', i, 'x' * 90)\"")
    cluster.wait_for_all("prints", "SUCCEEDED")
    lines = cluster.run("logs", "prints").stdout.splitlines()
    assert lines[0].startswith("muster: log truncated: ") and "local.log_limit" in lines[0], lines[0]
    assert lines[-1].startswith("line 49999 ") and len(lines) > 3000
    assert [line.split()[1] for line in lines[1:]] == [str(i) for i in range(50001 - len(lines), 50000)]
    (file,) = glob.glob(cluster.path("state/muster/pods/*/logs/pytorch/0.log"))
    blocks = os.stat(file).st_blocks * 512
    if blocks > 4_000_000:
        pytest.skip("this file system has no holes")
    assert blocks < 1_300_000
