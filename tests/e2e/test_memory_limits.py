"""What a client does without end takes no endless memory of the daemon: patches that let an object grow, watchers and readers
of lists that do not read, a store of many objects. MUSTER_OBJECTS says how many; `make soak` has a hundred thousand."""
import http.client
import json
import os
import threading

from embedded_api import Api

OBJECTS = int(os.environ.get("MUSTER_OBJECTS", "3000"))
MAPS = "/api/v1/namespaces/default/configmaps"
MIB = 1 << 20
# What an object may have at most (src/text/patch.h), watches may buffer each and together (src/local/server: reads/watches.h,
# backend/watch_budget.h), and the store remembers of events (src/local/store/history.h).
OBJECT, WATCH, WATCHES, HISTORY = 3 * MIB, 16 * MIB, 64 * MIB, 8 * MIB
# Beside those: threads, requests under way, and what the C library's heap keeps.
SLACK = 64 * MIB


def peak(pid):
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM:"))


class Growth:
    """By how much the daemon's memory grew at most since the last reset."""

    def __init__(self, cluster):
        self.pid = cluster.daemon_pid()
        self.reset()

    def reset(self):
        with open(f"/proc/{self.pid}/clear_refs", "w") as file:
            file.write("5")
        self.begin = peak(self.pid)

    def check(self, limit, what):
        grown = peak(self.pid) - self.begin
        assert grown <= limit, f"{what}: {grown >> 20} MiB more than before"


def config_map(name, size=1000):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"k": "x" * size}}


def send(api, method, path, body, kind="application/merge-patch+json"):
    """The answer's status."""
    api.request(method, path, json.dumps(body), {"Content-Type": kind})
    answer = api.getresponse()
    answer.read()
    return answer.status


def open_unread(cluster, target):
    """A request whose answer nobody reads beyond its head."""
    api = Api(cluster, is_up=True)
    api.request("GET", target)
    api.sock.settimeout(60)
    answer = api.getresponse()
    assert answer.status == 200
    return api, answer


def test_an_object_does_not_grow_without_end(cluster):
    cluster.run("up")
    api, growth = Api(cluster), Growth(cluster)
    api.call("POST", MAPS, config_map("m"))
    answers = [send(api, "PATCH", f"{MAPS}/m", {"data": {f"k{number}": "y" * (MIB // 4)}}) for number in range(60)]
    refused = answers.index(422)
    assert answers == [200] * refused + [422] * (60 - refused)
    assert OBJECT // MIB * 4 - 1 <= refused + 1 <= OBJECT // MIB * 4 + 1, refused
    bomb = [{"op": "copy", "from": "/data", "path": f"/data/c{number}"} for number in range(40)]
    for _ in range(20):
        assert send(api, "PATCH", f"{MAPS}/m", bomb, "application/json-patch+json") == 422
    growth.check(HISTORY + 4 * OBJECT + SLACK, "patches")


def read_to_the_end(answer, version):
    """Events of a watch, until it is ended (true) or has nothing more to say (false)."""
    while True:
        try:
            line = answer.readline()
        except TimeoutError:
            return False
        except (http.client.IncompleteRead, ConnectionError):
            return True
        if not line.endswith(b"\n"):
            return True  # within an event, which the client drops
        event = json.loads(line)
        if event["type"] == "ERROR":
            return True
        seen = int(event["object"]["metadata"]["resourceVersion"])
        assert seen > version
        version = seen


def test_watchers_that_do_not_read_are_ended_and_go_on_later(cluster):
    cluster.run("up")
    api, growth = Api(cluster), Growth(cluster)
    version = api.call("POST", MAPS, config_map("m"))["metadata"]["resourceVersion"]
    unread = [open_unread(cluster, f"{MAPS}?watch=1&resourceVersion={version}") for _ in range(12)]
    for number in range(60):
        assert send(api, "PATCH", f"{MAPS}/m", {"data": {"k": str(number % 10) * MIB}}) == 200
    growth.check(WATCHES + HISTORY + SLACK, "watchers")
    # Some were ended for what they had not read. What they were sent is in order.
    ended = [read_to_the_end(answer, int(version)) for _, answer in unread]
    assert sum(ended) * WATCH >= len(ended) * WATCH - WATCHES, ended
    for connection, _ in unread:
        connection.close()
    # As soon as they read they may watch again: from a list, where the store no longer remembers so much.
    again = api.call("GET", f"{MAPS}/m")["metadata"]["resourceVersion"]
    connection, answer = open_unread(cluster, f"{MAPS}?watch=1&resourceVersion={again}")
    assert send(api, "PATCH", f"{MAPS}/m", {"data": {"k": "end"}}) == 200
    assert json.loads(answer.readline())["object"]["data"]["k"] == "end"
    connection.close()


def make_objects(cluster, count):
    """Together, so that the store writes many with one commit."""
    def some(first):
        api = Api(cluster, is_up=True)
        for number in range(first, count, 16):
            api.call("POST", MAPS, config_map(f"m{number}"))
        api.close()

    threads = [threading.Thread(target=some, args=(first,)) for first in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def count_pages(api):
    """Objects of a list in pages of 500."""
    found, more = 0, ""
    while True:
        page = api.call("GET", f"{MAPS}?limit=500&continue={more}")
        found += len(page["items"])
        more = page["metadata"].get("continue", "")
        if not more:
            return found


def test_many_objects_are_on_the_disk_and_not_in_memory(cluster):
    cluster.run("up")
    growth = Growth(cluster)
    make_objects(cluster, OBJECTS)
    growth.check(HISTORY + SLACK, "writing")
    api = Api(cluster, is_up=True)
    assert count_pages(api) == OBJECTS
    # Lists that nobody reads, and watches that begin with all that is there.
    unread = [open_unread(cluster, MAPS) for _ in range(8)]
    unread += [open_unread(cluster, f"{MAPS}?watch=1&sendInitialEvents=true&allowWatchBookmarks=true"
                                    "&resourceVersionMatch=NotOlderThan") for _ in range(8)]
    assert count_pages(api) == OBJECTS
    growth.check(WATCHES + HISTORY + SLACK, "reading")
    for connection, _ in unread:
        connection.close()
    cluster.kill_daemon()
    cluster.run("up")
    growth = Growth(cluster)
    assert peak(growth.pid) <= 2 * SLACK, f"a daemon that starts takes {peak(growth.pid) >> 20} MiB"
    assert count_pages(Api(cluster, is_up=True)) == OBJECTS
