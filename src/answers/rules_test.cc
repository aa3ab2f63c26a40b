// Fixtures: what PyTorch, gloo, NCCL, the kernel, Python and others print by their sources, each
// with the class that it decides.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "answers/finding.h"
#include "answers/read_log.h"

namespace answers {
namespace {

struct Fixture {
  const char* kind;
  const char* text;
};

std::string Kind(const std::string& text, int exit_code) {
  Rank rank;
  rank.name = "log";
  rank.exit_code = exit_code;
  rank.lines = ReadLines(text, 1000);
  const auto found = FindInRank(rank);
  return found ? std::string(found->kind) : "none";
}

// Each as the exception that ended a program.
constexpr Fixture kExceptions[] = {
    {"version-mismatch",
     "Exception: Installed CUDA version 11.0 does not match the version torch was compiled with "
     "10.1, unable to compile cuda/cpp extensions without a matching cuda version."},
    {"too-many-open-files",
     "RuntimeError: unable to open shared memory object </torch_5_0> in read-write mode"},
    {"checkpoint-write",
     "safetensors_rust.SafetensorError: Error while serializing: I/O error: Invalid argument (os "
     "error 22)"},
    {"stopped",
     "torch.distributed.elastic.multiprocessing.api.SignalException: Process 7 got signal: 1"},
    {"unknown",
     "torch.distributed.elastic.multiprocessing.api.SignalException: Process 7 got signal: 15"},
    {"cuda-out-of-memory",
     "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total "
     "capacity of 23.65 GiB of which 1.00 GiB is free. Including non-PyTorch memory, this process "
     "has 22.34 GiB memory in use. Of the allocated memory 21.00 GiB is allocated by PyTorch"},
    {"cuda-out-of-memory-others",
     "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total "
     "capacity of 23.65 GiB of which 1.00 GiB is free. Process 4711 has 20.00 GiB memory in use. "
     "Including non-PyTorch memory, this process has 2.34 GiB memory in use."},
    {"cuda-out-of-memory",
     "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 7.79 GiB total "
     "capacity; 6.60 GiB already allocated; 10.00 MiB free; 6.70 GiB reserved in total by "
     "PyTorch)"},
    {"cuda-out-of-memory-others",
     "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 7.79 GiB total "
     "capacity; 1.00 GiB already allocated; 10.00 MiB free; 1.10 GiB reserved in total by "
     "PyTorch)"},
    {"cuda-out-of-memory",
     "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling "
     "`cublasCreate(handle)`"},
    {"cuda-out-of-memory", "RuntimeError: CUDA error: out of memory"},
    {"host-out-of-memory",
     "RuntimeError: [enforce fail at alloc_cpu.cpp:117] err == 0. DefaultCPUAllocator: can't "
     "allocate memory: you tried to allocate 400000000000 bytes. Error code 12 (Cannot allocate "
     "memory)"},
    {"host-out-of-memory", "MemoryError"},
    {"host-out-of-memory",
     "numpy.core._exceptions._ArrayMemoryError: Unable to allocate 745. GiB for an array with "
     "shape "
     "(100000000000,) and data type float64"},
    {"host-out-of-memory", "OSError: [Errno 12] Cannot allocate memory"},
    {"shm-too-small",
     "RuntimeError: DataLoader worker (pid 42) is killed by signal: Bus error. It is possible that "
     "dataloader's workers are out of shared memory. Please try to raise your shared memory "
     "limit."},
    {"shm-too-small",
     "RuntimeError: unable to allocate shared memory(shm) for file </torch_7_1>: No space left on "
     "device (28)"},
    {"shm-too-small", "RuntimeError: unable to write to file </torch_1029_3471>"},
    {"too-many-open-files", "OSError: [Errno 24] Too many open files: 'x'"},
    {"too-many-open-files", "RuntimeError: received 0 items of ancdata"},
    {"process-limit", "RuntimeError: can't start new thread"},
    {"data-loader", "RuntimeError: DataLoader worker (pid(s) 31, 32) exited unexpectedly"},
    {"data-loader", "RuntimeError: DataLoader worker (pid 31) is killed by signal: Killed. "},
    {"data-loader", "RuntimeError: DataLoader timed out after 60 seconds"},
    {"unknown",
     "concurrent.futures.process.BrokenProcessPool: A process in the process pool was terminated "
     "abruptly while the future was running or pending."},
    {"unknown",
     "joblib.externals.loky.process_executor.TerminatedWorkerError: A worker process managed by "
     "the executor was unexpectedly terminated."},
    {"unreachable", "wandb.errors.CommError: Run initialization has timed out after 90.0 sec."},
    {"unreachable", "wandb.errors.CommError: Error communicating with wandb process, exiting..."},
    {"credentials",
     "clearml.backend_api.session.session.LoginError: Failed getting token (error 401 from "
     "https://api.x): Unauthorized (invalid credentials)"},
    {"disk-full", "OSError: [Errno 28] No space left on device: '/data/log'"},
    {"quota", "OSError: [Errno 122] Disk quota exceeded: '/home/a/x'"},
    {"read-only", "OSError: [Errno 30] Read-only file system: '/opt/x'"},
    {"permission", "PermissionError: [Errno 13] Permission denied: '/data/train'"},
    {"input-output", "OSError: [Errno 5] Input/output error"},
    {"input-output", "OSError: [Errno 116] Stale file handle: '/nfs/x'"},
    {"file-missing", "FileNotFoundError: [Errno 2] No such file or directory: 'data/train.csv'"},
    {"checkpoint-missing", "FileNotFoundError: [Errno 2] No such file or directory: 'out/last.pt'"},
    {"checkpoint-missing", "ValueError: Can't find a valid checkpoint at /out/checkpoint-500"},
    {"checkpoint-corrupt",
     "RuntimeError: PytorchStreamReader failed reading zip archive: failed "
     "finding central directory"},
    {"checkpoint-corrupt", "_pickle.UnpicklingError: pickle data was truncated"},
    {"checkpoint-corrupt", "EOFError: Ran out of input"},
    {"checkpoint-corrupt",
     "safetensors_rust.SafetensorError: Error while deserializing header: "
     "MetadataIncompleteBuffer"},
    {"checkpoint-write",
     "RuntimeError: [enforce fail at inline_container.cc:664] . unexpected pos "
     "64 vs 0"},
    {"checkpoint-mismatch",
     "RuntimeError: Error(s) in loading state_dict for Net:\n\tMissing key(s) in state_dict: "
     "\"fc.weight\".\n\tsize mismatch for fc.bias: copying a param with shape torch.Size([10])"},
    {"checkpoint-mismatch",
     "ValueError: loaded state dict contains a parameter group that doesn't match the size of "
     "optimizer's group"},
    {"checkpoint-mismatch",
     "_pickle.UnpicklingError: Weights only load failed. This file can still "
     "be loaded"},
    {"import", "ModuleNotFoundError: No module named 'apex'"},
    {"import",
     "ImportError: libcudart.so.11.0: cannot open shared object file: No such file or "
     "directory"},
    {"version-mismatch",
     "ImportError: cannot import name 'container_abcs' from 'torch._six' "
     "(/x/torch/_six.py)"},
    {"version-mismatch", "ImportError: /x/flash_attn.so: undefined symbol: _ZN3c104cuda9SetDevice"},
    {"version-mismatch",
     "ImportError: /lib/libstdc++.so.6: version `GLIBCXX_3.4.30' not found (required by /x.so)"},
    {"version-mismatch",
     "ValueError: numpy.dtype size changed, may indicate binary incompatibility"},
    {"version-mismatch",
     "ImportError: tokenizers>=0.21 is required for a normal functioning of this module, but found "
     "tokenizers==0.13.3."},
    {"python-mismatch", "OSError: [Errno 8] Exec format error: './a.out'"},
    {"python-mismatch",
     "RuntimeError: CUDA error: no kernel image is available for execution on the device"},
    {"shape-mismatch",
     "RuntimeError: mat1 and mat2 shapes cannot be multiplied (64x784 and 100x10)"},
    {"shape-mismatch",
     "RuntimeError: The size of tensor a (3) must match the size of tensor b (4) "
     "at non-singleton dimension 0"},
    {"shape-mismatch", "RuntimeError: shape '[2, 3]' is invalid for input of size 5"},
    {"shape-mismatch",
     "ValueError: Expected input batch_size (32) to match target batch_size (16)."},
    {"shape-mismatch",
     "RuntimeError: stack expects each tensor to be equal size, but got [3] at "
     "entry 0 and [4] at entry 1"},
    {"shape-mismatch",
     "RuntimeError: Given groups=1, weight of size [6, 3, 5, 5], expected input[1, 1, 28, 28] to "
     "have 3 channels, but got 1 channels instead"},
    {"dtype-mismatch", "RuntimeError: expected scalar type Long but found Float"},
    {"dtype-mismatch",
     "RuntimeError: mat1 and mat2 must have the same dtype, but got Float and "
     "Double"},
    {"dtype-mismatch",
     "RuntimeError: Input type (double) and bias type (float) should be the same"},
    {"dtype-mismatch", "RuntimeError: \"addmm_impl_cpu_\" not implemented for 'Half'"},
    {"device-mismatch",
     "RuntimeError: Expected all tensors to be on the same device, but found at "
     "least two devices, cuda:0 and cpu!"},
    {"device-mismatch",
     "RuntimeError: Input type (torch.FloatTensor) and weight type "
     "(torch.cuda.FloatTensor) should be the same"},
    {"device-mismatch",
     "TypeError: can't convert cuda:0 device type tensor to numpy. Use "
     "Tensor.cpu() to copy the tensor to host memory first."},
    {"device-assert", "RuntimeError: CUDA error: device-side assert triggered"},
    {"cuda-error", "RuntimeError: CUDA error: an illegal memory access was encountered"},
    {"gpu-hardware", "RuntimeError: CUDA error: uncorrectable ECC error encountered"},
    {"driver-mismatch",
     "RuntimeError: The NVIDIA driver on your system is too old (found version "
     "11040)."},
    {"driver-mismatch",
     "RuntimeError: CUDA error: CUDA driver version is insufficient for CUDA "
     "runtime version"},
    {"no-gpu", "RuntimeError: No CUDA GPUs are available"},
    {"no-gpu", "AssertionError: Torch not compiled with CUDA enabled"},
    {"no-gpu", "RuntimeError: CUDA error: invalid device ordinal"},
    {"collective-mismatch",
     "RuntimeError: Detected mismatch between collectives on ranks. Rank 0 is running collective: "
     "CollectiveFingerPrint(SequenceNumber=1, OpType=ALLREDUCE, TensorShape=[1]), but Rank 1 is "
     "running collective: CollectiveFingerPrint(SequenceNumber=1, OpType=BROADCAST)."},
    {"collective-mismatch",
     "RuntimeError: [enforce fail at ../third_party/gloo/gloo/transport/tcp/pair.cc:446] "
     "op.preamble.length <= op.nbytes. 8 vs 4"},
    {"collective-mismatch",
     "RuntimeError: Expected to have finished reduction in the prior iteration before starting a "
     "new one. This error indicates that your module has parameters that were not used"},
    {"collective-mismatch",
     "RuntimeError: Detected at least one rank that exhausted inputs. "
     "Throwing across all ranks."},
    {"late-peer", "RuntimeError: Ranks 1, 3 failed to pass monitoredBarrier in 30000 ms"},
    {"rendezvous",
     "torch.distributed.DistStoreError: Timed out after 901 seconds waiting for "
     "clients. 1/2 clients joined."},
    {"port-in-use",
     "RuntimeError: The server socket has failed to listen on any local network "
     "address. port: 29500, useIpv6: false, code: -98, name: EADDRINUSE, message: "
     "address already in use"},
    {"dns", "socket.gaierror: [Errno -2] Name or service not known"},
    {"unreachable", "ConnectionRefusedError: [Errno 111] Connection refused"},
    {"download",
     "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='x', port=443): Max "
     "retries exceeded with url: /a (Caused by NewConnectionError)"},
    {"credentials", "huggingface_hub.errors.GatedRepoError: 401 Client Error."},
    {"credentials", "botocore.exceptions.NoCredentialsError: Unable to locate credentials"},
    {"stopped",
     "torch.distributed.elastic.multiprocessing.api.SignalException: Process 7 got signal: 2"},
    {"nan", "RuntimeError: Function 'MulBackward0' returned nan values in its 0th output."},
    {"nan", "ValueError: Loss is nan at step 3"},
    {"exception", "ValueError: no such dataset"},
    {"exception", "KeyError: 'lr'"},
    {"exception", "ZeroDivisionError: division by zero"},
    {"exception", "AssertionError"},
    {"collective-timeout",
     "RuntimeError: [../third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:81] Timed out "
     "waiting "
     "1800000ms for recv operation to complete"},
    {"unknown",
     "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1, unhandled system "
     "error (run with NCCL_DEBUG=INFO for details), NCCL version 2.20.5"},
    {"peer-lost",
     "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection "
     "closed by peer [127.0.0.1]:5213"},
    {"peer-lost",
     "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2006, "
     "remote process exited or there was a network error, NCCL version 2.20.5"},
};

TEST(Rules, ByTheExceptionThatEndsTheProgram) {
  for (const auto& [kind, text] : kExceptions) {
    EXPECT_EQ(Kind(fmt::format("starting\nTraceback (most recent call last):\n"
                               "  File \"/w/train.py\", line 3, in <module>\n    main()\n{}\n",
                               text),
                   1),
              kind)
        << text;
  }
}

TEST(Rules, AnAddressOfTheMachineItselfIsExplained) {
  const auto advice_on = [](std::string_view address) {
    return RuleForException(
               fmt::format("RuntimeError: [./gloo/transport/tcp/pair.cc:799] connect [{}]:2979: "
                           "Connection refused",
                           address))
        ->advice_text;
  };
  EXPECT_NE(advice_on("127.0.1.1").find("GLOO_SOCKET_IFNAME"), std::string_view::npos);
  EXPECT_EQ(advice_on("10.1.4.7").find("GLOO_SOCKET_IFNAME"), std::string_view::npos);
}

constexpr Fixture kLines[] = {
    {"host-out-of-memory",
     "Memory cgroup out of memory: Killed process 4711 (python) "
     "total-vm:9437184kB, anon-rss:8388608kB"},
    {"host-out-of-memory",
     "slurmstepd: error: Detected 1 oom_kill event in StepId=7.0. Some of the "
     "step tasks have been OOM Killed."},
    {"shm-too-small",
     "ERROR: Unexpected bus error encountered in worker. This might be caused by "
     "insufficient shared memory (shm)."},
    {"gpu-hardware",
     "[ 1234.5] NVRM: Xid (PCI:0000:3b:00): 79, pid=4711, GPU has fallen off the "
     "bus."},
    {"gpu-hardware", "NVRM: Xid (PCI:0000:3b:00): 94, pid=4711, Contained: SM (0x1)."},
    {"fabric",
     "node1:7:9 [0] NCCL WARN NET/IB : Got completion from peer 10.0.0.2<4791> with "
     "status=12 opcode=129 len=0 vendor err 129"},
    {"fabric", "node1:7:9 [0] NCCL WARN Bootstrap : no socket interface found"},
    {"git-credentials", "fatal: Authentication failed for 'https://example.org/a.git/'"},
    {"git-credentials", "git@example.org: Permission denied (publickey)."},
    {"git", "fatal: Remote branch nosuch not found in upstream origin"},
    {"arguments", "train.py: error: unrecognized arguments: --lrr 1"},
    {"import", "/usr/bin/python3: No module named torch"},
    {"file-missing", "python: can't open file '/w/trian.py': [Errno 2] No such file or directory"},
    {"program-missing", "sh: 1: accelerate: not found"},
    {"program-missing", "bash: line 1: torchrnu: command not found"},
    {"file-missing", "bash: line 1: data/list.txt: No such file or directory"},
    {"python-mismatch", "exec /usr/bin/python: exec format error"},
    {"syntax", "  File \"train.py\", line 3\n    x = = 1\n        ^\nSyntaxError: invalid syntax"},
    {"native-crash", "Fatal Python error: Segmentation fault"},
    {"native-crash", "double free or corruption (out)"},
    {"deadline",
     "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE TO TIME "
     "LIMIT ***"},
    {"preempted",
     "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE TO "
     "PREEMPTION ***"},
    {"nan", "Loss is nan, stopping training"},
    {"registry-credentials", "Error: pull access denied for x/y, repository does not exist"},
    {"node-lost", "srun: error: Node failure on n7"},
    {"stopped", "slurmstepd: error: *** STEP 7.0 ON n1 CANCELLED AT 2026-01-01T00:00:00 ***"},
    {"process-limit", "libgomp: Thread creation failed: Resource temporarily unavailable"},
    {"ended-early", "rank 0 had ended with exit code 0 while rank 1 still waited for it (gloo)"},
    {"hang",
     "why       : stalled 4 s: rank 1 has not entered all_reduce #412 (train.py:88); it is at "
     "loader.py:31: time.sleep(60)"},
    {"hang", "why       : in uninterruptible sleep (state D, in folio_wait_bit) for 30.0 s"},
    {"fabric", "mlx5_0: transport retry counter exceeded"},
    {"unreachable",
     "n1:7:9 [0] NCCL WARN socketStartConnect: Call to connect to 10.0.0.2<4791> "
     "failed : Connection refused"},
    {"admission", "sbatch: error: Batch job submission failed: Invalid account"},
    {"cluster-quota", "sbatch: error: QOSMaxSubmitJobPerUserLimit"},
    {"image-pull",
     "docker: Error response from daemon: manifest for x:y not found: manifest unknown"},
    {"cuda-error",
     "[E302 10:11:02.1 ProcessGroupNCCL.cpp:1595] [Rank 3] Process group watchdog thread "
     "terminated "
     "with exception: CUDA error: an illegal memory access was encountered"},
    {"dns", "fatal: unable to access 'https://x.org/a/': Could not resolve host: x.org"},
    {"volume", "MountVolume.SetUp failed for volume \"data\" : secret \"nfs\" not found"},
    {"unschedulable", "0/12 nodes are available: 12 Insufficient nvidia.com/gpu."},
    {"evicted",
     "The node was low on resource: memory. Threshold quantity: 100Mi, available: 92Mi."},
    {"credentials", "ann@gpu-02: Permission denied (publickey,password)."},
    {"late-peer", "Not all ranks joining collective, sequence number: 412"},
    {"collective-mismatch",
     "error msg: Culprit rank 1; Error type: COLLECTIVE_TYPE_MISMATCH, Expected all_reduce"},
    {"collective-mismatch",
     "misc/argcheck.cc:52 NCCL WARN Reduce : invalid root 4 (root should be "
     "in the 0..4 range)"},
    {"fabric",
     "gpu-1:311:402 [0] transport/net_ib.cu:829 WARN NET/IB : Got completion with error 12, "
     "opcode 1, len 0, vendor err 129"},
    {"stopped",
     "W0302 10:11:12 33 torch/distributed/elastic/agent/server/api.py:704] Received "
     "Signals.SIGINT death signal, shutting down workers"},
    {"unknown", "Fatal Python error: Aborted"},
    {"stopped", "torch/distributed/elastic/agent/server/api.py:704] Received 1 death signal"},
    {"fabric",
     "gpu-1:311:402 [0] include/socket.h:311 WARN Socket creation failed : Address family not "
     "supported by protocol"},
    {"admission",
     "srun: error: Unable to create step for job 7: Requested node configuration is not available"},
    {"admission",
     "sbatch: error: Batch job submission failed: Requested time limit is invalid (missing or "
     "exceeds some limit)"},
};

TEST(Rules, ByALineThatNoProgramCatches) {
  for (const auto& [kind, text] : kLines)
    EXPECT_EQ(Kind(std::string(text) + "\n", 1), kind) << text;
}

// Kubernetes' reasons and messages.
struct Status {
  const char* kind;
  const char* reason;
  const char* message;
};
constexpr Status kStatuses[] = {
    {"host-out-of-memory", "OOMKilled", ""},
    {"evicted", "Evicted", "The node was low on resource: memory."},
    {"disk-full", "Evicted", "Pod ephemeral local storage usage exceeds the total limit"},
    {"preempted", "PreemptionByScheduler", "default-scheduler: preempting to accommodate"},
    {"node-lost", "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint"},
    {"deadline", "DeadlineExceeded", "Pod was active on the node longer than specified deadline"},
    {"image-pull", "ErrImagePull", "rpc error: code = NotFound desc = manifest unknown"},
    {"registry-credentials", "ErrImagePull", "failed to authorize: failed to fetch oauth token"},
    {"configuration", "CreateContainerConfigError", "secret \"x\" not found"},
    {"volume", "FailedMount", "MountVolume.SetUp failed for volume \"x\""},
    {"admission", "FailedCreate", "admission webhook \"v.x.io\" denied the request: no"},
    {"cluster-quota", "FailedCreate", "pods \"x\" is forbidden: exceeded quota: q"},
    {"cluster-quota", "FailedCreatePod",
     "Error creating: pods \"x\" is forbidden: failed quota: q: must specify requests.cpu for: c"},
    {"unschedulable", "FailedScheduling",
     "0/3 nodes are available: 3 Insufficient nvidia.com/gpu."},
    {"stopped", "ClusterStopped", "the cluster was stopped"},
    {"stopped", "Deleted", ""},
    {"awaited-job", "PyTorchJobFailed", "job a, which this one waited for, was deleted"},
    {"awaited-job", "PyTorchJobFailed",
     "job a, which this one waited for, has failed: rank 0 (a-master-0) exited with code 3"},
};

TEST(Rules, ByAStatusOrAnEvent) {
  for (const auto& [kind, reason, message] : kStatuses) {
    const auto found = FindInStatus(reason, message);
    EXPECT_EQ(found ? found->kind : "none", kind) << reason << ": " << message;
  }
  EXPECT_FALSE(FindInStatus("BackOff", "Back-off restarting failed container"));
  EXPECT_FALSE(FindInStatus("Error", ""));
}

TEST(Rules, EachClassHasAFixture) {
  std::set<std::string_view> known;
  for (const Fixture& fixture : kExceptions) known.insert(fixture.kind);
  for (const Fixture& fixture : kLines) known.insert(fixture.kind);
  for (const Rule& rule : AllRules()) EXPECT_TRUE(known.contains(rule.kind)) << rule.kind;
}

TEST(Rules, ByTheExitAlone) {
  EXPECT_EQ(Kind("step 1\n", 139), "native-crash");
  EXPECT_EQ(Kind("step 1\n", 132), "python-mismatch");
  EXPECT_EQ(Kind("step 1\n", 137), "unknown") << "nobody says who sent it";
  EXPECT_EQ(Kind("step 1\n", 143), "unknown");
  EXPECT_EQ(Kind("", 3), "unknown");
  EXPECT_EQ(Kind("all is well\n", 0), "none");
}

// What the machine tells beside a program's words: the class of the words alone, and with it.
struct Told {
  const char* alone;
  const char* with;
  const char* words;
  const char* witness;
};
constexpr Told kTold[] = {
    {"data-loader", "host-out-of-memory",
     "RuntimeError: DataLoader worker (pid 31) is killed by signal: Killed. ",
     "kernel's log: Memory cgroup out of memory: Killed process 31 (python3) total-vm:9437184kB, "
     "anon-rss:8388608kB, file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:16kB oom_score_adj:0"},
    {"data-loader", "host-out-of-memory",
     "RuntimeError: DataLoader worker (pid(s) 31) exited unexpectedly",
     "cgroup: oom_kill 1 in memory.events: at its limit of 200 MiB, the kernel killed"},
    {"data-loader", "process-limit",
     "RuntimeError: DataLoader worker (pid(s) 31) exited unexpectedly",
     "kernel's log: cgroup: fork rejected by pids controller in /muster/muster-pod-u/pytorch"},
    {"data-loader", "shm-too-small",
     "RuntimeError: DataLoader worker (pid(s) 31) exited unexpectedly",
     "file system: /dev/shm is full: 0 KiB free of 64 MiB"},
    {"checkpoint-write", "disk-full",
     "RuntimeError: [enforce fail at inline_container.cc:664] . unexpected pos 64 vs 0",
     "file system: /data is full: 0 KiB free of 64 MiB"},
    {"checkpoint-write", "disk-full",
     "RuntimeError: [enforce fail at inline_container.cc:664] . unexpected pos 64 vs 0",
     "file system: /data has no inodes left, of 4096"},
    {"read-only", "input-output", "OSError: [Errno 30] Read-only file system: '/data/x'",
     "kernel's log: EXT4-fs error (device sda1): ext4_journal_check_start:83: comm python3: "
     "Detected aborted journal"},
    {"cuda-error", "gpu-hardware",
     "RuntimeError: CUDA error: an illegal memory access was encountered",
     "kernel's log: NVRM: Xid (PCI:0000:3b:00): 94, pid=42, name=python3, Contained: SM (0x1)."},
    {"cuda-error", "gpu-hardware", "RuntimeError: CUDA error: unspecified launch failure",
     "kernel's log: nvidia 0000:3b:00.0: PCIe Bus Error: severity=Uncorrectable (Fatal), "
     "type=Transaction Layer, (Receiver ID)"},
    {"cuda-error", "cuda-error",
     "RuntimeError: CUDA error: an illegal memory access was encountered",
     "kernel's log: NVRM: Xid (PCI:0000:3b:00): 31, pid=42, name=python3, Ch 00000010, MMU Fault"},
    // An exception of the program's own is not explained away.
    {"exception", "exception", "ValueError: boom",
     "file system: /tmp is full: 0 KiB free of 1 MiB"},
    {"cuda-out-of-memory", "cuda-out-of-memory", "torch.OutOfMemoryError: CUDA out of memory.",
     "kernel's log: Out of memory: Killed process 31 (python3) total-vm:1kB"},
};

TEST(Rules, TheMachineDecidesWhereTheProgramsWordsDoNot) {
  for (const Told& told : kTold) {
    const std::string words = fmt::format(
        "Traceback (most recent call last):\n  File \"/w/train.py\", line 3, in f\n{}\n",
        told.words);
    EXPECT_EQ(Kind(words, 1), told.alone) << told.words;
    Rank rank;
    rank.exit_code = 1;
    const Evidence read =
        ReadLogs({{"log", fmt::format("{}muster: witness: 2026-07-30T10:00:05Z {}\n", words,
                                      told.witness)}});
    ASSERT_EQ(read.ranks.size(), 1U);
    ASSERT_EQ(read.ranks[0].witnesses.size(), 1U) << told.witness;
    rank.lines = read.ranks[0].lines;
    rank.witnesses = read.ranks[0].witnesses;
    EXPECT_EQ(FindInRank(rank)->kind, told.with) << told.witness;
  }
}

TEST(Rules, AFullDiskMayBeWhyAProgramEndedWithoutAWord) {
  Rank rank;
  rank.exit_code = 3;
  rank.witnesses = {{std::nullopt, "file system", "/data is full: 0 KiB free of 64 MiB"}};
  const auto found = FindInRank(rank);
  EXPECT_EQ(found->kind, "disk-full");
  EXPECT_EQ(found->confidence, Confidence::kMedium);
  rank.was_ended_by_us = true;
  EXPECT_EQ(FindInRank(rank)->level, Level::kPeerLost);
}

// Words that look like a cause and are none.
constexpr Fixture kDecoys[] = {
    {"unknown",
     "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nOSError: [Errno 28] "
     "No space left on device\nstep 11 loss 0.3\nstep 12 loss 0.2\n"},
    {"unknown", "UserWarning: CUDA initialization: The NVIDIA driver on your system is too old\n"},
    {"unknown", "WARNING: could not fetch: Connection reset by peer, retrying\n"},
    {"exception",
     "Exception ignored in: <function f>\nTraceback (most recent call last):\n  File "
     "\"a.py\", line 1, in f\nMemoryError\nTraceback (most recent call last):\n  File "
     "\"b.py\", line 2, in g\nValueError: x\n"},
    {"unknown", "NVRM: Xid (PCI:0000:3b:00): 31, pid=7, Ch 00000010, MMU Fault\n"},
};

TEST(Rules, DecoysDecideNothing) {
  for (const auto& [kind, text] : kDecoys) EXPECT_EQ(Kind(text, 1), kind) << text;
}

// Words that no form of a log marks as an exception's: they decide where nothing else does.
constexpr Fixture kLoose[] = {
    {"port-in-use",
     "[E socket.cpp:435] [c10d] The server socket has failed to bind to [::]:29500 "
     "(errno: 98 - Address already in use).\n"},
    {"unreachable",
     "[W TCPStore.cpp:340] [c10d] TCP client failed to connect/validate to host "
     "10.0.0.1:29500 - retrying (try=1, timeout=600000ms): Connection refused\n"},
    {"permission",
     "  \"message\": {\n    \"message\": \"PermissionError: [Errno 13] Permission denied: "
     "'/data'\",\n"},
    {"cuda-error", "x: File a.py line 3 RuntimeError: CUDA error: misaligned address y: step\n"},
    {"cuda-out-of-memory",
     "Exception has occurred: OutOfMemoryError       (note: full exception trace is shown)\n"
     "CUDA out of memory. Tried to allocate 2.00 GiB\n  File \"a.py\", line 3, in f\n"},
    {"unknown",
     "[W socket.cpp:601] [c10d] The client socket has failed to connect to [a]:29500 "
     "(errno: 111 - Connection refused).\n{'loss': 1.2, 'epoch': 0.1}\n"},
};

TEST(Rules, WordsThatNothingMarksAsAnExceptions) {
  for (const auto& [kind, text] : kLoose) EXPECT_EQ(Kind(text, 1), kind) << text;
}

TEST(Rules, WhatRaisedAnExceptionDecidesBeforeItsWords) {
  for (const auto& [kind, function] :
       {std::pair("unreachable", "_create_tcp_store"), std::pair("peer-lost", "_call_store")}) {
    EXPECT_EQ(Kind(fmt::format("Traceback (most recent call last):\n  File "
                               "\"/x/rendezvous/c10d_rendezvous_backend.py\", line 1, in {}\n"
                               "a.RendezvousConnectionError: The connection to the C10d store has "
                               "failed. See inner exception for details.\n",
                               function),
                   1),
              kind);
  }
}

// What looks as if the program had gone on, or had handled it, and does not.
constexpr Fixture kFatal[] = {
    {"exception",
     "UserWarning: x\n  warnings.warn(\nWARNING:root:slow\nTraceback (most recent call last):\n  "
     "File \"a.py\", line 1, in f\nKeyError: 'a'\nTraceback (most recent call last):\n  File "
     "\"a.py\", line 1, in f\nConnectionResetError: [Errno 104] Connection reset by peer\n"},
    {"cuda-error",
     "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nRuntimeError: CUDA error: "
     "misaligned address\nException raised from f at x.cpp:1 (most recent call first):\nframe #3: "
     "at::_ops::batch_norm 5::call(...) + 0x8 (0x7f in libtorch_cpu.so)\n"},
    {"exception",
     "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nKeyError: 'a'\n"
     "batch_size: 4\nmax_steps: 1000\n"},
    {"import",
     "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nImportError: \nA needs B\n"
     "[E ProcessGroupNCCL.cpp:475] [Rank 3] Watchdog caught collective operation timeout: x\n"},
    {"exception",
     "what():  [Rank 3] Watchdog caught collective operation timeout: x\n  File \"a.py\", line 1, "
     "in f\n    g()\nzlib.error: Error -3 while decompressing\nbye\n"},
};

TEST(Rules, NeitherSettingsNorWarningsTellThatTheProgramWentOn) {
  for (const auto& [kind, text] : kFatal) EXPECT_EQ(Kind(text, 1), kind) << text;
}

TEST(Rules, TheEndOfATracebackThatTheLogHasCut) {
  EXPECT_EQ(Kind("  File \"/w/train.py\", line 3, in f\n    g()\nMemoryError: x\n", 1),
            "host-out-of-memory");
  EXPECT_EQ(Kind("ValueError: boom\n", 1), "exception");
  EXPECT_EQ(Kind("ValueError: boom\nstep 3 loss 0.1\n", 1), "unknown") << "it went on";
  Rank rank;
  rank.exit_code = 1;
  rank.lines = ReadLines(
      "\u256d\u2500 Traceback (most recent call last) \u2500\u256e\n"
      "\u2502 /w/train.py:12 in main     \u2502\n\u2502   9 step()  \u2502\n"
      "\u2570\u2500\u2500\u256f\nKeyError: 'lr'\n",
      100);
  const auto found = FindInRank(rank);
  EXPECT_EQ(found->frame.file, "/w/train.py");
  EXPECT_EQ(found->frame.line, 12);
}

TEST(Rules, ByWhatNcclGivesAsItsLastError) {
  EXPECT_EQ(
      Kind("Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n"
           "torch.distributed.DistBackendError: NCCL error in: P.cpp:1, unhandled cuda error, "
           "NCCL version 2.20.5\nncclUnhandledCudaError: Call to CUDA function failed.\n"
           "Last error:\nCuda failure 2 'out of memory'\n",
           1),
      "cuda-out-of-memory");
}

TEST(Rules, OfAChainWhatWasRaisedFirst) {
  EXPECT_EQ(
      Kind("Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nOSError: [Errno "
           "28] No space left on device\n\nThe above exception was the direct cause of the "
           "following exception:\n\nTraceback (most recent call last):\n  File \"a.py\", line 2, "
           "in g\nRuntimeError: cannot save\n",
           1),
      "disk-full");
  EXPECT_EQ(
      Kind("Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nStopIteration\n\n"
           "During handling of the above exception, another exception occurred:\n\nTraceback "
           "(most recent call last):\n  File \"a.py\", line 2, in g\nRuntimeError: CUDA out of "
           "memory. Tried to allocate 2 GiB\n",
           1),
      "cuda-out-of-memory");
  EXPECT_EQ(
      Kind("Traceback (most recent call last):\n  File \"a.py\", line 9, in f\nValueError: Caught "
           "ValueError in DataLoader worker process 0.\nOriginal Traceback (most recent call "
           "last):\n  File \"/w/data.py\", line 7, in __getitem__\nPermissionError: [Errno 13] "
           "Permission denied: 'x'\n",
           1),
      "permission");
}

}  // namespace
}  // namespace answers
