"""Trainings in which one rank, the last, does something else than the others, or something slow. FAULT marks the line that it is at
meanwhile, WAIT the one at which the others wait for it. No fault ends by a signal, with which stacks are asked for: libc's sleep would."""

HEAD = """\
import ctypes, os, signal, threading, time
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
RANK, WORLD = dist.get_rank(), dist.get_world_size()
ODD = RANK == WORLD - 1
x = torch.ones(8)
for step in range(5):
    dist.all_reduce(x)
"""

# Name: what follows, the collective that is named. The others come to a standstill, and nothing fails.
STALLS = {
    "late-rank": ("""\
if ODD:
    time.sleep(600)  # FAULT
dist.all_reduce(x)  # WAIT
""", "all_reduce"),
    "deadlock": ("""\
lock = threading.Lock()
lock.acquire()
if ODD:
    lock.acquire()  # FAULT
dist.barrier()  # WAIT
""", "barrier"),
    "uneven-inputs": ("""\
for batch in range(3 if ODD else 4):
    dist.all_gather([torch.ones(8) for _ in range(WORLD)], x)  # WAIT
dist.barrier()  # FAULT
""", "all_gather"),
    "wrong-order": ("""\
if ODD:
    dist.barrier()  # FAULT
    dist.all_reduce(x)
else:
    dist.all_reduce(x)  # WAIT
    dist.barrier()
""", "all_reduce"),
    "stopped": ("""\
if ODD:
    os.kill(os.getpid(), signal.SIGSTOP)
dist.all_reduce(x)  # WAIT
""", "all_reduce"),
    "dead-loader": ("""\
class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 64
    def __getitem__(self, index):
        if ODD and index > 20:
            os.kill(os.getpid(), signal.SIGSTOP)
        return torch.ones(8)
for batch in torch.utils.data.DataLoader(Data(), batch_size=4, num_workers=1):  # FAULT
    dist.all_reduce(batch)  # WAIT
""", "all_reduce"),
    "gil-held": ("""\
if ODD:
    ctypes.PyDLL(None).read(os.pipe()[0], ctypes.create_string_buffer(1), 1)  # FAULT
dist.all_reduce(x)  # WAIT
""", "all_reduce"),
    "skipped-barrier": ("""\
if not ODD:
    dist.barrier()  # WAIT
dist.all_reduce(x)  # FAULT
""", "barrier"),
    "extra-collective": ("""\
if ODD:
    dist.all_reduce(x)  # FAULT
else:
    time.sleep(0.1)
dist.barrier()  # WAIT
""", "barrier"),
    "asynchronous": ("""\
if ODD:
    time.sleep(600)  # FAULT
work = dist.all_reduce(x, async_op=True)
work.wait()  # WAIT
""", "wait"),
    "backward": ("""\
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 8))
if ODD:
    threading.Event().wait()  # FAULT
model(x).sum().backward()  # WAIT
""", "backward"),
}

# Only a recorder can tell these: what is said of the collective. FAULT and WAIT mark the calls that do not go together.
MISMATCHES = {
    "other-order": ("""\
if ODD:
    dist.barrier()  # FAULT
else:
    dist.all_reduce(x)  # WAIT
dist.barrier()
""", "collective #6 differs between ranks"),
    "uneven-batches": ("""\
for batch in range(2 if ODD else 3):
    dist.all_gather([torch.ones(8) for _ in range(WORLD)], x)  # WAIT
dist.barrier()  # FAULT
""", "collective #8 differs between ranks"),
}

# These end the job, and the verdict says who and what: its class, and the collective that is named. PART marks where the ranks part.
FAILURES = {
    "lost-peer": ("""\
for step in range(60):
    dist.all_reduce(x)
    time.sleep(0.03)
# PART
if ODD:
    os.kill(os.getpid(), signal.SIGKILL)
dist.all_reduce(x)
""", "unknown", "all_reduce #"),
    "wrong-size": ("""\
# PART
dist.all_reduce(torch.ones(4 if ODD else 8))  # FAULT
dist.barrier()
""", "collective-mismatch", "all_reduce"),
    "wrong-dtype": ("""\
# PART
dist.all_reduce(torch.ones(8, dtype=torch.float16 if ODD else torch.float32))  # FAULT
dist.barrier()
""", "collective-mismatch", "all_reduce"),
}

# Slow, and healthy: nobody is to be called stalled. Seconds of work for one rank while the others wait; it works for a part of the
# time only, which shows less than if it did all the time.
HEALTHY = {
    "evaluation": """\
if ODD:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        torch.ones(300, 300) @ torch.ones(300, 300)
        time.sleep(0.02)
dist.barrier()
""",
    "checkpoint": """\
if ODD:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        with open(os.environ.get("SCRATCH", __file__ + ".scratch"), "wb") as file:
            torch.save(torch.ones(4 << 20), file)
            file.flush()
            os.fsync(file.fileno())
        time.sleep(0.05)
dist.barrier()
""",
    "child": """\
if ODD:
    import subprocess
    subprocess.run(["sh", "-c", "end=$(($(date +%s) + SECONDS)); while [ $(date +%s) -lt $end ]; do :; done"])
dist.barrier()
""",
    "steps": """\
end = time.monotonic() + SECONDS
while True:
    go_on = torch.tensor([float(time.monotonic() < end)])
    dist.all_reduce(go_on)
    if go_on < WORLD:
        break
    torch.ones(100 + 100 * ODD, 300) @ torch.ones(300, 300)
    time.sleep(0.01)
""",
}

# An hour of a training as people have them: steps, an evaluation every minute, checkpoints of 30 s, a model that is compiled, and a data set that
# does not fit into its memory. One rank works, and the others wait for it; each prints the episode that begins.
LONG = HEAD + """\
import mmap, sys, tempfile

END = time.monotonic() + SECONDS
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 8)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
DATA = torch.utils.data.TensorDataset(torch.ones(4096, 64))


def steps(seconds):
    end = time.monotonic() + seconds
    while True:
        go_on = torch.tensor([float(RANK != 0 or time.monotonic() < end)])
        dist.all_reduce(go_on)
        if go_on < WORLD:
            return
        optimizer.zero_grad()
        model(torch.ones(32 + 32 * ODD, 64)).sum().backward()
        optimizer.step()
        time.sleep(0.01)


def evaluation(_):
    end = time.monotonic() + 20
    with torch.no_grad():
        while time.monotonic() < end:
            for batch, in torch.utils.data.DataLoader(DATA, batch_size=256, num_workers=1):
                model.module(batch)


def checkpoint(_):
    end = time.monotonic() + 30
    while time.monotonic() < end:
        with open(os.environ["SCRATCH"] + str(RANK), "wb") as file:
            torch.save(torch.ones(4 << 20), file)
            file.flush()
            os.fsync(file.fileno())
        time.sleep(0.05)


def compile(circle):
    if not hasattr(torch, "compile"):
        import torch.utils.cpp_extension as cpp_extension
        text = f"#include <torch/extension.h>\\ntorch::Tensor twice(torch::Tensor x) {{ return x * 2 + {circle}; }}"
        cpp_extension.load_inline(f"twice{circle}_{os.getpid()}", text, functions=["twice"], build_directory=tempfile.mkdtemp(dir=os.path.dirname(__file__)))
        return
    os.environ["TORCHINDUCTOR_FORCE_DISABLE_CACHES"] = "1"
    torch.compile(torch.nn.Sequential(torch.nn.Linear(64, 64 + circle), torch.nn.GELU(), torch.nn.Linear(64 + circle, 8)))(torch.ones(4, 64))


def swapping(_):
    # Pages of a file of 512 MB in a cgroup of 64: most that are touched must be read again.
    group, path = f"/sys/fs/cgroup/memory/muster-slow-{os.getpid()}", os.environ["SCRATCH"] + ".data"
    try:
        os.mkdir(group)
    except OSError as error:
        return print(f"no swapping: {error}", flush=True)
    try:
        with open(path, "wb") as file:
            for _ in range(512):
                file.write(os.urandom(1 << 20))
            file.flush()
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        with open(group + "/memory.limit_in_bytes", "w") as file:
            file.write("64M")
        with open("/proc/self/cgroup") as file:
            before = next(line.strip().split(":")[2] for line in file if ":memory:" in line)
        with open(group + "/cgroup.procs", "w") as file:
            file.write(str(os.getpid()))
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as data:
            data.madvise(mmap.MADV_RANDOM)
            end, page, total = time.monotonic() + 25, 0, 0
            while time.monotonic() < end:
                page = (page * 1103515245 + 12345) % (len(data) // 4096)
                total += data[4096 * page]
        with open("/sys/fs/cgroup/memory" + before + "/cgroup.procs", "w") as file:
            file.write(str(os.getpid()))
    finally:
        os.path.exists(path) and os.unlink(path)
        os.rmdir(group)


circle = 0
while True:
    for who, episode in ((0, evaluation), (0, checkpoint), (0, evaluation), (WORLD - 1, compile), (0, evaluation), (WORLD - 1, swapping)):
        steps(20)
        is_over = torch.tensor([float(time.monotonic() >= END)])
        dist.broadcast(is_over, 0)
        if is_over:
            sys.exit()
        if RANK == 0:
            print(f"{time.strftime('%H:%M:%S')} {episode.__name__} of rank {who}", flush=True)
        if RANK == who:
            episode(circle)
        dist.barrier()
    circle += 1
"""


def program(name):
    """The text, and the numbers of the lines that are marked FAULT and WAIT; None for one that is not."""
    text = HEAD + (STALLS.get(name) or MISMATCHES.get(name) or FAILURES.get(name))[0]
    lines = text.splitlines()
    return text, *(next((number for number, line in enumerate(lines, 1) if line.endswith("# " + mark)), None)
                   for mark in ("FAULT", "WAIT"))


def healthy(name, seconds):
    return HEAD + HEALTHY[name].replace("SECONDS", str(seconds))


def long(seconds):
    return LONG.replace("SECONDS", str(seconds))
