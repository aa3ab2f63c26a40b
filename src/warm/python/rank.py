# What a fork of the resident interpreter does to be the rank that an exec would have made
# (resident.py). Afterwards CPython itself starts the script, the module or the command.
import ctypes
import importlib
import io
import os
import signal
import struct
import sys

from muster_warm_ending import begin as begin_ending
from muster_warm_meeting import muster_meeting
from muster_warm_recorder import muster_recorder
from muster_warm_stacks import muster_stacks, muster_unseen

POINTER = ctypes.sizeof(ctypes.c_void_p)
PR_SET_PDEATHSIG, PR_SET_MM, PR_SET_MM_MAP = 1, 35, 14
libc = ctypes.CDLL(None, use_errno=True)
libc.prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
libc.sbrk.restype = ctypes.c_void_p
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]

# Modules whose import records the rank, and how to inform each of them again.
LIGHTNING_RANK = lambda module: module._get_rank() or 0
RANK_READERS = {
    "lightning.fabric.utilities.rank_zero": LIGHTNING_RANK,
    "lightning_fabric.utilities.rank_zero": LIGHTNING_RANK,
    "torchmetrics.utilities.prints": lambda module: int(os.environ.get("LOCAL_RANK", 0)),
}


class Refused(Exception):
    """A fork would not do what an exec does; the text says why."""


class Memory:
    """Reads this process's own memory, where it is mapped."""

    def __init__(self):
        self.ranges = []
        with open("/proc/self/maps") as file:
            for line in file:
                words = line.split()
                if words[1].startswith("rw"):
                    self.ranges.append([int(word, 16) for word in words[0].split("-")])
        self.file = os.open("/proc/self/mem", os.O_RDONLY | os.O_CLOEXEC)

    def read(self, address, size):
        if not any(low <= address < high for low, high in self.ranges):
            return b""
        try:
            return os.pread(self.file, size, address)
        except OSError:
            return b""

    def end_of(self, address):
        return max([high for low, high in self.ranges if low <= address < high] or [address])


class MainProgram:
    """Of PyConfig: argv.items[0] and run_command, run_module, run_filename, which stand in this
    order from 3.8 on. Found by the name, like no other, that this interpreter was started with."""

    def __init__(self):
        api = ctypes.pythonapi
        current = getattr(api, "PyInterpreterState_Get", None) or api._PyInterpreterState_Get
        current.restype = ctypes.c_void_p
        self.decode = api.Py_DecodeLocale
        self.decode.restype = ctypes.c_void_p
        self.decode.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
        self.argv = self.filename = None
        memory = Memory()
        try:
            self.find(memory, current())
        finally:
            os.close(memory.file)
        if self.argv is None or self.filename is None:
            raise Refused("this Python (%s) does not show where it keeps its script" %
                          sys.version.split()[0])

    def find(self, memory, begin):
        name = (sys.argv[0] + "\0").encode("utf-32-%s" % ("le" if sys.byteorder == "little"
                                                          else "be"))
        raw = memory.read(begin, min(memory.end_of(begin) - begin, 1 << 20))
        words = struct.unpack("%dP" % (len(raw) // POINTER), raw[:len(raw) // POINTER * POINTER])
        for at in range(2, len(words)):
            word = words[at]
            if word < 4096:
                continue
            if words[at - 1] == 1 and self.argv is None:  # the list's length precedes it
                first = memory.read(word, POINTER)
                if len(first) == POINTER and memory.read(struct.unpack("P", first)[0],
                                                         len(name)) == name:
                    self.argv = word
            elif words[at - 1] == words[at - 2] == 0 and memory.read(word, len(name)) == name:
                self.filename = begin + at * POINTER
                return

    def put(self, address, text):
        value = None if text is None else self.decode(os.fsencode(text), None)
        ctypes.c_void_p.from_address(address).value = value

    def set(self, kind, text, argv):
        self.put(self.argv, argv[0])
        for place, name in enumerate(("script", "module", "command")):
            self.put(self.filename - place * POINTER, text if kind == name else None)
        sys.argv[:] = argv


def main_program(words):
    """Of what comes after the interpreter and -u: kind, what PyConfig has of it, sys.argv."""
    if words[0] == "-m":
        return "module", words[1], ["-m"] + words[2:]
    if words[0] == "-c":
        return "command", words[1] + "\n", ["-c"] + words[2:]
    path = words[0]
    if sys.version_info >= (3, 9) and not path.startswith("/"):
        path = os.getcwd() + "/" + path
    return "script", path, words


def first_folder(kind, argv):
    """What sys.path is going to begin with."""
    if kind != "script":
        return os.getcwd()
    path = os.path.realpath(argv[0])
    return path if os.path.isdir(path) else os.path.dirname(path)


def memory_layout():
    """What PR_SET_MM_MAP wants to hear again."""
    with open("/proc/self/stat") as file:
        fields = [0] * 3 + file.read().rsplit(")", 1)[1].split()
    return {name: int(fields[at]) for name, at in (
        ("start_code", 26), ("end_code", 27), ("start_stack", 28), ("start_data", 45),
        ("end_data", 46), ("start_brk", 47))}


def show_words(layout, words, entries):
    """What ps and /proc/PID/environ show, as after an exec. A kernel may forbid it."""
    arguments = b"".join(os.fsencode(word) + b"\0" for word in words)
    variables = b"".join(os.fsencode(entry) + b"\0" for entry in entries)
    size = len(arguments) + len(variables)
    at = libc.mmap(None, size, 3, 0x22, -1, 0)  # read and write, private and anonymous
    if at in (None, ctypes.c_void_p(-1).value):
        return
    ctypes.memmove(at, arguments + variables, size)
    middle = at + len(arguments)
    block = struct.pack("=12QII", layout["start_code"], layout["end_code"], layout["start_data"],
                        layout["end_data"], layout["start_brk"], libc.sbrk(0),
                        layout["start_stack"], at, middle, middle, at + size, 0, 0, 0xffffffff)
    buffer = ctypes.create_string_buffer(block, len(block))
    libc.prctl(PR_SET_MM, PR_SET_MM_MAP, ctypes.addressof(buffer), len(block), 0)


def open_streams():
    """As CPython opens them, with -u or without."""
    is_buffered = not sys.stdout.write_through
    for fd, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        old = getattr(sys, name)
        has_buffer = is_buffered or mode == "r"
        raw = io.open(fd, mode + "b", -1 if has_buffer else 0, closefd=False)
        (raw.raw if has_buffer else raw).name = "<%s>" % name
        by_line = is_buffered and (fd == 2 or raw.isatty())
        stream = io.TextIOWrapper(raw, old.encoding, old.errors, "\n", by_line, not is_buffered)
        stream.mode = mode
        setattr(sys, name, stream)
        setattr(sys, "__%s__" % name, stream)


def take_environment(entries, changed):
    """`changed`: what the imports did to theirs."""
    os.environ.clear()
    for entry in entries:
        name, _, value = entry.partition("=")
        os.environ[name] = value
    for name, value in changed.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def forget_the_past():
    """What modules kept of the process that imported them."""
    process = sys.modules.get("multiprocessing.process")
    if process is not None:
        try:
            process.ORIGINAL_DIR = os.path.abspath(os.getcwd())
        except OSError:
            process.ORIGINAL_DIR = None
        process.current_process().authkey = os.urandom(32)
    threading = sys.modules.get("threading")
    if threading is not None:  # before 3.12 it does not know of forks
        threading.main_thread()._set_native_id()
    if hasattr(sys.modules.get("platform"), "_uname_cache"):
        sys.modules["platform"]._uname_cache = None  # a pod has a name of its own
    generators = sys.modules.get("numpy.random.mtrand")  # the module random knows of forks
    if generators is not None:
        generators._rand.seed()
    torch = sys.modules.get("torch")
    if hasattr(torch, "default_generator"):
        torch.default_generator.seed()
    for name, rank in RANK_READERS.items():
        keeper_of_rank = getattr(sys.modules.get(name), "rank_zero_only", None)
        if keeper_of_rank is not None:
            keeper_of_rank.rank = rank(sys.modules[name])
    importlib.invalidate_caches()


def become(request, keeper, layout, changed, program):
    """In the fork. Its working directory stands already."""
    os.setsid()
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != keeper:
        os._exit(127)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number in request.ignored:
        signal.signal(number, signal.SIG_IGN)
    for target, fd in enumerate(request.fds[1:]):
        os.dup2(fd, target, inheritable=True)
    for fd in request.fds:
        os.close(fd)
    os.umask(request.umask)
    show_words(layout, request.words, request.entries)
    take_environment(request.entries, changed)
    open_streams()
    if hasattr(sys, "orig_argv"):
        sys.orig_argv[:] = request.words
    forget_the_past()
    begin_ending()
    muster_stacks()
    muster_recorder(muster_meeting, muster_unseen)
    program.set(*request.main)
