# What PyTorch's flight recorder knows of this rank's collectives, for anyone who asks: torch's own
# worker server at a Unix socket, in C++, so that it answers in a hang. Where torch has none, nothing is.
# And a rank that is asked where it stands, while it connects to its store, connects all the same.
# `begins` is called first. `unseen`: muster_unseen (stacks.py).
def muster_recorder(begins=lambda: None, unseen=lambda function: function):
    import os
    import sys
    import time
    folder = os.environ.get("MUSTER_STACKS", "off")
    sizes = [os.environ[name] for name in ("TORCH_FR_BUFFER_SIZE", "TORCH_NCCL_TRACE_BUFFER_SIZE")
             if name in os.environ]
    if folder == "off" or os.environ.get("WORLD_SIZE", "1") == "1":
        return
    if not sizes:
        # An answer contains everything that is kept: with 2,000 collectives it takes 50 ms and 90
        # MB, with 128 it takes 0.7 MB. The program does not see the setting in os.environ.
        os.putenv("TORCH_FR_BUFFER_SIZE", "128")

    def begin():
        begins()
        try:
            from torch._C import _distributed_c10d
            if hasattr(_distributed_c10d, "TCPStore"):
                connect_again(_distributed_c10d.TCPStore)
            if "0" in sizes:
                return
            server = getattr(_distributed_c10d, "_WorkerServer", None)
            if server is not None and hasattr(_distributed_c10d, "_dump_fr_trace_json"):
                listen(server)
        except Exception:  # a witness is never a reason to fail
            pass

    def connect_again(store):
        """The signal that asks for a stack interrupts a wait for a store that does not listen yet,
        which in torch 1.13 is the end of the rank."""
        connect = store.__init__

        def __init__(self, *words, **named):
            from datetime import timedelta
            begin = time.monotonic()
            limit = words[4] if len(words) > 4 else named.get("timeout", timedelta(seconds=300))
            while True:
                try:
                    return connect(self, *words, **named)
                except RuntimeError as error:
                    if "Interrupted system call" not in str(error):
                        raise
                # Of the caller's time, so much is left; none is an error of torch's own.
                left = max(limit - timedelta(seconds=time.monotonic() - begin), timedelta(milliseconds=1))
                if len(words) > 4:
                    words = words[:4] + (left,) + words[5:]
                else:
                    named["timeout"] = left
        store.__init__ = unseen(__init__)

    def with_few_threads(server, path):
        """The server has a thread for each processor that this one may use, but at least eight,
        and each keeps memory: on a machine of many processors it gets eight."""
        allowed = os.sched_getaffinity(0)
        if len(allowed) <= 9:
            return server(path)
        before = os.listdir("/proc/self/task")
        os.sched_setaffinity(0, {min(allowed)})
        try:
            made = server(path)
            for _ in range(50):
                if len(os.listdir("/proc/self/task")) >= len(before) + 9:
                    break
                time.sleep(0.002)
            return made
        finally:
            os.sched_setaffinity(0, allowed)
            for thread in set(os.listdir("/proc/self/task")).difference(before):
                try:
                    os.sched_setaffinity(int(thread), allowed)
                except OSError:  # it has ended
                    pass

    def listen(server):
        import atexit
        import ctypes
        place = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        own = os.getpid()
        # By the folder's descriptor: a path may be longer than a socket's address holds.
        path = "/proc/self/fd/%d/%d.recorder" % (place, own)
        if os.path.lexists(path):
            os.unlink(path)
        # It prints on stderr that it listens. Other output meanwhile is passed on.
        real, said = os.dup(2), os.memfd_create("said")
        os.dup2(said, 2)
        try:
            made = with_few_threads(server, path)
        finally:
            os.dup2(real, 2)
            os.lseek(said, 0, 0)
            for line in os.read(said, 1 << 20).splitlines(True):
                if b"WorkerServer.cpp" not in line:
                    os.write(real, line)
            for fd in (said, real, place):
                os.close(fd)
        # Its end would take a second, and for ever in a fork, which does not have its threads.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(made))

        def end():
            try:
                if os.getpid() == own:
                    os.unlink("%s/%d.recorder" % (folder, own))
            except OSError:  # whoever cleans up a temporary folder was first
                pass
        atexit.register(end)

    class Import:
        """Begins when torch.distributed has been imported."""

        def find_spec(self, name, path=None, target=None):
            if name != "torch.distributed":
                return None
            sys.meta_path.remove(self)
            for finder in sys.meta_path:
                find = getattr(finder, "find_spec", None)
                spec = find and find(name, path, target)
                if spec:
                    break
            else:
                return None
            execute = spec.loader.exec_module

            def exec_module(module):
                vars(spec.loader).pop("exec_module", None)
                execute(module)
                begin()
            spec.loader.exec_module = unseen(exec_module)
            return spec

    if "torch.distributed" in sys.modules:
        begin()
    # The hook of a pod and that of a launcher in the pod both get here.
    elif not any(type(finder).__qualname__ == Import.__qualname__ for finder in sys.meta_path):
        sys.meta_path.insert(0, Import())
