"""More logs of failed trainings as launchers leave them: written when launcher_logs.py had been judged rightly, and before its rules saw them."""
from launcher_logs import GLOO_GONE, NCCL_GONE, STEPS, TOLD_TO_END, table, tag, timed_out, trace, woven

OPT = "/opt/conda/lib/python3.11/site-packages/"

CASES = {
    "k8s-timestamps-two-errors": ("exception", 2, "fix-first", {"all.log": (
        "[pod/job-worker-1/pytorch] 2026-03-02T10:11:02.100000000Z Traceback (most recent call last):\n[pod/job-worker-1/pytorch] "
        "2026-03-02T10:11:02.100000001Z   File \"/app/t.py\", line 3, in main\n[pod/job-worker-1/pytorch] 2026-03-02T10:11:02.100000002Z "
        "AttributeError: 'NoneType' object has no attribute 'shape'\n"
        "[pod/job-master-0/pytorch] 2026-03-02T10:11:05.100000000Z Traceback (most recent call last):\n[pod/job-master-0/pytorch] "
        "2026-03-02T10:11:05.1Z   File \"/app/t.py\", line 9, in main\n[pod/job-master-0/pytorch] 2026-03-02T10:11:05.2Z RuntimeError: "
        "Connection closed by peer [10.0.0.3]:333\n")}),
    "own-stamps-order": ("exception", 1, "fix-first", {"rank_0.log": "2026-03-02 10:11:09,120 INFO train: step 3\n" + trace(
        "RuntimeError: dataset server gone"), "rank_1.log": "2026-03-02 10:11:02,500 INFO train: step 3\n" + trace("RuntimeError: bad "
        "sample 18")}),
    "accelerate-notebook": ("exception", 0, "fix-first", {"out": tag("[rank0]: ", trace("RuntimeError: Cannot re-initialize CUDA in forked "
        "subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start method"))}),
    "loader-worker-oom-cuda": ("cuda-out-of-memory", 4, "fix-first", {"out": tag("[rank4]: ", trace("torch.OutOfMemoryError: Caught "
        "OutOfMemoryError in DataLoader worker process 3.\nOriginal " + trace("torch.OutOfMemoryError: CUDA out of memory. Tried to "
        "allocate 20.00 MiB. GPU 4 has a total capacity of 39.39 GiB of which 5.00 MiB is free. Including non-PyTorch memory, this "
        "process has 38.9 GiB memory in use.")))}),
    "pin-thread-noise": ("file-missing", 1, "fix-first", {"out": woven(tag("[rank0]: ", "Exception in thread Thread-3 (_pin_memory_loop):\n" +
        trace("EOFError", OPT + "../multiprocessing/connection.py", 399, "_recv")), tag("[rank1]: ", trace("FileNotFoundError: [Errno 2] "
        "No such file or directory: '/data/shard-00012.tar'")))}),
    "fairseq-scale": ("nan", 0, "fix-first", {"rank0.log": trace("FloatingPointError: Minimum loss scale reached (0.0001). Your loss is "
        "probably exploding. Try lowering the learning rate, using gradient clipping or increasing the batch size.")}),
    "detectron-nan": ("nan", 0, "fix-first", {"log": tag("[rank0]: ", trace("FloatingPointError: Loss became infinite or NaN at "
        "iteration=1203!\nloss_dict = {'loss_cls': nan}"))}),
    "lightning-nan": ("nan", None, "fix-first", {"log": trace("ValueError: The loss returned in `training_step` is nan.")}),
    "mmengine-registry": ("exception", None, "fix-first", {"log": trace("KeyError: 'MyDataset is not in the mmdet::dataset registry. Please "
        "check whether the value of `MyDataset` is correct'")}),
    "triton-missing": ("import", 0, "fix-first", {"r/rank_0.log": trace("torch._dynamo.exc.BackendCompilerFailed: backend='inductor' "
        "raised:\nRuntimeError: Cannot find a working triton installation. Either the package is not installed or it is too old.")}),
    "gcc-missing": ("import", 0, "fix-first", {"r/rank_0.log": trace("torch._inductor.exc.InductorError: RuntimeError: Failed to find C "
        "compiler. Please specify via CC environment variable or set triton.knobs.build.impl.")}),
    "libcudnn": ("import", 0, "fix-first", {"rank0.log": "Could not load library libcudnn_cnn_infer.so.8. Error: libcuda.so: cannot open "
        "shared object file: No such file or directory\n"}),
    "glibcxx": ("version-mismatch", 0, "fix-first", {"rank0.log": trace("ImportError: /lib/x86_64-linux-gnu/libstdc++.so.6: version "
        "`GLIBCXX_3.4.32' not found (required by /root/.cache/torch_extensions/fused_adam.so)")}),
    "nccl-version": ("version-mismatch", 0, "fix-first", {"rank0.log": trace("ImportError: /opt/conda/lib/libtorch_cuda.so: undefined "
        "symbol: ncclCommRegister")}),
    "nccl-timeout-join": ("rendezvous", None, "retry", {"out": tag("[rank1]: ", trace("torch.distributed.DistBackendError: [1] is setting "
        "up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value store by key '0', but store->get('0') got error: "
        "wait timeout after 600000ms, keys: /default_pg/0//cuda//0"))}),
    "store-wait": ("rendezvous", None, "retry", {"w.log": trace("torch.distributed.DistStoreError: wait timeout after 300000ms, keys: "
        "/default_pg/0//store_based_barrier_key/default_pg/0/0")}),
    "store-barrier-old": ("rendezvous", None, "retry", {"w.log": trace("RuntimeError: Timed out initializing process group in store based "
        "barrier on rank: 0, for key: store_based_barrier_key:1 (world_size=4, worker_count=2, timeout=0:30:00)")}),
    "agent-heartbeat": ("unknown", None, "none", {"agent1.log": "W0302 10:11:12.0 33 "
        "torch/distributed/elastic/rendezvous/dynamic_rendezvous.py:1345] The node 'gpu-02_33_0' has failed to send a keep-alive "
        "heartbeat to the rendezvous 'job' due to an error of type RendezvousConnectionError.\n" + trace(
        "torch.distributed.elastic.rendezvous.api.RendezvousConnectionError: The connection to the C10d store has failed. See inner "
        "exception for details.")}),
    "slurm-requeue": ("preempted", None, "retry", {"slurm-1.out": tag("0: ", STEPS) + "slurmstepd: error: *** JOB 1 ON gpu-03 CANCELLED AT "
        "2026-03-02T10:11:14 DUE TO PREEMPTION ***\n" + tag("0: ", trace("torch.distributed.elastic.multiprocessing.api.SignalException: "
        "Process 41 got signal: 15"))}),
    "slurm-node-fail": ("node-lost", None, "retry-elsewhere", {"slurm-1.out": tag("0: ", STEPS) + "srun: error: Node failure on "
        "gpu-07\nsrun: Job step aborted: Waiting up to 32 seconds for job step to finish.\nslurmstepd: error: *** JOB 1 ON gpu-03 "
        "CANCELLED AT 2026-03-02T10:11:14 DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***\n" + tag("1: ", NCCL_GONE)}),
    "slurm-invalid": ("admission", None, "fix-first", {"sbatch.err": "sbatch: error: Batch job submission failed: Requested node "
        "configuration is not available\n"}),
    "slurm-segv": ("native-crash", 3, "fix-first", {"slurm-1.out": tag("0: ", GLOO_GONE) + "srun: error: gpu-03: task 3: Segmentation fault "
        "(core dumped)\n"}),
    "slurm-exec": ("program-missing", 0, "fix-first", {"slurm-1.out": "slurmstepd: error: execve(): pyhton: No such file or directory\nsrun: "
        "error: gpu-03: task 0: Exited with exit code 2\n"}),
    "k8s-evicted": ("disk-full", None, "fix-first", {"describe.txt": "Name:             job-worker-0\nStatus:           Failed\nReason:     "
        "      Evicted\nMessage:          Pod ephemeral local storage usage exceeds the total limit of containers 20Gi.\n"}),
    "k8s-get-pods": ("image-pull", None, "fix-first", {"pods.txt": "NAME            READY   STATUS             RESTARTS   AGE\njob-master-0 "
        "   1/1     Running            0          5m\njob-worker-0    0/1     ImagePullBackOff   0          5m\n", "job-master-0.log":
        "waiting for 2 workers\n"}),
    "k8s-mount": ("volume", None, "fix-first", {"events.txt": "Events:\n  Type     Reason       Age   From     Message\n  ----     ------   "
        "    ----  ----     -------\n  Warning  FailedMount  10s   kubelet  MountVolume.SetUp failed for volume \"data\" : secret "
        "\"nfs\" not found\n"}),
    "k8s-webhook": ("admission", None, "fix-first", {"apply.txt": "Error from server: error when creating \"job.yaml\": admission webhook "
        "\"validator.training-operator.kubeflow.org\" denied the request: spec.pytorchReplicaSpecs is invalid\n"}),
    "k8s-quota": ("cluster-quota", None, "retry", {"apply.txt": "Error from server (Forbidden): error when creating \"job.yaml\": pods "
        "\"job-worker-0\" is forbidden: exceeded quota: team, requested: requests.nvidia.com/gpu=8, used: 8, limited: 8\n"}),
    "k8s-oom-yaml": ("host-out-of-memory", None, "fix-first", {"pod.yaml": "status:\n  containerStatuses:\n  - lastState:\n      "
        "terminated:\n        exitCode: 137\n        reason: OOMKilled\n", "w0.log": STEPS}),
    "kernel-oom-beside": ("host-out-of-memory", None, "fix-first", {"out": STEPS + table(1,-9,"Signal 9 (SIGKILL) received by PID 4201"),
         "dmesg": "[ 8123.1] Memory cgroup out of memory: Killed process 4201 (python3.11) total-vm:91234kB, anon-rss:81234kB\n"}),
    "nfs-stale": ("input-output", 0, "retry-elsewhere", {"rank0.log": trace("OSError: [Errno 116] Stale file handle")}),
    "lustre-eio": ("input-output", 2, "retry-elsewhere", {"out": tag("[rank2]: ", trace("OSError: [Errno 5] Input/output error: "
        "'/lustre/shard.bin'")) + timed_out(0)}),
    "hf-cache-lock": ("permission", 1, "fix-first", {"out": tag("[rank1]: ", trace("PermissionError: [Errno 13] Permission denied: "
        "'/shared/hf/datasets/x.lock'"))}),
    "hub-offline": ("download", 0, "retry", {"rank0.log": trace("huggingface_hub.errors.LocalEntryNotFoundError: An error happened while "
        "trying to locate the file on the Hub and we cannot find the requested files in the local cache. Please check your connection "
        "and try again or make sure your Internet connection is on.")}),
    "ssl": ("download", 0, "fix-first", {"rank0.log": trace("urllib.error.URLError: <urlopen error [SSL: CERTIFICATE_VERIFY_FAILED] certificate "
        "verify failed: unable to get local issuer certificate (_ssl.c:1000)>")}),
    "s3-nokey": ("file-missing", 0, "fix-first", {"rank0.log": trace("botocore.errorfactory.NoSuchKey: An error occurred (NoSuchKey) when "
        "calling the GetObject operation: The specified key does not exist.")}),
    "wandb": ("credentials", 0, "fix-first", {"rank0.log": trace("wandb.errors.errors.AuthenticationError: The API key you provided is "
        "either invalid or missing.")}),
    "bnb-cpu": ("no-gpu", 0, "fix-first", {"rank0.log": trace("RuntimeError: No GPU found. A GPU is needed for quantization.")}),
    "mig": ("no-gpu", 0, "fix-first", {"rank0.log": trace("RuntimeError: CUDA error: invalid device ordinal\nCUDA kernel errors might be "
        "asynchronously reported at some other API call, so the stacktrace below might be incorrect.")}),
    "nvlink-xid": ("gpu-hardware", None, "retry-elsewhere", {"rank_3.log": tag("[rank3]: ", NCCL_GONE), "journal.txt":
        "Mar 02 10:11:01 gpu-04 kernel: NVRM: Xid (PCI:0000:c1:00): 74, pid=4711, NVLink: fatal error detected on link 3(0x10000, 0x0)\n"}),
    "ecc-watchdog": ("gpu-hardware", 6, "retry-elsewhere", {"out": "[rank6]:[E302 10:11:02.1 ProcessGroupNCCL.cpp:1595] [PG ID 0 PG GUID "
        "0(default_pg) Rank 6] Process group watchdog thread terminated with exception: CUDA error: uncorrectable ECC error "
        "encountered\n" + tag("[rank1]: ", NCCL_GONE)}),
    "bad-label": ("device-assert", 0, "fix-first", {"rank0.log": "../aten/src/ATen/native/cuda/Loss.cu:250: "
        "nll_loss_forward_reduce_cuda_kernel_2d: block: [0,0,0], thread: [3,0,0] Assertion `t >= 0 && t < n_classes` failed.\n" + trace(
        "RuntimeError: CUDA error: device-side assert triggered")}),
    "cpu-label": ("exception", 0, "fix-first", {"rank0.log": trace("IndexError: Target 10 is out of bounds.")}),
    "llm-len": ("shape-mismatch", 0, "fix-first", {"rank0.log": trace("RuntimeError: The expanded size of the tensor (1024) must match the "
        "existing size (512) at non-singleton dimension 1.  Target sizes: [8, 1024].  Tensor sizes: [1, 512]")}),
    "attention-heads": ("shape-mismatch", 1, "fix-first", {"out": tag("[rank1]: ", trace("RuntimeError: shape '[2, 128, 12, 64]' is invalid "
        "for input of size 262144")) + tag("[rank0]: ", GLOO_GONE)}),
    "half-index": ("dtype-mismatch", 0, "fix-first", {"rank0.log": trace("RuntimeError: Expected tensor for argument #1 'indices' to have "
        "one of the following scalar types: Long, Int; but got torch.FloatTensor instead (while checking arguments for embedding)")}),
    "optim-state-device": ("device-mismatch", 0, "fix-first", {"rank0.log": trace("RuntimeError: Expected all tensors to be on the same "
        "device, but got mat1 is on cpu, different from other tensors on cuda:0 (when checking argument in method wrapper_CUDA_addmm)")}),
    "ddp-unused": ("collective-mismatch", 0, "fix-first", {"rank0.log": trace("RuntimeError: Expected to have finished reduction in the "
        "prior iteration before starting a new one. This error indicates that your module has parameters that were not used in producing "
        "loss.")}),
    "fingerprint": ("collective-mismatch", None, "fix-first", {"out": tag("[rank0]: ", trace("RuntimeError: Detected mismatch between "
        "collectives on ranks. Rank 0 is running collective: CollectiveFingerPrint(SequenceNumber=3, OpType=ALLREDUCE, TensorShape=[5]), "
        "but Rank 1 is running collective: CollectiveFingerPrint(SequenceNumber=3, OpType=ALLREDUCE, TensorShape=[6])."))}),
    "checkpoint-moe": ("checkpoint-mismatch", 0, "fix-first", {"rank0.log": trace("RuntimeError: Error(s) in loading state_dict for "
        "DistributedDataParallel:\n\tMissing key(s) in state_dict: \"module.fc.weight\".")}),
    "deepspeed-latest": ("checkpoint-missing", 0, "fix-first", {"rank0.log": trace("ValueError: Can't find a valid checkpoint at "
        "/out/checkpoint-500")}),
    "zip-short": ("checkpoint-corrupt", 0, "fix-first", {"rank0.log": trace("RuntimeError: PytorchStreamReader failed reading zip archive: "
        "failed finding central directory")}),
    "sigill": ("python-mismatch", 0, "retry-elsewhere", {"out": table(0, -4, "Signal 4 (SIGILL) received by PID 4200")}),
    "abort-malloc": ("native-crash", 1, "fix-first", {"rank_1.log": STEPS + "malloc(): invalid size (unsorted)\nFatal Python error: "
        "Aborted\n\nCurrent thread 0x00007f (most recent call first):\n  File \"/home/ann/work/ops.py\", line 44 in forward\n"}),
    "fork-limit": ("process-limit", 0, "fix-first", {"rank0.log": "OpenBLAS blas_thread_init: pthread_create failed for thread 13 of 64: "
        "Resource temporarily unavailable\n" + trace("KeyboardInterrupt")}),
    "open-files-loader": ("too-many-open-files", 0, "fix-first", {"rank0.log": trace("RuntimeError: Too many open files. Communication with "
        "the workers is no longer possible. Please increase the limit using `ulimit -n` in the shell or change the sharing strategy by "
        "calling `torch.multiprocessing.set_sharing_strategy('file_system')` at the beginning of your code")}),
    "sharing-shm": ("shm-too-small", 0, "fix-first", {"rank0.log": "ERROR: Unexpected bus error encountered in worker. This might be caused "
        "by insufficient shared memory (shm).\n" + trace("RuntimeError: DataLoader worker (pid 88) is killed by signal: Bus error. It is "
        "possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit.")}),
    "config-yaml": ("exception", 0, "fix-first", {"rank0.log": trace("yaml.scanner.ScannerError: mapping values are not allowed here\n  in "
        "\"conf.yaml\", line 3, column 9")}),
    "ctrl-c-torchrun": ("stopped", None, "none", {"out": STEPS + "^CW0302 10:11:12.0 41 torch/distributed/elastic/agent/server/api.py:704] "
        "Received 2 death signal, shutting down workers\n" + tag("[rank0]: ", trace("KeyboardInterrupt"))}),
    "exit-during-restart": ("exception", 1, "fix-first", {"out": tag("[rank1]: ", trace("ValueError: bad shard")) + "E0302 10:11:12.0 41 "
        "torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: 1) local_rank: 1 (pid: 42) of binary: "
        "/usr/bin/python3\nI0302 10:11:13.0 41 torch/distributed/elastic/agent/server/api.py:914] [default] Worker group FAILED. 1/1 "
        "attempts left; will restart worker group\n" + tag("[rank1]: ", trace("ValueError: bad shard")) + table(1,1)}),
}
SYMPTOMS = {
    "abort-alone": {"out": table(2, -6, "Signal 6 (SIGABRT) received by PID 4202")},
    "sigterm-alone": {"out": STEPS + TOLD_TO_END + tag("[rank0]: ", trace("torch.distributed.elastic.multiprocessing.api.SignalException: "
        "Process 41 got signal: 15"))},
    "ib-info": {"out": "n1:1:9 [0] NCCL INFO NET/IB : No device found.\n" + STEPS + NCCL_GONE},
    "deprecation": {"out": "FutureWarning: `torch.cuda.amp.GradScaler` is deprecated\n" + STEPS + GLOO_GONE},
    "loss-scale-skip": {"out": "[2026-03-02 10:11:10,001] [INFO] [loss_scaler.py:190:update_scale] [deepspeed] OVERFLOW! Rank 0 Skipping "
        "step. Attempted loss scale: 2, reducing to 1\n" + STEPS + NCCL_GONE},
    "wandb-retry": {"out": "wandb: Network error (ConnectionError), entering retry loop.\n" + STEPS + NCCL_GONE},
    "k8s-running": {"pods.txt": "NAME  READY STATUS RESTARTS AGE\njob-worker-0 1/1 Running 0 5m\n", "w.log": STEPS},
    "handled-and-finished": {"out": trace("OSError: [Errno 28] No space left on device") + "WARNING upload failed, will retry\n" +
        "".join(f"step {n} loss 0.{n}\n" for n in range(180)) + "Training finished\n"},
    "words-of-data": {"out": "eval sample: \"MemoryError: cannot allocate\" -> correct\nvocabulary: Abort Killed Error\nloss 0.1\nsaved model\n"},
    "killed-alone": {"out": STEPS + "Killed\n"},
}
