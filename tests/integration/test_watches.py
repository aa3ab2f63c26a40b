"""Lists and watches when their connection, the API server or a clock fails: nothing is lost, nothing
comes twice, and nobody waits for ever."""
import concurrent.futures
import http.client
import http.server
import json
import re
import ssl
import threading
import time
import urllib.parse

import pytest

from fake_servers import Threaded, server_tls
from test_client import JOB_FLAGS, one_line, play_operator, submit
from waiting import PATIENCE

CREATED = {"type": "Created", "status": "True"}


def condition(kind):
    return {"type": kind, "status": "True", "lastTransitionTime": "2026-07-30T10:00:01Z"}


class CutServer:
    """An API server of one job. In namespace nN its first watch of the job breaks off after N bytes
    of RECORDED; the next goes on from wherever the client says that it is."""
    EVENTS = [("MODIFIED", 11, [CREATED, condition("Running")]),
              ("BOOKMARK", 12, None),
              ("MODIFIED", 13, [CREATED, condition("Running"), {"type": "Noted", "status": "True",
                                                                "message": 'a "quote" and \\ and \u00e9'}]),
              ("MODIFIED", 14, [CREATED, condition("Succeeded")])]

    def __init__(self, authority):
        cert, key = authority.issue("cut", "cut", names=("IP:127.0.0.1",))
        self.lock = threading.Lock()
        self.asked = {}  # of a namespace: what its client asked of the jobs
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args):
                pass

            def do_GET(self):
                outer.get(self)

            def do_POST(self):
                made = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                made.setdefault("metadata", {}).update(uid="u", resourceVersion="9",
                                                       creationTimestamp="2026-07-30T10:00:00Z")
                outer.answer(self, 201, made)

            def do_PATCH(self):  # the job is whole
                self.rfile.read(int(self.headers["Content-Length"]))
                whole = outer.job(9, [])
                whole["metadata"]["namespace"] = re.search(r"/namespaces/(n\d+)/", self.path)[1]
                outer.answer(self, 200, whole)
        self._server = Threaded(("127.0.0.1", 0), Handler)
        self._server.socket = server_tls(cert, key).wrap_socket(self._server.socket, server_side=True)
        self.url = f"https://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @staticmethod
    def job(version, conditions):
        return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "spec": {},
                "metadata": {"name": "j", "uid": "u", "resourceVersion": str(version),
                             "creationTimestamp": "2026-07-30T10:00:00Z"},
                "status": {"conditions": conditions, "startTime": "2026-07-30T10:00:00Z"}}

    @classmethod
    def recorded(cls, after):
        """The chunks of a watch's answer from a version on."""
        data = b""
        for kind, version, conditions in cls.EVENTS:
            if version > after:
                item = (cls.job(version, conditions) if conditions else
                        {"kind": "PyTorchJob", "metadata": {"resourceVersion": str(version)}})
                line = json.dumps({"type": kind, "object": item}, ensure_ascii=False).encode() + b"\n"
                data += b"%x\r\n%s\r\n" % (len(line), line)
        return data

    @staticmethod
    def answer(handler, status, body):
        data = json.dumps(body).encode()
        handler.send_response(status)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    def get(self, handler):
        url = urllib.parse.urlsplit(handler.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        place = re.match(r"/(?:api/v1|apis/kubeflow.org/v1)/namespaces/n(\d+)/(pods|pytorchjobs)$", url.path)
        if not place:
            return self.answer(handler, 404, {"kind": "Status", "reason": "NotFound", "code": 404,
                                              "message": f"no {url.path}"})
        cut, is_of_pods = int(place[1]), place[2] == "pods"
        if "watch" not in query and (is_of_pods or cut in self.asked):
            # Whether the history has gone back, after a watch that broke off: it has not.
            return self.answer(handler, 200, {"metadata": {"resourceVersion": "14"}, "items": []})
        if "watch" not in query:
            items = [] if is_of_pods else [self.job(10, [CREATED])]
            if not is_of_pods:
                with self.lock:
                    self.asked.setdefault(cut, []).append("list")
            return self.answer(handler, 200, {"metadata": {"resourceVersion": "10"}, "items": items})
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        handler.close_connection = True
        if is_of_pods:
            handler.connection.recv(1)  # open until the client goes
            return None
        version = int(query["resourceVersion"])
        with self.lock:
            asked = self.asked.setdefault(cut, [])
            asked.append(version)
            is_first = len(asked) == 2
        data = self.recorded(version)
        handler.wfile.write(data[:cut] if is_first else data)
        handler.wfile.flush()
        if not is_first:
            handler.connection.recv(1)
        return None

    def close(self):
        self._server.shutdown()
        self._server.server_close()


# Every byte is a minute of nothing but starts of programs: beside `make soak`, those around each event's end and line, and every
# eleventh in between.
@pytest.mark.parametrize("step", [11, pytest.param(1, marks=pytest.mark.soak)])
def test_a_watch_that_is_cut_anywhere_loses_and_repeats_nothing(real_cluster, muster_as, step):
    server = CutServer(real_cluster.authority)
    path = real_cluster.write_kubeconfig("cut", {"token": "t"}, cluster={"server": server.url})
    user = muster_as(path)
    whole = CutServer.recorded(10)
    # Where each event's line has come whole, with the version that is known from then on.
    known_from, at = [(0, 10)], 0
    for _, version, _ in CutServer.EVENTS:
        at = len(whole) - len(CutServer.recorded(version))
        known_from.append((at - len(b"\r\n"), version))
    ends = [begin for begin, _ in known_from]
    cuts = [cut for cut in range(len(whole) + 1) if cut % step == 0 or any(abs(cut - end) <= 8 for end in ends)]
    assert cuts[0] == 0 and cuts[-1] == len(whole)

    def wait(cut):
        return user.run("submit", "pytorch", "--name=j", "-n", f"n{cut}", *JOB_FLAGS, "--wait", "true",
                        code=None, timeout=180)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        ended = dict(zip(cuts, pool.map(wait, cuts)))
    said = {cut: re.sub(r"n\d+|\[\d+\]", "", done.stderr) for cut, done in ended.items()}
    for cut, done in ended.items():
        assert done.returncode == 0, (cut, done.stderr)
        # As if nothing had happened.
        assert said[cut] == said[len(whole)], (cut, done.stderr)
        known = max(version for begin, version in known_from if cut >= begin)
        watches = [10] if known == 14 else [10, known]
        assert server.asked[cut][:3] == ["list", *watches], (cut, server.asked[cut])
    assert said[len(whole)].count("has succeeded") == 1
    server.close()


class Load:
    """Writes and reads as fast as one connection can, whatever becomes of the server."""

    def __init__(self, cluster, namespace):
        self._cluster, self._namespace = cluster, namespace
        self.made, self._is_over = 0, threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(number,)) for number in range(4)]
        for thread in self._threads:
            thread.start()

    def _run(self, number):
        context = ssl.create_default_context(cafile=self._cluster.authority.cert)
        context.load_cert_chain(self._cluster.admin_cert, self._cluster.admin_key)
        path = f"/api/v1/namespaces/{self._namespace}/configmaps"
        connection, count = None, 0
        while not self._is_over.is_set():
            count += 1
            body = {"metadata": {"name": f"load-{number}-{count}"}, "data": {"x": "x" * 1000}}
            try:
                if connection is None:
                    connection = http.client.HTTPSConnection("127.0.0.1", self._cluster.port, timeout=10,
                                                             context=context)
                connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
                answer = connection.getresponse()
                answer.read()
                self.made += answer.status == 201
            except (OSError, http.client.HTTPException):
                connection = None
                self._is_over.wait(0.1)

    def stop(self):
        self._is_over.set()
        for thread in self._threads:
            thread.join()


def test_lists_and_watches_over_a_restart_of_the_api_server_under_load(real_cluster, muster, namespace):
    names = [f"j{number}" for number in range(3)]
    waiting = [muster.start("submit", "pytorch", f"--name={name}", "-n", namespace, *JOB_FLAGS, "--wait",
                            "true") for name in names]
    for name in names:
        real_cluster.kubectl("wait", "--for=create", "-n", namespace, f"pytorchjob/{name}", "--timeout=60s")
        play_operator(real_cluster, namespace, name)
    load = Load(real_cluster, namespace)
    lists, is_over = [], threading.Event()

    def keep_listing():
        while not is_over.is_set():
            lists.append(muster.run("list", "-n", namespace, "-o", "json", code=None))
    lister = threading.Thread(target=keep_listing)
    lister.start()
    try:
        for _ in range(2):
            seen = len(lists)
            real_cluster.stop_api_server(kill=True)
            deadline = time.monotonic() + PATIENCE
            while len(lists) < seen + 3:  # the server is away for some of them
                assert time.monotonic() < deadline
                time.sleep(0.05)
            real_cluster.start_api_server()
        # Told of the end on one watch or another, or by the list after it.
        for name, phase in zip(names, ("Succeeded", "Failed", "Succeeded")):
            real_cluster.patch_status("pytorchjob", name, namespace, {"conditions": [CREATED, condition(phase)]})
        ended = [done.communicate(timeout=120) for done in waiting]
    finally:
        is_over.set()
        lister.join()
        load.stop()
        for process in waiting:
            process.kill()
            process.wait()
    assert [process.returncode for process in waiting] == [0, 1, 0], ended
    for (_, error), phase in zip(ended, ("has succeeded", "has failed", "has succeeded")):
        assert error.count(phase) == 1, error
    assert load.made > 0
    refused = [done for done in lists if done.returncode != 0]
    assert refused and len(refused) < len(lists)
    for done in lists:
        if done.returncode == 0:
            # Whole, or not at all.
            assert sorted(job["name"] for job in json.loads(done.stdout)) == names
            assert all(len(job["instances"]) == 2 for job in json.loads(done.stdout))
        else:
            assert done.stdout == "", done.stdout
            one_line(done)


def test_a_certificate_that_is_not_valid_yet_makes_one_look_at_the_clock(real_cluster, muster_as):
    cert, key = real_cluster.authority.issue_for_2099("early", ("IP:127.0.0.1",))
    listener = http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
    listener.handle_error = lambda *peer: None
    listener.socket = server_tls(cert, key).wrap_socket(listener.socket, server_side=True)
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    path = real_cluster.write_kubeconfig("early", {"token": "t"}, cluster={
        "server": f"https://127.0.0.1:{listener.server_address[1]}"})
    line = one_line(muster_as(path).run("list", code=1))
    assert "it is not valid yet (is this machine's clock right?)" in line, line
    listener.shutdown()
    listener.server_close()


@pytest.mark.parametrize("time_said", ["2099-01-01T00:00:00Z", "1970-01-01T00:00:00Z"])
def test_a_clock_that_is_wrong_makes_no_wrong_numbers(real_cluster, muster, namespace, time_said):
    """The operator's clock: as if it had been set right, or wrong, since."""
    submit(muster, "skewed", namespace)
    play_operator(real_cluster, namespace, "skewed")
    real_cluster.patch_status("pytorchjob", "skewed", namespace, {"startTime": time_said})
    for pod in ("skewed-master-0", "skewed-worker-0"):
        real_cluster.patch_status("pod", pod, namespace, {"startTime": time_said})
    for verb in (["list"], ["list", "-o", "wide"], ["get", "skewed"], ["get", "skewed", "-o", "wide"],
                 ["top", "job"], ["top", "job", "skewed"]):
        done = muster.run(*verb, "-n", namespace)
        assert "skewed" in done.stdout and "RUNNING" in done.stdout, done.stdout
        assert not re.search(r"-\d+[smhdy]\b", done.stdout), done.stdout
        assert done.stderr == "", done.stderr
    job, = json.loads(muster.run("list", "-o", "json", "-n", namespace).stdout)
    assert job["status"] == "RUNNING" and re.fullmatch(r"-?\d+s", job["duration"]), job
    # The age is the API server's own, and right.
    age = muster.run("list", "-n", namespace).stdout.splitlines()[1].split()[3]
    assert re.fullmatch(r"\d+[sm]", age), age
