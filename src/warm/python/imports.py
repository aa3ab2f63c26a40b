# The imports of a resident interpreter (resident.py): done once, observed, and refused if ranks
# forked after them would differ from ranks that import for themselves.
import importlib.machinery
import os
import site
import sys

from muster_warm_ending import ExitFunctions, leave_libraries
from muster_warm_rank import RANK_READERS, Refused

DEVICES = ("/dev/nvidia", "/dev/kfd", "/dev/dri", "/dev/accel")
OF_PYTHON = getattr(sys, "stdlib_module_names", {"collections", "importlib", "os", "pathlib",
                                                 "posixpath", "tempfile"})  # from 3.10 on
# Of jemalloc, which pyarrow brings: a fork does their work in its other threads.
THREADS_WITHOUT_NEED = {"jemalloc_bg_thd"}


class WatchedEnviron(os._Environ):
    """Notes what is read of it."""

    read = {"HOME"}  # by the module site, before anybody watched
    readers = {}  # top packages that read a name
    prefixes = set()  # what names were looked for by
    walks = set()  # through all of it: nobody knows which names these looked for

    def __getitem__(self, name):
        module = reader()
        if not isinstance(name, WalkedName) and module not in RANK_READERS:
            self.read.add(name)
            self.readers.setdefault(name, set()).add(module.split(".")[0])
        return super().__getitem__(name)

    def __iter__(self):
        walk = object()
        self.walks.add(walk)
        return (WalkedName(name, walk) for name in super(WatchedEnviron, self).__iter__())

    def copy(self):
        self.walks.add(object())
        return {str(name): self._data_of(name) for name in super().__iter__()}

    def _data_of(self, name):
        return super().__getitem__(name)


def reader():
    """The module that reads the environment, by way of Python's own ones or not."""
    frame = sys._getframe(2)
    while frame is not None and str(frame.f_globals.get("__name__")).split(".")[0] in OF_PYTHON:
        frame = frame.f_back
    return str(frame and frame.f_globals.get("__name__"))


class WalkedName(str):
    """Of a walk through the environment. Libraries look for names with a prefix of their own, as
    tqdm does for TQDM_, and read no others."""

    def __new__(cls, name, walk):
        self = super().__new__(cls, name)
        self.walk = walk
        return self

    def startswith(self, prefix, *place):
        if not place:
            WatchedEnviron.walks.discard(self.walk)
            WatchedEnviron.prefixes.update(prefix if isinstance(prefix, tuple) else (prefix,))
        return super().startswith(prefix, *place)

    def __reduce__(self):
        return str, (str(self),)


def import_one(name):
    """A name that begins with ? is brought by --warm itself, where it is there."""
    asked = not name.startswith("?")
    name = name.lstrip("?")
    try:
        __import__(name)
    except BaseException as error:
        is_missing = isinstance(error, ModuleNotFoundError) and error.name is not None
        if is_missing and not asked and (name + ".").startswith(error.name + "."):
            return
        raise Refused("import %s: %s: %s" % (name, type(error).__name__, error))


def import_watched(name):
    plain, before = os.environ.__class__, dict(os.environ)
    os.environ.__class__ = WatchedEnviron
    try:
        import_one(name)
    finally:
        os.environ.__class__ = plain
    if name.lstrip("?") == "torch":
        leave_libraries()
    if name.startswith("?") and "." in name:
        # The program may never import it. Values that it sets in the environment it sets again when
        # it is used.
        for added in set(os.environ) - set(before):
            del os.environ[added]
        os.environ.update(before)


class Imports:
    def __init__(self, names, bare):
        self.before = dict(os.environ)
        exit_functions = ExitFunctions()
        try:
            for name in names:
                import_watched(name)
        finally:
            exit_functions.leave()
            self.finish(bare)

    def finish(self, bare):
        after = dict(os.environ)
        self.changed = {name: after.get(name) for name in set(self.before) | set(after)
                        if self.before.get(name) != after.get(name)}
        self.names = {name.split(".")[0] for name in sys.modules} - bare - set(
            sys.builtin_module_names)
        self.suffixes = importlib.machinery.all_suffixes()
        paths = {sys.executable, os.path.join(sys.prefix, "pyvenv.cfg")}
        # A package that is installed may come with a .pth file, which is read at the start.
        paths.update(getattr(site, "getsitepackages", list)())
        for module in list(sys.modules.values()):
            path = getattr(module, "__file__", None)
            if isinstance(path, str) and os.path.isabs(path):
                paths.add(path)
        self.files = {path: file_state(path) for path in paths}

    def are_fresh(self):
        return all(file_state(path) == state for path, state in self.files.items())

    def check_environment(self, entries):
        given = dict(entry.partition("=")[::2] for entry in entries)
        prefixes = tuple(WatchedEnviron.prefixes)
        read = WatchedEnviron.read | {name for name in set(self.before) | set(given)
                                      if name.startswith(prefixes)}
        if WatchedEnviron.walks:
            # The rank's own names were not there.
            read.update(self.before)
        for name in sorted(read):
            if given.get(name) != self.before.get(name):
                raise Refused("%s is read by the imports, and was another one there" % name)
        paths = [path for path in given.get("PYTHONPATH", "").split(":") if path]
        if not all(path.startswith("/") for path in paths):
            raise Refused("PYTHONPATH depends on the working directory")

    def check_folder(self, folder):
        """The first on sys.path, which the imports did not have."""
        if not os.path.isdir(folder):
            return
        for entry in os.listdir(folder):
            name = entry.split(".", 1)[0]
            if name not in self.names:
                continue
            if entry[len(name):] in self.suffixes or os.path.exists(
                    os.path.join(folder, entry, "__init__.py")):
                raise Refused("%s stands before the module that the imports took" %
                              os.path.join(folder, entry))


def file_state(path):
    try:
        info = os.stat(path)
    except OSError:
        return None
    return info.st_mtime_ns, info.st_size, info.st_ino


def device_held():
    for fd in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink("/proc/self/fd/" + fd)
        except OSError:
            continue
        if target.startswith(DEVICES):
            return target
    cuda = getattr(sys.modules.get("torch"), "cuda", None)
    return "CUDA" if cuda is not None and cuda.is_initialized() else None


def thread_names():
    names = []
    for task in os.listdir("/proc/self/task"):
        with open("/proc/self/task/%s/comm" % task) as file:
            names.append(file.read().strip())
    return names


def check_fork():
    if device_held():
        raise Refused("the imports use a GPU (%s), which a fork of them cannot" % device_held())
    if len(thread_names()) > 1:
        # Libraries that support forks, such as OpenBLAS, end their threads before one.
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
    left = [name for name in thread_names()[1:] if name not in THREADS_WITHOUT_NEED]
    if left:
        raise Refused("the imports started %d thread(s) (%s), which a fork would not have" % (
            len(left), ", ".join(left)))
    if os.fstat(1).st_size:
        said = os.pread(1, 400, 0).decode(errors="replace").strip().split("\n")[0]
        raise Refused("the imports print \"%s\", which ranks would not" % said)
