"""The corpus of bench/verdicts: how a training of two ranks fails, and what is right to say of it.

INJECTED: what rank 1 runs (`both`: both ranks). REPLAYED: what rank 1 has printed, where this machine cannot fail so; as the programs'
sources print it. UNDECIDED: logs of both ranks that name no cause: nothing may be claimed. Each with its class, the rank that failed first
(None: the logs do not tell), and the advice.
"""

TORCH = "import torch, torch.distributed as dist\n"
GLOO = TORCH + "import datetime\ndist.init_process_group('gloo', timeout=datetime.timedelta(seconds=TIMEOUT))\n"

# Name: (class, advice, program).
INJECTED = {
    "key-error": ("exception", "fix-first", "raise KeyError('lr')"),
    "assertion": ("exception", "fix-first", "assert 1 == 2, 'no such batch'"),
    "matrix-shapes": ("shape-mismatch", "fix-first", TORCH + "torch.zeros(2, 3) @ torch.zeros(4, 5)"),
    "broadcast-shapes": ("shape-mismatch", "fix-first", TORCH + "torch.zeros(3) + torch.zeros(4)"),
    "labels-of-another-batch": ("shape-mismatch", "fix-first",
                                TORCH + "torch.nn.functional.cross_entropy(torch.zeros(4, 3), torch.zeros(5, dtype=torch.long))"),
    "ragged-batch": ("shape-mismatch", "fix-first", TORCH + "torch.stack([torch.zeros(3), torch.zeros(4)])"),
    "double-weights": ("dtype-mismatch", "fix-first", TORCH + "torch.nn.Linear(2, 2)(torch.zeros(2, 2, dtype=torch.double))"),
    "half-on-cpu": ("dtype-mismatch", "fix-first", TORCH + "torch.nn.Conv2d(1, 1, 1).half()(torch.zeros(1, 1, 2, 2).half())"),
    "no-cuda": ("no-gpu", "fix-first", TORCH + "torch.zeros(1).cuda()"),
    "huge-tensor": ("host-out-of-memory", "fix-first", TORCH + "torch.empty(1 << 50)"),
    "memory-error": ("host-out-of-memory", "fix-first",
                     "import resource\nresource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))\nbytearray(1 << 31)"),
    "open-files": ("too-many-open-files", "fix-first", "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (9, 9))\n"
                                                       "kept = [open('/dev/null') for i in range(20)]"),
    "disk-full": ("disk-full", "fix-first", "open('/dev/full', 'w').write('x' * 100000)"),
    "file-missing": ("file-missing", "fix-first", "open('data/train.csv')"),
    "permission": ("permission", "fix-first", "import os\nif os.getuid() == 0:\n    os.setuid(65534)\nopen('/proc/1/mem')"),
    "module-missing": ("import", "fix-first", "import no_such_module"),
    "name-moved": ("version-mismatch", "fix-first", "from collections import Mapping"),
    "wrong-program": ("python-mismatch", "fix-first", "import os, subprocess\nopen('program', 'w').write('x')\nos.chmod('program', 0o755)\n"
                                                      "subprocess.run(['./program'])"),
    "syntax": ("syntax", "fix-first", "exec('x = = 1')"),
    "checkpoint-missing": ("checkpoint-missing", "fix-first", "open('out/last.pt', 'rb')"),
    "checkpoint-cut": ("checkpoint-corrupt", "fix-first", TORCH + "torch.save(torch.zeros(9999), 'a.pt')\nimport os\n"
                                                                  "os.truncate('a.pt', 9000)\ntorch.load('a.pt')"),
    "checkpoint-empty": ("checkpoint-corrupt", "fix-first", TORCH + "open('b.pt', 'w')\ntorch.load('b.pt')"),
    "checkpoint-of-another-model": ("checkpoint-mismatch", "fix-first",
                                    TORCH + "torch.nn.Linear(2, 2).load_state_dict(torch.nn.Linear(3, 3).state_dict())"),
    "optimizer-of-another-model": ("checkpoint-mismatch", "fix-first",
                                   TORCH + "sgd = lambda n: torch.optim.SGD([torch.zeros(1) for i in range(n)], lr=1)\n"
                                           "sgd(2).load_state_dict(sgd(3).state_dict())"),
    "loader-worker-exits": ("data-loader", "fix-first", TORCH + "import os\nclass Data(torch.utils.data.Dataset):\n"
                            "    def __len__(self):\n        return 4\n    def __getitem__(self, i):\n        os._exit(1)\n"
                            "list(torch.utils.data.DataLoader(Data(), num_workers=1))"),
    "loader-worker-raises": ("exception", "fix-first", TORCH + "class Data(torch.utils.data.Dataset):\n"
                             "    def __len__(self):\n        return 4\n    def __getitem__(self, i):\n        raise ValueError('bad image')\n"
                             "list(torch.utils.data.DataLoader(Data(), num_workers=1))"),
    "loader-too-slow": ("data-loader", "fix-first", TORCH + "import time\nclass Data(torch.utils.data.Dataset):\n"
                        "    def __len__(self):\n        return 4\n    def __getitem__(self, i):\n        time.sleep(9)\n"
                        "list(torch.utils.data.DataLoader(Data(), num_workers=1, timeout=1))"),
    "nan-in-backward": ("nan", "fix-first", TORCH + "torch.autograd.set_detect_anomaly(True)\nx = torch.zeros(1, requires_grad=True)\n"
                                                    "(torch.sqrt(x) * 0).sum().backward()"),
    "nan-in-gradients": ("nan", "fix-first", TORCH + "x = torch.zeros(1, requires_grad=True)\nx.grad = x.detach() / 0\n"
                                                     "torch.nn.utils.clip_grad_norm_([x], 1, error_if_nonfinite=True)"),
    "arguments": ("arguments", "fix-first", "import argparse\nargparse.ArgumentParser('train.py').parse_args(['--lrr', '1'])"),
    "segmentation-fault": ("native-crash", "fix-first", "import ctypes, faulthandler\nfaulthandler.enable()\nctypes.string_at(0)"),
    "port-in-use": ("port-in-use", "retry", "import socket\na = socket.create_server(('127.0.0.1', 0))\nsocket.create_server(a.getsockname())"),
    "dns": ("dns", "retry", "import socket\nsocket.getaddrinfo('no.such.invalid', 80)"),
    "nobody-listens": ("unreachable", "retry", "import urllib.request\nurllib.request.urlopen('http://127.0.0.1:1/')"),
    "git": ("git", "fix-first", "import subprocess\nsubprocess.run(['git', 'clone', '-q', '/no/such/repository'], check=True)"),
    "no-master": ("unreachable", "retry", "import os\nos.environ['MASTER_PORT'] = '1'\n" + GLOO.replace("TIMEOUT", "2")),
}
# The same of what both run; the third is the rank that fails first, or that the others' words miss.
BOTH = {
    "late-at-the-barrier": ("late-peer", "fix-first", 1, GLOO.replace("TIMEOUT", "60") +
                            "if dist.get_rank() == 0:\n    dist.monitored_barrier(timeout=datetime.timedelta(seconds=1))\n"
                            "else:\n    import time\n    time.sleep(4)"),
    "other-collective": ("collective-mismatch", "fix-first", None, "import os\nos.environ['TORCH_DISTRIBUTED_DEBUG'] = 'DETAIL'\n" +
                         GLOO.replace("TIMEOUT", "20") + "x = torch.ones(2)\n"
                         "dist.all_reduce(x) if dist.get_rank() else dist.broadcast(x, 0)"),
    "unused-parameters": ("collective-mismatch", "fix-first", None, GLOO.replace("TIMEOUT", "20") +
                          "class Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                          "        self.a, self.b = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)\n"
                          "    def forward(self, x):\n        return self.a(x)\n"
                          "model = torch.nn.parallel.DistributedDataParallel(Net())\n"
                          "for step in range(2):\n    model(torch.zeros(1, 2)).sum().backward()"),
    "nobody-comes": ("collective-timeout", "fix-first", 0, GLOO.replace("TIMEOUT", "2") +
                     "import time\ntime.sleep(6) if dist.get_rank() else dist.all_reduce(torch.ones(2))"),
}

TRACE = 'Traceback (most recent call last):\n  File "/w/train.py", line 7, in <module>\n    step()\n'
REPLAYED = {
    "gpu-memory": ("cuda-out-of-memory", "fix-first", TRACE +
                   "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.65 GiB of which "
                   "1.00 GiB is free. Including non-PyTorch memory, this process has 22.34 GiB memory in use."),
    "gpu-memory-of-others": ("cuda-out-of-memory-others", "retry-elsewhere", TRACE +
                             "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.65 GiB of "
                             "which 1.00 GiB is free. Process 4711 has 20.00 GiB memory in use. Including non-PyTorch memory, this process has "
                             "2.34 GiB memory in use."),
    "devices": ("device-mismatch", "fix-first", TRACE + "RuntimeError: Expected all tensors to be on the same device, but found at least two "
                                                        "devices, cuda:0 and cpu!"),
    "ecc": ("gpu-hardware", "retry-elsewhere", TRACE + "RuntimeError: CUDA error: uncorrectable ECC error encountered"),
    "xid": ("gpu-hardware", "retry-elsewhere", TRACE + "RuntimeError: CUDA error: unspecified launch failure\n"
            "muster: witness: 2026-07-30T10:00:05Z kernel's log: NVRM: Xid (PCI:0000:3b:00): 79, pid=42, GPU has fallen off the bus."),
    "driver": ("driver-mismatch", "retry-elsewhere", TRACE + "RuntimeError: The NVIDIA driver on your system is too old (found version 11040)."),
    "device-assert": ("device-assert", "fix-first", TRACE + "RuntimeError: CUDA error: device-side assert triggered"),
    "illegal-access": ("cuda-error", "fix-first", TRACE + "RuntimeError: CUDA error: an illegal memory access was encountered"),
    "infiniband": ("fabric", "retry-elsewhere", "node1:7:9 [0] NCCL WARN NET/IB : Got completion from peer 10.0.0.2<4791> with status=12 "
                                                "opcode=129 len=0 vendor err 129"),
    "shared-memory": ("shm-too-small", "fix-first", TRACE + "RuntimeError: unable to allocate shared memory(shm) for file </torch_7_1>: No space "
                                                            "left on device (28)"),
    "loader-killed-for-memory": ("host-out-of-memory", "fix-first", TRACE +
                                 "RuntimeError: DataLoader worker (pid 31) is killed by signal: Killed. \n"
                                 "muster: witness: 2026-07-30T10:00:05Z kernel's log: Memory cgroup out of memory: Killed process 31 (python3) "
                                 "total-vm:9437184kB"),
    "checkpoint-on-a-full-disk": ("disk-full", "fix-first", TRACE + "RuntimeError: [enforce fail at inline_container.cc:664] . unexpected pos 64 "
                                  "vs 0\nmuster: witness: 2026-07-30T10:00:05Z file system: /data is full: 0 KiB free of 64 MiB"),
    "quota": ("quota", "fix-first", TRACE + "OSError: [Errno 122] Disk quota exceeded: '/home/a/x'"),
    "read-only": ("read-only", "fix-first", TRACE + "OSError: [Errno 30] Read-only file system: '/opt/x'"),
    "input-output": ("input-output", "retry-elsewhere", TRACE + "OSError: [Errno 5] Input/output error"),
    "threads": ("process-limit", "fix-first", TRACE + "RuntimeError: can't start new thread"),
    "hub-token": ("credentials", "fix-first", TRACE + "huggingface_hub.errors.GatedRepoError: 401 Client Error."),
    "git-token": ("git-credentials", "fix-first", "fatal: Authentication failed for 'https://example.org/a.git/'"),
    "registry": ("registry-credentials", "fix-first", "Error: pull access denied for x/y, repository does not exist"),
    "time-limit": ("deadline", "fix-first", "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE TO TIME LIMIT ***"),
    "preempted": ("preempted", "retry", "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE TO PREEMPTION ***"),
    "node-failure": ("node-lost", "retry-elsewhere", "srun: error: Node failure on n7"),
}

PEER = TRACE + "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [127.0.0.1]:5213\n"
# Name: what each of two ranks has printed.
UNDECIDED = {
    "both-lost-a-peer": (PEER, PEER),
    "silence": ("step 3 loss 0.2\n", "step 3 loss 0.2\n"),
    "a-warning": ("UserWarning: CUDA initialization: The NVIDIA driver on your system is too old\nstep 3 loss 0.2\n", PEER),
    "an-error-that-was-handled": ("could not fetch, retrying: OSError: [Errno 28] No space left on device\nstep 4 loss 0.1\n", PEER),
    "told-to-end": ("W1130 12:00:00 torch/distributed/elastic/agent: Received 15 death signal, shutting down workers\n", PEER),
    "an-xid-of-a-program": ("NVRM: Xid (PCI:0000:3b:00): 31, pid=7, Ch 00000010, MMU Fault\n", PEER),
}
