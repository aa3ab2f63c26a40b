"""`logs --rank` and `--grep`, of ranks in pods of their own and of several in one; `list --watch`."""
import queue
import threading

import pytest

SAY = "import os; print('hello from', os.environ['RANK']); print('loss', os.environ['RANK'])"


@pytest.fixture
def two(cluster):
    cluster.submit("two", f'python3 -c "{SAY}"', "--workers=2", "--wait")
    cluster.wait_for_all("two", "SUCCEEDED")
    return cluster


def lines(cluster, *words):
    return cluster.run("logs", *words).stdout.splitlines()


def test_the_log_of_a_rank(two):
    assert lines(two, "two", "--rank=1") == ["hello from 1", "loss 1"]
    assert sorted(lines(two, "two", "--rank=0-1", "--grep=loss")) == [
        "[two-master-0] loss 0", "[two-worker-0] loss 1"]
    assert lines(two, "two", "--rank=1", "--follow") == ["hello from 1", "loss 1"]
    two.run("delete", "two")
    assert lines(two, "two", "--rank=1", "--grep=loss") == ["loss 1"]


def test_the_log_of_a_rank_of_several_in_a_pod(cluster):
    cluster.run("run", "-n", "2", "--name=one", "--", "python3", "-c", SAY)
    assert lines(cluster, "one", "--rank=1") == ["[rank1]:hello from 1", "[rank1]:loss 1"]
    assert len(lines(cluster, "one", "--rank=0,1")) == 4
    stamped = lines(cluster, "one", "--rank=0", "--grep=loss", "--timestamps")
    assert len(stamped) == 1 and stamped[0].endswith("Z [rank0]:loss 0")


@pytest.mark.parametrize("words, told", [
    (["--rank=2"], '--rank "2" is invalid: the ranks of two are 0 to 1'),
    (["--rank=x"], '--rank "x" is invalid: give ranks like 1 or 0,4-7'),
    (["--rank=1", "-i", "two-master-0"], "give either --rank or --instance, not both")])
def test_ranks_that_are_not_there(two, words, told):
    done = two.run("logs", "two", *words, code=None)
    assert done.returncode != 0 and told in done.stderr and done.stdout == ""


def test_the_list_is_watched(cluster):
    cluster.submit("first", "true", "--wait")
    watching = cluster.start("list", "--watch")
    lines_of_it = queue.Queue()
    reader = threading.Thread(target=lambda: [lines_of_it.put(line) for line in watching.stdout])
    reader.start()
    seen = []

    def read_until(state):
        while not any(line.split()[:2] == state for line in seen):
            seen.append(lines_of_it.get(timeout=60))

    try:
        read_until(["first", "SUCCEEDED"])
        cluster.submit("second", "sleep 600")
        read_until(["second", "RUNNING"])
        cluster.run("delete", "second")
        read_until(["second", "DELETED"])
        assert [line.split()[0] for line in seen].count("first") == 1, "what has not changed is not printed again"
    finally:
        watching.kill()
        watching.wait()
        reader.join()
    assert "give it without -o" in cluster.run("list", "-w", "-o", "json", code=None).stderr
