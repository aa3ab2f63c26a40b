"""Texts of source_texts/ in the logs of launchers, with what the peers of the failed rank say, notes of libraries before it, and a form in which
somebody has passed the log on. A seed gives the same logs each time.
"""
import random

import source_texts
from launcher_logs import DEEPSPEED_END, GLOO_GONE, NCCL_GONE, SRUN_END, STORE_GONE, TOLD_TO_END, table, tag, timed_out, trace, woven

NOTES = [
    "WARNING:__main__:Please note that environment variables may need to be set.\n",
    "/opt/conda/lib/python3.10/site-packages/transformers/optimization.py:411: FutureWarning: This implementation is deprecated\n  warnings.warn(\n",
    "[2026-03-02 10:11:01,120] [INFO] [comm.py:637:init_distributed] cdb=None\n",
    "wandb: Tracking run with wandb version 0.15.8\n",
    "Loading checkpoint shards: 100%|██████████| 2/2 [00:09<00:00,  4.6s/it]\n",
    "gpu-1:1211:1304 [0] NCCL INFO NET/IB : No device found.\ngpu-1:1211:1304 [0] NCCL INFO Channel 00/02 :    0   1\n",
    "{'loss': 1.9872, 'learning_rate': 1.9e-05, 'epoch': 0.03}\n",
    "  0%|          | 0/1200 [00:00<?, ?it/s]\n",
    "[W reducer.cpp:1298] Warning: find_unused_parameters=True was specified in DDP constructor\n",
]
SETTINGS = "PyTorch version: 2.0.1+cu118\nPython version: 3.10.11\n[pip3] torch==2.0.1\nbatch_size: 4\nmax_steps: 1000\nnum_epochs: 3\n"
PEERS = [
    lambda rank: NCCL_GONE,
    lambda rank: GLOO_GONE,
    lambda rank: STORE_GONE + trace("torch.distributed.DistNetworkError: Connection reset by peer"),
    timed_out,
    lambda rank: trace("BrokenPipeError: [Errno 32] Broken pipe"),
    lambda rank: "",
]
LIGHTNING_END = "[rank: {}] Child process with PID 4201 terminated with code 1. Forcefully terminating all other processes to avoid zombies\n"
SPAWNED = "torch.multiprocessing.spawn.ProcessRaisedException: \n\n-- Process {} terminated with the following error:\n{}\n"


def pod(rank):
    return "job-worker-%d" % (rank - 1) if rank else "job-master-0"


def in_one(prefix, end=""):
    """All lines in one file, each behind its rank's prefix."""
    def made(bad, rank, peers):
        return {"train.log": woven(*(tag(prefix(of), text) for of, text in [(rank, bad), *peers])) + end.format(rank, gpu=rank // 8)}
    return made


def in_blocks(end):
    """One after another, in one file without prefixes."""
    def made(bad, rank, peers):
        return {"train.log": "".join(text for _, text in [*peers[:1], (rank, bad), *peers[1:]]) + end(rank)}
    return made


def in_files(name):
    def made(bad, rank, peers):
        return {name.format(of, pod=pod(of)): text for of, text in [(rank, bad), *peers]}
    return made


# (log, whether it shows the rank)
FORMATS = [
    (in_one("[rank{}]: ".format, TOLD_TO_END), True),
    (in_one("[default{}]:".format), True),
    (in_one("{:2}: ".format, "srun: error: gpu-0{gpu}: task {0}: Exited with exit code 1\n" + SRUN_END), True),
    (in_one(lambda rank: f"[pod/{pod(rank)}/pytorch] "), False),
    (in_one(lambda rank: f"worker-{rank // 2}: [rank{rank}]: "), True),
    (in_one("[1,{}]<stderr>:".format), True),
    (in_one("worker-{}  | ".format), False),
    (in_one("(RayTrainWorker pid=42{0:02}, ip=10.0.0.{0}) ".format), False),
    (in_one("10:11:12.345 [17] <rank {}> ".format), True),
    (in_blocks(lambda rank: TOLD_TO_END + table(rank, 1)), True),
    (in_blocks(LIGHTNING_END.format), True),
    (in_blocks(lambda rank: DEEPSPEED_END.format(1)), False),
    (in_blocks(lambda rank: ""), False),
    (in_files("logs/rank_{}.log"), True),
    (in_files("none_abc/attempt_0/{}/stderr.log"), True),
    (lambda bad, rank, peers: {"train.log": trace(SPAWNED.format(rank, bad))}, True),
]


def each_line(change):
    return lambda text, _: "".join(change(line, number) + "\n" for number, line in enumerate(text.splitlines()))


PASSED_ON = [
    lambda text, _: text,
    lambda text, _: text.replace("\n", "\r\n"),
    lambda text, _: "```\n" + text + "```\n",
    lambda text, _: text + SETTINGS,
    each_line(lambda line, _: "> " + line),
    each_line(lambda line, _: "    " + line),
    each_line(lambda line, number: f"\x1b[31m{line}\x1b[0m" if number % 3 else line),
    each_line(lambda line, number: f"2026-03-02T10:11:{number // 20 % 60:02}.{number % 1000:03}Z {line}"),
    each_line(lambda line, number: f"2026-03-02 10:11:{number // 20 % 60:02},{number % 1000:03} - {line}"),
]


def cases(seed):
    """(name, class, rank or None, advice, files)"""
    for family in source_texts.FAMILIES:
        for number, (_, kind, advice, text) in enumerate(source_texts.texts_of(family)):
            is_raised = text.startswith(source_texts.FRAMES)
            if advice == "-" or not is_raised:  # launchers' and the kernel's own lines are no rank's
                continue
            rng = random.Random(f"{seed}-{family}-{number}")
            world = rng.choice([2, 4, 8])
            rank = rng.randrange(world)
            peers = [(of, rng.choice(PEERS)(of)) for of in rng.sample([of for of in range(world) if of != rank], min(3, world - 1))]
            made, tells = rng.choice(FORMATS)
            notes = "" if made is FORMATS[-1][0] else "".join(rng.sample(NOTES, rng.randrange(4)))
            files = made(notes + text, rank, peers)
            change = rng.choice(PASSED_ON)
            named = rank if tells and kind != "late-peer" else None  # who did not come is another
            yield f"{family}-{number}", kind, named, advice, {name: change(log, rng) for name, log in files.items()}
