#include "local/node/agent/agent.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/names.h"
#include "api/pod.h"
#include "base/file.h"
#include "local/node/testing/agent_fake_cluster.h"
#include "local/node/testing/agent_fake_shims.h"
#include "local/node/testing/agent_pod_builder.h"
#include "process/inotify.h"

namespace local::node {
namespace {

using text::GetString;
using Maybe = std::optional<text::Json>;

bool IsThere(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0;
}

class AgentTest : public testing::Test {
 protected:
  AgentTest()
      : client_(cluster_.Connect()),
        state_(MakeState()),
        gpus_(state_),
        ports_({}, "muster-test-" + std::to_string(::getpid()) + "/agent-port/"),
        lost_(state_) {
    gpus_.SetInventory({});
  }
  ~AgentTest() override {
    agent_.reset();
    EXPECT_TRUE(base::RemoveTree(state_));
  }

  static std::string MakeState() {
    std::string state = testing::TempDir() + "agent-XXXXXX";
    EXPECT_NE(::mkdtemp(state.data()), nullptr);
    return state;
  }

  void StartAgent() {
    AgentOptions options;
    options.state_directory = state_;
    options.machine.node_name = "here";
    options.machine.cpus = 4;
    options.machine.memory = int64_t{8} << 30;
    options.shim_answer = shim_answer_;
    options.environment =
        base::Environment(std::map<std::string, std::string>{{"PATH", "/usr/bin:/bin"}});
    options.fate_of = [this](const std::string& uid) -> base::Result<Fate> {
      return cluster_.FateOf(uid);
    };
    auto agent = Agent::Start(client_, shims_, gpus_, ports_, lost_, base::SystemClock(), options);
    ASSERT_TRUE(agent) << agent.error().message;
    agent_ = std::move(*agent);
  }
  // Like kill -9: the shims continue.
  void RestartAgent() {
    agent_.reset();
    StartAgent();
  }

  std::string Put(const text::Json& pod) {
    return std::string(api::Uid(cluster_.Put(api::kPods, pod)));
  }
  Maybe Pod(const std::string& name) { return cluster_.Find(api::kPods, "default", name); }
  bool WaitPod(const std::string& name, const std::function<bool(const text::Json&)>& is_wanted) {
    return cluster_.WaitFor(api::kPods, "default", name,
                            [&](const Maybe& pod) { return pod && is_wanted(*pod); });
  }
  bool WaitPhase(const std::string& name, std::string_view phase) {
    return WaitPod(name, [&](const text::Json& pod) { return api::Phase(pod) == phase; });
  }
  bool WaitGone(const std::string& name) {
    return cluster_.WaitFor(api::kPods, "default", name, [](const Maybe& pod) { return !pod; });
  }
  std::string WaitingReason(const std::string& name) {
    std::string reason;
    WaitPod(name, [&](const text::Json& pod) {
      const auto statuses = api::ContainerStatuses(pod);
      if (!statuses.empty()) reason = statuses[0].waiting_reason;
      return !reason.empty();
    });
    return reason;
  }
  std::string DirectoryOf(const std::string& uid) const { return state_ + "/pods/" + uid; }
  // Waits, by inotify, for what the pool removes soon.
  bool WaitRemoved(const std::string& path) {
    auto above = process::Inotify::Create();
    // The folder above may go as a whole.
    constexpr uint32_t kGone = IN_DELETE | IN_MOVED_FROM | IN_DELETE_SELF | IN_MOVE_SELF;
    if (!above || !above->Watch(base::DirectoryOf(path), kGone)) {
      return !IsThere(path);
    }
    pollfd changed{above->fd(), POLLIN, 0};
    while (IsThere(path) && ::poll(&changed, 1, 10'000) > 0) above->Read();
    return !IsThere(path);
  }

  FakeCluster cluster_;
  FakeShims shims_;
  cluster::Client client_;
  const std::string state_;
  GpuAllocator gpus_;
  PortAllocator ports_;
  LostAndFound lost_;
  std::chrono::milliseconds shim_answer_ = NodeFacts().shim_answer;
  std::unique_ptr<Agent> agent_;
};

TEST_F(AgentTest, RegistersTheNode) {
  StartAgent();
  EXPECT_TRUE(cluster_.WaitFor(api::kNodes, "", "here", [](const Maybe& node) {
    return node && GetString(*node, {"status", "capacity", "cpu"}) == "4";
  }));
  gpu::Inventory inventory;
  inventory.devices.push_back({0, "GPU-test", "NVIDIA Test", 1, 0, {}, false, {}});
  gpus_.SetInventory(inventory);
  agent_->GpusAreKnown();
  EXPECT_TRUE(cluster_.WaitFor(api::kNodes, "", "here", [](const Maybe& node) {
    return GetString(*node, {"status", "capacity", "nvidia.com/gpu"}) == "1";
  }));
}

TEST_F(AgentTest, RunsAPodToItsEnd) {
  StartAgent();
  const std::string uid = Put(PodBuilder("p"));
  const auto spec = shims_.WaitStarted(uid);
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->directory, DirectoryOf(uid));
  EXPECT_EQ(spec->containers[0].argv, (std::vector<std::string>{"train"}));
  shims_.ReportRunning(uid);
  EXPECT_TRUE(WaitPhase("p", "Running"));
  shims_.Finish(uid, 0);
  EXPECT_TRUE(WaitPhase("p", "Succeeded"));
  EXPECT_TRUE(IsThere(DirectoryOf(uid))) << "logs stay as long as the object";

  cluster_.Delete(api::kPods, "default", "p");
  EXPECT_TRUE(WaitGone("p"));
  EXPECT_TRUE(WaitRemoved(DirectoryOf(uid)));
}

TEST_F(AgentTest, ReportsAFailure) {
  StartAgent();
  const std::string uid = Put(PodBuilder("p"));
  ASSERT_TRUE(shims_.WaitStarted(uid));
  shims_.Finish(uid, 3);
  EXPECT_TRUE(WaitPhase("p", "Failed"));
  EXPECT_EQ(api::ExitCodeOf(*Pod("p"), "pytorch"), 3);
}

TEST_F(AgentTest, AShimThatDoesNotAnswerIsKilledWhenTheGraceIsOver) {
  shim_answer_ = std::chrono::milliseconds(1);
  StartAgent();
  text::Json pod = PodBuilder("p");
  text::Set(pod, {"spec", "terminationGracePeriodSeconds"}, 0);
  const std::string uid = Put(pod);
  ASSERT_TRUE(shims_.WaitStarted(uid));
  shims_.ReportRunning(uid);
  ASSERT_TRUE(WaitPhase("p", "Running"));
  cluster_.Delete(api::kPods, "default", "p");
  EXPECT_EQ(shims_.WaitTerminated(uid), 0);
  EXPECT_TRUE(shims_.WaitStraysKilled(uid)) << "its programs end with it";
  EXPECT_TRUE(WaitGone("p"));
}

TEST_F(AgentTest, StartsManyAtOnce) {
  StartAgent();
  for (int i = 0; i < 20; ++i) Put(PodBuilder("p" + std::to_string(i)));
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(shims_.WaitStarted("uid-p" + std::to_string(i)));
}

TEST_F(AgentTest, LeavesPodsOfOtherNodesAlone) {
  StartAgent();
  Put(PodBuilder("other").Set({"spec", "nodeName"}, "there"));
  Put(PodBuilder("unbound").Set({"spec", "nodeName"}, ""));
  ASSERT_TRUE(shims_.WaitStarted(Put(PodBuilder("p"))));
  EXPECT_EQ(shims_.Starts("uid-other"), 0);
  EXPECT_EQ(shims_.Starts("uid-unbound"), 0);
}

TEST_F(AgentTest, DeletionGivesTheGraceThenRemovesObjectAndDirectory) {
  StartAgent();
  const std::string uid = Put(PodBuilder("p").Set({"spec", "terminationGracePeriodSeconds"}, 7));
  ASSERT_TRUE(shims_.WaitStarted(uid));
  cluster_.Delete(api::kPods, "default", "p");
  EXPECT_EQ(shims_.WaitTerminated(uid), 7);
  EXPECT_TRUE(Pod("p")) << "the object stays until the processes have ended";
  shims_.Finish(uid, 143);
  EXPECT_TRUE(WaitGone("p"));
  EXPECT_TRUE(WaitRemoved(DirectoryOf(uid)));
}

TEST_F(AgentTest, AnObjectThatVanishesTakesItsProcessesAtOnce) {
  StartAgent();
  const std::string uid = Put(PodBuilder("p"));
  ASSERT_TRUE(shims_.WaitStarted(uid));
  cluster_.Remove(api::kPods, "default", "p");
  EXPECT_EQ(shims_.WaitTerminated(uid), 0);
  shims_.Finish(uid, 137);
  EXPECT_TRUE(WaitRemoved(DirectoryOf(uid)));
}

TEST_F(AgentTest, AForcedDeletionShortensTheGrace) {
  StartAgent();
  const std::string uid = Put(PodBuilder("p"));
  ASSERT_TRUE(shims_.WaitStarted(uid));
  cluster_.Delete(api::kPods, "default", "p");
  EXPECT_EQ(shims_.WaitTerminated(uid), 30);
  cluster_.Remove(api::kPods, "default", "p");
  EXPECT_EQ(shims_.WaitTerminated(uid, 2), 0);
  shims_.Finish(uid, 137);
  EXPECT_TRUE(WaitRemoved(DirectoryOf(uid)));
}

TEST_F(AgentTest, ASuccessorOfTheSameNameIsAnotherPod) {
  StartAgent();
  const std::string first = Put(PodBuilder("p").Uid("uid-1"));
  ASSERT_TRUE(shims_.WaitStarted(first));
  cluster_.Remove(api::kPods, "default", "p");
  const std::string second = Put(PodBuilder("p").Uid("uid-2"));
  ASSERT_TRUE(shims_.WaitStarted(second));
  shims_.Finish(first, 137);
  EXPECT_TRUE(WaitRemoved(DirectoryOf(first)));
  shims_.ReportRunning(second);
  EXPECT_TRUE(WaitPhase("p", "Running"));
  EXPECT_EQ(api::Uid(*Pod("p")), "uid-2");
}

TEST_F(AgentTest, AdoptsWhatRunsAfterARestart) {
  StartAgent();
  const std::string uid = Put(PodBuilder("p"));
  ASSERT_TRUE(shims_.WaitStarted(uid));
  shims_.ReportRunning(uid);
  ASSERT_TRUE(WaitPhase("p", "Running"));
  RestartAgent();
  shims_.Finish(uid, 0);
  EXPECT_TRUE(WaitPhase("p", "Succeeded"));
  EXPECT_EQ(shims_.Starts(uid), 1);
}

TEST_F(AgentTest, ReadsHowAPodEndedWhileNobodyWatched) {
  StartAgent();
  const std::string uid = Put(PodBuilder("p"));
  ASSERT_TRUE(shims_.WaitStarted(uid));
  agent_.reset();
  shims_.Finish(uid, 5);
  StartAgent();
  EXPECT_TRUE(WaitPhase("p", "Failed"));
  EXPECT_EQ(api::ExitCodeOf(*Pod("p"), "pytorch"), 5);
  EXPECT_EQ(shims_.Starts(uid), 1);
}

TEST_F(AgentTest, AShimThatIsKilledFailsItsPodAndTakesItsProcesses) {
  StartAgent();
  const std::string uid = Put(PodBuilder("p"));
  ASSERT_TRUE(shims_.WaitStarted(uid));
  shims_.ReportRunning(uid);
  ASSERT_TRUE(WaitPhase("p", "Running"));
  shims_.Lose(uid);
  EXPECT_TRUE(WaitPhase("p", "Failed"));
  EXPECT_EQ(GetString(*Pod("p"), {"status", "reason"}), "ShimLost");
  EXPECT_EQ(api::ExitCodeOf(*Pod("p"), "pytorch"), 137);
  EXPECT_TRUE(shims_.WaitStraysKilled(uid));
}

TEST_F(AgentTest, AfterARebootUnfinishedPodsHaveFailed) {
  StartAgent();
  const std::string uid = Put(PodBuilder("p"));
  ASSERT_TRUE(shims_.WaitStarted(uid));
  agent_.reset();
  shims_.Reboot();
  StartAgent();
  EXPECT_TRUE(WaitPhase("p", "Failed"));
  EXPECT_EQ(GetString(*Pod("p"), {"status", "reason"}), "NodeRebooted");
  EXPECT_EQ(shims_.Starts(uid), 1);
}

TEST_F(AgentTest, APodThatHasRunIsNotRunAgainWithoutItsDirectory) {
  const std::string uid = Put(PodBuilder("p").Set(
      {"status"},
      text::Object{{"phase", "Running"},
                   {"containerStatuses",
                    text::Array{text::Object{{"name", "pytorch"},
                                             {"state", {{"running", text::Object()}}}}}}}));
  StartAgent();
  EXPECT_TRUE(WaitPhase("p", "Failed"));
  EXPECT_EQ(GetString(*Pod("p"), {"status", "reason"}), "ShimLost");
  EXPECT_EQ(shims_.Starts(uid), 0);
}

TEST_F(AgentTest, ClearsUpAfterPodsThatWereDeletedWhileNobodyWatched) {
  StartAgent();
  const std::string running = Put(PodBuilder("running"));
  const std::string ended = Put(PodBuilder("ended"));
  ASSERT_TRUE(shims_.WaitStarted(running));
  ASSERT_TRUE(shims_.WaitStarted(ended));
  shims_.Finish(ended, 0);
  ASSERT_TRUE(WaitPhase("ended", "Succeeded"));
  agent_.reset();
  cluster_.Remove(api::kPods, "default", "running");
  cluster_.Remove(api::kPods, "default", "ended");
  StartAgent();
  EXPECT_TRUE(WaitRemoved(DirectoryOf(ended)));
  EXPECT_EQ(shims_.WaitTerminated(running), 0);
  shims_.Finish(running, 137);
  EXPECT_TRUE(WaitRemoved(DirectoryOf(running)));
}

TEST_F(AgentTest, WhatTheStoreDoesNotKnowIsNeverEndedAndNeverRemoved) {
  StartAgent();
  const std::string running = Put(PodBuilder("running"));
  const std::string ended = Put(PodBuilder("ended"));
  ASSERT_TRUE(shims_.WaitStarted(running));
  ASSERT_TRUE(shims_.WaitStarted(ended));
  shims_.Finish(ended, 0);
  ASSERT_TRUE(WaitPhase("ended", "Succeeded"));
  agent_.reset();
  cluster_.Forget(api::kPods, "default", "running");
  cluster_.Forget(api::kPods, "default", "ended");
  const std::string code = state_ + "/jobs/uid-nobody/code";
  ASSERT_TRUE(base::MakeDirs(code));
  ASSERT_TRUE(base::MakeDirs(DirectoryOf("never-started")));
  StartAgent();
  EXPECT_TRUE(WaitRemoved(DirectoryOf(ended)));
  EXPECT_TRUE(IsThere(lost_.directory() + "/pod-" + ended + "/status.json"));
  EXPECT_TRUE(WaitRemoved(DirectoryOf("never-started"))) << "it was empty";
  ASSERT_TRUE(shims_.WaitStarted(Put(PodBuilder("next")))) << "the agent goes on";
  EXPECT_TRUE(IsThere(DirectoryOf(running)));
  EXPECT_TRUE(IsThere(code)) << "the pod may run on it";
  EXPECT_EQ(shims_.Graces(running), 0u) << "nobody asked it to end";
  const std::vector<std::string> notices = lost_.Notices();
  ASSERT_EQ(notices.size(), 2u);
  EXPECT_NE(notices[0].find("`kill 4711`"), std::string::npos) << notices[0];
  EXPECT_NE(notices[1].find(lost_.directory()), std::string::npos) << notices[1];

  shims_.Finish(running, 0);
  EXPECT_TRUE(WaitRemoved(DirectoryOf(running)));
  EXPECT_TRUE(IsThere(lost_.directory() + "/pod-" + running));
  EXPECT_EQ(lost_.Notices().size(), 1u);
  RestartAgent();
  EXPECT_TRUE(WaitRemoved(code));
  EXPECT_TRUE(IsThere(lost_.directory() + "/job-uid-nobody/code"));
}

TEST_F(AgentTest, APodOfAnotherNodesNameKeepsItsFolder) {
  StartAgent();
  const std::string uid = Put(PodBuilder("p"));
  ASSERT_TRUE(shims_.WaitStarted(uid));
  agent_.reset();
  Put(PodBuilder("p").Set({"spec", "nodeName"}, "there"));
  StartAgent();
  ASSERT_TRUE(shims_.WaitStarted(Put(PodBuilder("next")))) << "the agent goes on";
  EXPECT_TRUE(IsThere(DirectoryOf(uid)));
  EXPECT_EQ(shims_.Graces(uid), 0u);
}

TEST_F(AgentTest, WaitsForASecretAndStartsWhenItAppears) {
  StartAgent();
  const std::string uid = Put(PodBuilder("p").EnvFrom(
      "TOKEN", text::Object{{"secretKeyRef", {{"name", "s"}, {"key", "token"}}}}));
  EXPECT_EQ(WaitingReason("p"), "CreateContainerConfigError");
  EXPECT_EQ(shims_.Starts(uid), 0);
  cluster_.Put(api::kSecrets, text::Object{{"metadata", {{"name", "s"}, {"namespace", "other"}}},
                                           {"data", {{"token", "dG9rZW4="}}}});
  cluster_.Put(api::kSecrets, text::Object{{"metadata", {{"name", "s"}, {"namespace", "default"}}},
                                           {"data", {{"token", "dG9rZW4="}}}});
  const auto spec = shims_.WaitStarted(uid);
  ASSERT_TRUE(spec);
  shims_.ReportRunning(uid);
  EXPECT_TRUE(WaitPhase("p", "Running"));
}

TEST_F(AgentTest, WhatAppearsWhileAStartLooksForItIsNotMissed) {
  StartAgent();
  const auto wants = [](const std::string& pod, const std::string& secret) {
    return PodBuilder(pod).EnvFrom(
        "TOKEN", text::Object{{"secretKeyRef", {{"name", secret}, {"key", "token"}}}});
  };
  const auto put_secret = [this](const std::string& name) {
    cluster_.Put(api::kSecrets,
                 text::Object{{"metadata", {{"name", name}, {"namespace", "default"}}},
                              {"data", {{"token", "dG9rZW4="}}}});
  };
  const std::string first = Put(wants("p", "s"));
  EXPECT_EQ(WaitingReason("p"), "CreateContainerConfigError");  // from now on Secrets are watched
  cluster_.OnMissing([&](const std::string& name) {
    if (name != "t") return;
    put_secret("t");
    put_secret("s");
    EXPECT_TRUE(shims_.WaitStarted(first)) << "so the agent has heard of both";
  });
  EXPECT_TRUE(shims_.WaitStarted(Put(wants("q", "t"))));
  cluster_.OnMissing(nullptr);
}

TEST_F(AgentTest, APodThatWaitsCanBeDeleted) {
  StartAgent();
  const std::string uid = Put(PodBuilder("p").Container("no-command"));
  EXPECT_EQ(WaitingReason("p"), "CreateContainerError");
  cluster_.Delete(api::kPods, "default", "p");
  EXPECT_TRUE(WaitGone("p"));
  EXPECT_TRUE(WaitRemoved(DirectoryOf(uid)));
  EXPECT_EQ(shims_.Starts(uid), 0);
}

TEST_F(AgentTest, AStartThatFailsIsReportedAndNotTakenForAStart) {
  shims_.start_error = base::Error{base::Code::kExhausted, "fork: out of processes", 0};
  StartAgent();
  const std::string uid = Put(PodBuilder("p"));
  EXPECT_EQ(WaitingReason("p"), "RunContainerError");
  EXPECT_EQ(shims_.Starts(uid), 0);
}

TEST_F(AgentTest, HandsGpuAndPortLocksToTheShim) {
  gpu::Inventory inventory;
  inventory.devices.push_back({0, "GPU-test", "NVIDIA Test", 1, 0, {}, false, {}});
  gpus_.SetInventory(inventory);
  ASSERT_TRUE(ports_.Assign("uid-job-j", 23600));
  StartAgent();
  const std::string uid =
      Put(PodBuilder("j-master-0").OfJob("j", "master").Annotation("muster.dev/gpus", "0"));
  const auto spec = shims_.WaitStarted(uid);
  ASSERT_TRUE(spec);
  EXPECT_EQ(shims_.Locks(uid), 2u);
  EXPECT_NE(gpus_.HoldersElsewhere().at(0), "") << "the shim's now";
  shims_.ReportRunning(uid);
  ASSERT_TRUE(WaitPhase("j-master-0", "Running"));
  shims_.Finish(uid, 0);
  ASSERT_TRUE(WaitPhase("j-master-0", "Succeeded"));
  EXPECT_EQ(gpus_.HoldersElsewhere().at(0), "") << "an end is told when the locks are free";
}

TEST_F(AgentTest, HandsTheLockOfANodePortToTheShim) {
  const int port = *ports_.Assign("any", std::nullopt);
  ports_.Release("any");
  cluster_.Put(
      api::kServices,
      text::Object{{"metadata", {{"name", "web"}, {"namespace", "default"}}},
                   {"spec",
                    {{"type", "NodePort"},
                     {"selector", {{"app", "web"}}},
                     {"ports", text::Array{text::Object{{"port", 6006}, {"nodePort", port}}}}}}});
  StartAgent();
  const std::string uid = Put(PodBuilder("p").Label("app", "web"));
  ASSERT_TRUE(shims_.WaitStarted(uid));
  EXPECT_EQ(shims_.Locks(uid), 1u);
  const std::string other = Put(PodBuilder("q").Label("app", "other"));
  ASSERT_TRUE(shims_.WaitStarted(other));
  EXPECT_EQ(shims_.Locks(other), 0u);
}

TEST_F(AgentTest, ATensorboardThatIsNotInstalledIsTheReason) {
  const std::string python = state_ + "/python3";
  ASSERT_TRUE(base::MakeDirs(state_));
  ASSERT_TRUE(base::WriteFileAtomic(python, "#!/bin/sh\nexit 1\n", 0700, base::Durability::kNone));
  StartAgent();
  const std::string uid = Put(PodBuilder("board")
                                  .Annotation("muster.dev/python", python)
                                  .Annotation("muster.dev/environment", R"({"PATH":"/nowhere"})")
                                  .Command({"tensorboard", "--logdir", "/l"}));
  EXPECT_EQ(WaitingReason("board"), "TensorBoardNotInstalled");
  EXPECT_EQ(shims_.Starts(uid), 0);
}

TEST_F(AgentTest, StatusesReachAnApiThatWasAway) {
  StartAgent();
  const std::string uid = Put(PodBuilder("p"));
  ASSERT_TRUE(shims_.WaitStarted(uid));
  cluster_.SetAway(true);
  shims_.ReportRunning(uid);
  shims_.Finish(uid, 0);
  cluster_.SetAway(false);
  EXPECT_TRUE(WaitPhase("p", "Succeeded"));
}

TEST_F(AgentTest, CodeOfAJobGoesWithItsObjectAndItsLastPod) {
  StartAgent();
  const std::string code = state_ + "/jobs/uid-job-j/code";
  const std::string uid = Put(PodBuilder("j-master-0")
                                  .OfJob("j", "master")
                                  .Volume("code", "emptyDir", text::Object())
                                  .InitContainer("init-code")
                                  .Env("GIT_SYNC_REPO", "file:///r.git")
                                  .Mount("code", "/code"));
  ASSERT_TRUE(shims_.WaitStarted(uid));
  EXPECT_TRUE(IsThere(code));
  agent_->JobGone("uid-job-j");
  cluster_.Remove(api::kPods, "default", "j-master-0");
  EXPECT_EQ(shims_.WaitTerminated(uid), 0);
  EXPECT_TRUE(IsThere(code)) << "a process may still look at it";
  shims_.Finish(uid, 137);
  EXPECT_TRUE(WaitRemoved(state_ + "/jobs/uid-job-j"));
}

// A pod that its job's failure ends stays, with its directory and its logs.
TEST_F(AgentTest, APodThatIsAskedToEndStays) {
  StartAgent();
  const std::string uid = Put(PodBuilder("p"));
  ASSERT_TRUE(shims_.WaitStarted(uid));
  shims_.ReportRunning(uid);
  ASSERT_TRUE(WaitPhase("p", "Running"));
  text::Json pod = *Pod("p");
  text::Set(pod, {"metadata", "annotations", api::kEndAnnotation}, "the job j has failed");
  Put(pod);
  EXPECT_EQ(shims_.WaitTerminated(uid), 30);
  shims_.Finish(uid, 143);
  EXPECT_TRUE(WaitPhase("p", "Failed"));
  EXPECT_EQ(GetString(*Pod("p"), {"status", "reason"}), api::kJobEndedReason);
  EXPECT_EQ(api::ExitCodeOf(*Pod("p"), "pytorch"), 143);
  EXPECT_TRUE(IsThere(DirectoryOf(uid)));
}

TEST_F(AgentTest, APodThatIsAskedToEndWhileNobodyWatchesEndsWithTheNextAgent) {
  StartAgent();
  const std::string uid = Put(PodBuilder("p"));
  ASSERT_TRUE(shims_.WaitStarted(uid));
  agent_.reset();
  text::Json pod = *Pod("p");
  text::Set(pod, {"metadata", "annotations", api::kEndAnnotation}, "the job j has failed");
  Put(pod);
  StartAgent();
  EXPECT_EQ(shims_.WaitTerminated(uid), 30);
}

TEST_F(AgentTest, APodThatWaitsAndIsAskedToEndHasFailed) {
  StartAgent();
  const std::string uid = Put(PodBuilder("p").Container("no-command"));
  EXPECT_EQ(WaitingReason("p"), "CreateContainerError");
  text::Json pod = *Pod("p");
  text::Set(pod, {"metadata", "annotations", api::kEndAnnotation}, "the job j has failed");
  Put(pod);
  EXPECT_TRUE(WaitPhase("p", "Failed"));
  EXPECT_EQ(shims_.Starts(uid), 0);
}

TEST_F(AgentTest, ADeadlineEndsThePod) {
  StartAgent();
  const std::string uid = Put(PodBuilder("p").Set({"spec", "activeDeadlineSeconds"}, 0));
  ASSERT_TRUE(shims_.WaitStarted(uid));
  EXPECT_EQ(shims_.WaitTerminated(uid), 30);
  shims_.Finish(uid, 143);
  EXPECT_TRUE(WaitPhase("p", "Failed"));
  EXPECT_EQ(GetString(*Pod("p"), {"status", "reason"}), "DeadlineExceeded");
  EXPECT_EQ(api::ExitCodeOf(*Pod("p"), "pytorch"), 143);
}

}  // namespace
}  // namespace local::node
