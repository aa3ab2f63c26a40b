// The samples of each rule are in its file (rules/); these tests are about the rules together.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "answers/files/read_log.h"
#include "answers/finding.h"
#include "answers/rule_text.h"

namespace answers {
namespace {

struct Fixture {
  const char* kind;
  const char* text;
};

std::optional<Finding> FindIn(const std::string& text, int exit_code) {
  Rank rank;
  rank.name = "log";
  rank.exit_code = exit_code;
  rank.lines = ReadLines(text, 1000);
  auto found = FindInRank(rank);
  if (found) found->frame = {};  // views into the lines
  return found;
}

std::string Kind(const std::string& text, int exit_code) {
  const auto found = FindIn(text, exit_code);
  return found ? std::string(found->kind) : "none";
}

std::string LogOf(const Sample& sample) {
  if (sample.form == "exception") {
    return fmt::format(
        "starting\nTraceback (most recent call last):\n"
        "  File \"/w/train.py\", line 3, in <module>\n    main()\n{}\n",
        sample.text);
  }
  return sample.form == "line" ? sample.text + "\n" : sample.text;
}

class RuleOf : public testing::TestWithParam<RuleText> {};

TEST_P(RuleOf, DecidesItsSamples) {
  const auto file = ReadRule(GetParam());
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_FALSE(file->samples.empty()) << "no text shows what it decides";
  for (const Sample& sample : file->samples) {
    const auto found = FindIn(LogOf(sample), 1);
    ASSERT_TRUE(found) << sample.text;
    EXPECT_EQ(found->rule, file->rule.name) << sample.text;
    EXPECT_EQ(found->kind, file->rule.kind);
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, RuleOf, testing::ValuesIn(RuleTexts().begin(), RuleTexts().end()),
                         [](const auto& each) {
                           std::string name(each.param.name);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Rules, AFileThatIsNoRuleNamesTheLine) {
  const auto error_of = [](std::string_view text) {
    const auto file = ReadRule({"x", text});
    return file ? "" : file.error().message;
  };
  EXPECT_EQ(error_of("class a\ntitle b\n"), "");
  EXPECT_EQ(error_of("class a\n"), "rule x has no title");
  for (const char* line :
       {"colour red", "do nothing", "level high", "line bare", "exception \"\"", "raised \"a\"",
        "sample \"a\"", "overrules", "symptom \"a\"", "symptom line \"\""}) {
    EXPECT_EQ(error_of(fmt::format("class a\n{}\ntitle b\n", line)),
              fmt::format("rule x: what is \"{}\"?", line));
  }
}

TEST(Rules, OfAPathItsOwnNameAndANumberedFolderAreLeft) {
  EXPECT_EQ(WithoutFolders("E: No such file or directory: '/checkpoint/a/b.tar'"),
            "E: No such file or directory: 'b.tar'");
  EXPECT_EQ(WithoutFolders("'out/checkpoint-500/s.json', 'checkpoint_3\\\\s.json'"),
            "'checkpoint-500/s.json', 'checkpoint_3\\\\s.json'");
  EXPECT_EQ(WithoutFolders("/data/checkpoint2/a.tar: gone"), "a.tar: gone");
  EXPECT_EQ(WithoutFolders("out/checkpoints/"), "checkpoints/");
  EXPECT_EQ(WithoutFolders("the checkpoint is not at / or //"), "the checkpoint is not at / or //");
}

TEST(Rules, AnExceptionThatNoneKnows) {
  for (const char* text : {"ValueError: no such dataset", "KeyError: 'lr'", "AssertionError"}) {
    EXPECT_EQ(Kind(LogOf({"exception", text}), 1), "exception") << text;
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

// Reasons and messages of Kubernetes.
struct Status {
  const char* kind;
  const char* reason;
  const char* message;
};
constexpr Status kStatuses[] = {
    {"host-out-of-memory", "OOMKilled", ""},
    {"evicted", "Evicted", "The node was low on resource: memory."},
    {"disk-full", "Evicted", "Pod ephemeral local storage usage exceeds the total limit"},
    {"disk-full", "Evicted", "The node was low on resource: ephemeral-storage."},
    {"node-lost", "ContainerStatusUnknown", "The container could not be located"},
    {"admission", "FailedCreatePod",
     "Error creating: pods \"x\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' "
     "denied "
     "request: no"},
    {"admission", "FailedCreatePod",
     "Error creating: pods \"x\" is forbidden: error looking up service account ns/a"},
    {"preempted", "PreemptionByScheduler", "default-scheduler: preempting to accommodate"},
    {"node-lost", "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint"},
    {"hang", "PyTorchJobFailed",
     "Job j has failed because it was stalled (--on-stall=stop): rank 1 has not entered barrier"},
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

TEST(Rules, TheAdviceOnAPodThatWaitsDependsOnWhatItWaitsFor) {
  const auto advice_on = [](std::string_view reason, std::string_view message) {
    return FindInStatus(reason, message)->advice;
  };
  EXPECT_EQ(advice_on("FailedScheduling", "0/3 nodes are available: 3 Insufficient cpu."),
            Advice::kRetry);
  EXPECT_EQ(advice_on("FailedScheduling",
                      "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't match Pod's "
                      "node affinity/selector."),
            Advice::kRetry);
  EXPECT_EQ(advice_on("FailedScheduling",
                      "0/3 nodes are available: 3 node(s) didn't match Pod's node "
                      "affinity/selector. preemption: not helpful"),
            Advice::kFixFirst)
      << "no node becomes another one by waiting";
  EXPECT_EQ(advice_on("FailedMount", "MountVolume.SetUp failed for volume \"x\": access denied"),
            Advice::kFixFirst);
  EXPECT_EQ(
      advice_on("FailedMount", "mount: can't read superblock on /dev/sdb: Input/output error"),
      Advice::kRetryElsewhere);
  EXPECT_EQ(advice_on("FailedMount", "mount.nfs: Stale file handle"), Advice::kRetryElsewhere);
}

TEST(Rules, ByAStatusOrAnEvent) {
  for (const auto& [kind, reason, message] : kStatuses) {
    const auto found = FindInStatus(reason, message);
    EXPECT_EQ(found ? found->kind : "none", kind) << reason << ": " << message;
  }
  const auto never =
      FindInStatus("FailedScheduling",
                   "0/1 nodes are available: 1 Insufficient nvidia.com/gpu: the job asks for 2, "
                   "this machine has none (no NVIDIA driver)");
  ASSERT_TRUE(never);
  EXPECT_EQ(never->kind, "unschedulable");
  EXPECT_EQ(never->advice, Advice::kFixFirst);
  EXPECT_FALSE(FindInStatus("BackOff", "Back-off restarting failed container"));
  EXPECT_FALSE(FindInStatus("Error", ""));
}

TEST(Rules, ByTheExitAlone) {
  EXPECT_EQ(Kind("step 1\n", 139), "native-crash");
  EXPECT_EQ(Kind("step 1\n", 132), "python-mismatch");
  EXPECT_EQ(Kind("step 1\n", 137), "unknown") << "nobody says who sent it";
  EXPECT_EQ(Kind("step 1\n", 143), "unknown");
  EXPECT_EQ(Kind("", 3), "unknown");
  EXPECT_EQ(Kind("all is well\n", 0), "none");
}

// What the machine says beside a program's words: the class by the words alone, and by both.
struct WitnessCase {
  const char* alone;
  const char* with;
  const char* words;
  const char* witness;
};
constexpr WitnessCase kWitnessCases[] = {
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
    // The machine's state does not explain away an exception of the program's own.
    {"exception", "exception", "ValueError: boom",
     "file system: /tmp is full: 0 KiB free of 1 MiB"},
    {"cuda-out-of-memory", "cuda-out-of-memory", "torch.OutOfMemoryError: CUDA out of memory.",
     "kernel's log: Out of memory: Killed process 31 (python3) total-vm:1kB"},
};

TEST(Rules, TheMachineDecidesWhereTheProgramsWordsDoNot) {
  for (const WitnessCase& each : kWitnessCases) {
    const std::string words = fmt::format(
        "Traceback (most recent call last):\n  File \"/w/train.py\", line 3, in f\n{}\n",
        each.words);
    EXPECT_EQ(Kind(words, 1), each.alone) << each.words;
    Rank rank;
    rank.exit_code = 1;
    const Evidence read =
        ReadLogs({{"log", fmt::format("{}muster: witness: 2026-07-30T10:00:05Z {}\n", words,
                                      each.witness)}});
    ASSERT_EQ(read.ranks.size(), 1U);
    ASSERT_EQ(read.ranks[0].witnesses.size(), 1U) << each.witness;
    rank.lines = read.ranks[0].lines;
    rank.witnesses = read.ranks[0].witnesses;
    EXPECT_EQ(FindInRank(rank)->kind, each.with) << each.witness;
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

// Words that look like a cause but are not one.
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

// Words that no form of a log marks as an exception's: they decide if nothing else does.
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

// Logs in which the program seems to have gone on, or to have handled the error, but did not.
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

// Scripts and loggers print these words and go on: the exception behind them decides.
TEST(Rules, WhatAScriptWentOnFromIsNotItsEnd) {
  const std::string behind =
      "\nTraceback (most recent call last):\n  File \"/w/a.py\", line 1, in f\nKeyError: 'label'\n";
  for (const char* const line :
       {"fatal: not a git repository (or any of the parent directories): .git",
        "Unauthenticated: 401 token expired, refreshing",
        "monitor: nvml internal driver error, GPU stats off", "event: NodeNotReady node/gpu-3",
        "previous run: Pod was active on the node longer than the specified deadline; resuming",
        "curl: (97) Unable to receive initial SOCKS5 response.",
        "curl: (56) Recv failure: Connection timed out"}) {
    EXPECT_EQ(Kind(line + behind, 1), "exception") << line;
  }
  EXPECT_EQ(Kind("curl: (7) Failed to connect to localhost\nserver is up\nno split vall\n", 1),
            "unknown");
}

TEST(Rules, AnErrnosNumberAloneDoesNotDecide) {
  const auto kind_of = [](const std::string& exception) {
    return Kind(
        "Traceback (most recent call last):\n  File \"/w/a.py\", line 1, in f\n" + exception + "\n",
        1);
  };
  EXPECT_EQ(kind_of("OSError: [Errno 61] No data available: '/data'"), "exception");
  EXPECT_EQ(kind_of("ConnectionRefusedError: [Errno 61] Connection refused"), "unreachable");
  EXPECT_NE(kind_of("ssl.SSLError: [Errno 1] _ssl.c:504: certificate verify failed"), "permission");
  EXPECT_EQ(kind_of("OSError: [Errno 1] Operation not permitted: '/data'"), "permission");
  EXPECT_EQ(kind_of("OSError: [Errno 28] Kein Speicherplatz: '/data'"), "disk-full");
}

TEST(Rules, HydrasWrapperIsNotTheCause) {
  EXPECT_EQ(
      Kind("Traceback (most recent call last):\n  File \"/w/model.py\", line 8, in f\n"
           "KeyError: 'emb'\n\nThe above exception was the direct cause of the following "
           "exception:\n\nTraceback (most recent call last):\n  File \"/w/train.py\", line 20, "
           "in main\nhydra.errors.InstantiationException: Error in call to target 'm.M'\n",
           1),
      "exception");
}

TEST(Rules, NeitherSettingsNorWarningsShowThatTheProgramWentOn) {
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

TEST(Rules, AShellsWordInAPathWithANumberedStepIsNoWork) {
  EXPECT_EQ(Kind("/w/step1_sft/run_1.3b.sh: line 18: deepspeed: command not found\n", 127),
            "program-missing");
  EXPECT_EQ(Kind("./launch: 3: accelerate: not found\n", 127), "program-missing");
}

TEST(Rules, AnExceptionThatNoneKnowsIsCertainOnlyIfTheUsersCodeRaisedIt) {
  const auto confidence_of = [](const std::string& text) { return FindIn(text, 1)->confidence; };
  const std::string frames = "Traceback (most recent call last):\n  File \"/w/train.py\", line 3\n";
  EXPECT_EQ(confidence_of(frames + "ValueError: no such dataset\n"), Confidence::kHigh);
  EXPECT_EQ(confidence_of(frames + "RuntimeError: device said no\n"), Confidence::kMedium);
  EXPECT_EQ(
      confidence_of(frames + "  File \"/x/site-packages/t.py\", line 7, in g\nValueError: x\n"),
      Confidence::kMedium);
  EXPECT_EQ(confidence_of("ValueError: no such dataset\n"), Confidence::kMedium);
}

TEST(Rules, WhatUcxLogsDecidesOnlyIfNothingGoesOn) {
  const std::string error =
      "[1668693503.473099] [n7:118:0]  ib_log.c:246  UCX  ERROR mlx5_0: ibv_create_cq() failed: "
      "Cannot allocate memory. Please set max locked memory (ulimit -l) to 'unlimited'\n";
  EXPECT_EQ(Kind(error, 1), "fabric");
  EXPECT_EQ(Kind(error + error + "MPI_Init failed\n", 1), "fabric");
  const std::string more = "# Size       Latency\n1            0.23\n";
  EXPECT_EQ(Kind(error + more, 1), "unknown");
  EXPECT_EQ(Kind("MPI_Init failed\n" + error + more + error + "\n", 1), "fabric") << "the last one";
  EXPECT_EQ(Kind("it failed\n" + error + more, 1), "unknown");
  EXPECT_EQ(Kind(error + more + "it failed\n" + more, 1), "fabric");
}

TEST(Rules, TheFirstErrorOfACompilerDecidesWhyAnExtensionIsNotBuilt) {
  const auto line_of = [](const std::string& error) {
    return FindIn(
               "Traceback (most recent call last):\n  File \"/w/train.py\", line 3, in f\n"
               "RuntimeError: Error building extension 'adam': [1/2] c++ -c a.cpp " +
                   std::string(5000, 'x') + "\nFAILED: a.o\nc++ -c a.cpp\n\n" + error +
                   "\ncompilation terminated.\nninja: build stopped: subcommand failed.\n",
               1)
        .value();
  };
  const Finding header =
      line_of("a.cpp:7:10: fatal error: pybind11/pybind11.h: No such file or directory");
  EXPECT_EQ(header.kind, "file-missing");
  EXPECT_EQ(header.line, "a.cpp:7:10: fatal error: pybind11/pybind11.h: No such file or directory");
  const Finding code = line_of("a.cpp:9:1: error: 'THC' was not declared in this scope");
  EXPECT_EQ(code.rule, "version-mismatch-build");
  EXPECT_EQ(code.line, "a.cpp:9:1: error: 'THC' was not declared in this scope");
}

TEST(Rules, WhatFollowsABuildWithoutItsOutputIsOfTheProgram) {
  const auto kind_of = [](const std::string& text) {
    return Kind(
        "WARNING:root:no fused kernels\nTraceback (most recent call last):\n"
        "  File \"/w/train.py\", line 3, in f\n"
        "RuntimeError: Error building extension 'adam'" +
            text + "\nthe plain ones serve\n" + "train.py: error: unrecognized arguments: --x\n",
        2);
  };
  EXPECT_EQ(kind_of(""), "arguments");
  EXPECT_EQ(kind_of(": ninja: error: loading 'build.ninja': No such file or directory"),
            "arguments");
}

TEST(Rules, NaNInDataIsNotOfTheTraining) {
  for (const char* message :
       {"the label of row 17 is NaN", "some prices are NaN", "the resolution is nanosecond",
        "the model's name is nanoGPT", "the output's resolution is nanosecond"}) {
    EXPECT_EQ(Kind(fmt::format("Traceback (most recent call last):\n"
                               "  File \"/w/train.py\", line 3, in f\nValueError: {}\n",
                               message),
                   1),
              "exception")
        << message;
  }
}

TEST(Rules, DashsWordIsCertainOnlyWithAShellsStatus) {
  const std::string line = "run: 3: accelerate: not found\n";
  EXPECT_EQ(FindIn(line, 127)->confidence, Confidence::kHigh);
  EXPECT_EQ(FindIn(line + "exit status 127\n", 1)->confidence, Confidence::kHigh);
  EXPECT_EQ(FindIn(line, 1)->confidence, Confidence::kMedium);
  EXPECT_NE(Kind("index: 7: shard 00017: not found\n", 1), "program-missing");
}

TEST(Rules, AnExceptionAboveAnotherRanksCutTraceback) {
  const std::string first =
      "  File \"/w/train.py\", line 3, in f\n    x.to(device)\n"
      "RuntimeError: NPU out of memory. Tried to allocate 386.00 MiB\n"
      "Loading: 42%|####  | 16/38 [00:14<00:19, 1.13it/s]\n";
  EXPECT_EQ(
      Kind(first + "Traceback (most recent call last):\n  File \"/w/a.py\", line 2, in g\n", 1),
      "cuda-out-of-memory");
}

}  // namespace
}  // namespace answers
