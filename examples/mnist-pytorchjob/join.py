"""How the processes of a training find each other.

They meet in a store: at rank 0 (tcp://, env://) or in a file that all of them see (file://). Each
says there that it has come; rank 0 waits for all and tells the others whom it missed. Only then
does PyTorch make its process group, which would wait without a word.
"""
import contextlib
import datetime
import fcntl
import os
import re
import time

import torch.distributed as dist

from words import Failure, Usage, say

# A rank that has come waits longer than rank 0, whose word it waits for.
GRACE = 15
LEAVING = 10
# What a wait in a store raises when its time is over: that depends on store and release.
EXPIRED = (RuntimeError, TimeoutError)


def seconds(count):
    return datetime.timedelta(seconds=count)


def parse_url(url, environment):
    """("tcp", host, port) or ("file", path). env:// reads MASTER_ADDR and MASTER_PORT."""
    if url == "env://":
        host, port = environment.get("MASTER_ADDR", ""), environment.get("MASTER_PORT", "")
        if not host or not port:
            raise Usage("--dist-url env:// needs MASTER_ADDR and MASTER_PORT in the environment")
        url = f"tcp://[{host}]:{port}" if ":" in host else f"tcp://{host}:{port}"
    if match := re.fullmatch(r"tcp://(\[[0-9A-Fa-f:.%\w]+\]|[^\s:/\[\]]+):(\d{1,5})/?", url):
        host, port = match[1].strip("[]"), int(match[2])
        if 1 <= port <= 65535:
            return "tcp", host, port
    elif match := re.fullmatch(r"file://(/.+)", url):
        return "file", match[1]
    raise Usage(f'--dist-url "{url}" is none of tcp://HOST:PORT, env:// and file:///ABSOLUTE/PATH')


def remove_if_stale(path, age):
    """A file of file:// that a killed training left leads the next one astray. One that nobody has
    written for `age` seconds, longer than anybody waits in it, is such a one."""
    with contextlib.suppress(FileNotFoundError), open(path, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        mine, there = os.fstat(file.fileno()), os.stat(path)
        is_same = (mine.st_dev, mine.st_ino) == (there.st_dev, there.st_ino)
        if is_same and time.time() - there.st_mtime > age:
            os.unlink(path)
            say(f"{path}: of an earlier training that did not end by itself; removed")


def open_file(path, timeout):
    directory = os.path.dirname(path)
    if not os.path.isdir(directory):
        raise Failure(f"--dist-url file://{path}: there is no directory {directory}")
    try:
        remove_if_stale(path, timeout + GRACE)
        store = dist.FileStore(path, -1)  # it is removed below, not by whose memory is freed last
    except (OSError, RuntimeError) as error:
        raise Failure(f"--dist-url file://{path}: {error}")
    return store


def open_tcp(host, port, rank, timeout, is_master):
    # Others leave later than rank 0, so that they hear whom it missed.
    wait = seconds(timeout if is_master else timeout + GRACE)
    try:
        return dist.TCPStore(host, port, None, is_master, wait, False)
    except (*EXPIRED, ValueError) as error:
        why = str(error).splitlines()[0]
        if is_master:
            raise Failure(f"rank 0 cannot listen on {host}:{port}: {why}")
        raise Failure(f"rank {rank} found no rank 0 at {host}:{port} within {timeout + GRACE} s: is "
                      f"it started, and is that its address? ({why})")


def open_store(url, rank, timeout, environment, again=False):
    """The store of the ranks. `again`: one more connection to it."""
    place = parse_url(url, environment)
    if place[0] == "file":
        return open_file(place[1], timeout)
    # torch.distributed.launch and torchrun keep the store themselves, whatever becomes of rank 0.
    is_agents = url == "env://" and environment.get("TORCHELASTIC_USE_AGENT_STORE") == "True"
    is_master = rank == 0 and not is_agents and not again
    store = open_tcp(place[1], place[2], rank, timeout, is_master)
    if not is_agents:
        return store
    attempt = environment.get("TORCHELASTIC_RESTART_COUNT", "0")
    return dist.PrefixStore(f"mnist/{attempt}", store)


def await_all(store, waiting, world_size, timeout):
    """Rank 0's part: the ranks that have not come in time. A connection whose wait has expired is of
    no use any more in PyTorch 1.13: `waiting` is one for that alone."""
    deadline = time.monotonic() + timeout
    for rank in range(world_size):
        left = max(0.001, deadline - time.monotonic())
        try:
            waiting.wait([f"came/{rank}"], seconds(left))
        except EXPIRED:
            return [each for each in range(world_size) if store.add(f"came/{each}", 0) == 0]
    return []


def come(store, rank, url):
    """Says that the rank is here."""
    if store.add(f"came/{rank}", 1) == 1:
        return
    stale = f"; a training that was killed may have left {url[7:]}: remove it then"
    raise Failure(f"rank {rank} has come twice: each node needs a --node_rank of its own, and a "
                  f"--dist-url that no other training uses{stale if url.startswith('file:') else ''}")


def come_together(store, rank, world_size, timeout, waiting=None):
    """Returns when all ranks are there; a Failure names those that are not. `waiting`: rank 0's other
    connection."""
    if rank == 0:
        store.set("world_size", str(world_size))
    try:
        store.wait(["world_size"], seconds(timeout + GRACE))
    except EXPIRED:
        raise Failure(f"rank {rank} has waited {timeout + GRACE} s: rank 0 has not come")
    said = int(store.get("world_size"))
    if said != world_size:
        raise Failure(f"rank {rank} was told of {world_size} processes in all, rank 0 of {said}: start "
                      "every node with the same --nnodes and --nproc_per_node (WORLD_SIZE)")
    if rank == 0:
        missing = await_all(store, waiting, world_size, timeout)
        store.set("missing", ",".join(map(str, missing)) or "none")
    try:
        store.wait(["missing"], seconds(timeout + GRACE))
    except EXPIRED:
        raise Failure(f"rank {rank} has waited {timeout + GRACE} s: rank 0 has gone")
    missing = store.get("missing").decode()
    if missing != "none":
        what = "rank" if missing.isdigit() else "ranks"
        raise Failure(f"{what} {missing} of {world_size} did not come within {timeout} s: see whether "
                      "they were started, with this --dist-url, and what they say")


def agree(store, rank, what, value):
    """Every rank has to have what rank 0 has."""
    if rank == 0:
        store.set(f"agree/{what}", value)
    theirs = store.get(f"agree/{what}").decode()
    if theirs != value:
        raise Failure(f"rank {rank} has another {what} than rank 0: {value}; rank 0: {theirs}")


@contextlib.contextmanager
def group(url, rank, world_size, backend, timeout, environment=os.environ):
    """The process group, and the store where its ranks meet, for as long as the context lasts."""
    if not 0 <= rank < world_size:
        raise Failure(f"rank {rank} is none of the {world_size} ranks 0 to {world_size - 1}")
    store = open_store(url, rank, timeout, environment)
    come(store, rank, url)
    waiting = open_store(url, rank, timeout, environment, again=True) if rank == 0 else None
    try:
        come_together(store, rank, world_size, timeout, waiting)
        # In a part of its own, since names are PyTorch's there.
        dist.init_process_group(backend, store=dist.PrefixStore("group", store), rank=rank,
                                world_size=world_size)
        try:
            yield store
        finally:
            dist.destroy_process_group()
    except Failure:
        leave(store, url, rank, world_size)
        raise
    leave(store, url, rank, world_size)


def leave(store, url, rank, world_size):
    """The store is rank 0's, which goes last."""
    with contextlib.suppress(*EXPIRED):
        store.set(f"left/{rank}", "1")
        if rank == 0:
            came = [each for each in range(world_size) if store.add(f"came/{each}", 0)]
            store.wait([f"left/{each}" for each in came], seconds(LEAVING))
    if rank == 0 and url.startswith("file:"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(parse_url(url, {})[1])
