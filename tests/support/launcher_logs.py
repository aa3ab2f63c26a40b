"""Logs of failed trainings as the field's launchers leave them, for `muster explain --logs`: one file of all ranks, or a file for each, with
the launchers' prefixes, tables and last words, and what the other ranks print when they have lost their peer. Written as the programs' sources
print it.

CASES: name: (class, rank that failed first or None, advice, {file: text}). SYMPTOMS: logs that name no cause: nothing may be claimed.
"""


def trace(error, file="/home/ann/work/train.py", line=212, function="main"):
    return (f"Traceback (most recent call last):\n  File \"/home/ann/work/train.py\", line 301, in <module>\n    main()\n"
            f"  File \"{file}\", line {line}, in {function}\n    step(batch)\n{error}\n")


def tag(prefix, text):
    return "".join(f"{prefix}{line}\n" for line in text.splitlines())


def woven(*texts):
    """The lines of several writers, one of each in turn."""
    columns = [text.splitlines() for text in texts]
    return "".join(f"{column[row]}\n" for row in range(max(map(len, columns))) for column in columns if row < len(column))


def table(rank, code, why="To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html", others=()):
    """torchrun's last words."""
    def row(index, number, exit_code):
        return (f"[{index}]:\n  time      : 2026-03-02_10:11:12\n  host      : gpu-04.cluster\n  rank      : {number} (local_rank: {number % 8})\n"
                f"  exitcode  : {exit_code} (pid: {4200 + number})\n  error_file: <N/A>\n  traceback : {why}\n")
    rows = "".join(row(index + 1, number, exit_code) for index, (number, exit_code) in enumerate(others)) or "  <NO_OTHER_FAILURES>\n"
    return (f"E0302 10:11:12.004000 4100 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: {code}) local_rank: {rank % 8} "
            f"(pid: {4200 + rank}) of binary: /opt/conda/bin/python3.11\nTraceback (most recent call last):\n"
            "  File \"/opt/conda/bin/torchrun\", line 8, in <module>\n    sys.exit(main())\n"
            "  File \"/opt/conda/lib/python3.11/site-packages/torch/distributed/launcher/api.py\", line 277, in launch_agent\n"
            "    raise ChildFailedError(\ntorch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n" + "=" * 60 +
            "\ntrain.py FAILED\n" + "-" * 60 + f"\nFailures:\n{rows}" + "-" * 60 + "\nRoot Cause (first observed failure):\n" +
            row(0, rank, code) + "=" * 60 + "\n")


def timed_out(rank, seq=412, op="ALLREDUCE", numel=25557032, enqueued=None, completed=None, group="0(default_pg)"):
    """NCCL's watchdog."""
    enqueued = seq + 2 if enqueued is None else enqueued
    completed = seq - 1 if completed is None else completed
    begin = f"[rank{rank}]:[E302 10:41:12.51344{rank} ProcessGroupNCCL.cpp"
    head = f"[PG ID 0 PG GUID {group} Rank {rank}]"
    work = f"WorkNCCL(SeqNum={seq}, OpType={op}, NumelIn={numel}, NumelOut={numel}, Timeout(ms)=1800000) ran for 18000{rank}9 milliseconds"
    return (f"{begin}:616] [Rank {rank}] Watchdog caught collective operation timeout: {work} before timing out.\n"
            f"{begin}:1785] {head} Exception (either an error or timeout) detected by watchdog at work: {seq}, last enqueued NCCL work: "
            f"{enqueued}, last completed NCCL work: {completed}.\n"
            f"{begin}:630] [Rank {rank}] Some NCCL operations have failed or timed out. Due to the asynchronous nature of CUDA kernels, "
            "subsequent GPU operations might run on corrupted/incomplete data.\n"
            f"{begin}:636] [Rank {rank}] To avoid data inconsistency, we are taking the entire process down.\n"
            f"{begin}:1595] {head} Process group watchdog thread terminated with exception: [Rank {rank}] Watchdog caught collective "
            f"operation timeout: {work} before timing out.\n"
            "Exception raised from checkTimeout at ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:618 (most recent call first):\n"
            "frame #0: c10::Error::Error(c10::SourceLocation, std::string) + 0x96 (0x7fef3dd6c446 in /opt/conda/lib/libc10.so)\n"
            "terminate called after throwing an instance of 'c10::DistBackendError'\n")


def never_came(rank, enqueued, group="0(default_pg)"):
    """NCCL's heartbeat monitor of a rank that others wait for."""
    return (f"[rank{rank}]:[E302 10:41:13.11344{rank} ProcessGroupNCCL.cpp:1484] [PG ID 0 PG GUID {group} Rank {rank}] Received a dump signal due "
            f"to a collective timeout from rank 0 and we will try our best to dump the debug info. Last enqueued NCCL work: {enqueued}, last "
            f"completed NCCL work: {enqueued}.This is most likely caused by incorrect usages of collectives.\n")


NCCL_GONE = trace("torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.hpp:268, remote process exited "
                  "or there was a network error, NCCL version 2.20.5\nncclRemoteError: A call failed possibly due to a network error or a "
                  "remote process exiting prematurely.\nLast error:\nNET/Socket : peer 10.0.3.7<40122> has closed the connection")
GLOO_GONE = trace("RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.3.7]:4213")
STORE_GONE = ("[rank0]:[W302 10:11:11.1 TCPStore.cpp:125] [c10d] recvValue failed on SocketImpl(fd=3, addr=[a]:1, remote=[b]:29500): failed to "
              "recv, got 0 bytes\n")
TOLD_TO_END = ("W0302 10:11:12.001000 4100 torch/distributed/elastic/multiprocessing/api.py:897] Sending process 4200 closing signal SIGTERM\n")
STEPS = "{'loss': 1.532, 'grad_norm': 0.9, 'learning_rate': 2e-05, 'epoch': 0.12}\n  3%|▎         | 120/4000 [01:02<33:21,  1.94it/s]\n"
OOM = ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.96 GiB. GPU 1 has a total capacity of 79.15 GiB of which 1.21 GiB is "
       "free. Including non-PyTorch memory, this process has 77.93 GiB memory in use. Of the allocated memory 74.10 GiB is allocated by PyTorch")
NCCL_ERROR = ("torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1970, {}, NCCL version "
              "2.20.5\n{}\nLast error:\n{}")
DEEPSPEED_END = ("[2026-03-02 10:11:14,879] [INFO] [launch.py:319:sigkill_handler] Killing subprocess 4200\n"
                 "[2026-03-02 10:11:14,885] [INFO] [launch.py:319:sigkill_handler] Killing subprocess 4201\n"
                 "[2026-03-02 10:11:15,001] [ERROR] [launch.py:325:sigkill_handler] ['/opt/conda/bin/python3.11', '-u', 'train.py', "
                 "'--local_rank=1', '--deepspeed', 'ds.json'] exits with return code = {}\n")
SRUN_END = ("srun: Job step aborted: Waiting up to 32 seconds for job step to finish.\n"
            "slurmstepd: error: *** STEP 8812.0 ON gpu-03 CANCELLED AT 2026-03-02T10:11:14 ***\n")

CASES = {
    "torchrun-interleaved-oom": ("cuda-out-of-memory", 5, "fix-first", {"train.out": STEPS + woven(
        tag("[rank5]: ", trace(OOM)), tag("[rank2]: ", NCCL_GONE), tag("[rank0]: ", NCCL_GONE)) + TOLD_TO_END + table(5, 1)}),
    "torchrun-tee-keyerror": ("exception", 3, "fix-first", {"log": woven(
        tag("[default0]:", NCCL_GONE), tag("[default3]:", trace("KeyError: 'attention_mask'")), tag("[default1]:", STEPS)) + table(3, 1)}),
    "watchdogs-after-an-error": ("exception", 3, "fix-first", {"out.txt": tag("[rank3]: ", trace(
        "ValueError: could not convert string to float: 'n/a'")) + timed_out(0) + timed_out(1) + timed_out(2) + table(3, 1, others=[(0, -6), (1, -6)])}),
    "watchdogs-one-never-came": ("collective-timeout", 2, "fix-first", {"out.txt": timed_out(0) + timed_out(1) + never_came(
        2, 411) + timed_out(3)}),
    "watchdogs-of-two-orders": ("collective-mismatch", None, "fix-first", {"out.txt": timed_out(0) + timed_out(1, op="BROADCAST", numel=1)}),
    "watchdog-illegal-access": ("cuda-error", 3, "fix-first", {"out.txt": STEPS + (
        "[rank3]:[E302 10:11:02.1 ProcessGroupNCCL.cpp:1595] [PG ID 0 PG GUID 0(default_pg) Rank 3] Process group watchdog thread terminated with "
        "exception: CUDA error: an illegal memory access was encountered\nCUDA kernel errors might be asynchronously reported at some other API "
        "call\nException raised from c10_cuda_check_implementation at ../c10/cuda/CUDAException.cpp:43 (most recent call first):\n"
        "terminate called after throwing an instance of 'c10::DistBackendError'\n") + table(3, -6, "Signal 6 (SIGABRT) received by PID 4203")}),
    "deepspeed-pdsh-oom": ("cuda-out-of-memory", 9, "fix-first", {"ds.log": woven(
        tag("gpu-01: ", STEPS), tag("gpu-02: ", tag("[rank9]: ", trace(OOM)))) + tag("gpu-02: ", DEEPSPEED_END.format(1))}),
    "deepspeed-world-size": ("checkpoint-mismatch", None, "fix-first", {"ds.log": trace(
        "deepspeed.runtime.zero.utils.ZeRORuntimeException: The checkpoint being loaded used a DP world size of 8 but the current world size is 4. "
        "Automatic adjustment of ZeRO's optimizer state partitioning with a new world size is not currently supported.") + DEEPSPEED_END.format(1)}),
    "deepspeed-loss-scale": ("nan", None, "fix-first", {"ds.log": (
        "[2026-03-02 10:11:10,001] [INFO] [loss_scaler.py:190:update_scale] [deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 2, "
        "reducing to 1\n") + trace("Exception: Current loss scale already at minimum - cannot decrease scale anymore. Exiting run.")}),
    "deepspeed-cuda-home": ("version-mismatch", None, "fix-first", {"ds.log": trace(
        "deepspeed.ops.op_builder.builder.CUDAMismatchException: >- DeepSpeed Op Builder: Installed CUDA version 12.1 does not match the version "
        "torch was compiled with 11.8, unable to compile cuda/cpp extensions without a matching cuda version.")}),
    "slurm-oom": ("host-out-of-memory", 5, "fix-first", {"slurm-8812.out": tag("3: ", STEPS) + (
        "slurmstepd: error: Detected 1 oom_kill event in StepId=8812.0. Some of the step tasks have been OOM Killed.\n"
        "srun: error: gpu-03: task 5: Out Of Memory\n") + SRUN_END + tag("3: ", NCCL_GONE)}),
    "slurm-task-raised": ("shape-mismatch", 6, "fix-first", {"slurm-8812.out": woven(tag("6: ", trace(
        "RuntimeError: mat1 and mat2 shapes cannot be multiplied (8x1024 and 768x3072)")), tag("1: ", GLOO_GONE)) + (
        "srun: error: gpu-03: task 6: Exited with exit code 1\nsrun: Terminating StepId=8812.0\n") + SRUN_END}),
    "slurm-time-limit": ("deadline", None, "fix-first", {"slurm-8812.out": tag("0: ", STEPS) + (
        "slurmstepd: error: *** STEP 8812.0 ON gpu-03 CANCELLED AT 2026-03-02T10:11:14 DUE TO TIME LIMIT ***\n") + tag("0: ", trace(
            "torch.distributed.elastic.multiprocessing.api.SignalException: Process 4100 got signal: 15"))}),
    "slurm-cancelled": ("stopped", None, "none", {"slurm-8812.out": tag("0: ", STEPS) + (
        "slurmstepd: error: *** JOB 8812 ON gpu-03 CANCELLED AT 2026-03-02T10:11:14 ***\n")}),
    "lightning-rank-1": ("dtype-mismatch", 1, "fix-first", {"lightning.log": "Epoch 0:   2%|▏  | 20/1000 [00:12<10:01,  1.6it/s, v_num=0]\n" + trace(
        "RuntimeError: expected mat1 and mat2 to have the same dtype, but got: float != c10::BFloat16") + (
        "[rank: 1] Child process with PID 4201 terminated with code 1. Forcefully terminating all other processes to avoid zombies\n")}),
    "lightning-no-gpu": ("no-gpu", None, "fix-first", {"out": trace(
        "lightning_fabric.utilities.exceptions.MisconfigurationException: No supported gpu backend found!")}),
    "spawn-shape": ("shape-mismatch", 1, "fix-first", {"out": "W0302 10:11:12.0 4100 torch/multiprocessing/spawn.py:169] Terminating process 4200 via "
                    "signal SIGTERM\n" + trace("torch.multiprocessing.spawn.ProcessRaisedException: \n\n-- Process 1 terminated with the following "
                                               "error:\n" + trace("RuntimeError: The size of tensor a (128) must match the size of tensor b (64) at "
                                                                  "non-singleton dimension 1"))}),
    "spawn-segfault": ("native-crash", 2, "fix-first", {"out": trace(
        "torch.multiprocessing.spawn.ProcessExitedException: process 2 terminated with signal SIGSEGV")}),
    "dcp-missing-key": ("checkpoint-mismatch", 2, "fix-first", {"out": tag("[rank2]: ", trace(
        "torch.distributed.checkpoint.api.CheckpointException: CheckpointException ranks:dict_keys([2])\nTraceback (most recent call last): (RANK 2)\n"
        "  File \"/opt/conda/lib/python3.11/site-packages/torch/distributed/checkpoint/default_planner.py\", line 471, in create_default_local_load_plan\n"
        "    raise RuntimeError(f\"Missing key in checkpoint state_dict: {fqn}.\")\nRuntimeError: Missing key in checkpoint state_dict: model.head.weight."))}),
    "fsdp-dtypes": ("dtype-mismatch", 0, "fix-first", {"out": tag("[rank0]: ", trace(
        "ValueError: Must flatten tensors with uniform dtype but got torch.bfloat16 and torch.float32"))}),
    "ddp-other-models": ("collective-mismatch", 1, "fix-first", {"rank0.log": GLOO_GONE, "rank1.log": trace(
        "RuntimeError: DDP expects same model across all ranks, but Rank 1 has 62 params, while rank 0 has inconsistent 64 params.")}),
    "ddp-other-sizes": ("collective-mismatch", 1, "fix-first", {"rank0.log": GLOO_GONE, "rank1.log": trace(
        "RuntimeError: [1]: params[0] in this process with sizes [10, 10] appears not to match sizes of the same param in process 0.")}),
    "nccl-cpu-tensor": ("device-mismatch", 0, "fix-first", {"out": tag("[rank0]: ", trace(
        "RuntimeError: No backend type associated with device type cpu"))}),
    "nccl-duplicate-gpu": ("collective-mismatch", 1, "fix-first", {"out": tag("[rank1]: ", trace(NCCL_ERROR.format(
        "invalid usage (run with NCCL_DEBUG=WARN for details)", "ncclInvalidUsage: This usually reflects invalid usage of NCCL library.",
        "Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 1b000"))) + table(1, 1)}),
    "nccl-gpu-memory": ("cuda-out-of-memory", 1, "fix-first", {"out": tag("[rank1]: ", trace(NCCL_ERROR.format(
        "unhandled cuda error (run with NCCL_DEBUG=INFO for details)", "ncclUnhandledCudaError: Call to CUDA function failed.",
        "Cuda failure 2 'out of memory'"))) + tag("[rank0]: ", NCCL_GONE)}),
    "nccl-shared-memory": ("shm-too-small", 0, "fix-first", {"out": tag("[rank0]: ", trace(NCCL_ERROR.format(
        "unhandled system error (run with NCCL_DEBUG=INFO for details)", "ncclSystemError: System call (e.g. socket, malloc) or external library "
        "call failed or device error.", "Error while creating shared memory segment /dev/shm/nccl-x7Ad2 (size 9637888)")))}),
    "nccl-ib-new-words": ("fabric", None, "retry-elsewhere", {"worker-3.log": (
        "[2026-03-02 10:11:04] job-worker-3:617:2799 [3] transport/net_ib.cc:2360 NCCL WARN NET/IB: Got completion from peer 172.16.234.184<53393> "
        "with status=12 opcode=1 len=5222 vendor err 129 (Send) localGid ::ffff:10.1.2.3 hca mlx5_6\n") + NCCL_GONE}),
    "nccl-socket-and-keyerror": ("exception", 1, "fix-first", {"node0.log": "[rank0]:n0:41:97 [0] NCCL WARN socketProgress: Connection closed by "
                                 "remote peer n1.local<43250>\n" + tag("[rank0]: ", NCCL_GONE), "node1.log": tag("[rank1]: ", trace("KeyError: 17"))}),
    "gloo-interface": ("fabric", 0, "fix-first", {"rank_0.log": trace(
        "RuntimeError: [enforce fail at /pytorch/third_party/gloo/gloo/transport/tcp/device.cc:84] ifa != nullptr. Unable to find address for: eth7")}),
    "gloo-full-mesh": ("unreachable", None, "retry", {"rank_0.log": trace(
        "RuntimeError: Gloo connectFullMesh failed with [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:144] connect [127.0.1.1]:51234: "
        "Connection refused")}),
    "c10d-connect-timeout": ("unreachable", None, "retry", {"worker-1.log": trace(
        "torch.distributed.elastic.rendezvous.api.RendezvousConnectionError: The connection to the C10d store has failed. See inner exception for "
        "details.").replace("Traceback", trace("RuntimeError: connect() timed out. Original timeout was 60000 ms.") +
                            "\nThe above exception was the direct cause of the following exception:\n\nTraceback", 1)}),
    "c10d-dns": ("dns", 1, "retry", {"pod.log": tag("[pod/job-worker-0/pytorch] ", (
        "[W302 10:11:02.1 socket.cpp:755] [c10d] The IPv6 network addresses of (job-master-0, 23456) cannot be retrieved (gai error: -2 - Name or "
        "service not known).\n") + trace("torch.distributed.DistNetworkError: The client socket has failed to connect to any network address of "
                                         "(job-master-0, 23456). The name cannot be resolved: gai error: -2 - Name or service not known"))}),
    "device-assert-of-one": ("device-assert", 1, "fix-first", {"out": (
        "../aten/src/ATen/native/cuda/Indexing.cu:1290: indexSelectLargeIndex: block: [212,0,0], thread: [64,0,0] Assertion `srcIndex < "
        "srcSelectDimSize` failed.\n") + woven(tag("[rank1]: ", trace("torch.AcceleratorError: CUDA error: device-side assert triggered")),
                                               tag("[rank0]: ", NCCL_GONE)) + table(1, 1)}),
    "cublas": ("cuda-error", 0, "fix-first", {"rank0.log": trace(
        "RuntimeError: CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasGemmEx( handle, opa, opb, m, n, k, &falpha, a)`")}),
    "xid-in-dmesg": ("gpu-hardware", None, "retry-elsewhere", {"rank_0.log": NCCL_GONE, "rank_1.log": trace(
        "RuntimeError: CUDA error: unspecified launch failure"), "dmesg.txt": (
        "[Mon Mar  2 10:11:02 2026] NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n")}),
    "fabric-manager": ("driver-mismatch", 0, "retry-elsewhere", {"rank0.log": trace(
        "RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling NumCudaDevices() that might have "
        "already set an error? Error 802: system not yet initialized")}),
    "rocm-page-fault": ("cuda-error", 1, "fix-first", {"rank1.log": STEPS + "Memory access fault by GPU node-1 (Agent handle: 0x55d0) on address "
                        "0x7f2c00000000. Reason: Page not present or supervisor privilege.\n"}),
    "numpy-two": ("version-mismatch", 0, "fix-first", {"rank0.log": trace(
        "AttributeError: `np.float_` was removed in the NumPy 2.0 release. Use `np.float64` instead.")}),
    "torchvision-nms": ("version-mismatch", 0, "fix-first", {"rank0.log": trace("RuntimeError: operator torchvision::nms does not exist")}),
    "transformers-import": ("version-mismatch", 0, "fix-first", {"rank0.log": trace(
        "RuntimeError: Failed to import transformers.trainer because of the following error (look up to see its traceback):\ncannot import name "
        "'EncoderDecoderCache' from 'transformers' (/opt/conda/lib/python3.11/site-packages/transformers/__init__.py)")}),
    "multinomial-nan": ("nan", 0, "fix-first", {"rank0.log": trace(
        "RuntimeError: probability tensor contains either `inf`, `nan` or element < 0")}),
    "megatron-nan": ("nan", 3, "fix-first", {"out": tag("[rank3]: ", trace(
        "RuntimeError: Rank 3, node gpu-04, device 3, iteration 120: Unexpected result nan (message='found NaN in local forward loss calculation')")) +
        tag("[rank1]: ", NCCL_GONE)}),
    "hub-no-such-model": ("file-missing", 0, "fix-first", {"rank0.log": trace(
        "OSError: acme/llama is not a local folder and is not a valid model identifier listed on 'https://huggingface.co/models'")}),
    "bucket-forbidden": ("credentials", 0, "fix-first", {"rank0.log": trace(
        "botocore.exceptions.ClientError: An error occurred (403) when calling the HeadObject operation: Forbidden")}),
    "hf-arguments": ("arguments", 0, "fix-first", {"rank0.log": trace(
        "ValueError: Some specified arguments are not used by the HfArgumentParser: ['--lrr', '1']")}),
    "hydra": ("arguments", 0, "fix-first", {"rank0.log": "Could not override 'optim.lrr'.\nTo append to your config use +optim.lrr=1\nKey 'lrr' is "
              "not in struct\n    full_key: optim.lrr\n    object_type=dict\n\nSet the environment variable HYDRA_FULL_ERROR=1 for a complete stack "
              "trace.\n"}),
    "safetensors-disk": ("disk-full", 0, "fix-first", {"rank0.log": trace(
        "safetensors_rust.SafetensorError: Error while serializing: I/O error: No space left on device (os error 28)")}),
    "ray-worker": ("exception", None, "fix-first", {"driver.log": tag("(RayTrainWorker pid=4201, ip=10.0.0.2) ", trace(
        "IndexError: list index out of range")) + "ray.train.base_trainer.TrainingFailedError: The Ray Train run failed\n"}),
    "mpirun-tagged": ("permission", 1, "fix-first", {"mpi.log": woven(tag("[1,1]<stderr>:", trace(
        "PermissionError: [Errno 13] Permission denied: '/data/index.bin'")), tag("[1,0]<stderr>:", GLOO_GONE))}),
    "compose": ("exception", None, "fix-first", {"compose.log": woven(tag("master-1  | ", GLOO_GONE), tag("worker-1  | ", trace(
        "ZeroDivisionError: division by zero")))}),
    "composer": ("exception", 1, "fix-first", {"composer.log": "ERROR:composer.cli.launcher:Rank 1 crashed with exit code 1.\nWaiting up to 30 "
                 "seconds for all training processes to terminate. Press Ctrl-C to exit immediately.\nGlobal rank 0 (PID 4200) exited with code -15\n"
                 "----------Begin global rank 1 STDERR----------\n" + trace("ValueError: num_samples should be a positive integer value, but got "
                                                                            "num_samples=0") + "----------End global rank 1 STDERR----------\n"}),
    "two-attempts": ("cuda-out-of-memory", 0, "fix-first", {"attempt_0/1/stderr.log": trace("ConnectionError: the store was not ready"),
                     "attempt_0/0/stderr.log": GLOO_GONE, "attempt_1/0/stderr.log": trace(OOM), "attempt_1/1/stderr.log": GLOO_GONE}),
    "kubectl-waiting": ("image-pull", None, "fix-first", {"worker-1.log": 'Error from server (BadRequest): container "pytorch" in pod "job-worker-1" is '
                        "waiting to start: trying and failing to pull image\n"}),
    "kubectl-describe-oom": ("host-out-of-memory", None, "fix-first", {"worker-0.log": GLOO_GONE, "describe.txt": (
        "Name:             job-worker-1\nNamespace:        ml\n    State:          Terminated\n      Reason:       OOMKilled\n      Exit Code:    "
        "137\n      Started:      Mon, 02 Mar 2026 10:00:00 +0000\n")}),
    "kubectl-events": ("unschedulable", None, "retry", {"events.txt": (
        "LAST SEEN   TYPE      REASON             OBJECT             MESSAGE\n2m          Warning   FailedScheduling   pod/job-worker-1   0/8 nodes "
        "are available: 8 Insufficient nvidia.com/gpu. preemption: 0/8 nodes are available: 8 No preemption victims found for incoming pod.\n")}),
    "interrupted": ("stopped", None, "none", {"out": tag("[rank0]: ", trace("KeyboardInterrupt")) + tag("[rank1]: ", trace("KeyboardInterrupt"))}),
    "loader-behind-a-reset": ("cuda-out-of-memory", 1, "fix-first", {"out": woven(tag("[rank0]: ", trace(
        "ConnectionResetError: [Errno 104] Connection reset by peer", "/opt/conda/lib/python3.11/multiprocessing/connection.py")),
        tag("[rank1]: ", trace(OOM))) + TOLD_TO_END + table(1, 1)}),
    "torchrun-bus-error": ("native-crash", 1, "fix-first", {"out": STEPS + table(1, -7, "Signal 7 (SIGBUS) received by PID 4201")}),
    "segfault-of-torch": ("native-crash", 0, "fix-first", {"run.log": STEPS + "./run.sh: line 7:  4242 Segmentation fault      (core dumped) python "
                          "train.py\n" + table(0, -11, "Signal 11 (SIGSEGV) received by PID 4200")}),
}

SYMPTOMS = {
    "torchrun-killed": {"out": STEPS + table(1, -9, "Signal 9 (SIGKILL) received by PID 4201")},
    "deepspeed-killed": {"ds.log": STEPS + DEEPSPEED_END.format(-9)},
    "spawn-killed": {"out": trace("torch.multiprocessing.spawn.ProcessExitedException: process 2 terminated with signal SIGKILL")},
    "accelerate-alone": {"out": table(0, 1)},
    "shell-killed": {"out": STEPS + "./run.sh: line 7:  4242 Killed                  python train.py\n"},
    "all-lost-nccl": {"out": tag("[rank0]: ", NCCL_GONE) + tag("[rank1]: ", NCCL_GONE)},
    "store-gone": {"out": STORE_GONE + TOLD_TO_END},
    "srun-terminated": {"slurm.out": tag("0: ", STEPS) + "srun: error: gpu-03: task 6: Terminated\n"},
    "unique-id": {"out": tag("[rank3]: ", trace(
        "torch.distributed.DistBackendError: [3] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value store by key "
        "'0', but store->get('0') got error: Connection reset by peer"))},
    "oom-that-was-handled": {"out": "WARNING: ran out of memory in validation, retrying with half the batch: CUDA out of memory.\n" + STEPS + GLOO_GONE},
}
