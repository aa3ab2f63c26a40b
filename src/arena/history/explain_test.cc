#include "arena/testing/verb_test_base.h"

namespace arena {
namespace {

// A sweep on another cluster, whose trials have printed to the log of its pod.
class ExplainTrialTest : public VerbTest {
 protected:
  ExplainTrialTest() {
    is_this_machine_ = false;
    text::Json job = MakeJob("rates", "Failed", std::chrono::seconds(60));
    text::Set(job, {"metadata", "annotations", "muster.dev/trials"}, "2");
    cluster_->Put(kJobs, job);
    cluster_->Put(kPods, MakePod("rates", "master", 0, "Failed"));
  }
  // `last` is the trial's last line according to the sweep's result; its log ends after that.
  std::string Explain(const std::string& last) {
    const std::string results =
        R"(trial ended: {"index": 0, "exitCode": 1, "started": 1, "ended": 2, "lastLine": ")" +
        last + R"(", "metrics": {}, "values": {"lr": "1"}})" + "\n";
    cluster_->on_log = [results](const net::Target& target) {
      const bool is_end = !target.Query("tailLines").empty();
      return FakeLog{.body = is_end ? "[lr=2] loss 1\n" : results};
    };
    const Ended ended = Run({"explain", "rates", "--trial=0"}, "muster");
    EXPECT_EQ(ended.exit_code, 0) << ended.log;
    return ended.out;
  }
};

TEST_F(ExplainTrialTest, ATrialWhoseLinesAreTooFarBackHasItsLastLine) {
  const std::string out = Explain("ValueError: diverged");
  EXPECT_NE(out.find("ValueError: diverged"), std::string::npos) << out;
  EXPECT_EQ(out.find("printed nothing"), std::string::npos) << out;
  const std::string quiet = Explain("");
  EXPECT_NE(quiet.find("printed nothing"), std::string::npos) << quiet;
}

class ExplainEventsTest : public VerbTest {};

text::Json NoRoom() {
  return text::Object{
      {"metadata", text::Object{{"name", "e"}, {"namespace", "default"}}},
      {"involvedObject",
       text::Object{{"kind", "Pod"}, {"name", "pt-master-0"}, {"uid", "uid-pt-master-0"}}},
      {"type", "Warning"},
      {"reason", "FailedScheduling"},
      {"message", "0/3 nodes are available"},
      {"lastTimestamp", "2026-07-30T09:59:55Z"}};
}

TEST_F(ExplainEventsTest, AJobThatRunsDoesNotShowWhyItWaited) {
  cluster_->Put(kJobs, MakeJob("pt", "Running", std::chrono::seconds(60)));
  text::Json pod = MakePod("pt", "master", 0, "Running");
  text::Set(pod, {"spec", "nodeName"}, "n1");
  cluster_->Put(kPods, pod);
  cluster_->Put(kEvents, NoRoom());
  const Ended ended = Run({"explain", "pt"}, "muster");
  EXPECT_EQ(ended.exit_code, 0) << ended.log;
  EXPECT_NE(ended.out.find("nothing has failed yet"), std::string::npos) << ended.out;
}

TEST_F(ExplainEventsTest, AWorkerThatFailedIsNamedThoughTheChiefSucceeded) {
  cluster_->Put(kJobs, MakeJob("pt", "Succeeded", std::chrono::seconds(60)));
  cluster_->Put(kPods, MakePod("pt", "master", 0, "Succeeded"));
  cluster_->Put(kPods, MakePod("pt", "worker", 0, "Succeeded"));
  EXPECT_NE(Run({"explain", "pt"}, "muster").out.find("SUCCEEDED: nothing failed"),
            std::string::npos);
  cluster_->Put(kPods, MakePod("pt", "worker", 0, "Failed"));
  const std::string out = Run({"explain", "pt"}, "muster").out;
  EXPECT_NE(out.find("SUCCEEDED: the chief succeeded, but rank 1 (pt-worker-0) exited with code 1"),
            std::string::npos)
      << out;
}

TEST_F(ExplainEventsTest, WhatWaitedForItsRestartHadEndedByItself) {
  cluster_->Put(kJobs, MakeJob("pt", "Failed", std::chrono::seconds(60)));
  text::Json pod = MakePod("pt", "master", 0, "Failed");
  text::Set(pod, {"status", "reason"}, "JobEnded");
  const auto explain = [&](const char* end) {
    text::Set(pod, {"status", "containerStatuses"}, text::Array{Json(end)});
    cluster_->Put(kPods, pod);
    return Run({"explain", "pt"}, "muster").out;
  };
  const std::string own = explain(
      R"({"name": "pytorch", "state": {"terminated": {"exitCode": 3, "reason": "Error"}}})");
  EXPECT_NE(own.find("exited with code 3\n"), std::string::npos) << own;
  const std::string ours = explain(
      R"({"name": "pytorch", "state": {"terminated": {"exitCode": 143, "reason": "Error"}}})");
  EXPECT_NE(ours.find("exited with code 143, ended with its job"), std::string::npos) << ours;
}

TEST_F(ExplainEventsTest, HowAContainerEndedBeforeItsRestartIsSaid) {
  cluster_->Put(kJobs, MakeJob("pt", "Failed", std::chrono::seconds(60)));
  text::Json pod = MakePod("pt", "master", 0, "Failed");
  text::Set(pod, {"status", "containerStatuses"}, Json(R"([{
      "name": "pytorch", "restartCount": 1,
      "state": {"terminated": {"exitCode": 3, "reason": "Error"}},
      "lastState": {"terminated": {"exitCode": 1, "reason": "Error",
                                   "message": "step 1\nKeyError: 'lr'\n"}}}])"));
  cluster_->Put(kPods, pod);
  const std::string out = Run({"explain", "pt"}, "muster").out;
  EXPECT_NE(out.find(", attempt 2\n"), std::string::npos) << out;
  EXPECT_NE(out.find("Others:    rank 0 in attempt 1 exited with code 1: KeyError: "
                     "'lr'\n"),
            std::string::npos)
      << out;
}

TEST_F(ExplainEventsTest, AJobThatFailedWithoutANodeShowsWhyItHadNone) {
  cluster_->Put(kJobs, MakeJob("pt", "Failed", std::chrono::seconds(60)));
  cluster_->Put(kPods, MakePod("pt", "master", 0, "Pending"));
  cluster_->Put(kEvents, NoRoom());
  const Ended ended = Run({"explain", "pt"}, "muster");
  EXPECT_NE(ended.out.find("unschedulable"), std::string::npos) << ended.out;
}

TEST_F(ExplainEventsTest, APodsOwnStatusSaysWhyItHasNoNodeWhereItsEventsAreGone) {
  cluster_->Put(kJobs, MakeJob("pt", "Created", std::chrono::seconds(60)));
  text::Json pod = MakePod("pt", "master", 0, "Pending");
  text::Set(pod, {"status", "conditions"},
            text::Array{Json(R"({"type": "PodScheduled", "status": "False",
                "reason": "Unschedulable", "message": "0/3 nodes: 3 Insufficient cpu."})")});
  cluster_->Put(kPods, pod);
  const std::string out = Run({"explain", "pt"}, "muster").out;
  EXPECT_NE(out.find("(unschedulable)"), std::string::npos) << out;
}

TEST_F(ExplainEventsTest, AnEvictionIsNoShutdownOfTheNode) {
  cluster_->Put(kJobs, MakeJob("pt", "Failed", std::chrono::seconds(60)));
  text::Json pod = MakePod("pt", "master", 0, "Failed");
  text::Set(pod, {"status", "reason"}, "Evicted");
  text::Set(pod, {"status", "message"}, "The node was low on resource: memory. Available: 5Mi.");
  text::Set(pod, {"status", "conditions"},
            text::Array{Json(R"({"type": "DisruptionTarget", "status": "True",
                "reason": "TerminationByKubelet", "message": "The node was low on resource"})")});
  cluster_->Put(kPods, pod);
  const std::string out = Run({"explain", "pt"}, "muster").out;
  EXPECT_NE(out.find("too little memory left, and evicted the pod (evicted)"), std::string::npos)
      << out;
}

TEST_F(ExplainEventsTest, AnEmptyLogHasTheLinesThatTheNodeReports) {
  cluster_->Put(kJobs, MakeJob("pt", "Failed", std::chrono::seconds(60)));
  text::Json pod = MakePod("pt", "master", 0, "Failed");
  text::Set(pod, {"status", "containerStatuses"},
            text::Array{Json(R"({"name": "pytorch", "state": {"terminated": {"exitCode": 1,
                "reason": "Error", "message": "ValueError: no such dataset\n"}}})")});
  cluster_->Put(kPods, pod);
  for (const char* const log : {"", "unable to retrieve container logs for containerd://6a0b"}) {
    cluster_->on_log = [log](const auto&) { return FakeLog{.body = log}; };
    const std::string out = Run({"explain", "pt"}, "muster").out;
    EXPECT_NE(out.find("no such dataset"), std::string::npos) << out;
  }
}

text::Json FailedToCreate() {
  text::Json event = NoRoom();
  text::Set(event, {"involvedObject"},
            text::Object{{"kind", "PyTorchJob"}, {"name", "pt"}, {"uid", "uid-pt"}});
  text::Set(event, {"reason"}, "FailedCreatePod");
  text::Set(event, {"message"}, "pods \"pt-worker-0\" is forbidden: exceeded quota: q");
  text::Set(event, {"lastTimestamp"}, "2026-07-30T09:58:55Z");
  return event;
}

TEST_F(ExplainEventsTest, WhatKeptPodsWaitingIsOverOnceAllAreThereOrThePodHasStarted) {
  cluster_->Put(kJobs, MakeJob("pt", "Running", std::chrono::seconds(60)));
  cluster_->Put(kPods, MakePod("pt", "master", 0, "Running"));
  text::Json late = NoRoom();
  text::Set(late, {"metadata", "name"}, "late");
  text::Set(late, {"reason"}, "FailedMount");
  text::Set(late, {"lastTimestamp"}, "2026-07-30T09:58:55Z");
  cluster_->Put(kEvents, late);
  EXPECT_NE(Run({"explain", "pt"}, "muster").out.find("nothing has failed yet"), std::string::npos);
  cluster_->Put(kEvents, FailedToCreate());
  EXPECT_NE(Run({"explain", "pt"}, "muster").out.find("quota"), std::string::npos);
  cluster_->Put(kPods, MakePod("pt", "worker", 0, "Running"));
  EXPECT_NE(Run({"explain", "pt"}, "muster").out.find("nothing has failed yet"), std::string::npos);
  text::Set(late, {"lastTimestamp"}, "2026-07-30T09:59:55Z");
  cluster_->Put(kEvents, late);
  EXPECT_EQ(Run({"explain", "pt"}, "muster").out.find("nothing has failed yet"), std::string::npos);
}

TEST_F(ExplainEventsTest, OnlyAPodWhoseSuccessorIsThereWasReplaced) {
  is_this_machine_ = false;
  cluster_->Put(kPods, MakePod("pt", "master", 0, "Running"));
  text::Json event = FailedToCreate();
  text::Set(event, {"type"}, "Normal");
  text::Set(event, {"reason"}, "ExitedWithCode");
  text::Set(event, {"message"}, "Pod: default.pt-worker-0 exited with code 3");
  text::Set(event, {"lastTimestamp"}, "2026-07-30T09:59:50Z");
  cluster_->Put(kEvents, event);
  const auto explain = [this](const char* worker, int age) {
    cluster_->Put(kJobs, MakeJob("pt", "Running", std::chrono::seconds(age)));
    text::Json pod = MakePod("pt", "worker", 0, "Running");
    text::Set(pod, {"status", "containerStatuses"}, text::Array{Json(worker)});
    cluster_->Put(kPods, pod);
    return Run({"explain", "pt"}, "muster").out;
  };
  const auto expect = [&](const char* worker, int age, const char* words) {
    const std::string out = explain(worker, age);
    EXPECT_NE(out.find(std::string("RUNNING: ") + words + "\n"), std::string::npos) << out;
  };
  const char* const fresh = R"({"name": "pytorch", "state": {"running": {}}})";
  expect(fresh, 60, "rank 1 (pt-worker-0) exited with code 3, and was replaced");
  // It was resumed since.
  expect(fresh, 5, "nothing has failed yet");
  expect(R"({"name": "pytorch", "restartCount": 1, "state": {"running": {}},
             "lastState": {"terminated": {"exitCode": 3}}})",
         60, "pt-worker-0 was started again once, the last time after: exit code 3");
  text::Json pod = MakePod("pt", "worker", 0, "Pending");
  text::Set(pod, {"spec", "nodeName"}, "n");
  text::Set(pod, {"status", "initContainerStatuses"},
            Json(R"([{"name": "init-pytorch", "state": {"running": {}}}])"));
  cluster_->Put(kPods, pod);
  const std::string out = Run({"explain", "pt"}, "muster").out;
  EXPECT_NE(out.find("PENDING: pt-worker-0: its init container init-pytorch has not ended"),
            std::string::npos)
      << out;
}

class ExplainSidecarsTest : public VerbTest {
 protected:
  std::string Explain(const char* condition, const char* phase, const std::string& init,
                      const std::string& statuses) {
    is_this_machine_ = false;
    cluster_->Put(kJobs, MakeJob("pt", condition, std::chrono::seconds(60)));
    text::Json pod = MakePod("pt", "master", 0, phase);
    text::Set(pod, {"spec", "initContainers"},
              Json(R"([{"name": "agent", "restartPolicy": "Always"}])"));
    text::Set(pod, {"spec", "containers"}, Json(R"([{"name": "pytorch"}, {"name": "proxy"}])"));
    text::Set(pod, {"status", "conditions"},
              Json(R"([{"type": "Initialized", "status": "True"}])"));
    text::Set(pod, {"status", "initContainerStatuses"}, Json(init));
    text::Set(pod, {"status", "containerStatuses"}, Json(statuses));
    cluster_->Put(kPods, pod);
    cluster_->on_log = [](const net::Target& target) {
      const bool is_program = target.Query("container") == "pytorch";
      return FakeLog{.body = is_program ? "ValueError: bad\n" : "upstream is gone\n"};
    };
    return Run({"explain", "pt"}, "muster").out;
  }
};

TEST_F(ExplainSidecarsTest, OneThatWasStartedAgainSaysNothingOfAProgramThatRuns) {
  const std::string killed = R"("restartCount": 4, "state": {"running": {}},
      "lastState": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}})";
  const std::string program = R"(, {"name": "pytorch", "state": {"running": {}}}])";
  const std::string proxy = R"([{"name": "proxy", )";
  const std::string runs = R"("state": {"running": {}}})";
  const std::string agent = R"([{"name": "agent", )";
  for (const auto& [init, statuses] : {std::pair(agent + killed + "]", proxy + runs + program),
                                       std::pair(agent + runs + "]", proxy + killed + program)}) {
    const std::string out = Explain("Running", "Running", init, statuses);
    EXPECT_NE(out.find("RUNNING: nothing has failed yet\n"), std::string::npos) << out;
  }
}

TEST_F(ExplainSidecarsTest, OneThatTheKubeletEndedIsNotTheProgram) {
  const char* const ended = R"([{"name": "agent", "state": {"terminated": {"exitCode": 143}}}])";
  std::string out = Explain("Failed", "Failed", ended, R"([
      {"name": "proxy", "state": {"terminated": {"exitCode": 143}}},
      {"name": "pytorch", "state": {"terminated": {"exitCode": 1}}}])");
  EXPECT_NE(out.find("ValueError: bad"), std::string::npos) << out;
  EXPECT_EQ(out.find("143"), std::string::npos) << out;
  // The kubelet does not count it either.
  out = Explain("Failed", "Failed", ended, R"([
      {"name": "proxy", "state": {"terminated": {"exitCode": 3}}},
      {"name": "pytorch", "state": {"terminated": {"exitCode": 0}}}])");
  EXPECT_NE(out.find("container proxy"), std::string::npos) << out;
  EXPECT_NE(out.find("upstream is gone"), std::string::npos) << out;
}

class ExplainLogTest : public VerbTest {
 protected:
  static constexpr const char* kFailed = R"({"terminated": {"exitCode": 1}})";

  std::string Explain(const std::string& log, const char* state = kFailed,
                      std::string_view reason = "") {
    return Explain([log](const net::Target&) { return FakeLog{.body = log}; }, state, reason);
  }
  std::string Explain(std::function<FakeLog(const net::Target&)> log, const char* state = kFailed,
                      std::string_view reason = "") {
    is_this_machine_ = false;
    cluster_->Put(kJobs, MakeJob("pt", "Failed", std::chrono::seconds(60)));
    text::Json pod = MakePod("pt", "master", 0, "Failed");
    text::Set(pod, {"status", "containerStatuses"},
              text::Array{text::Object{{"name", "pytorch"}, {"state", Json(state)}}});
    if (!reason.empty()) text::Set(pod, {"status", "reason"}, text::Json(reason));
    cluster_->Put(kPods, pod);
    cluster_->on_log = std::move(log);
    const Ended ended = Run({"explain", "pt"}, "muster");
    EXPECT_EQ(ended.exit_code, 0) << ended.log;
    return ended.out;
  }
};

TEST_F(ExplainLogTest, WhatFollowsALineOfManyMegabytesIsRead) {
  const std::string out =
      Explain(std::string(40 << 20, 'y') +
              "\nTraceback (most recent call last):\n  File \"/w/a.py\", line 3, in <module>\n"
              "RuntimeError: after it\n");
  EXPECT_NE(out.find("RuntimeError: after it"), std::string::npos) << out.substr(0, 2000);
}

// A log that is not rotated may be as long as the disk.
TEST_F(ExplainLogTest, OfAHugeLogFewerLinesAreRead) {
  const std::string last = "\nRuntimeError: after it\n";
  size_t sent = 0;
  const std::string out = Explain([&](const net::Target& target) {
    const size_t lines = std::stoul(std::string(target.Query("tailLines")));
    FakeLog log{.body = std::string(lines > 100 ? 80 << 20 : 20 << 20, 'y') + last};
    sent += log.body.size();
    return log;
  });
  EXPECT_NE(out.find("RuntimeError: after it"), std::string::npos) << out.substr(0, 2000);
  EXPECT_EQ(sent, (100 << 20) + 2 * last.size());
}

// What muster-launch says where rank 0 fails because rank 1 was done.
const std::string kEndedEarly =
    "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
    "============\ntrain.py FAILED\n------------\nRoot Cause (first observed failure):\n[0]:\n"
    "  rank      : 0 (local_rank: 0)\n  exitcode  : 1 (pid: 7) \n============\n"
    "train.py: rank 0 of 2 failed first (local rank 0, pid 7, host h)\n"
    "  why       : rank 1 had ended with exit code 0 while rank 0 still waited for it (x)\n";

TEST_F(ExplainLogTest, ARankThatWasDoneHasNotTheExitCodeOfItsContainer) {
  const std::string out = Explain(
      "[0] RuntimeError: [./gloo/transport/tcp/pair.cc:598] Connection closed by peer [::1]:1\n"
      "[1] step 1\n" +
      kEndedEarly);
  EXPECT_NE(out.find("ended-early"), std::string::npos) << out;
  EXPECT_EQ(out.find("rank 1 (pt-master-0): exited with code 1"), std::string::npos) << out;
}

TEST_F(ExplainLogTest, APodThatIsOnlyEndingMaySayWhy) {
  cluster_->Put(kPods, MakePod("pt", "worker", 0, "Running"));
  std::string body =
      "Traceback (most recent call last):\n  File \"/w/a.py\", line 3, in f\n"
      "KeyError: 'lr'\n";
  const std::string out = Explain([&body](const net::Target& target) {
    const bool is_workers = target.segments[5] == "pt-worker-0";
    return FakeLog{.body = is_workers ? body : ""};
  });
  EXPECT_NE(out.find("Why:       KeyError: 'lr'\n"), std::string::npos) << out;
}

// Without --tee, only torchrun's table names ranks.
const std::string kUnmarked =
    "step 1\nTraceback (most recent call last):\n  File \"/w/a.py\", line 4, in <module>\n"
    "    raise ValueError(\"bad\")\nValueError: bad\n"
    "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
    "============\ntrain.py FAILED\n------------\nFailures:\n[1]:\n"
    "  rank      : 0 (local_rank: 0)\n  exitcode  : -15 (pid: 7) (SIGTERM)\n------------\n"
    "Root Cause (first observed failure):\n[0]:\n"
    "  rank      : 1 (local_rank: 1)\n  exitcode  : 1 (pid: 8) \n============\n";

TEST_F(ExplainLogTest, LinesThatNothingMarksAreOfTheRankThatTheTableNames) {
  for (const std::string marked : {"", "[0] step 1\n"}) {
    const std::string out = Explain(marked + kUnmarked);
    EXPECT_NE(out.find("Who:       rank 1 (pt-master-0)"), std::string::npos) << out;
    EXPECT_NE(out.find("Why:       ValueError: bad\n"), std::string::npos) << out;
    EXPECT_NE(out.find("Where:     /w/a.py:4"), std::string::npos) << out;
  }
}

TEST_F(ExplainLogTest, WhatARankPrintedBehindItsExceptionDoesNotHideItFromItsLauncher) {
  const std::string out = Explain(
      "[rank0]:step 1\n[rank1]:step 1 loss 2\n[rank1]:Traceback (most recent call last):\n"
      "[rank1]:  File \"/w/a.py\", line 3, in <module>\n[rank1]:KeyError: 'lr'\n"
      "[rank1]:step 2 loss 2\n[rank1]:step 3 loss 2\n"
      "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
      "============\ntrain.py FAILED\n------------\nRoot Cause (first observed failure):\n[0]:\n"
      "  rank      : 1 (local_rank: 1)\n  exitcode  : 1 (pid: 8) \n============\n"
      "train.py: rank 1 of 2 failed first (local rank 1, pid 8, host h)\n"
      "  why       : KeyError: 'lr'\n");
  EXPECT_NE(out.find("Why:       KeyError: 'lr'\n"), std::string::npos) << out;
  EXPECT_NE(out.find("Where:     /w/a.py:3"), std::string::npos) << out;
}

// What muster-launch says where rank 1 of 2 was killed.
const std::string kKilled =
    "[rank0]:step 1\n[rank1]:step 1\n"
    "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
    "============\ntrain.py FAILED\n------------\nFailures:\n[1]:\n"
    "  rank      : 0 (local_rank: 0)\n  exitcode  : -15 (pid: 7) (SIGTERM)\n------------\n"
    "Root Cause (first observed failure):\n[0]:\n"
    "  rank      : 1 (local_rank: 1)\n  exitcode  : -9 (pid: 8) (SIGKILL)\n============\n"
    "train.py: rank 1 of 2 failed first (local rank 1, pid 8, host h)\n"
    "  why       : ended by signal 9 (SIGKILL)\n";

TEST_F(ExplainLogTest, ARankWhoseEndItsLauncherHasSeenDidNotEndWithItsJob) {
  const std::string out =
      Explain(kKilled, R"({"terminated": {"exitCode": 137, "reason": "Error"}})", "JobEnded");
  EXPECT_NE(out.find("it was killed by SIGKILL"), std::string::npos) << out;
  EXPECT_NE(out.find("Who:       rank 1 (pt-master-0)"), std::string::npos) << out;
  EXPECT_EQ(out.find("rank 1 (pt-master-0): exited with code 137, ended with"), std::string::npos)
      << out;
}

TEST_F(ExplainLogTest, OfAnOomKillTheRankIsKnownThatItsLauncherNames) {
  const char* const state = R"({"terminated": {"exitCode": 137, "reason": "OOMKilled"}})";
  const std::string one = Explain(kKilled, state);
  EXPECT_NE(one.find("host-out-of-memory"), std::string::npos) << one;
  EXPECT_NE(one.find("Who:       rank 1 (pt-master-0)"), std::string::npos) << one;
  EXPECT_NE(one.find("Others:    rank 0 exited with code 143"), std::string::npos) << one;
  // They have printed nothing, so that all lines are the launcher's.
  const std::string quiet = Explain(kKilled.substr(kKilled.find("torch.")), state);
  EXPECT_NE(quiet.find("the pod reached its memory limit"), std::string::npos) << quiet;
  EXPECT_NE(quiet.find("Who:       rank 1 (pt-master-0)"), std::string::npos) << quiet;
  const std::string all = Explain("[rank0]:step 1\n[rank1]:step 1\n", state);
  EXPECT_NE(all.find("Who:       pt-master-0"), std::string::npos) << all;
}

TEST_F(ExplainLogTest, ANodesRankThatWasDoneHasNotTheExitCodeOfItsLauncher) {
  const std::string out =
      Explain("muster-launch: node 1 of 2: ranks 1 to 1 of 2, start 1\n[local-rank0]:step 1\n" +
              kEndedEarly);
  EXPECT_NE(out.find("ended-early"), std::string::npos) << out;
  EXPECT_EQ(out.find("exited with code 1"), std::string::npos) << out;
}

}  // namespace
}  // namespace arena
