# How forks of the resident interpreter end (resident.py): like a program that was executed, but
# without dismantling what the imports brought, because all of that is shared memory until it is
# written to.
import ctypes
import gc
import os
import sys

libc = ctypes.CDLL(None)


def leave_libraries():
    """At exit, the destructors of the C and C++ libraries that are here already do not run: those of
    PyTorch unregister each of its operators. Libraries that come later have theirs run before."""
    if "LD_PRELOAD" in os.environ or not hasattr(libc, "on_exit"):  # a profiler writes its file then
        return
    libc.on_exit(ctypes.cast(libc._exit, ctypes.c_void_p), None)
    libc.__cxa_atexit(ctypes.cast(libc.fflush, ctypes.c_void_p), None, None)


class ExitFunctions:
    """Of Py_AtExit. Those that are registered while this lives do not run, like the destructors: nanobind's
    calls every object that leave_objects leaves a leak. They stand in _PyRuntime, in the order of
    their registration; both ends are marked with a function that does nothing."""

    mark = ctypes.cast(libc.getppid, ctypes.c_void_p)

    def __init__(self):
        ctypes.pythonapi.Py_AtExit(self.mark)

    def leave(self):
        try:
            runtime = ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, "_PyRuntime"))
        except ValueError:
            return
        if ctypes.pythonapi.Py_AtExit(self.mark):  # there is no room for more
            return
        try:
            with open("/proc/self/mem", "rb", 0) as memory:
                text = os.pread(memory.fileno(), 1 << 20, runtime)
        except OSError:  # no /proc, or a system that protects it
            return
        size = ctypes.sizeof(self.mark)
        mark = self.mark.value.to_bytes(size, sys.byteorder)
        first = text.find(mark)
        last = text.find(mark, first + size)
        for at in range(first, last, size) if first >= 0 else ():
            ctypes.c_void_p.from_address(runtime + at).value = self.mark.value


def leave_objects():
    """The garbage collector does not look at the objects that are here already."""
    gc.collect()
    gc.freeze()


def begin():
    """In a rank, before its program."""
    import atexit
    # The program's own names are collected at its end.
    old, new = sys.modules["__main__"], type(sys)("__main__")
    new.__dict__.update(old.__dict__)
    for name in ("__main__", "__mp_main__"):  # the second is multiprocessing's
        if sys.modules.get(name) is old:
            sys.modules[name] = new

    def close_group():
        """A process group that was not destroyed ends with the module that holds it."""
        distributed = sys.modules.get("torch.distributed")
        if distributed is not None and getattr(distributed, "is_initialized", bool)():
            gc.unfreeze()
    atexit.register(close_group)
