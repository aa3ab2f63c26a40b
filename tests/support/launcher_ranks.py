"""Logs that differ in how they tell who was first: names of files, prefixes, clocks, tables of several nodes. Written before the readers knew
these ways; the class is easy in each."""
from launcher_logs import GLOO_GONE, NCCL_GONE, OOM, STEPS, TOLD_TO_END, table, tag, timed_out, trace

BOOM = trace("ValueError: bad shard 12")
LATER = trace("OSError: [Errno 5] Input/output error: '/lustre/shard.bin'")

RULER = "-" * 74 + "\n"


def hydra(rank, signal):
    """What Intel MPI's launcher says about each rank at the job's end."""
    ruler = "\n" + "=" * 83 + "\n"
    return (f"{ruler}=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   RANK {rank} PID {5490 + rank} RUNNING AT gpu-04\n"
            f"=   KILLED BY SIGNAL: {signal}{ruler}")


def at(clock, text=BOOM):
    """A program's logger, and then the traceback, which has no time."""
    return f"{clock}step 3 begins\n{text}"


CASES = {
    "clock-transformers": ("exception", 1, "fix-first", {
        "rank0.log": at("03/02/2026 10:11:09 - INFO - __main__ - ", LATER), "rank1.log": at("03/02/2026 10:11:02 - INFO - __main__ - ")}),
    "clock-hf-trainer": ("exception", 1, "fix-first", {
        "rank0.log": at("[INFO|trainer.py:2134] 2026-03-02 10:11:09,120 >> ", LATER),
        "rank1.log": at("[INFO|trainer.py:2134] 2026-03-02 10:11:02,120 >> ")}),
    "clock-loguru": ("exception", 2, "fix-first", {
        "rank_1.log": at("2026-03-02 10:11:09.120 | INFO     | __main__:main:12 - ", LATER),
        "rank_2.log": at("2026-03-02 10:11:02.120 | INFO     | __main__:main:12 - ")}),
    "clock-hydra": ("exception", 1, "fix-first", {
        "rank0.log": at("[2026-03-02 10:11:09,120][__main__][INFO] - ", LATER), "rank1.log": at("[2026-03-02 10:11:02,120][__main__][INFO] - ")}),
    "clock-glog": ("exception", 1, "fix-first", {
        "rank0.log": at("I0302 10:11:09.120000 4200 train.py:12] ", LATER), "rank1.log": at("I0302 10:11:02.120000 4201 train.py:12] ")}),
    "clock-vllm": ("exception", 1, "fix-first", {
        "rank0.log": at("INFO 03-02 10:11:09 [loop.py:12] ", LATER), "rank1.log": at("INFO 03-02 10:11:02 [loop.py:12] ")}),
    "clock-detectron": ("exception", 1, "fix-first", {
        "rank0.log": at("[03/02 10:11:09 d2.engine]: ", LATER), "rank1.log": at("[03/02 10:11:02 d2.engine]: ")}),
    "clock-mmengine": ("exception", 1, "fix-first", {
        "rank0.log": at("2026/03/02 10:11:09 - mmengine - INFO - ", LATER), "rank1.log": at("2026/03/02 10:11:02 - mmengine - INFO - ")}),
    "clock-journal": ("exception", 1, "fix-first", {
        "rank0.log": tag("Mar 02 10:11:09 gpu-01 train[4200]: ", LATER), "rank1.log": tag("Mar 02 10:11:02 gpu-02 train[4201]: ", BOOM)}),
    "clock-level-first": ("exception", 1, "fix-first", {
        "rank0.log": at("INFO 2026-03-02 10:11:09,120 train ", LATER), "rank1.log": at("INFO 2026-03-02 10:11:02,120 train ")}),
    "clock-iso-offset": ("exception", 1, "fix-first", {
        "rank0.log": tag("2026-03-02T10:11:09.120+0000 ", LATER), "rank1.log": tag("2026-03-02T10:11:02.120+0000 ", BOOM)}),
    "tables-of-two-nodes": ("exception", 9, "fix-first", {
        "node0.log": STEPS + LATER + table(3, 1).replace("10:11:12", "10:11:31"), "node1.log": STEPS + BOOM + table(9, 1)}),
    "table-root-by-time": ("exception", 5, "fix-first", {
        "out.log": tag("[rank3]: ", NCCL_GONE) + tag("[rank5]: ", BOOM) + table(3, 1, others=[(5, 1)])}),
    "table-with-its-traceback": ("exception", 3, "fix-first", {"agent.log": (
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n" + "=" * 60 + "\ntrain.py FAILED\n" + "-" * 60 +
        "\nFailures:\n  <NO_OTHER_FAILURES>\n" + "-" * 60 + "\nRoot Cause (first observed failure):\n[0]:\n  time      : 2026-03-02_10:11:12\n"
        "  host      : gpu-04\n  rank      : 3 (local_rank: 3)\n  exitcode  : 1 (pid: 4203)\n  error_file: /tmp/e/attempt_0/3/error.json\n"
        "  traceback : Traceback (most recent call last):\n"
        "    File \"/opt/conda/lib/python3.11/site-packages/torch/distributed/elastic/multiprocessing/errors/__init__.py\", line 355, in wrapper\n"
        "      return f(*args, **kwargs)\n    File \"/home/ann/work/train.py\", line 9, in main\n      raise ValueError(\"bad shard 12\")\n"
        "  ValueError: bad shard 12\n  \n" + "=" * 60 + "\n")}),
    "role-names": ("exception", 2, "fix-first", {"out.log": tag("[trainer0]:", NCCL_GONE) + tag("[trainer2]:", BOOM) + tag("[trainer1]:", NCCL_GONE)}),
    "local-and-global": ("exception", 11, "fix-first", {
        "node1.log": tag("[default2]:", STEPS) + tag("[default3]:", tag("[rank11]: ", BOOM)) + tag("[default2]:", tag("[rank10]: ", NCCL_GONE))}),
    "lightning-words": ("exception", 3, "fix-first", {"out.log": "[rank: 0] Seed set to 42\n[rank: 3] Seed set to 42\n" + tag("[rank3]: ", BOOM)}),
    "pods-by-file": ("exception", 3, "fix-first", {
        "job-master-0.log": GLOO_GONE, "job-worker-0.log": GLOO_GONE, "job-worker-2.log": BOOM, "job-worker-1.log": GLOO_GONE}),
    "indexed-job": ("exception", 2, "fix-first", {
        "train-node-0-0-x7f2k.log": GLOO_GONE, "train-node-0-1-aa91z.log": GLOO_GONE, "train-node-0-2-9zz3c.log": BOOM}),
    "slurm-task-files": ("exception", 5, "fix-first", {"slurm-8812-0.out": NCCL_GONE, "slurm-8812-5.out": BOOM, "slurm-8812-3.out": NCCL_GONE}),
    "workers-by-file": ("cuda-out-of-memory", 2, "fix-first", {"worker_0.err": NCCL_GONE, "worker_2.err": trace(OOM), "worker_1.err": NCCL_GONE}),
    "mpi-folders": ("exception", 3, "fix-first", {"1/rank.0/stderr": GLOO_GONE, "1/rank.3/stderr": BOOM, "1/rank.0/stdout": STEPS,
                                                  "1/rank.3/stdout": STEPS}),
    "redirected-streams": ("exception", 1, "fix-first", {
        "default_x1/attempt_0/0/stderr.log": GLOO_GONE, "default_x1/attempt_0/0/stdout.log": STEPS,
        "default_x1/attempt_0/1/stderr.log": BOOM, "default_x1/attempt_0/1/stdout.log": STEPS}),
    "old-watchdog": ("cuda-error", 2, "fix-first", {"out.log": STEPS + (
        "[E ProcessGroupNCCL.cpp:821] [Rank 2] NCCL watchdog thread terminated with exception: CUDA error: an illegal memory access was "
        "encountered\nterminate called after throwing an instance of 'std::runtime_error'\n")}),
    "late-at-a-barrier": ("late-peer", 1, "fix-first", {"out.log": tag("[rank0]: ", trace(
        "RuntimeError: [Rank 0]: Rank 1 failed to pass monitoredBarrier in 30000 ms"))}),
    "a-bar-is-drawn-once-more": ("exception", None, "fix-first", {"out.log": "Epoch 1:   3%|▎         | 12/400 [00:05<02:21,  2.7it/s]\n" + BOOM +
                                                                  "Epoch 1:   3%|▎         | 12/400 [00:06<03:14,  1.9it/s]\n"}),
    "others-went-on-a-little": ("exception", 1, "fix-first", {"out.log": "step 3 loss 1.2\n" + BOOM + "step 4 loss 1.1\n" + TOLD_TO_END + table(1, 1)}),
    "wandb-after-the-end": ("exception", None, "fix-first", {"out.log": STEPS + BOOM + (
        "wandb: \nwandb: Run history:\nwandb:   train/loss █▆▃▁\nwandb: \nwandb: Run summary:\nwandb:   train/epoch 0.12\nwandb:    train/loss "
        "1.532\nwandb: \nwandb: 🚀 View run x at: https://wandb.ai/a/b/runs/1\n")}),
    "timeouts-and-a-loader": ("data-loader", 3, "fix-first", {"out.log": timed_out(0) + timed_out(1) + tag("[rank3]: ", trace(
        "RuntimeError: DataLoader worker (pid 4412) is killed by signal: Killed."))}),
    "accelerate-end": ("exception", 1, "fix-first", {"out.log": tag("[rank1]: ", BOOM) + tag("[rank0]: ", GLOO_GONE) + table(1, 1) + trace(
        "subprocess.CalledProcessError: Command '['/opt/conda/bin/python', 'train.py']' returned non-zero exit status 1.",
        "/opt/conda/lib/python3.11/site-packages/accelerate/commands/launch.py").replace("/home/ann/work/train.py", "/opt/conda/bin/accelerate")}),
    "mpirun-named": ("host-out-of-memory", 3, "fix-first", {"out.log": STEPS + "mpirun noticed that process rank 3 with PID 4203 on node gpu-04 "
                     "exited on signal 9 (Killed).\n", "dmesg": "[8123.1] Memory cgroup out of memory: Killed process 4203 (python3.11) "
                     "total-vm:91234kB, anon-rss:81234kB\n"}),
    "open-mpi-abort": ("exception", 2, "fix-first", {"out.log": STEPS + BOOM + RULER + (
        "MPI_ABORT was invoked on rank 2 in communicator MPI_COMM_WORLD\nwith errorcode 1.\n\nNOTE: invoking MPI_ABORT causes Open MPI to "
        "kill all MPI processes.\nYou may or may not see output from other processes, depending on\nexactly when Open MPI kills them.\n") + RULER}),
    "mpich-abort": ("exception", 3, "fix-first", {"out.log": STEPS + BOOM + (
        "Abort(1) on node 3 (rank 3 in comm 0): application called MPI_Abort(MPI_COMM_WORLD, 1) - process 3\n")}),
    "intel-mpi-crash": ("native-crash", 1, "fix-first", {"out.log": STEPS + hydra(0, "9 (Killed)") + hydra(1, "11 (Segmentation fault)") +
                                                         hydra(2, "9 (Killed)")}),
    "global-rank-in-an-exception": ("exception", 11, "fix-first", {"out.log": STEPS + trace("ValueError: global rank 11: batch 7 has no labels") +
                                    "E0302 10:11:12.123 4711 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: 1) "
                                    "local_rank: 3 (pid: 4714) of binary: /usr/bin/python\n"}),
    "rank-of-an-exception-with-a-table": ("exception", 11, "fix-first", {"out.log": STEPS + trace("RuntimeError: [Rank 11] no labels") + (
        "E0302 10:11:12.123 4711 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: 1) local_rank: 3 (pid: 4714) of "
        "binary: /usr/bin/python\n")}),
    "ended-early-composer": ("ended-early", 1, "fix-first", {"out.log": tag("[rank1]: ", STEPS) + (
        "Global rank 1 (PID 4712) exited with code 0\n") + tag("[rank0]: ", GLOO_GONE) + "Global rank 0 (PID 4711) exited with code 1\n"}),
    "ended-early-plain": ("ended-early", 1, "fix-first", {"out.log": tag("[rank0]: ", NCCL_GONE) + (
        "rank 1 exited with code 0\nrank 0 exited with code 1\n")}),
    "ended-early-muster": ("ended-early", 1, "fix-first", {"out.log": (
        "muster-launch: rank 1 had ended with exit code 0 while rank 0 still waited for it\n") + GLOO_GONE}),
    "mpirun-fabric": ("fabric", 3, "retry-elsewhere", {"out.log": "[1,0]<stdout>:step 10 loss 0.5\n[1,3]<stderr>:ERROR: ibv_open_device(mlx5_0) "
                                                       "failed: No such device\n"}),
    "pals-crash": ("native-crash", 5, "fix-first", {"out.log": STEPS + "x4217c5s2b0n0: rank 5 died from signal 11 and dumped core\n"
                                                    "x4217c5s2b0n0: rank 0 died from signal 15\n"}),
    "mvapich2-exit": ("exception", 2, "fix-first", {"out.log": STEPS + BOOM + (
        "[n1:mpispawn_0][child_handler] MPI process (rank: 2, pid: 33026) exited with status 1\n"
        "[n1:mpispawn_0][readline] Unexpected End-Of-File on file descriptor 6. MPI process died?\n")}),
    "mpirun-without-its-program": ("program-missing", 2, "fix-first", {"out.log": RULER + (
        "prterun was unable to find the specified executable file, and therefore did\nnot launch the job.  This error was first reported for "
        "process rank\n2; it may have occurred for other processes as well.\n\nNOTE: A common cause for this error is misspelling a prterun "
        "command\n   line parameter option.\n\nNode:       n1\nExecutable: trian.py\n") + RULER}),
    "torch-xla": ("exception", 2, "fix-first", {"out.log": STEPS + "Exception in device=TPU:2: no labels in batch 7\n" + BOOM}),
    "launched-by-a-program": ("exception", 3, "fix-first", {"out.log": tag("[rank3]: ", BOOM) + table(3, 1) + trace(
        "subprocess.CalledProcessError: Command '['/usr/bin/python3', '-m', 'torch.distributed.run', '--nproc_per_node', '4', 'ddp.py']' "
        "returned non-zero exit status 1.")}),
    "srun-several-tasks": ("exception", 6, "fix-first", {"out.log": tag(" 6: ", BOOM) + tag("11: ", GLOO_GONE) +
                           "srun: error: gpu-03: task 6: Exited with exit code 1\nsrun: error: gpu-04: tasks 8-11: Exited with exit code 1\n"}),
}

SYMPTOMS = {
    "tables-alone": {"node0.log": table(3, 1), "node1.log": table(9, -6, "Signal 6 (SIGABRT) received by PID 4209")},
    "told-to-end-of-two": {"rank0.log": at("I0302 10:11:09.120000 4200 train.py:12] ", NCCL_GONE), "rank1.log": at(
        "I0302 10:11:02.120000 4200 train.py:12] ", GLOO_GONE)},
    "open-mpi-5-abort": {"out.log": STEPS + RULER + (
        "MPI_ABORT was invoked on rank 6 in communicator MPI_COMM_WORLD\n  Proc: [[9321,1],6]\n  Errorcode: 1\n\nNOTE: invoking MPI_ABORT "
        "causes Open MPI to kill all MPI processes.\nYou may or may not see output from other processes, depending on\nexactly when Open MPI "
        "kills them.\n") + RULER},
    "intel-mpi-killed": {"out.log": STEPS + hydra(0, "9 (Killed)") + hydra(1, "9 (Killed)")},
}
