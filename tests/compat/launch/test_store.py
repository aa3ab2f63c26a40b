"""The workers' store with PyTorch's own clients: of Debian's torch 1.13, and of the newest torch where
its environment is there (3 GB: scripts/python-environment torch-2.15 torch torch==2.15.0 numpy)."""
import os
import re
import resource
import signal
import socket
import struct
import subprocess
import sys
import time

import pytest

from places import ROOT
from waiting import PATIENCE

SERVER = os.environ.get("MUSTER_STORE_SERVER", os.path.join(ROOT, "build", "dev", "store_server"))
DEBIAN = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
NEWEST = os.environ.get("MUSTER_NEWEST_TORCH", "/var/cache/muster/torch-2.15/bin/python")
PYTHONS = [DEBIAN] + ([NEWEST] if os.path.exists(NEWEST) else [])

class Store:
    def __init__(self, files=None):
        """`files`: its soft and hard limit of descriptors."""
        limit = (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, files)) if files else None
        self.process = subprocess.Popen([SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        preexec_fn=limit)
        self.port = int(self.process.stdout.readline())

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return list(iter(self.process.stdout.readline, ".\n"))

    def close(self):
        self.process.stdin.close()
        assert self.process.wait(PATIENCE) == 0


@pytest.fixture
def store():
    store = Store()
    yield store
    store.close()


@pytest.fixture(params=PYTHONS, ids=lambda python: "debian" if python == DEBIAN else "newest")
def python(request):
    return request.param


def run(python, code, *args, **environment):
    done = subprocess.run([python, "-c", code, *map(str, args)], capture_output=True, text=True,
                          timeout=PATIENCE, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout


CLIENT = """
import datetime, sys, threading
import torch.distributed as dist
seconds = lambda n: datetime.timedelta(seconds=n)
port = int(sys.argv[1])
store = dist.TCPStore("127.0.0.1", port, None, False, timeout=seconds(60))
other = dist.TCPStore("127.0.0.1", port, None, False, timeout=seconds(60))
"""


def test_every_request_of_the_client_means_what_pytorchs_server_means(python, store):
    code = CLIENT + """
def requests(store, other):
    said = []
    store.set("k", "value")
    said += [other.get("k"), store.add("n", 5), other.add("n", -7), store.get("n")]
    said += [store.compare_set("c", "x", "a"), store.compare_set("c", "", "a"), store.compare_set("c", "b", "d"),
             store.compare_set("c", "a", "d")]
    said += [store.delete_key("c"), store.delete_key("c"), store.num_keys()]
    big = bytes(range(256)) * 4096 * 7
    store.set("big", big)
    said.append(other.get("big") == big)
    prefixed = dist.PrefixStore("p/q", dist.PrefixStore("r", store))
    prefixed.set("k", "in")
    said += [prefixed.get("k"), prefixed.add("count", 1), other.get("r/p/q/k")]
    threading.Timer(0.2, lambda: other.set("late", "now")).start()
    store.wait(["late", "k"], seconds(60))
    said.append(store.get("late"))
    if hasattr(store, "append"):
        store.append("a", "1"); store.append("a", "2")
        store.multi_set(["m1", "m2"], ["x", ""])
        said += [other.get("a"), other.multi_get(["m1", "m2", "a"]), store.check(["m1"]), store.check(["m1", "no"])]
    if hasattr(store, "queue_push"):
        store.queue_push("q", "first"); store.queue_push("q", "second")
        said += [other.queue_len("q"), other.queue_pop("q"), other.queue_pop("q"), other.queue_len("q")]
        threading.Timer(0.2, lambda: other.queue_push("q", "late")).start()
        said += [store.queue_pop("q"), sorted(store.list_keys())]
        thread = threading.Thread(target=lambda: other.barrier("b", 2)); thread.start()
        store.barrier("b", 2); thread.join()
    return said
ours = requests(store, other)
master = dist.TCPStore("127.0.0.1", 0, None, True, timeout=seconds(60))
client = dist.TCPStore("127.0.0.1", master.port, None, False, timeout=seconds(60))
theirs = requests(client, master)
for a, b in zip(ours, theirs):
    assert a == b, (a, b)
assert len(ours) == len(theirs) > 15
"""
    run(python, code, store.port)


def test_a_client_that_gave_up_waiting_is_not_confused_by_the_late_key(python, store):
    # With its own server the client of torch 1.13 takes the late answer for the one to its next request.
    code = CLIENT + """
try:
    store.wait(["never"], datetime.timedelta(milliseconds=100))
    sys.exit("no timeout")
except RuntimeError:
    pass
print(store.add("n", 1))
other.set("never", "set at last")
other.get("never")
print(store.add("n", 1), store.get("never"))
"""
    assert run(python, code, store.port) == "1\n2 b'set at last'\n"


RANK = """
import datetime, os, sys, time
import torch, torch.distributed as dist

rank, mode = int(os.environ["RANK"]), sys.argv[1]
if mode == "init" and rank == 2: time.sleep(1000)
dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=100))
if mode == "group":
    if rank == 2: time.sleep(1000)
    dist.new_group([0, 1, 2])
if mode == "train":
    one = torch.ones(1); dist.all_reduce(one)
    everyone = [None] * 4; dist.all_gather_object(everyone, {"rank": rank, "long": "x" * 100000})
    dist.barrier(); dist.monitored_barrier()
    pair = dist.new_group([0, 1])
    if rank < 2: dist.all_reduce(one, group=pair)
    print(one.item(), [each["rank"] for each in everyone], flush=True)
# Torch 2.15 aborts now and then at the interpreter's end, with its own store too, when this is left out.
dist.destroy_process_group()
"""


# Forks the ranks when torch has been imported, which takes most of their time: FORKS FOLDER MODE
FORKS = """
import os, sys, torch, torch.distributed
folder, pids = sys.argv.pop(1), []
for rank in range(4):
    pids.append(os.fork())
    if pids[-1] == 0:
        os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank))
        for fd, name in ((1, "out"), (2, "err")):
            os.dup2(os.open("%s/%s%d" % (folder, name, rank), os.O_WRONLY | os.O_CREAT, 0o600), fd)
        exec(RANK)
        sys.exit()
print(*pids, flush=True)
codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]
print(*codes, flush=True)
"""


class Ranks:
    def __init__(self, python, store, mode, folder, attempt=0):
        variables = {"WORLD_SIZE": "4", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(store.port),
                     "TORCHELASTIC_USE_AGENT_STORE": "True", "TORCHELASTIC_RESTART_COUNT": str(attempt),
                     "TORCHELASTIC_RUN_ID": "test", "OMP_NUM_THREADS": "1"}
        self.folder = folder
        self.parent = subprocess.Popen([python, "-c", f"RANK = {RANK!r}" + FORKS, folder, mode], stdout=subprocess.PIPE, text=True,
                                       env={**os.environ, **variables})
        self.pids = [int(pid) for pid in self.parent.stdout.readline().split()]

    def read(self, name, rank):
        with open(os.path.join(self.folder, f"{name}{rank}")) as file:
            return file.read()

    def outputs(self):
        codes, _ = self.parent.communicate(timeout=PATIENCE)
        assert codes == "0 0 0 0\n", [self.read("err", rank) for rank in range(4)]
        return [self.read("out", rank) for rank in range(4)]

    def kill(self):
        for pid in self.pids:
            os.kill(pid, signal.SIGKILL)
        self.parent.communicate(timeout=PATIENCE)


def test_four_ranks_train_over_the_agents_store_twice(python, store, tmp_path):
    for attempt in (0, 1):
        outputs = Ranks(python, store, "train", tmp_path, attempt).outputs()
        assert outputs == ["8.0 [0, 1, 2, 3]\n"] * 2 + ["4.0 [0, 1, 2, 3]\n"] * 2
        store.ask("reset")


@pytest.mark.parametrize("mode, expected", [
    ("init", r'barrier "default_pg init": 3/4 joined after \d+ s; missing: rank 2 \(pid {2}, alive, not connected to '
             r'the store\)'),
    ("group", r'barrier "process group 1": 2 joined after \d+ s; missing: rank 2 \(pid {2}, alive\)'),
])
def test_a_wait_that_does_not_end_names_the_missing_rank(python, store, tmp_path, mode, expected):
    ranks = Ranks(python, store, mode, tmp_path)
    try:
        pattern = expected.replace("{2}", str(ranks.pids[2]))
        deadline = time.monotonic() + PATIENCE
        while True:
            lines = store.ask("explain 1 " + " ".join(map(str, ranks.pids)))
            if any(re.search(pattern, line) for line in lines):
                break
            assert time.monotonic() < deadline, lines
            assert ranks.parent.poll() is None
            time.sleep(0.2)
    finally:
        ranks.kill()


def test_strangers_do_not_disturb_clients(python, store):
    strangers = []
    for bad in (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00", b"\xff" * 5000):
        stranger = socket.create_connection(("127.0.0.1", store.port))
        stranger.settimeout(PATIENCE)
        stranger.sendall(bad)
        try:
            assert stranger.recv(100) == b""
        except ConnectionResetError:
            pass
    for half in (b"", b"\x00\xce\xf7", b"\x00\xce\xf7\x85\x3c\x01" + b"\x05\0\0\0\0\0\0\0ab"):
        strangers.append(socket.create_connection(("127.0.0.1", store.port)))
        strangers[-1].sendall(half)
    assert run(python, CLIENT + "store.set('k', 'v'); print(other.get('k'))", store.port) == "b'v'\n"


# Requests as docs/formats/tcpstore.md has them (from 2.2).
def number(n, code="<q"):
    return struct.pack(code, n)


def text(value):
    return number(len(value)) + value


def texts(*values):
    return number(len(values)) + b"".join(map(text, values))


def request(opcode, *fields):
    return bytes([opcode, *b"".join(fields)])


HELLO = request(0, number(0x3C85F7CE, "<I"))
GETNUMKEYS, CANCEL, LIST = request(7), request(12), request(17)


def SET(key, value): return request(1, text(key), text(value))
def CAS(key, expected, value): return request(2, text(key), text(expected), text(value))
def GET(key): return request(3, text(key))
def ADD(key, n): return request(4, text(key), number(n))
def CHECK(*keys): return request(5, texts(*keys))
def WAIT(*keys): return request(6, texts(*keys))
def DELETE(key): return request(8, text(key))
def APPEND(key, value): return request(9, text(key), text(value))
def MULTI_GET(*keys): return request(10, texts(*keys))
def MULTI_SET(key, value): return request(11, number(1), text(key), text(value))
def PING(nonce): return request(13, number(nonce, "<I"))
def PUSH(key, value): return request(14, text(key), text(value))
def POP(key): return request(15, text(key))
def LEN(key): return request(16, text(key))
def BARRIER(key, size): return request(18, text(key), number(size))


# Each a list of requests; (n, request) is sent on the n-th connection, others on the first.
RAW = {
    "missing keys": [GET(b"k"), CHECK(b"k"), CHECK(), MULTI_GET(b"k", b"l"), MULTI_GET(), WAIT(), DELETE(b"k"),
                     APPEND(b"k", b"x"), GET(b"k"), GETNUMKEYS],
    "set and delete": [SET(b"k", b"x"), SET(b"", b"y"), GET(b""), GETNUMKEYS, DELETE(b"k"), DELETE(b"k"), GETNUMKEYS],
    "multi": [MULTI_SET(b"k", b""), MULTI_GET(b"k", b"l"), CHECK(b"k"), LIST],
    "compare and set": [CAS(b"k", b"x", b"1"), CAS(b"k", b"", b"1"), CAS(b"k", b"x", b"2"), CAS(b"k", b"1", b"2")],
    "what wakes": [WAIT(b"a"), (1, WAIT(b"b")), (2, WAIT(b"c")), (3, WAIT(b"d", b"d")), (4, ADD(b"a", 0)),
                   (4, APPEND(b"b", b"")), (4, CAS(b"c", b"", b"1")), (4, MULTI_SET(b"d", b"1"))],
    "cancel": [CANCEL, WAIT(b"k"), CANCEL, (1, SET(b"k", b"1"))],
    "requests while waiting": [WAIT(b"k"), GET(b"k"), (1, SET(b"k", b"1")), GET(b"k")],
    "deleted while waited for": [WAIT(b"a", b"b"), (1, SET(b"a", b"1")), (1, DELETE(b"a")), (1, SET(b"b", b"1"))],
    "queue": [POP(b"q"), LEN(b"q"), PUSH(b"q", b"x"), PUSH(b"q", b"y"), LEN(b"q"), CHECK(b"q"), GET(b"q"),
              GETNUMKEYS, LIST, DELETE(b"q"), WAIT(b"q"), POP(b"q"), POP(b"q"), LEN(b"q"), CHECK(b"q")],
    "queue wakes one": [WAIT(b"q"), (1, WAIT(b"q")), (2, PUSH(b"q", b"x")), (2, PUSH(b"q", b"y"))],
    "barrier": [BARRIER(b"b", 2), (1, BARRIER(b"b", 2)), (2, BARRIER(b"b", 2)), GET(b"b"), GETNUMKEYS],
    "barrier of one and of none": [BARRIER(b"b", 1), GET(b"b"), BARRIER(b"c", 0), GET(b"c")],
    "barrier and wait": [WAIT(b"b"), (1, BARRIER(b"b", 2)), (2, BARRIER(b"b", 2))],
    "barrier and set": [BARRIER(b"b", 2), (1, SET(b"b", b"9"))],
    "barrier given up": [BARRIER(b"b", 2), CANCEL, (1, BARRIER(b"b", 2)), GET(b"b")],
    "numbers": [SET(b"k", b" +5x"), ADD(b"k", 1), SET(b"k", b"9223372036854775807"), ADD(b"k", 1), ADD(b"k", -1)],
    "no number": [SET(b"k", b"abc"), ADD(b"k", 1)],
    "empty number": [SET(b"k", b""), ADD(b"k", 1)],
    "number past 64 bits": [SET(b"k", b"9223372036854775808"), ADD(b"k", 1)],
    "validated twice": [HELLO],
    "unknown request": [request(19)],
}


def raw_answers(port, steps):
    """What each connection was told after each step: what came before the answer to a PING."""
    told, connections = [], {}
    for nonce, step in enumerate(steps, 1 << 24):
        at, sent = step if isinstance(step, tuple) else (0, step)
        if at not in connections:
            connections[at] = socket.create_connection(("127.0.0.1", port))
            connections[at].settimeout(PATIENCE)
            connections[at].sendall(HELLO)
        connections[at].sendall(sent)
        # The one that asked comes first: what it did to others is done when it is answered.
        for i in sorted(connections, key=lambda i: i != at):
            told.append((i, until_ping(connections[i], nonce)))
            if told[-1][1] == "closed":
                return told
    for connection in connections.values():
        connection.close()
    return told


def until_ping(connection, nonce):
    got, end = b"", number(nonce, "<I")
    try:
        connection.sendall(PING(nonce))
        while not got.endswith(end):
            part = connection.recv(1 << 16)
            if not part:
                return "closed"
            got += part
    except ConnectionError:
        return "closed"
    return got[:-len(end)]


@pytest.mark.skipif(not os.path.exists(NEWEST), reason="no torch 2.15: scripts/python-environment torch-2.15 "
                                                       "torch torch==2.15.0 numpy (3 GB)")
def test_answers_are_those_of_pytorchs_newest_server_byte_for_byte():
    serve = ("import sys, torch.distributed as dist\n"
             "for _ in sys.stdin:\n"
             "    store = dist.TCPStore('127.0.0.1', 0, None, True)\n"
             "    print(store.port, flush=True)\n")
    theirs = subprocess.Popen([NEWEST, "-c", serve], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        for name, steps in RAW.items():
            theirs.stdin.write("\n")
            theirs.stdin.flush()
            expected = raw_answers(int(theirs.stdout.readline()), steps)
            store = Store()
            assert raw_answers(store.port, steps) == expected, name
            store.close()
    finally:
        theirs.kill()
        theirs.communicate()


def ping(port):
    client = socket.create_connection(("127.0.0.1", port))
    client.settimeout(PATIENCE)
    client.sendall(b"\x00\xce\xf7\x85\x3c\x0d" + b"ping")
    return client


def test_more_clients_than_the_soft_limit_of_descriptors_are_served():
    store = Store(files=(64, 4096))
    clients = [ping(store.port) for _ in range(300)]
    assert all(client.recv(4) == b"ping" for client in clients)
    store.close()


def test_clients_beyond_the_hard_limit_wait_until_others_have_gone():
    store = Store(files=(64, 64))
    clients = [ping(store.port) for _ in range(100)]
    for client in clients[:90]:
        assert client.recv(4) == b"ping"
        client.close()
    assert all(client.recv(4) == b"ping" for client in clients[90:])
    store.close()
