// Whole logs: what the reader of one takes from it.
#include <gtest/gtest.h>

#include <string>

#include "answers/files/read_log.h"
#include "answers/verdict.h"

namespace answers {
namespace {

Verdict JudgeLog(const std::string& text) { return Explain(ReadLogs({{"train.log", text}})); }

const std::string kNothing = "nothing in these data says that it failed";
const std::string kEnd =
    "[2026-03-02 10:11:15,001] [ERROR] [launch.py:325:sigkill_handler] ['/opt/python', '-u', "
    "'train.py', '--local_rank=1'] exits with return code = ";

TEST(JudgedLog, DeepSpeedNamesNoRankButSaysHowOneEnded) {
  const auto rank_of = [](const Evidence& evidence, const Verdict& verdict) {
    return verdict.rank ? evidence.ranks[*verdict.rank].rank : std::nullopt;
  };
  for (const char* name : {"job.log", "rank0.log"}) {
    const Evidence evidence = ReadLogs({{name, "loading\n" + kEnd + "-11\n"}});
    const Verdict verdict = Explain(evidence);
    EXPECT_EQ(verdict.kind, "native-crash") << name;
    EXPECT_EQ(rank_of(evidence, verdict), std::nullopt) << name;
  }
  const std::string ranks =
      "[rank0]: loading\n[rank1]: loading\n"
      "[rank0]: Traceback (most recent call last):\n"
      "[rank0]:   File \"/w/train.py\", line 3, in main\n"
      "[rank0]: ValueError: no such split\n";
  for (const char* code : {"1\n", "-11\n"}) {
    const Evidence evidence = ReadLogs({{"job.log", ranks + kEnd + code}});
    const Verdict verdict = Explain(evidence);
    EXPECT_EQ(verdict.kind, "exception") << code;
    EXPECT_EQ(rank_of(evidence, verdict), 0) << code;
  }
}

TEST(JudgedLog, AMessageOfLustreIsNoExceptionOfPython) {
  EXPECT_EQ(JudgeLog("LustreError: 11-0: scratch-OST0001-osc: operation ost_read to node "
                     "10.0.0.1@o2ib failed: rc = -107\n")
                .kind,
            "unknown");
}

TEST(JudgedLog, AFrameThatIsNotKeptIsNotTheLineOfTheOneBefore) {
  std::string log = "Traceback (most recent call last):\n";
  for (int i = 0; i < 200; ++i) log += "  File \"/w/a.py\", line 1, in f\n";
  log += "  File \"/usr/lib/python3/dist-packages/a.py\", line 1, in g\n";
  log += "TypeError: __init__() got an unexpected keyword argument 'a'\n";
  EXPECT_EQ(JudgeLog(log).kind, "exception");
}

// A socket's end, in the words of a program in Go.
TEST(JudgedLog, AnEndpointWithoutAPathIsNoFile) {
  EXPECT_EQ(
      JudgeLog("Error: close tcp 10.0.0.1:22: shutdown: transport endpoint is not connected\n")
          .kind,
      "unknown");
  EXPECT_EQ(JudgeLog("Error: stat /mnt/data: transport endpoint is not connected\n").kind,
            "input-output");
}

// c10d tries IPv6 before IPv4, then both again, and says later that it gave up.
TEST(JudgedLog, AWarningOfAStoreDecidesLittle) {
  const auto warn = [](const std::string& family) {
    return "[W718 20:29:59.662875029 socket.cpp:755] [c10d] The " + family +
           " network addresses of (m-0, 29500) cannot be retrieved (gai error: -2 - Name or "
           "service not known).\n";
  };
  EXPECT_EQ(JudgeLog(warn("IPv6")).title, kNothing);
  const Verdict verdict = JudgeLog(warn("IPv6") + warn("IPv4"));
  EXPECT_EQ(verdict.kind, "dns");
  EXPECT_EQ(verdict.confidence, Confidence::kLow);
}

TEST(JudgedLog, AStoreThatGaveUpHasSaidWhyInItsWarnings) {
  const Verdict verdict = JudgeLog(
      "[W socket.cpp:401] [c10d] The server socket has failed to bind to [::]:22 (errno: 98 - "
      "Address already in use).\n"
      "[E socket.cpp:435] [c10d] The server socket has failed to listen on any local network "
      "address.\n"
      "Traceback (most recent call last):\n  File \"/x/torch/distributed/run.py\", line 7, in "
      "run\n");
  EXPECT_EQ(verdict.kind, "port-in-use");
}

TEST(JudgedLog, ANetworkThatAProgramDoesNotHaveIsNotNccls) {
  const std::string header =
      "Traceback (most recent call last):\n  File \"/w/a.py\", line 3, in f\n";
  EXPECT_EQ(JudgeLog(header + "ValueError: network unet3d not found.\n").kind, "exception");
  EXPECT_EQ(
      JudgeLog(header + "RuntimeError: NCCL error in: a.cpp:7, invalid usage, NCCL version "
                        "2.28.9\nncclInvalidUsage: This usually reflects invalid usage of NCCL "
                        "library.\nLast error:\nError: network IB2 not found.\n")
          .kind,
      "fabric");
}

TEST(JudgedLog, NcclGoesOnWithoutItsServiceForOthers) {
  EXPECT_EQ(
      JudgeLog("n1:68:69 [1] ras/client_support.cc:159 NCCL WARN Call to bind failed: Address "
               "already in use\n"
               "n1:68:69 [1] NCCL INFO Bootstrap timings total 0.0015\n")
          .title,
      kNothing);
}

TEST(JudgedLog, ALibraryThatRocmCanDoWithoutIsNoCause) {
  EXPECT_EQ(JudgeLog("LoadLib(libhsa-amd-x.so) failed: libhsa-amd-x.so: cannot open shared object "
                     "file: No such file or directory\n"
                     "\"hipErrorNoBinaryForGpu: Unable to find code object for all current "
                     "devices!\"\n")
                .kind,
            "python-mismatch");
}

TEST(JudgedLog, ADataLoadersWorkerSaysWhichSignalItGot) {
  const std::string cut =
      "Traceback (most recent call last):\n  File \"/x/loader.py\", line 9, in f\n";
  for (const char* const signal : {"segmentation fault", "floating-point exception"}) {
    const std::string error =
        std::string("ERROR: Unexpected ") + signal + " encountered in worker.\n";
    EXPECT_EQ(JudgeLog(error + cut).kind, "data-loader") << signal;
  }
}

TEST(JudgedLog, ARegistrysRefusalIsAboutCredentials) {
  const std::string pull = "Warning  Failed  2s  kubelet  Failed to pull image \"r.lab/a/b:1\": ";
  for (const char* const refusal :
       {"reading manifest 1 in r.lab/a/b: unauthorized: access to the requested resource is not "
        "authorized",
        "UNAUTHORIZED: unauthorized to access repository: a/b, action: pull: unauthorized",
        "unauthorized: You don't have the needed permissions to perform this operation, and you "
        "may have invalid credentials.",
        "denied: Permission \"artifactregistry.repositories.downloadArtifacts\" denied on resource",
        "denied: User: arn:x is not authorized to perform: ecr:BatchGetImage on resource: y"}) {
    EXPECT_EQ(JudgeLog(pull + refusal + "\n").kind, "registry-credentials") << refusal;
  }
}

// torch.multiprocessing.spawn
TEST(JudgedLog, AParentsExceptionAboutAChildIsNoneOfItsOwn) {
  const std::string header = "Traceback (most recent call last):\n  File \"train.py\", line 3\n";
  const Evidence killed =
      ReadLogs({{"job.log", header + "Exception: process 3 terminated with signal SIGKILL\n"}});
  const Verdict verdict = Explain(killed);
  EXPECT_EQ(verdict.kind, "unknown");
  EXPECT_EQ(killed.ranks[verdict.rank.value_or(0)].rank, 3);
  const std::string raised = header +
                             "torch.multiprocessing.spawn.ProcessRaisedException: \n\n"
                             "-- Process 0 terminated with the following error:\n";
  EXPECT_EQ(JudgeLog(raised + "wandb.errors.UsageError: api_key not configured (no-tty).\n").kind,
            "credentials");
  EXPECT_EQ(JudgeLog(raised + header + "    ...\n> RuntimeError: CUDA out of memory.\n").kind,
            "cuda-out-of-memory");
  EXPECT_EQ(JudgeLog(raised + ".\n.\nAssertionError\n").kind, "exception");
}

TEST(JudgedLog, WrappedWordsOfAnotherRankAreNoCause) {
  EXPECT_EQ(JudgeLog("RuntimeError: Worker failed with error '[1] is setting up NCCL communicator\n"
                     "and retrieving ncclUniqueId from [0] via c10d key-value store by key '0',\n"
                     "but store->get('0') got error: Broken pipe\n")
                .kind,
            "unknown");
}

TEST(JudgedLog, AJobOfMpiSaysThatItsWorkersWereEvicted) {
  EXPECT_EQ(JudgeLog("  - message: 1/8 workers are evicted\n    reason: MPIJobEvicted\n"
                     "    status: \"True\"\n    type: Failed\n")
                .kind,
            "evicted");
}

TEST(JudgedLog, TheAgentPassesOnTheHangupThatItGot) {
  EXPECT_EQ(JudgeLog("WARNING:torch.distributed.elastic.multiprocessing.api:Sending process 47 "
                     "closing signal SIGHUP\n")
                .kind,
            "stopped");
}

const std::string kCaught =
    "error caught in step 7, skipping it: CUDA out of memory. Tried to "
    "allocate 2.00 GiB\n";

TEST(JudgedLog, AnErrorThatWasCaughtBeforeAndGoneOnAfterIsNone) {
  const std::string step = "Epoch 1 step 8 loss 0.5\n";
  EXPECT_EQ(JudgeLog(kCaught + step + kCaught).title, kNothing);
  EXPECT_EQ(JudgeLog(step + "CUDA out of memory. Tried to allocate 2.00 GiB\n").kind,
            "cuda-out-of-memory");
  const std::string caught =
      "caught exception, skipping batch 7\nTraceback (most recent call last):\n"
      "  File \"/w/train.py\", line 3, in main\n    f()\nKeyError: 'lr'\n";
  EXPECT_EQ(JudgeLog(step + caught).kind, "exception");
  EXPECT_EQ(JudgeLog(caught + step + caught).title, kNothing);
  const std::string warning = caught.substr(0, caught.find('\n') + 1);
  EXPECT_EQ(JudgeLog(warning + step + caught).kind, "exception")
      << "what was raised after the warning before did not end in a traceback";
  const std::string gave_up =
      "RuntimeError: gave up retrying: [Errno 28] No space left on device\n";
  EXPECT_EQ(JudgeLog(gave_up + step + gave_up).kind, "disk-full");
}

TEST(JudgedLog, ALineThatOnlyBeginsLikeANotebooksFrameIsNone) {
  EXPECT_EQ(JudgeLog("File in use: x\n     12 steps\nepoch: in 3\n").title, kNothing);
}

TEST(JudgedLog, ADestructorsExceptionIsIgnoredAlsoWithoutPythonsHeading) {
  const std::string destructor =
      "Traceback (most recent call last):\n"
      "  File \"/w/loader.py\", line 7, in __del__\n    self.close()\n"
      "  File \"/w/loader.py\", line 5, in close\n    self.file.close()\n"
      "AttributeError: 'Loader' object has no attribute 'file'\n";
  EXPECT_EQ(JudgeLog("loading\n" + destructor).title, kNothing);
  const Verdict verdict = JudgeLog(
      destructor +
      "Traceback (most recent call last):\n  File \"/w/train.py\", line 3, in main\n    f()\n"
      "KeyError: 'lr'\n");
  EXPECT_EQ(verdict.line, "KeyError: 'lr'");
  EXPECT_EQ(
      JudgeLog("Traceback (most recent call last):\n  File \"/w/train.py\", line 3, in main\n"
               "    x.__del__()\n  File \"/w/loader.py\", line 7, in __del__\n    self.close()\n"
               "KeyError: 'lr'\n")
          .kind,
      "exception");
}

TEST(JudgedLog, AnAgentThatWasInterruptedSaysSoAlsoInAWarning) {
  const std::string received =
      "WARNING:torch.distributed.elastic.agent.server.api:Received 2 death signal, shutting down "
      "workers\nWARNING:torch.distributed.elastic.multiprocessing.api:Sending process 47 closing "
      "signal SIGINT\n";
  EXPECT_EQ(JudgeLog(received).kind, "stopped");
  EXPECT_EQ(JudgeLog(received.substr(received.find('\n') + 1)).kind, "stopped");
  EXPECT_EQ(
      JudgeLog(received + "Traceback (most recent call last):\n  File \"/v/bin/torchrun\", line "
                          "8, in <module>\n    sys.exit(main())\n")
          .kind,
      "stopped");
}

const std::string kNotebook =
    "---------------------------------------------------------------------------\n"
    "gaierror                                  Traceback (most recent call last)\n"
    "Cell In[3], line 6, in get()\n"
    "      5 try:\n"
    "----> 6     look()\n"
    "      7 except OSError as e:\n"
    "\n"
    "File /usr/lib/python3.11/socket.py:962, in getaddrinfo(host, port, family, type)\n"
    "    961 addrlist = []\n"
    "--> 962 for res in _socket.getaddrinfo(host, port, family, type):\n"
    "    963     af, socktype, proto, canonname, sa = res\n"
    "\n"
    "gaierror: [Errno -2] Name or service not known\n"
    "\n"
    "The above exception was the direct cause of the following exception:\n"
    "\n";
const std::string kRetries =
    "MaxRetryError                             Traceback (most recent call last)\n"
    "File /v/site-packages/urllib3/util/retry.py:543, in Retry.increment(self, method, url)\n"
    "    542     reason = error or ResponseError(cause)\n"
    "--> 543     raise MaxRetryError(_pool, url, reason) from reason  # type: ignore[arg-type]\n"
    "    545 log.debug(\"Incremented Retry for (url='%s'): %r\", url, new_retry)\n"
    "\n"
    "MaxRetryError: HTTPSConnectionPool(host='nosuch.invalid', port=443): Max retries exceeded "
    "with "
    "url: /x (Caused by NameResolutionError(\"HTTPSConnection(host='nosuch.invalid', port=443): "
    "Failed to resolve 'nosuch.invalid' ([Errno -2] Name or service not known)\"))\n";

TEST(JudgedLog, ANotebooksTracebackIsRead) {
  const Verdict whole = JudgeLog(kNotebook + kRetries);
  EXPECT_EQ(whole.kind, "dns");
  EXPECT_EQ(whole.line, "gaierror: [Errno -2] Name or service not known");
  EXPECT_EQ(whole.file, "Cell In[3]");
  EXPECT_EQ(whole.file_line, 6);
  EXPECT_EQ(JudgeLog(kRetries).kind, "dns");
  const std::string cut = kRetries.substr(kRetries.find('\n') + 1) +
                          "\nDuring handling of the above exception, another exception occurred:\n";
  EXPECT_EQ(JudgeLog(cut).kind, "dns") << "without its heading, and more was to come";
  const Verdict old = JudgeLog(
      "KeyError                                  Traceback (most recent call last)\n"
      "<ipython-input-4-5a> in <module>\n"
      "      1 def f(x):\n      2     return x['lr']\n----> 3 f({})\n\n"
      "<ipython-input-4-5a> in f(x)\n      1 def f(x):\n----> 2     return x['lr']\n      3 f({})\n"
      "\nKeyError: 'lr'\n");
  EXPECT_EQ(old.line, "KeyError: 'lr'");
  EXPECT_EQ(old.file_line, 2);
}

TEST(JudgedLog, AMessageThatATerminalsWidthBrokeIsReadAsAWhole) {
  const std::string first = "OSError: The preprocessed shards of the tokenizer could not be put\n";
  EXPECT_EQ(JudgeLog(first + "into\nthe folder: [Errno\n28] No space left on device\n").kind,
            "exception")
      << "more words would have fitted";
  EXPECT_EQ(JudgeLog(first + "into the folder /scratch/train/shards-of-the-tokenizer/: [Errno\n"
                             "28] No space left on device\n")
                .kind,
            "disk-full");
  EXPECT_EQ(JudgeLog(first + "done\n[Errno 28] No space left on device was yesterday\n").kind,
            "exception");
}

TEST(JudgedLog, ACutTracebacksHeadingIsNotTheDecidingLine) {
  const std::string cut =
      "Traceback (most recent call last):\n  File \"/v/bin/torchrun\", line 8, in <module>\n"
      "    sys.exit(main())\n";
  EXPECT_EQ(JudgeLog("loading 8 shards\n" + cut).line, "loading 8 shards");
  EXPECT_EQ(JudgeLog(cut).line, "File \"/v/bin/torchrun\", line 8, in <module>");
  const std::string agents =
      "ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: 1) local_rank: 0 "
      "(pid: 47) of binary: /v/bin/python\n";
  EXPECT_EQ(JudgeLog(agents + cut).line + "\n", agents);
}

TEST(JudgedLog, AMessageMayBeginBelowAnEmptyLine) {
  EXPECT_EQ(JudgeLog("RuntimeError: \n\nFound no NVIDIA driver on your system.\n").kind, "no-gpu");
  EXPECT_EQ(JudgeLog("RuntimeError: \n\nDuring handling of the above exception, another exception "
                     "occurred:\n\nTraceback (most recent call last):\n  File \"/w/a.py\", line 3\n"
                     "RuntimeError: No CUDA GPUs are available\n")
                .kind,
            "no-gpu");
}

TEST(JudgedLog, AnAssertionNeedsNoMessage) {
  EXPECT_EQ(JudgeLog("loading\nAssertionError\n").kind, "exception");
}

TEST(JudgedLog, ATerminalMayBreakAWord) {
  constexpr size_t kWidth = 72;
  std::string message = "RuntimeError: ";
  const std::string end = "DataLoader worker (pid 4711) is killed by sig";
  message.append(2 * kWidth - message.size() - end.size(), '-').append(end);
  const std::string log = message.substr(0, kWidth) + "\n" + message.substr(kWidth) + "\n";
  EXPECT_EQ(JudgeLog(log + "nal: Bus error. It may have no shared memory.\n").kind,
            "shm-too-small");
}

TEST(JudgedLog, ALineThatGoesOnInSmallLettersBelongsToTheOneBefore) {
  const std::string first =
      "RuntimeError: an operation of the model was given tensors, and there are but\n";
  EXPECT_EQ(JudgeLog(first + "found at least two devices, cuda:0 and cpu!\n").kind,
            "device-mismatch");
  EXPECT_EQ(JudgeLog(first + "Found at least two devices, cuda:0 and cpu!\n").kind, "exception");
}

TEST(JudgedLog, WhatAProgramDoesWithoutIsNoCause) {
  for (const char* const line :
       {"2026-03-02 10:11:12.1: W tensorflow/dso_loader.cc:64] Could not load dynamic library "
        "'libnvinfer.so.7'; dlerror: libnvinfer.so.7: cannot open shared object file: No such file "
        "or directory",
        "  Retrying (Retry(total=4, connect=None)) after connection broken by 'NewConnectionError("
        "'<x>: Failed to establish a new connection: [Errno -3] Temporary failure in name "
        "resolution')': /simple/torch/",
        "ERROR: pip's dependency resolver does not currently take into account all the packages "
        "that are installed.",
        "W0302 10:11:04.120000 4711 x.cc:12] could not write: No space left on device",
        "Error caught was: No module named 'triton'", "perl: warning: Setting locale failed.",
        "libGL error: failed to open swrast: x.so: cannot open shared object file: No such file or "
        "directory",
        "INFO 03-02 10:11:12 x.py:17] Failed to import NCCL library: NCCL only supports CUDA.",
        "#  Errors with asterisks indicate errors that have exceeded the maximum threshold.",
        "xformers is not installed correctly. If you want to use it: pip install xformers",
        "I0302 10:11:04.120000 139876543210987 backends.py:12] no platform 'y': NOT_FOUND: error",
        "I0302 10:11:04.120000   712 y.cc:1] Failed to open liby.so: no space left on device",
        "[I302 10:11:04.120000000 y.cpp:12] could not write: No space left on device",
        "V x/y.cc:12] could not write: No space left on device",
        "[INFO] could not write: No space left on device",
        "INFO:root:could not write: No space left on device",
        "Failed to open liby.so: liby.so: cannot open shared object file: No such file or "
        "directory",
        "Corrupt JPEG data: 3 extraneous bytes before marker 0xd9", "Premature end of JPEG file"}) {
    EXPECT_EQ(JudgeLog(std::string(line) + "\nthe model is loaded\n").title, kNothing) << line;
  }
}

TEST(JudgedLog, WhatALibraryPrintsOfACallDecidesOnlyIfItIsRaised) {
  const std::string jpeg = "Corrupt JPEG data: premature end of data segment";
  const std::string library = "liby.so: cannot open shared object file: No such file or directory";
  const std::string bar = "  3/9   1.2G   0.5:  71%|xxx  | 71/100 [00:09<00:03,  7.9it/s]";
  EXPECT_EQ(JudgeLog(bar + jpeg + "\n").title, kNothing);
  EXPECT_EQ(JudgeLog(jpeg + "\n" + jpeg + "\n").title, kNothing);
  EXPECT_EQ(JudgeLog(library + "\n").title, kNothing);
  const std::string traceback =
      "Traceback (most recent call last):\n  File \"/w/a.py\", line 3, in <module>\n    x()\n";
  EXPECT_EQ(JudgeLog(traceback + "OSError: " + jpeg + "\n").kind, "data-corrupt");
  EXPECT_EQ(JudgeLog(traceback + "ImportError: " + library + "\n").kind, "import");
  EXPECT_EQ(JudgeLog("x: error while loading shared libraries: " + library + "\n").kind, "import");
  EXPECT_EQ(JudgeLog("FATAL: " + library + "\n").kind, "import");
  const std::string uncaught = "terminate called after throwing an instance of 'x'\n  what():  ";
  EXPECT_EQ(JudgeLog(uncaught + library + "\n").kind, "import");
}

// Each line says of itself that what failed is tried again.
TEST(JudgedLog, WhatIsTriedAgainIsNoEnd) {
  for (const char* const line :
       {"Error: fetch failed, retrying", "shard 7: upload failed, will retry in 5 s",
        "2026-03-02 10:11:12 (1.2 MB/s) - Read error at byte 512/1024 (Connection reset by peer). "
        "Retrying."}) {
    EXPECT_EQ(JudgeLog(std::string(line) + "\n").title, kNothing) << line;
  }
  EXPECT_NE(JudgeLog("Error: fetch failed, not retrying\n").title, kNothing);
  const Verdict given_up = JudgeLog(
      "<E> [10:11:02] Waiting 20 seconds before retrying...\n<E> [10:11:22] Request Try #3 / 3\n"
      "<E> [10:11:42] Maximum number (3) of tries failed.\n");
  EXPECT_EQ(given_up.kind, "download");
  EXPECT_EQ(given_up.advice, Advice::kRetry);
  EXPECT_EQ(JudgeLog("(1.2 MB/s) - Read error at byte 512/1024 (Connection reset by peer). Giving "
                     "up.\n")
                .kind,
            "download");
}

// multiprocessing/queues.py, Queue._feed
TEST(JudgedLog, AQueueThatLostItsReaderEndsNoProgram) {
  const std::string feeder =
      "Traceback (most recent call last):\n  File \"/usr/lib/python3.11/multiprocessing/queues.py\""
      ", line 270, in _feed\n    send_bytes(obj)\n";
  EXPECT_EQ(JudgeLog(feeder + "BrokenPipeError: [Errno 32] Broken pipe\n").title, kNothing);
  EXPECT_EQ(JudgeLog(feeder + "TypeError: cannot pickle 'x' object\n").kind, "exception");
}

TEST(JudgedLog, AnInterruptOfATracebackWithoutItsHead) {
  const std::string frames =
      "  File \"/usr/lib/python3.11/threading.py\", line 1112, in join\n"
      "    self._wait_for_tstate_lock()\nKeyboardInterrupt\n";
  EXPECT_EQ(JudgeLog(frames).kind, "stopped");
  EXPECT_EQ(JudgeLog(frames + " ^C^C\n/x.py:3: UserWarning: 4 leaked semaphores\n  w()\n").kind,
            "stopped");
}

TEST(JudgedLog, ASilentNodeIsLostWithLowConfidenceOnly) {
  const std::string said =
      "The node with node id: 7f and address: 10.0.0.9 has been marked dead because the detector "
      "has missed too many heartbeats from it.";
  for (const std::string& log :
       {said + "\n", "(raylet) " + said + "\n",
        R"({"severity":"ERROR","timestamp":1750000000,"message":")" + said + "\"}\n"}) {
    const Verdict verdict = JudgeLog(log);
    EXPECT_EQ(verdict.kind, "node-lost") << log;
    EXPECT_EQ(verdict.confidence, Confidence::kLow) << log;
  }
}

TEST(JudgedLog, WhoEndedALoadersWorkerBySigtermIsNotKnown) {
  const std::string killed = "RuntimeError: DataLoader worker (pid 77) is killed by signal: ";
  const Verdict ended = JudgeLog(killed + "Terminated. \n");
  EXPECT_EQ(ended.kind, "data-loader");
  EXPECT_EQ(ended.confidence, Confidence::kLow);
  EXPECT_EQ(ended.advice_text.find("ran out of memory"), std::string::npos);
  EXPECT_EQ(JudgeLog(killed + "Killed. \n").confidence, Confidence::kHigh);
}

// torchrun writes the root cause last.
TEST(JudgedLog, ARootCauseWithoutItsEndIsTheFirstRank) {
  const Evidence evidence = ReadLogs(
      {{"job.log",
        "Failures:\n[1]:\n  time      : 2026-03-02_10:11:12\n  host      : n1\n"
        "  rank      : 2 (local_rank: 2)\n  exitcode  : 1 (pid: 72)\n"
        "------------\nRoot Cause (first observed failure):\n[0]:\n"
        "  time      : 2026-03-02_10:11:12\n  host      : n1\n  rank      : 5 (local_rank: 5)\n"}});
  const Verdict verdict = Explain(evidence);
  ASSERT_TRUE(verdict.rank);
  EXPECT_EQ(evidence.ranks[*verdict.rank].rank, 5);
}

TEST(JudgedLog, ProseAboutErrorsDoesNotSayThatItFailed) {
  EXPECT_EQ(JudgeLog("mean squared error: 0.12\nThe failure rate is low.\nvalidation error 0.05\n"
                     "In case of failure there is no other device.\n0 errors\n")
                .title,
            kNothing);
  EXPECT_EQ(JudgeLog("validation failed\n").line, "validation failed");
}

TEST(JudgedLog, PythonSaysWhichSignalEndedAChild) {
  const std::string died =
      "subprocess.CalledProcessError: Command '['python', 'train.py']' died with ";
  EXPECT_EQ(JudgeLog(died + "<Signals.SIGSEGV: 11>.\n").kind, "native-crash");
  EXPECT_EQ(
      JudgeLog("subprocess.CalledProcessError: Command 'sh run.sh' returned non-zero exit status "
               "139.\n")
          .kind,
      "native-crash");
  const Verdict killed = JudgeLog(died + "<Signals.SIGKILL: 9>.\n");
  EXPECT_EQ(killed.kind, "unknown");
  EXPECT_NE(killed.title.find("SIGKILL"), std::string::npos) << killed.title;
}

TEST(JudgedLog, LibcxxCarriesTheExceptionThatNothingCaught) {
  EXPECT_EQ(
      JudgeLog("libc++abi: terminating due to uncaught exception of type c10::Error: MPS backend "
               "out of memory (MPS allocated: 9 GB)\n")
          .kind,
      "cuda-out-of-memory");
}

// Rule::words
TEST(JudgedLog, PeoplesOwnWordsDecideAnExceptionThatNoRuleKnows) {
  const std::string frame =
      "Traceback (most recent call last):\n  File \"/w/a.py\", line 3, in f\n";
  const Verdict verdict = JudgeLog(frame + "LoadError: could not download the weights\n");
  EXPECT_EQ(verdict.kind, "download");
  EXPECT_EQ(verdict.confidence, Confidence::kMedium);
  EXPECT_EQ(
      JudgeLog(frame + "LoadError: could not download the weights: CUDA out of memory\n").kind,
      "cuda-out-of-memory")
      << "a rule knows its text";
  EXPECT_EQ(JudgeLog("could not download the weights, starting from none\n").kind, "unknown");
  EXPECT_EQ(JudgeLog(frame + "SetupError: the loss became nan\n").kind, "nan");
  for (const char* said :
       {"dominant frequencies differ across channels", "finance: no gradient of the portfolio",
        "a finite stream across ranks is needed", "the logits of the dominant class differ",
        "no natural gradient step: the matrix is not positive definite",
        "the gradient covariance is not positive-definite", "the loss schedule is indefinite",
        "the loss must be a finite number of seconds", "column height: NaN in 3 rows",
        "the height of box 3 is NaN"}) {
    EXPECT_EQ(JudgeLog(frame + "SetupError: " + said + "\n").kind, "exception") << said;
  }
}

TEST(JudgedLog, NcclMayReportWhatStopsARankWhileOthersWork) {
  const std::string timeout =
      "[rank0]:[E302 10:41:12.5 ProcessGroupNCCL.cpp:616] [Rank 0] Watchdog caught collective "
      "operation timeout: WorkNCCL(SeqNum=4, OpType=ALLREDUCE) ran for 600009 milliseconds before "
      "timing out.\n";
  const std::string network =
      "n1:7:9 [3] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer "
      "10.0.0.1<4123> with status=12 opcode=0 len=0 vendor err 129 (Recv)\n";
  const std::string step = "step 7 loss 0.5\n";
  EXPECT_EQ(JudgeLog(network + step + timeout).kind, "fabric");
  EXPECT_EQ(JudgeLog(network + step).title, kNothing);
}

TEST(JudgedLog, AnOperationThatFailedOrTimedOutIsNoTimeOut) {
  const std::string either =
      "[E ProcessGroupNCCL.cpp:475] [Rank 1] Some NCCL operations have failed or timed out. Due to "
      "the asynchronous nature of CUDA kernels, data may be incomplete.\n";
  EXPECT_EQ(JudgeLog(either + "  what():  [Rank 1] NCCL watchdog thread terminated with exception: "
                              "NCCL error: unhandled system error, NCCL version 2.14.3\n")
                .kind,
            "unknown");
}

TEST(JudgedLog, ATracebackMayBeFlattenedToOneLine) {
  const std::string flat =
      "{\"textPayload\": \"Traceback (most recent call last):\\n  File \\\"/w/a.py\\\", line 3, in "
      "f\\n    g()\\n";
  const Verdict verdict = JudgeLog(flat + "ConnectionStateError: boom\\n\"}\n");
  EXPECT_EQ(verdict.kind, "exception");
  EXPECT_EQ(verdict.line.find("ConnectionStateError: boom"), 0U) << verdict.line;
  EXPECT_EQ(
      JudgeLog(flat + "ParseStateError: got Error: boom\\n\"}\n").line.find("ParseStateError"), 0U);
  EXPECT_EQ(
      JudgeLog(flat + "subprocess.CalledProcessError: Command 'x' returned non-zero exit status "
                      "1.\\n\"}\n")
          .kind,
      "exception");
  EXPECT_EQ(JudgeLog("{\"log\":\"BoomError: bang\\n\",\"stream\":\"stderr\"}\n").kind, "exception")
      << "Docker's json-file";
}

TEST(JudgedLog, AReportAboutTheEndIsLongerThanTheLastWords) {
  std::string stack;
  for (int i = 0; i < 100; ++i) stack += "frame #1: c10::f() + 0x4d (0x7f in /x/libc10.so)\n";
  EXPECT_EQ(JudgeLog("could not run: CUDA error: misaligned address\n" + stack).kind, "cuda-error");
  EXPECT_EQ(JudgeLog("trial failed: CUDA error: misaligned address\n" + stack).kind, "cuda-error");
}

TEST(JudgedLog, AChildWhoseParentHasEndedHasNoDamagedCheckpoint) {
  EXPECT_EQ(
      JudgeLog("Traceback (most recent call last):\n"
               "  File \"C:\\Anaconda3\\lib\\multiprocessing\\spawn.py\", line 115, in _main\n"
               "    self = reduction.pickle.load(from_parent)\n"
               "EOFError: Ran out of input\n")
          .kind,
      "unknown");
}

// torch/utils/data/dataloader.py, before PyTorch 1.2.
TEST(JudgedLog, AnExceptionsTextMayBeTheTracebackOfAnother) {
  const std::string begin =
      "Traceback (most recent call last):\n"
      "  File \"/w/train.py\", line 9, in <module>\n"
      "    for batch in loader:\n"
      "  File \"/opt/site-packages/torch/utils/data/dataloader.py\", line 307, in "
      "_process_next_batch\n"
      "    raise batch.exc_type(batch.exc_msg)\n"
      "RuntimeError: Traceback (most recent call last):\n"
      "  File \"/opt/site-packages/torch/utils/data/dataloader.py\", line 57, in _worker_loop\n"
      "    samples = collate_fn([dataset[i] for i in batch_indices])\n";
  const Verdict verdict =
      JudgeLog(begin + "RuntimeError: unable to write to file </torch_76_36> at a.c:383\n");
  EXPECT_EQ(verdict.kind, "shm-too-small");
  EXPECT_EQ(verdict.file, "/w/train.py") << "the innermost frame of the user's own code";
  EXPECT_EQ(verdict.file_line, 9);
  const Verdict users = JudgeLog(begin + "  File \"/w/data.py\", line 4, in __getitem__\n" +
                                 "    return self.rows[i]\nIndexError: list index out of range\n");
  EXPECT_EQ(users.file, "/w/data.py");
  EXPECT_EQ(users.file_line, 4);
  EXPECT_EQ(JudgeLog(begin).kind, "exception");  // cut
}

TEST(JudgedLog, PythonShowsAnErrorOfTheSystemWithItsNumber) {
  const std::string log = "12:16:38,269 - prepare - ERROR - Error in function check: ";
  EXPECT_EQ(JudgeLog(log + "FileNotFoundError(2, 'No such file or directory')\n").kind,
            "file-missing");
  EXPECT_EQ(JudgeLog(log + "PermissionError(13, 'Permission denied')\n").kind, "permission");
  EXPECT_EQ(JudgeLog(log + "KeyError(2, 3)\n").kind, "unknown");
}

TEST(JudgedLog, AContainerThatSucceededHasNotFailed) {
  const std::string begin =
      "Status:    Running\n    Last State:     Terminated\n      Reason:       ";
  EXPECT_EQ(JudgeLog(begin + "Completed\n      Exit Code:    0\n").title, kNothing);
  EXPECT_NE(JudgeLog(begin + "Error\n      Exit Code:    2\n").title, kNothing);
  EXPECT_NE(JudgeLog(begin + "ContainerStatusUnknown\n      Exit Code:    137\n").title, kNothing);
  EXPECT_NE(JudgeLog("Last State:     Terminated\n      Message:      the trainer gave up\n"
                     "      Exit Code:    3\n")
                .title,
            kNothing);
}

TEST(JudgedLog, AContainerThatCompletedInTheEndHasNotFailed) {
  const auto describe = [](const std::string& state) {
    return "Name:         pt-worker-0\nStatus:       Succeeded\nContainers:\n  pytorch:\n"
           "    State:          " +
           state +
           "    Last State:     Terminated\n      Reason:       Error\n      Exit Code:    1\n"
           "    Ready:          False\nEvents:\n"
           "  Warning  BackOff  2m  kubelet  Back-off restarting failed container pytorch\n";
  };
  const std::string completed =
      "Terminated\n      Reason:       Completed\n      Exit Code:    0\n";
  EXPECT_EQ(JudgeLog(describe(completed)).title, kNothing);
  EXPECT_NE(JudgeLog(describe("Running\n")).title, kNothing);
  EXPECT_NE(JudgeLog(describe(completed) + describe("Waiting\n")).title, kNothing);
  const std::string yaml =
      "  - image: a\n    lastState:\n      terminated:\n        exitCode: 137\n"
      "        reason: OOMKilled\n    ready: false\n    state:\n      ";
  EXPECT_EQ(JudgeLog(yaml + "terminated:\n        exitCode: 0\n        reason: Completed\n").title,
            kNothing);
  EXPECT_NE(JudgeLog("    state:\n      terminated:\n        exitCode: 3\n").title, kNothing);
  EXPECT_NE(JudgeLog("  \"terminated\": {\n    \"exitCode\": 3,\n").title, kNothing);
  EXPECT_EQ(JudgeLog("  \"terminated\": {\n    \"exitCode\": 0,\n").title, kNothing);
  EXPECT_EQ(JudgeLog(yaml + "running:\n        startedAt: \"2026-11-27T10:00:00Z\"\n").kind,
            "host-out-of-memory");
}

// What it has buffered comes when it ends.
TEST(JudgedLog, AFailedProgramHasEndedByTheExceptionThatItPrintedLast) {
  Evidence evidence =
      ReadLogs({{"train.log",
                 "ERROR:root:training failed\nTraceback (most recent call last):\n"
                 "  File \"/w/train.py\", line 12, in main\n    train()\nValueError: bad batch\n"
                 "step 12 loss 0.31\n"}});
  EXPECT_EQ(Explain(evidence).kind, kUnknown);
  evidence.ranks[0].exit_code = 1;
  EXPECT_EQ(Explain(evidence).kind, "exception");
}

// An extension of Isaac Sim logs a traceback of each rank while it starts.
TEST(JudgedLog, ARankThatBeginsItsWorkHasNotEndedBefore) {
  const std::string start =
      "[default3]:  File \"/kit/pipapi.py\", line 418, in _ensure_env\n"
      "[default3]:    os.mkdir(env_dir)\n"
      "[default3]:FileExistsError: [Errno 17] File exists: '/kit/envs/default'\n";
  const std::string end =
      "[default1]:Traceback (most recent call last):\n"
      "[default1]:  File \"/w/train.py\", line 210, in main\n"
      "[default1]:    runner.learn()\n"
      "[default1]:RuntimeError: CUDA error: an illegal memory access was encountered\n";
  const Evidence evidence =
      ReadLogs({{"job.log", start + "[default3]:Successfully loaded 862 motions\n" + end}});
  const Verdict verdict = Explain(evidence);
  EXPECT_EQ(verdict.kind, "cuda-error");
  ASSERT_TRUE(verdict.rank);
  EXPECT_EQ(evidence.ranks[*verdict.rank].rank, 1);
  EXPECT_EQ(JudgeLog(start + end).kind, "exception");
}

// What Python prints of an exception that nothing catches begins in the program's first frame.
TEST(JudgedLog, ARankThatGoesOnBehindATracebackThatItPrintedItselfHasNotEnded) {
  const auto log_of = [](const std::string& function, const std::string& behind) {
    return "[default3]:Traceback (most recent call last):\n"
           "[default3]:  File \"/kit/pipapi.py\", line 418, in " +
           function +
           "\n[default3]:    os.mkdir(env_dir)\n"
           "[default3]:FileExistsError: [Errno 17] File exists: '/kit/envs/default'\n" +
           behind;
  };
  const std::string work = "[default3]:Successfully loaded 862 motions\n";
  EXPECT_EQ(JudgeLog(log_of("_ensure_env", work)).title, kNothing);
  EXPECT_EQ(JudgeLog(log_of("_ensure_env", work + "       Learning iteration 9/40       \n")).title,
            kNothing);
  EXPECT_EQ(JudgeLog(log_of("_ensure_env", "")).kind, "exception");
  EXPECT_EQ(JudgeLog(log_of("<module>", work)).kind, "exception");
  const std::string bar = "[default3]: 50%|#####     | 5/10 [00:05<00:05,  1.0s/it]\n";
  EXPECT_EQ(JudgeLog(log_of("_ensure_env", bar)).kind, "exception");
}

TEST(JudgedLog, TorchrunsEventOfSuccessIsNoFailure) {
  const auto event = [](const std::string& state, const std::string& error) {
    return "{\"name\": \"torchelastic.worker.status." + state +
           "\", \"source\": \"WORKER\", \"metadata\": {\"global_rank\": 0, \"state\": \"" + state +
           "\", \"raw_error\": " + error + "}}\n";
  };
  EXPECT_EQ(JudgeLog("epoch 1\n" + event("SUCCEEDED", "null")).title, kNothing);
  EXPECT_NE(JudgeLog("epoch 1\n" + event("FAILED", "\"Signal 9 (SIGKILL) received\"")).title,
            kNothing);
}

TEST(JudgedLog, AnAbortWithAStackOrATerminateIsNativeCodes) {
  const auto judge = [](const std::string& text) {
    const Verdict verdict = JudgeLog(text);
    EXPECT_EQ(verdict.confidence, Confidence::kLow) << text;
    return verdict.kind;
  };
  const std::string mpirun =
      "mpirun noticed that process rank 5 with PID 26987 on node n1 exited on signal 6 "
      "(Aborted).\n";
  EXPECT_EQ(judge("[n1:26987] [ 2] /lib/libc.so.6(abort+0x12b) [0x7f60]\n"
                  "[n1:26987] *** End of error message ***\n" +
                  mpirun),
            "native-crash");
  EXPECT_EQ(judge(mpirun), kUnknown);
  const std::string torchrun =
      "E0401 00:26:08.212000 33 torch/distributed/elastic/multiprocessing/api.py:869] failed "
      "(exitcode: -6) local_rank: 1 (pid: 39) of binary: /opt/python\n";
  EXPECT_EQ(judge("[rank0]:terminate called without an active exception\n"
                  "[rank0]:Fatal Python error: Aborted\n" +
                  torchrun),
            "native-crash");
  EXPECT_EQ(judge(torchrun), kUnknown);
  EXPECT_EQ(judge("terminate called without an active exception\nAborted (core dumped)\n"),
            kUnknown);
}

TEST(JudgedLog, TheMessageOfAnUncaughtExceptionSaysMoreThanItsHeading) {
  const std::string heading =
      "terminate called after throwing an instance of 'c10::DistBackendError'\n";
  const Verdict unknown = JudgeLog(heading + "  what():  no such shard: 7\n");
  EXPECT_EQ(unknown.kind, "native-crash");
  EXPECT_EQ(unknown.line, "what():  no such shard: 7");
  EXPECT_EQ(
      JudgeLog(heading + "  what():  CUDA error: an illegal memory access was encountered\n").kind,
      "cuda-error");
  EXPECT_EQ(JudgeLog(heading + "  what():  NCCL error in: a.cpp:7, unhandled system error, NCCL "
                               "version 2.21.5\n")
                .kind,
            kUnknown);
  EXPECT_EQ(JudgeLog(heading + "  what():  Connection closed by peer\n").kind, kUnknown);
}

TEST(JudgedLog, WhatAProgramSaysBeforeItCallsMpiAbortIsItsReason) {
  const std::string abort =
      "Abort(1) on node 35 (rank 35 in comm 0): application called MPI_Abort(MPI_COMM_WORLD, 1) "
      "- "
      "process 35\n";
  const auto judge = [&abort](const std::string& text) {
    const Evidence evidence = ReadLogs({{"job.log", text + abort}});
    const Verdict verdict = Explain(evidence);
    EXPECT_TRUE(verdict.rank && evidence.ranks[*verdict.rank].rank == 35) << text;
    return verdict.kind + ": " + verdict.line;
  };
  EXPECT_EQ(judge("     Error in routine davcio (3):\n     wrong record length\n %%%%%%\n\n"
                  "     stopping ...\n"),
            "exception: Error in routine davcio (3): wrong record length");
  EXPECT_EQ(judge("*** ERROR ***\nload(): the stored elements do not match\n\n"),
            "exception: *** ERROR *** load(): the stored elements do not match");
  EXPECT_EQ(judge("** ERROR  : not all links are being updated\n"),
            "exception: ** ERROR  : not all links are being updated");
  EXPECT_TRUE(judge("ERROR: CUDA error 2 [/src/a.cu, 31]: out of memory\n")
                  .starts_with("cuda-out-of-memory"));
  EXPECT_TRUE(judge("ERROR: Connection reset by peer\n").starts_with("unknown"));
  EXPECT_TRUE(judge("Fatal error in PMPI_Alltoallv: Other MPI error\n").starts_with("unknown"));
  for (const char* const value :
       {"Errors: 0\n", "Error = 1.2e-3\n", "Error estimate is 0.01\n", "Fatal errors: 0\n"}) {
    EXPECT_TRUE(judge(value).starts_with("unknown")) << value;
  }
  EXPECT_TRUE(judge("ERROR: no cache, continuing without it\n").starts_with("unknown"));
}

TEST(JudgedLog, AnErrorFarAboveMpiAbortIsHardlyItsReason) {
  const std::string error = "ERROR: could not read optional settings.ini\n";
  const std::string abort = "application called MPI_Abort(MPI_COMM_WORLD, 1) - process 3\n";
  EXPECT_EQ(JudgeLog(error + abort).confidence, Confidence::kMedium);
  EXPECT_EQ(JudgeLog(error + "a\nb\nc\nd\ne\n" + abort).confidence, Confidence::kLow);
}

TEST(JudgedLog, WhoCallsMpiAbortWithZeroMayHaveSucceeded) {
  const std::string plugin = "ERROR: optional plugin foo is not there\ncleaning up\n";
  const std::string mpich = "application called MPI_Abort(MPI_COMM_WORLD, 0) - process 1\n";
  const std::string open_mpi =
      "MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD\nwith errorcode 0.\n";
  for (const std::string& abort : {mpich, open_mpi}) {
    EXPECT_EQ(JudgeLog(plugin + abort).kind, kUnknown) << abort;
    EXPECT_EQ(JudgeLog("done\n" + abort).title, kNothing) << abort;
    EXPECT_NE(JudgeLog("done\n" + abort +
                       "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n"
                       "=   PID 7 RUNNING AT n1\n=   EXIT CODE: 9\n")
                  .title,
              kNothing)
        << abort;
    EXPECT_EQ(JudgeLog(plugin + abort +
                       "MPI_Abort\napplication called MPI_Abort(MPI_COMM_WORLD, "
                       "1) - process 2\n")
                  .kind,
              "exception")
        << abort;
  }
}

TEST(JudgedLog, WhatEndsAStepIsNotWhyMpiAbortWasCalled) {
  EXPECT_EQ(
      JudgeLog("ERROR: no such field: rho\n"
               "application called MPI_Abort(MPI_COMM_WORLD, 1) - process 3\n"
               "slurmstepd: error: *** STEP 16.0 ON n19 CANCELLED AT 2020-12-25T12:23:27 ***\n")
          .kind,
      "exception");
}

TEST(JudgedLog, AWarningOfAnErrorThatCudaCannotGoOnAfterDecides) {
  const std::string warning =
      "WARNING 02-21 04:32:47 runner.py:143] Failed to pickle inputs of failed execution: ";
  EXPECT_EQ(JudgeLog(warning + "CUDA error: an illegal memory access was encountered\n").kind,
            "cuda-error");
  EXPECT_EQ(JudgeLog(warning + "CUDA error: an illegal memory access was encountered\n"
                               "step 7 loss 0.5\n")
                .title,
            kNothing);
  EXPECT_EQ(JudgeLog(warning + "CUDA error: invalid argument\n").kind, kUnknown);
}

TEST(JudgedLog, NcclsReportGoesOnBelowAColonAndABlank) {
  EXPECT_EQ(JudgeLog("RuntimeError: work = default_pg.broadcast([tensor], opts): \n"
                     "NCCL error in: /pytorch/torch/lib/c10d/ProcessGroupNCCL.cpp:911, invalid "
                     "usage, NCCL version 2.7.8\n")
                .kind,
            "collective-mismatch");
}

TEST(JudgedLog, AFrameOfCythonInAPackageIsNotTheUsers) {
  const Evidence evidence = ReadLogs(
      {{"train.log",
        "Traceback (most recent call last):\n"
        "  File \"/w/train.py\", line 22, in forward\n"
        "    cp.cuda.get_current_stream().synchronize()\n"
        "  File \"cupy_backends/cuda/api/runtime.pyx\", line 146, in check_status\n"
        "cupy_backends.cuda.api.runtime.CUDARuntimeError: cudaErrorMisalignedAddress: misaligned "
        "address\n"}});
  const Verdict verdict = Explain(evidence);
  EXPECT_EQ(verdict.kind, "cuda-error");
  EXPECT_EQ(verdict.file, "/w/train.py");
}

TEST(JudgedLog, AToolThatOnlyShowsTheMachineMayBeMissing) {
  EXPECT_EQ(JudgeLog("run.sh: 3: nvidia-smi: not found\nloading the model\nserving\n").title,
            kNothing);
  EXPECT_EQ(JudgeLog("bash: line 2: module: command not found\nserving\n").title, kNothing);
  EXPECT_EQ(JudgeLog("run.sh: 3: nvidia-smi: not found\n").kind, "program-missing");
  EXPECT_EQ(JudgeLog("run.sh: line 3: nvidia-smi: command not found\nbye\nexit code: 127\n").kind,
            "program-missing");
  EXPECT_EQ(JudgeLog("run.sh: 3: torchrun: not found\nbye\n").kind, "program-missing");
}

TEST(JudgedLog, JavasExceptionEndsItsProgram) {
  const std::string java =
      "Exception in thread \"main\" java.lang.IllegalStateException: no such stage\n"
      "\tat com.a.Main.run(Main.java:12)\n"
      "\tat com.a.Main.main(Main.java:7)\n";
  EXPECT_EQ(JudgeLog(java).kind, "exception");
  EXPECT_EQ(JudgeLog(java).line, "java.lang.IllegalStateException: no such stage");
  EXPECT_EQ(JudgeLog(java + "Caused by: java.io.IOException: No space left on device\n"
                            "\t... 2 more\n")
                .kind,
            "disk-full");
  EXPECT_EQ(JudgeLog("Exception in thread \"main\" org.apache.spark.SparkException: Application "
                     "application_17_2 finished with failed status\n\tat a.B.c(B.java:1)\n")
                .kind,
            kUnknown);
}

TEST(JudgedLog, TheBarrierNamesWhoIsMissingAlsoInALogOfItsOwn) {
  const Evidence evidence =
      ReadLogs({{"job.log",
                 "[E302 10:11:12.001 ProcessGroupGloo.cpp:2802] [Rank 0]: Rank 2 failed to pass "
                 "monitoredBarrier in 30000 ms\n"}});
  const Verdict verdict = Explain(evidence);
  EXPECT_EQ(verdict.kind, "late-peer");
  ASSERT_TRUE(verdict.rank);
  EXPECT_EQ(evidence.ranks[*verdict.rank].rank, 2);
}

// Several of mpi4py's users install such a hook, which then calls MPI_Abort.
TEST(JudgedLog, AHooksUncaughtExceptionIsTheCause) {
  for (const char* heading :
       {"Uncaught exception was detected on rank 1. ", "Uncaught exception on rank 1:",
        "*** Uncaught exception was detected on rank 1.", "UNCAUGHT EXCEPTION on rank 1"}) {
    const Evidence evidence = ReadLogs(
        {{"job.log", std::string("rank 0: 4 files\nrank 2: 4 files\n") + heading +
                         "\nTraceback (most recent call last):\n"
                         "  File \"/w/tree.py\", line 12, in <module>\n    grow(comm)\n"
                         "  File \"/w/tree.py\", line 7, in grow\n    leaf = leaves[9]\n"
                         "IndexError: list index out of range\n\n"
                         "Calling MPI_Abort() to shut down MPI processes...\n"
                         "application called MPI_Abort(MPI_COMM_WORLD, 1) - process 1\n"
                         "[mpiexec@n1] HYD_pmcd_pmiserv_control_cb (pmiserv_cb.c:208): assert "
                         "(!closed) failed\n"}});
    const Verdict verdict = Explain(evidence);
    EXPECT_EQ(verdict.kind, "exception") << heading;
    EXPECT_EQ(verdict.line, "IndexError: list index out of range") << heading;
    EXPECT_EQ(verdict.file_line, 7) << heading;
    ASSERT_TRUE(verdict.rank) << heading;
    EXPECT_EQ(evidence.ranks[*verdict.rank].rank, 1) << heading;
  }
}

TEST(JudgedLog, ASyntaxErrorMayHaveOtherLinesWithin) {
  const Verdict verdict = JudgeLog(
      "  File \"/w/net.py\", line 9\nWARNING: All log messages go to stderr\n"
      "    case 1:\nEpoch: none yet\n         ^\nSyntaxError: invalid syntax\n");
  EXPECT_EQ(verdict.kind, "syntax");
  EXPECT_EQ(verdict.line, "SyntaxError: invalid syntax");
  EXPECT_EQ(verdict.file, "/w/net.py");
  EXPECT_EQ(verdict.file_line, 9);
}

TEST(JudgedLog, ALevelOfALoggerIsNoException) {
  for (const char* level : {"WARNING", "INFO", "DEBUG", "Note"}) {
    const Verdict verdict = JudgeLog(std::string("  File \"/w/net.py\", line 9, in f\n    g()\n") +
                                     level + ": the cache is new\n");
    EXPECT_NE(verdict.kind, "exception") << level;
  }
}

TEST(JudgedLog, ASchedulersLimitIsOfNoRank) {
  const Evidence evidence = ReadLogs(
      {{"job.log",
        "0: step 7 loss 1.5\n1: step 7 loss 1.5\n"
        "1: slurmstepd: error: *** STEP 81.0 ON n1 CANCELLED AT 2026-03-02T10:11:04 DUE TO TIME "
        "LIMIT ***\n0: Terminated\n"}});
  const Verdict verdict = Explain(evidence);
  EXPECT_EQ(verdict.kind, "deadline");
  EXPECT_FALSE(verdict.rank);
  EXPECT_TRUE(Explain(ReadLogs({{"rank_0.log", "step 7 loss 1.5\n"},
                                {"rank_1.log",
                                 "slurmstepd: error: *** STEP 81.0 ON n1 CANCELLED AT "
                                 "2026-03-02T10:11:04 DUE TO TIME LIMIT ***\n"}}))
                  .rank)
      << "in its own log";
}

// torch/csrc/utils/tensor_numpy.cpp warns of it and goes on without NumPy.
TEST(JudgedLog, AnExceptionThatAWarningReportsIsNotTheFirstFailure) {
  const std::string warned =
      "2026-03-02T10:11:01Z ImportError: numpy.core.multiarray failed to import\n"
      "2026-03-02T10:11:01Z x.py:9: UserWarning: Failed to initialize NumPy: _ARRAY_API not found\n"
      "2026-03-02T10:11:01Z loading\n";
  const std::string failed =
      "2026-03-02T10:11:05Z Traceback (most recent call last):\n"
      "2026-03-02T10:11:05Z   File \"/w/a.py\", line 2, in <module>\n"
      "2026-03-02T10:11:05Z FileNotFoundError: [Errno 2] No such file or directory: '/w/a.yaml'\n";
  const Evidence evidence = ReadLogs({{"rank_0.log", warned}, {"rank_1.log", failed}});
  const Verdict verdict = Explain(evidence);
  EXPECT_EQ(verdict.kind, "file-missing");
  ASSERT_TRUE(verdict.rank);
  EXPECT_EQ(evidence.ranks[*verdict.rank].rank, 1);
  EXPECT_EQ(JudgeLog(warned).confidence, Confidence::kLow);
}

// c10d tries again until its time is over.
TEST(JudgedLog, AStoreThatAClientStillTriesToReachIsNotTheFirstFailure) {
  const Evidence evidence = ReadLogs(
      {{"job.log",
        "[rank1]: [W socket.cpp:697] [c10d] The client socket has failed to connect to [n0]:29400 "
        "(errno: 111 - Connection refused).\n"
        "[rank0]: Traceback (most recent call last):\n"
        "[rank0]:   File \"/w/a.py\", line 2, in <module>\n"
        "[rank0]: torch.distributed.DistNetworkError: The server socket has failed to listen on "
        "any "
        "local network address. The server socket has failed to bind to [::]:29400 (errno: 98 - "
        "Address already in use).\n"}});
  const Verdict verdict = Explain(evidence);
  EXPECT_EQ(verdict.kind, "port-in-use");
  ASSERT_TRUE(verdict.rank);
  EXPECT_EQ(evidence.ranks[*verdict.rank].rank, 0);
}

TEST(JudgedLog, AnIndexThatPipCouldNotReadIsADownload) {
  const std::string none =
      "ERROR: Could not find a version that satisfies the requirement Ein_Ops>=0.7 (from versions: "
      "none)\nERROR: No matching distribution found for Ein_Ops>=0.7\n";
  const std::string retry =
      "WARNING: Retrying (Retry(total=0, connect=None, read=None, redirect=None, status=None)) "
      "after "
      "connection broken by ";
  const std::string timeout =
      "'ConnectTimeoutError(<pip._vendor.urllib3.connection.HTTPSConnection object at 0x7f>, "
      "'Connection to pypi.org timed out. (connect timeout=15)')': /simple/ein-ops/\n";
  const std::string tls =
      "Could not fetch URL https://pypi.org/simple/ein-ops/: There was a problem confirming the "
      "ssl "
      "certificate: HTTPSConnectionPool(host='pypi.org', port=443): Max retries exceeded with url: "
      "/simple/ein-ops/ (Caused by SSLError(SSLCertVerificationError(1, '[SSL: "
      "CERTIFICATE_VERIFY_FAILED] certificate verify failed (_ssl.c:1006)'))) - skipping\n";
  Verdict verdict = JudgeLog(retry + timeout + none);
  EXPECT_EQ(verdict.kind, "download");
  EXPECT_EQ(verdict.advice, Advice::kRetry);
  EXPECT_TRUE(verdict.line.starts_with("ERROR: Could not find a version")) << verdict.line;
  verdict = JudgeLog(retry + timeout + tls + none);
  EXPECT_EQ(verdict.kind, "download");
  EXPECT_EQ(verdict.advice, Advice::kFixFirst) << "a certificate";
  EXPECT_TRUE(verdict.line.starts_with("Could not fetch URL")) << verdict.line;
  EXPECT_EQ(JudgeLog(none).kind, "version-mismatch");
  EXPECT_EQ(JudgeLog(retry + "'ReadTimeoutError()': /simple/other/\n" + none).kind,
            "version-mismatch");
}

}  // namespace
}  // namespace answers
