"""Programs that tell how they were started, or end in a way of their own: name -> text."""
ARGV = """
import sys, __main__
print(sys.argv, __file__, __name__, __package__, __spec__, __doc__, sys.path[0], sys.orig_argv)
print(sys.flags, sys.executable, sys.prefix, sys.warnoptions, sys._xoptions, sys.getrecursionlimit())
print(sorted(vars(__main__)), __main__.__loader__.__class__, __main__.__builtins__)
try:
    import sitecustomize
    print("a sitecustomize")
except ImportError as error:
    print(error)
"""
PROCESS = """
import os, resource, signal, sys, threading
print(os.getcwd(), oct(os.umask(0)), sorted(os.listdir("/proc/self/fd")), os.sched_getaffinity(0))
print(os.getpid() == os.getpgrp() == os.getsid(0), os.path.exists("/proc/%d" % os.getppid()))
print([resource.getrlimit(n) for n in range(16)], os.nice(0), threading.active_count())
print(len(os.listdir("/proc/self/task")), threading.main_thread() is threading.current_thread(),
      threading.main_thread().native_id == os.getpid())
for name in ("status", "cmdline", "comm", "cgroup", "oom_score_adj"):
    with open("/proc/self/" + name) as file:
        for line in file:
            if line.startswith("SigIgn"):  # 32 and 33 are the C library's own
                line = "SigIgn %x" % (int(line.split()[1], 16) & ~(3 << 31))
            if name != "status" or line.startswith(("Sig", "Shd", "Cap", "Umask", "Groups", "Seccomp")):
                if not line.startswith("SigQ"): print(name, line.strip())
print([(n, signal.getsignal(n)) for n in range(1, 32)], signal.set_wakeup_fd(-1))
print(sorted(e for e in open("/proc/self/environ").read().split("\\0")
             if not e.startswith(("TORCHELASTIC_", "MASTER_PORT"))))
print(list(n for n in os.environ))
os.system("env | grep -v -e ^TORCHELASTIC -e ^MASTER_PORT -e ^_= | sort")
"""
STREAMS = """
import os, sys
for stream in (sys.stdin, sys.stdout, sys.stderr, sys.__stdout__):
    print(stream.name, stream.mode, stream.encoding, stream.errors, stream.line_buffering,
          stream.write_through, stream.isatty(), type(stream.buffer), stream.newlines, stream.fileno())
print(sys.stdin.read())
sys.stdout.write("half a line, "); os.write(1, b"then bytes, "); print("the rest", end="")
sys.stderr.write("err\\n")
os._exit(0)
"""
STACK = """
import faulthandler, inspect, sys, traceback
def deep():
    traceback.print_stack()
    print(len(inspect.stack()), sys._getframe(1).f_back)
    faulthandler.dump_traceback(all_threads=True)
deep()
"""
ENDS = """
import atexit, sys, threading, time, weakref
class Late:
    def __del__(self): print("del", sys is None); raise ValueError("in del")
kept = Late()
def at(n):
    print("atexit", n)
    if n == 1: raise RuntimeError("in atexit")
atexit.register(at, 1); atexit.register(at, 2)
gate = threading.Event()
def work():
    gate.wait(); print("thread"); raise KeyError("in thread")
threading.Thread(target=work, name="worker").start()
print("main ends"); gate.set()
"""
SPAWNS = """
import multiprocessing, os, sys
def square(n): return n * n, __name__, sys.argv, multiprocessing.current_process().name
class Thing:
    def __reduce__(self): return Thing, ()
def main():
    print(multiprocessing.current_process().name, multiprocessing.parent_process())
    for method in ("fork", "spawn", "forkserver"):
        context = multiprocessing.get_context(method)
        with context.Pool(1) as pool: print(method, pool.map(square, [2, 3]))
        queue = context.Queue()
        child = context.Process(target=queue.put, args=(Thing(),))
        child.start(); print(type(queue.get()).__name__); child.join(); print(child.exitcode)
if __name__ == "__main__": main()
"""
LOADER = """
import torch
from torch.utils.data import DataLoader, Dataset
class Squares(Dataset):
    def __len__(self): return 6
    def __getitem__(self, n): return torch.tensor(n * n)
def main():
    for method in ("fork", "spawn"):
        loader = DataLoader(Squares(), batch_size=2, num_workers=2, multiprocessing_context=method)
        print(method, [batch.tolist() for batch in loader])
if __name__ == "__main__": main()
"""
SEEDS = """
import random, torch, numpy, uuid, multiprocessing
print(torch.get_num_threads(), torch.__config__.parallel_info().split("OpenMP")[0])
torch.manual_seed(3); random.seed(3); numpy.random.seed(3)
print(torch.rand(3), random.random(), numpy.random.rand(2))
"""
SIGNALS = """
import os, signal, sys, time
def handler(number, frame): print("got", number, frame.f_code.co_name); sys.exit(7)
signal.signal(signal.SIGTERM, handler)
os.kill(os.getpid(), signal.SIGTERM)
time.sleep(60)
"""
CHILDREN = """
import subprocess, sys, signal, os
done = subprocess.run([sys.executable, "-c", "import sys; print(sys.path[0], sys.stdin.read())"],
                      input="in", capture_output=True, text=True)
print(done)
pid = os.fork()
if pid == 0: print("child", os.getppid() != 1); sys.exit(4)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
print(os.popen("kill -l TERM; trap").read())
"""
C_ENDS = """
import ctypes, sys
class Late:
    def __del__(self): print("del")
kept = [Late()]; kept.append(kept)
c = ctypes.CDLL(None)
c.strdup.restype = ctypes.c_void_p
c.__cxa_atexit(ctypes.cast(c.puts, ctypes.c_void_p), ctypes.c_void_p(c.strdup(b"at the end of C")), None)
c.printf(b"in C's buffer\\n")
sys.exit(5)
"""
NASTY = {
    "argv": ARGV, "process": PROCESS, "streams": STREAMS, "stack": STACK, "ends": ENDS, "c ends": C_ENDS,
    "spawns": SPAWNS, "loader": LOADER, "seeds": SEEDS, "signals": SIGNALS, "children": CHILDREN,
    "raise": "def f(): raise ValueError('boom')\ntry: f()\nexcept ValueError: {}['k']",
    "syntax": "print(1)\nprint(2", "nul": "import os\nprint('ä€')\nos.write(2, b'\\xff\\n')",
    "exit text": "import sys; sys.exit('no more')", "exit 3": "raise SystemExit(3)",
    "exit none": "import sys; print('x'); sys.exit()", "exit 257": "import sys; sys.exit(257)",
    "exit object": "raise SystemExit([1, 2])", "_exit": "import os; os._exit(9)",
    "interrupt": "print('a'); raise KeyboardInterrupt", "abort": "import os; os.abort()",
    "kill": "import os; print('k'); os.kill(os.getpid(), 9)",
    "segv": "import faulthandler, os; faulthandler.enable(); os.kill(os.getpid(), 11)",
    "hook": "import sys\nsys.excepthook = lambda *e: print('hook', e[0])\n1/0",
    "group": "import subprocess\nraise RuntimeError('a') from ValueError('b')",
    "recursion": "def f(): f()\nimport sys; sys.setrecursionlimit(60)\nf()",
    "warn": "import warnings, logging\nwarnings.warn('w'); logging.warning('l'); logging.info('i')",
    "modules": "import sys; print([n for n in sys.modules if n.startswith(('muster', 'sitecustom'))])",
    "beside": "import beside; print(beside.__file__, open('data.txt').read())",
    "interactive": "print(input('? '))", "exec": "import os, sys\nos.execv(sys.executable, [sys.executable, '-c', 'import sys; print(sys.argv)'])",
}
