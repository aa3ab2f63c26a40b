# The resident interpreter of `muster-launch --warm`: imports once, then forks ranks.
#
#   resident (one for each key) -- keeper (one for each launcher, subreaper) -- ranks
#
# A keeper may be asked into the namespaces of a pod, before its first rank.
# It runs as sitecustomize, before the main program: a rank returns from here into CPython's own start
# of its script, so that no frame, traceback or exit code is ours. Messages: warm/message.h.
import os
import sys

bare = set(sys.modules)

import fcntl
import select
import signal
import socket
import struct

import muster_warm_ending
import muster_warm_idle
import muster_warm_imports
import muster_warm_memory
import muster_warm_pod
import muster_warm_rank
import muster_warm_settings
import muster_warm_stacks
from muster_warm_rank import Refused, libc

LISTENER = 3
LIFELINE = 4
PR_SET_CHILD_SUBREAPER = 36


# -- messages, and processes ---------------------------------------------------------------------------

class Request:
    """start, umask, ignored signals, number of words, words, environment; working directory, 0, 1, 2."""

    def __init__(self, fields, fds):
        self.fds = fds
        self.umask = int(fields[1])
        self.ignored = [int(number) for number in fields[2].split()]
        count = int(fields[3])
        self.words = [os.fsdecode(word) for word in fields[4:4 + count]]
        self.entries = [os.fsdecode(entry) for entry in fields[4 + count:]]

    def check(self):
        """In the rank's working directory."""
        at = 2 if self.words[1] == "-u" else 1
        if self.words[1:at] != settings["option"].split():
            raise Refused("another python is asked for")
        if getattr(sys, "orig_argv", [settings["python"]])[0] != settings["python"]:
            self.words[0] = sys.orig_argv[0]  # a script stands before it
        self.main = muster_warm_rank.main_program(self.words[at:])
        imports.check_environment(self.entries)
        imports.check_folder(muster_warm_rank.first_folder(self.main[0], self.main[2]))
        source = muster_warm_settings.source_of(self.main[0], self.words[at + (self.words[at] == "-m"):])
        if source is not None:
            muster_warm_settings.check_script(
                source, readers, dict(entry.partition("=")[::2] for entry in self.entries))


def send(connection, *fields):
    text = b"\0".join(str(field).encode(errors="replace") for field in fields)
    connection.sendall(struct.pack("<I", len(text)) + text)


def read_exactly(connection, size, text=b""):
    while len(text) < size:
        part = connection.recv(size - len(text))
        if not part:
            return None
        text += part
    return text


def receive(connection):
    """None at the end."""
    head, ancillary, _, _ = connection.recvmsg(4, socket.CMSG_SPACE(4 * 4),
                                               socket.MSG_CMSG_CLOEXEC)
    fds = []
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds += struct.unpack("%di" % (len(data) // 4), data)
    head = read_exactly(connection, 4, head) if head else None
    text = head and read_exactly(connection, struct.unpack("<I", head)[0])
    return text and (text.split(b"\0"), fds)


def wake_on_children():
    """Two descriptors; the first is readable when a child has ended."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.set_blocking(writer, False)
    signal.signal(signal.SIGCHLD, lambda *ignored: None)
    signal.set_wakeup_fd(writer)
    return reader, writer


def reap(wake):
    """Pid and exit code, or minus the signal, of children that have ended."""
    try:
        os.read(wake, 4096)
    except BlockingIOError:
        pass
    ended = []
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if pid == 0:
            return ended
        ended.append((pid, -os.WTERMSIG(status) if os.WIFSIGNALED(status)
                      else os.WEXITSTATUS(status)))


def below(roots):
    """Everything that hangs below these processes."""
    children = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % entry, "rb") as file:
                parent = int(file.read().rsplit(b")", 1)[1].split()[1])
        except OSError:
            continue
        children.setdefault(parent, []).append(int(entry))
    found = list(roots)
    for pid in found:
        found += children.get(pid, [])
    return found[len(roots):]


def kill(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def end_all():
    while True:
        kill(below([os.getpid()]))
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


# -- the keeper ----------------------------------------------------------------------------------------

def start(request, connection, wakes):
    """The rank's pid; 0 when it was refused; -1 in the rank, which runs nothing before its start is told:
    whoever was told of none starts it again."""
    keeper = os.getpid()
    try:
        os.fchdir(request.fds[0])
        request.check()
    except (Refused, OSError) as error:
        send(connection, "refused", error)
        return 0
    held, go = os.pipe()
    pid = os.fork()
    if pid:
        send(connection, "started", pid)
        os.write(go, b"1")
        os.close(held)
        os.close(go)
        return pid
    try:
        os.close(go)
        if not os.read(held, 1):
            os._exit(127)
        os.close(held)
        connection.close()
        for fd in wakes:
            os.close(fd)
        muster_warm_rank.become(request, keeper, layout, imports.changed, program)
        muster_warm_settings.watch(readers, imports.names)
    except BaseException as error:
        os.write(2, ("muster-launch: warm start: %r\n" % error).encode())
        os._exit(127)
    return -1


def enter(connection, place, fds):
    try:
        muster_warm_pod.enter(place, fds)
        if not imports.are_fresh():
            raise Refused("the files that were imported are others in the pod")
    except (Refused, OSError) as error:
        send(connection, "refused", error)
        return
    send(connection, "entered")


def tell_ends(connection, wake, ranks):
    for pid, code in reap(wake):
        if pid in ranks:
            ranks.discard(pid)
            send(connection, "ended", pid, code)
        else:
            send(connection, "reaped")


def keep(connection):
    """Until the launcher has gone; returns in ranks only."""
    signal.signal(muster_warm_idle.ASK, signal.SIG_DFL)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    wakes = wake_on_children()
    ranks = set()
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    poll.register(wakes[0], select.POLLIN)
    try:
        send(connection, "ready", os.getpid())
        while True:
            ready = dict(poll.poll())
            tell_ends(connection, wakes[0], ranks)
            if connection.fileno() not in ready:
                continue
            message = receive(connection)
            if message is None:
                break
            fields, fds = message
            pid = 0
            if fields[0] == b"enter":
                enter(connection, fields[1].decode(), fds)
            else:
                pid = start(Request(fields, fds), connection, wakes)
            if pid < 0:
                return
            for fd in fds:
                os.close(fd)
            ranks.update([pid] if pid else [])
    except OSError:
        pass
    end_all()
    os._exit(0)


# -- the resident --------------------------------------------------------------------------------------

def leave_if_alone():
    """Under the lock that launchers connect under: nobody is left waiting."""
    lock = os.open(settings["lock"], os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not select.select([listener], [], [], 0)[0]:
            os.unlink(settings["socket"])
            os._exit(0)
    except OSError:
        pass
    finally:
        os.close(lock)


def answer(connection, refusal):
    """The keeper's pid; 0 when there is none; -1 in the keeper."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    if struct.unpack("3i", credentials)[1] != os.geteuid():
        return 0
    if imports is not None and not imports.are_fresh():
        os.unlink(settings["socket"])
        listener.close()
        send(connection, "stale")
    elif refusal is None:
        return os.fork() or -1
    else:
        send(connection, "refused", refusal)
    return 0


def serve(refusal):
    """Until nobody has wanted anything for a time; returns in ranks only."""
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    wakes = wake_on_children()
    keepers = set()
    idleness = muster_warm_idle.Idle(settings["lock"], int(settings["kept"]))
    lifeline = LIFELINE if settings["lifeline"] else None
    while True:
        poll = select.poll()
        poll.register(wakes[0], select.POLLIN)
        if lifeline is not None:
            poll.register(lifeline, select.POLLIN)
        if listener.fileno() >= 0:
            poll.register(listener, select.POLLIN)
        elif not keepers:
            os._exit(0)
        # A GPU is not held for ranks that may never come, and a failed import may have been
        # repaired.
        is_of_use = imports is not None and not muster_warm_imports.device_held()
        is_wanted = is_of_use and (lifeline is not None or not settings["lifeline"])
        idle = int(settings["idle"]) * 1000 if is_wanted else 0
        has_time = is_wanted and not keepers and pages.left
        ready = dict(poll.poll(0 if has_time else None if keepers else idle))
        if not ready:
            if has_time:
                pages.take_one()
            else:
                leave_if_alone()
            continue
        if lifeline in ready:
            os.close(lifeline)
            lifeline = None
        ended = {pid for pid, _ in reap(wakes[0])}
        keepers -= ended
        if ended:
            # Orphans of a keeper that was killed have become our children.
            kill(set(below([os.getpid()])) - keepers - set(below(list(keepers))))
            if not keepers:
                idleness.begin()
        if idleness.is_asked:
            idleness.is_asked = False
            if not keepers:
                leave_if_alone()
        if listener.fileno() < 0 or listener.fileno() not in ready:
            continue
        connection, _ = listener.accept()
        try:
            pid = answer(connection, refusal)
        except OSError:
            pid = 0
        if pid < 0:
            listener.close()
            signal.set_wakeup_fd(-1)
            for fd in wakes:
                os.close(fd)
            if lifeline is not None:
                os.close(lifeline)
            keep(connection)
            return
        connection.close()
        if pid:
            if not keepers:
                idleness.end()
            keepers.add(pid)


# -- the start -----------------------------------------------------------------------------------------

def hide():
    """sys.path, PYTHONPATH and the files as if this had never been started from them."""
    here = os.path.dirname(__file__)
    sys.path[:] = [path for path in sys.path if path != here]
    sys.path_importer_cache.pop(here, None)
    for name in [name for name in sys.modules if name.startswith("muster_warm_")]:
        del sys.modules[name]
    if settings["pythonpath"]:
        os.environ["PYTHONPATH"] = settings["pythonpath"][1:]
    else:
        del os.environ["PYTHONPATH"]
    for folder in (os.path.join(here, "__pycache__"), here):
        try:
            for name in os.listdir(folder):
                if name != "__pycache__":
                    os.unlink(os.path.join(folder, name))
            os.rmdir(folder)
        except OSError:
            pass


def run_the_next_one():
    """Only one sitecustomize is imported, the first on sys.path, which was this one."""
    spec = muster_warm_imports.importlib.machinery.PathFinder.find_spec("sitecustomize")
    if spec is None or spec.loader is None:
        return False
    module = type(sys)("sitecustomize")
    module.__spec__, module.__loader__, module.__file__ = spec, spec.loader, spec.origin
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)
    return True


settings = dict(pair.split("=", 1) for pair in os.environ.pop("MUSTER_WARM").split("\n"))
hide()
has_next = run_the_next_one()
listener = socket.socket(fileno=LISTENER)
refusal = imports = None
try:
    program = muster_warm_rank.MainProgram()
    layout = muster_warm_rank.memory_layout()
    imports = muster_warm_imports.Imports(settings["preload"].split(","), bare)
    muster_warm_imports.check_fork()
    muster_warm_ending.leave_objects()
except Refused as error:
    refusal = str(error)
readers = muster_warm_settings.Readers(muster_warm_imports.WatchedEnviron.readers)
pages = muster_warm_memory.HugePages(libc)
null = os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC)
os.dup2(null, 1)
os.dup2(null, 2)
os.close(null)
serve(refusal)
if not has_next:
    # As if there had been none.
    raise ImportError("none", name="sitecustomize")
