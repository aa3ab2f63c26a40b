#include "reconcile/outcome.h"

#include <gtest/gtest.h>

#include "reconcile/restart.h"
#include "reconcile/testing/fake_cluster.h"

namespace reconcile {
namespace {

const std::string kRunningFalse = "Running=False PyTorchJobRunning: PyTorchJob j is running.";

// Golden `basic`.
TEST(Outcome, LifeOfAJobWithAMaster) {
  FakeCluster cluster(TestJob{});
  cluster.Settle();
  EXPECT_EQ(cluster.Conditions(), (Strings{kCreatedLine}));
  EXPECT_TRUE(cluster.HasTime("startTime"));
  EXPECT_FALSE(cluster.HasTime("completionTime"));
  EXPECT_FALSE(cluster.HasTime("lastReconcileTime"));
  const std::string selector =
      "training.kubeflow.org/job-name=j,training.kubeflow.org/operator-name=pytorchjob-controller,"
      "training.kubeflow.org/replica-type=";
  EXPECT_EQ(*text::Find(cluster.job, {"status", "replicaStatuses"}),
            text::Json(text::Object{{"Master", text::Object{{"selector", selector + "master"}}},
                                    {"Worker", text::Object{{"selector", selector + "worker"}}}}));
  cluster.Phase("j-worker-0", "Running");
  cluster.Phase("j-worker-1", "Running");
  cluster.Settle();
  EXPECT_EQ(cluster.Conditions(), (Strings{kCreatedLine}));
  EXPECT_EQ(cluster.Counts("Worker"), "a2 s0 f0");
  cluster.Phase("j-master-0", "Running");
  cluster.TakeEvents();
  cluster.Settle();
  EXPECT_EQ(cluster.Conditions(), (Strings{kCreatedLine, kRunningLine}));
  EXPECT_EQ(cluster.Counts("Master"), "a1 s0 f0");
  cluster.Phase("j-master-0", "Succeeded", 0);
  cluster.Settle();
  EXPECT_EQ(cluster.Conditions(),
            (Strings{kCreatedLine, kRunningFalse,
                     "Succeeded=True PyTorchJobSucceeded: PyTorchJob j is successfully "
                     "completed."}));
  EXPECT_EQ(cluster.Counts("Master"), "a0 s1 f0");
  EXPECT_EQ(cluster.Counts("Worker"), "a0 s2 f0");
  EXPECT_TRUE(cluster.HasTime("completionTime"));
  EXPECT_EQ(cluster.pods.size(), 3u);
  EXPECT_EQ(cluster.services.size(), 3u);
  EXPECT_EQ(cluster.TakeEvents(),
            (Strings{"Normal ExitedWithCode: Pod: ns.j-master-0 exited with code 0",
                     "Normal PyTorchJobSucceeded: PyTorchJob j is successfully completed."}));
  EXPECT_EQ(cluster.counters,
            (std::map<Counter, int>{{Counter::kCreated, 1}, {Counter::kSucceeded, 1}}));
}

// C1.
TEST(Outcome, CountsPodsByPhase) {
  FakeCluster cluster(TestJob{.has_master = false, .workers = 8});
  cluster.Settle();
  cluster.AllRunning();
  const char* const phases[] = {"Failed",    "Failed",  "Succeeded", "Succeeded",
                                "Succeeded", "Running", "Running"};
  for (int i = 0; i < 7; ++i) cluster.Phase("j-worker-" + std::to_string(i), phases[i]);
  cluster.Phase("j-worker-7", "Pending");
  cluster.BeginDeletion("j-worker-6");
  Observed observed;
  observed.job = &cluster.job;
  for (const auto& [name, pod] : cluster.pods) observed.pods.push_back(&pod);
  const auto job = api::ParsePyTorchJob(cluster.job);
  const Children children = ReadChildren(observed, *job, TestTime());
  const Tally tally = Count(children.worker);
  EXPECT_EQ(tally.failed, 3);
  EXPECT_EQ(tally.succeeded, 3);
  EXPECT_EQ(tally.active, 1);
}

// X1.
TEST(Outcome, RetryableExitCodes) {
  for (const int code : {0, 1, 2, 3, 126, 127}) EXPECT_FALSE(IsRetryable(code)) << code;
  for (const int code : {128, 130, 137, 138, 143, 255}) EXPECT_TRUE(IsRetryable(code)) << code;
  EXPECT_TRUE(IsRetryable(std::nullopt));
}

struct Pods {
  const char* master;  // "": no master
  Strings workers;
  const char* types;                    // after the reconciliation that sees them
  const char* worker_policy = "Never";  // and the master's
  int exit_code = 1;                    // of the failed pods
};

// J16, J14.
TEST(Outcome, StatusTable) {
  const Pods cases[] = {
      {"Succeeded", {"Running"}, "Created=True Succeeded=True"},
      {"Running", {"Pending"}, "Created=True Running=True"},
      {"Failed", {"Running"}, "Created=True Failed=True"},
      {"", {"Failed"}, "Created=True Failed=True"},
      {"", {"Succeeded", "Succeeded"}, "Created=True Succeeded=True"},
      {"", {"Running"}, "Created=True Running=True"},
      {"", {"Succeeded", "Succeeded", "Running", "Running"}, "Created=True Running=True"},
      {"", {"Running", "Running", "Failed", "Failed"}, "Created=True Running=False Failed=True"},
      {"Running", {"Failed"}, "Created=True Running=False Failed=True"},
      {"", {"Succeeded", "Succeeded", "Failed", "Failed"}, "Created=True Failed=True"},
      {"Running", {"Succeeded", "Succeeded"}, "Created=True Running=True"},
      {"Failed", {"Succeeded", "Succeeded"}, "Created=True Failed=True"},
      {"Succeeded", {"Failed", "Failed"}, "Created=True Succeeded=True"},
      {"Running", {"Failed"}, "Created=True Restarting=True", "ExitCode", 130},
      {"Pending", {"Pending", "Pending"}, "Created=True"},
      {"", {"Pending", "Pending"}, "Created=True"},
      {"", {"Pending", "Running"}, "Created=True Running=True"},
      {"Succeeded", {"Failed"}, "Created=True Succeeded=True", "ExitCode", 1},
      {"Succeeded", {"Failed"}, "Created=True Succeeded=True", "OnFailure", 1},
  };
  for (const Pods& test : cases) {
    SCOPED_TRACE(std::string(test.master) + " | " + test.workers[0] + " " + test.types);
    const bool has_master = *test.master != '\0';
    FakeCluster cluster(TestJob{.has_master = has_master,
                                .workers = static_cast<int>(test.workers.size()),
                                .master_policy = test.worker_policy,
                                .worker_policy = test.worker_policy});
    cluster.Settle();
    const auto set = [&](const std::string& pod, const std::string& phase) {
      cluster.Phase(pod, phase, phase == "Failed" ? test.exit_code : phase == "Succeeded" ? 0 : -1);
    };
    if (has_master) set("j-master-0", test.master);
    for (size_t i = 0; i < test.workers.size(); ++i) {
      set("j-worker-" + std::to_string(i), test.workers[i]);
    }
    cluster.Step();
    EXPECT_EQ(cluster.Types(), test.types);
    cluster.Settle();
  }
}

struct Failing {
  const char* name;
  TestJob job;
  const char* pod;
  int exit_code;
  bool is_recreated;
  Strings conditions;  // at the end
  const char* master;
  const char* worker;
  size_t pods;
  Strings events;
};

Strings Restarted(int code) {
  return {"Normal SuccessfulDeletePod: Deleted pod: j-worker-0",
          "Normal SuccessfulCreatePod: Created pod: j-worker-0",
          "Normal ExitedWithCode: Pod: ns.j-worker-0 exited with code " + std::to_string(code),
          "Warning PyTorchJobRestarting: job j is restarting because Worker replica(s) failed.",
          "Warning PyTorchJobRestarting: PyTorchJob j is restarting because 1 Worker replica(s) "
          "failed."};
}

Strings FailedFor(const std::string& type, const std::string& pod, Strings deletions = {}) {
  Strings events = {
      "Normal ExitedWithCode: Pod: ns." + pod + " exited with code 1",
      "Normal PyTorchJobFailed: PyTorchJob j is failed because 1 " + type + " replica(s) failed."};
  events.insert(events.end(), deletions.begin(), deletions.end());
  return events;
}

Strings FailedPermanently(int code) {
  return {"Normal ExitedWithCode: Pod: ns.j-worker-0 exited with code " + std::to_string(code),
          "Warning PyTorchJobFailed: job \"j\" is failing because \"Worker\" replica(s) failed."};
}

const std::string kByNever =
    "Failed=True PyTorchJobFailed: PyTorchJob j is failed because 1 Worker replica(s) failed.";
const std::string kByExitCode =
    "Failed=True PyTorchJobFailed: job \"j\" is failing because \"Worker\" replica(s) failed.";
const std::string kByBackoff =
    "Failed=True PyTorchJobFailed: Job j has failed because it has reached the specified backoff "
    "limit";

Strings Deleted(const Strings& names) {
  Strings events;
  for (const std::string& name : names) {
    events.push_back("Normal SuccessfulDeletePod: Deleted pod: " + name);
  }
  for (const std::string& name : names) {
    events.push_back("Normal SuccessfulDeleteService: Deleted service: " + name);
  }
  return events;
}

// Golden `failures`, without the Restarting event and the missing completionTime of permanent
// exits.
std::vector<Failing> GoldenFailures() {
  const Strings running = {kCreatedLine, kRunningLine};
  const Strings failed = {kCreatedLine, kRunningFalse, kByNever};
  const Strings permanent = {kCreatedLine, kRunningFalse, kByExitCode};
  const std::string long_running = "Running=True PyTorchJobRunning: PyTorchJob ns/j is running.";
  const std::string long_running_false =
      "Running=False PyTorchJobRunning: PyTorchJob ns/j is running.";
  Strings by_backoff = {
      "Normal PyTorchJobFailed: Job j has failed because it has reached the "
      "specified backoff limit"};
  const Strings deletions[] = {Deleted({"j-master-0"}), Deleted({"j-worker-1"})};
  for (const Strings& part : deletions) {
    by_backoff.insert(by_backoff.end(), part.begin(), part.end());
  }
  Strings cleaned = Deleted({"j-master-0"});
  for (const std::string& event : Deleted({"j-worker-1"})) cleaned.push_back(event);
  return {
      {"OnFailure", {}, "j-worker-0", 1, true, running, "a1 s0 f0", "a1 s0 f0", 3, Restarted(1)},
      {"Always",
       {.worker_policy = "Always"},
       "j-worker-0",
       1,
       true,
       running,
       "a1 s0 f0",
       "a1 s0 f0",
       3,
       Restarted(1)},
      {"Never worker",
       {.worker_policy = "Never"},
       "j-worker-0",
       1,
       false,
       failed,
       "a1 s0 f0",
       "a1 s0 f1",
       3,
       FailedFor("Worker", "j-worker-0")},
      {"Never master",
       {.master_policy = "Never"},
       "j-master-0",
       1,
       false,
       {kCreatedLine, kRunningFalse,
        "Failed=True PyTorchJobFailed: PyTorchJob j is failed because 1 Master replica(s) "
        "failed."},
       "a0 s0 f1",
       "a2 s0 f0",
       3,
       FailedFor("Master", "j-master-0")},
      {"Never worker, Running",
       {.worker_policy = "Never", .run_policy = R"({"cleanPodPolicy":"Running"})"},
       "j-worker-0",
       1,
       false,
       failed,
       "a1 s0 f0",
       "a1 s0 f1",
       1,
       FailedFor("Worker", "j-worker-0", cleaned)},
      {"ExitCode 1",
       {.worker_policy = "ExitCode"},
       "j-worker-0",
       1,
       false,
       permanent,
       "a1 s0 f0",
       "a1 s0 f1",
       3,
       FailedPermanently(1)},
      {"ExitCode 137",
       {.worker_policy = "ExitCode"},
       "j-worker-0",
       137,
       true,
       running,
       "a1 s0 f0",
       "a1 s0 f0",
       3,
       Restarted(137)},
      {"ExitCode 127",
       {.worker_policy = "ExitCode"},
       "j-worker-0",
       127,
       false,
       permanent,
       "a1 s0 f0",
       "a1 s0 f1",
       3,
       FailedPermanently(127)},
      {"ExitCode 128",
       {.worker_policy = "ExitCode"},
       "j-worker-0",
       128,
       true,
       running,
       "a1 s0 f0",
       "a1 s0 f0",
       3,
       Restarted(128)},
      {"default policy",
       {.master_policy = "", .worker_policy = ""},
       "j-worker-0",
       1,
       true,
       running,
       "a1 s0 f0",
       "a1 s0 f0",
       3,
       Restarted(1)},
      {"worker only",
       {.has_master = false},
       "j-worker-0",
       1,
       true,
       {kCreatedLine, long_running},
       "a0 s0 f0",
       "a1 s0 f0",
       2,
       Restarted(1)},
      {"elastic Never",
       {.has_master = false,
        .worker_policy = "Never",
        .spec = R"({"elasticPolicy":{"minReplicas":1,"maxReplicas":2}})"},
       "j-worker-1",
       1,
       false,
       {kCreatedLine, long_running_false, kByNever},
       "a0 s0 f0",
       "a1 s0 f1",
       2,
       FailedFor("Worker", "j-worker-1")},
      {"backoffLimit 0",
       {.run_policy = R"({"backoffLimit":0})"},
       "j-worker-0",
       1,
       false,
       {kCreatedLine, kRunningFalse, kByBackoff},
       "a0 s0 f0",
       "a0 s0 f1",
       1,
       by_backoff},
      {"backoffLimit 1",
       {.run_policy = R"({"backoffLimit":1})"},
       "j-worker-0",
       1,
       true,
       running,
       "a1 s0 f0",
       "a1 s0 f0",
       3,
       Restarted(1)},
  };
}

TEST(Outcome, FailingPodsUnderEveryPolicy) {
  for (const Failing& test : GoldenFailures()) {
    SCOPED_TRACE(test.name);
    FakeCluster cluster(test.job);
    cluster.Settle();
    cluster.AllRunning();
    cluster.Settle();
    cluster.TakeEvents();
    const std::string uid = cluster.Uid(test.pod);
    cluster.Phase(test.pod, "Failed", test.exit_code);
    cluster.Settle();
    EXPECT_EQ(cluster.pods.contains(test.pod) && cluster.Uid(test.pod) != uid, test.is_recreated);
    EXPECT_EQ(cluster.Conditions(), test.conditions);
    EXPECT_EQ(cluster.Counts("Master"), test.master);
    EXPECT_EQ(cluster.Counts("Worker"), test.worker);
    EXPECT_EQ(cluster.pods.size(), test.pods);
    EXPECT_EQ(cluster.services.size(), test.pods);
    Strings events = cluster.TakeEvents();
    Strings expected = test.events;
    std::sort(events.begin(), events.end());
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(events, expected);
    const bool has_failed = cluster.Types().find("Failed=True") != std::string::npos;
    EXPECT_EQ(cluster.HasTime("completionTime"), has_failed);
    EXPECT_EQ(cluster.counters[Counter::kFailed], has_failed ? 1 : 0);
    EXPECT_EQ(cluster.counters[Counter::kRestarted], test.is_recreated ? 1 : 0);
  }
}

// O16, and J10.
TEST(Outcome, RestartingStandsUntilTheMasterIsSeenRunningAgain) {
  FakeCluster cluster(TestJob{.worker_policy = "ExitCode"});
  cluster.Settle();
  cluster.AllRunning();
  cluster.Settle();
  cluster.Phase("j-worker-0", "Failed", 130);
  cluster.Step();
  EXPECT_FALSE(cluster.pods.contains("j-worker-0"));
  EXPECT_EQ(cluster.Conditions(),
            (Strings{kCreatedLine,
                     "Restarting=True PyTorchJobRestarting: job j is restarting because Worker "
                     "replica(s) failed."}));
  EXPECT_EQ(cluster.Counts("Worker"), "a1 s0 f1");
  cluster.Settle();
  EXPECT_EQ(cluster.Conditions(), (Strings{kCreatedLine, kRunningLine}));
  cluster.Phase("j-master-0", "Succeeded", 0);
  cluster.Settle();
  EXPECT_EQ(cluster.Types(), "Created=True Running=False Succeeded=True");
  EXPECT_EQ(cluster.Counts("Worker"), "a0 s1 f0");
}

TEST(Outcome, RestartingIsNoLongerTrueOnceTheMasterHasSucceeded) {
  FakeCluster cluster(TestJob{});
  cluster.Settle();
  cluster.Phase("j-worker-0", "Failed", 1);
  cluster.Step();
  cluster.Phase("j-master-0", "Succeeded", 0);
  cluster.Settle();
  EXPECT_EQ(cluster.Types(), "Created=True Restarting=False Succeeded=True");
}

TEST(Outcome, TwoTypesThatFailTogetherAreDistinguished) {
  FakeCluster cluster(TestJob{.workers = 3});
  cluster.Settle();
  cluster.TakeEvents();
  for (const char* const pod : {"j-master-0", "j-worker-0", "j-worker-2"}) {
    cluster.Phase(pod, "Failed", 1);
  }
  cluster.Step();
  const Strings events = cluster.TakeEvents();
  const Strings restarting(events.end() - 4, events.end());
  EXPECT_EQ(restarting,
            (Strings{"Warning PyTorchJobRestarting: job j is restarting because Master replica(s) "
                     "failed.",
                     "Warning PyTorchJobRestarting: PyTorchJob j is restarting because 1 Master "
                     "replica(s) failed.",
                     "Warning PyTorchJobRestarting: job j is restarting because Worker replica(s) "
                     "failed.",
                     "Warning PyTorchJobRestarting: PyTorchJob j is restarting because 2 Worker "
                     "replica(s) failed."}));
  EXPECT_EQ(cluster.counters[Counter::kRestarted], 3);
}

TEST(Outcome, AFailedPodThatIsOnItsWayOutIsNotSpokenOfAgain) {
  FakeCluster cluster(TestJob{});
  cluster.is_graceful = true;
  cluster.Settle();
  cluster.Phase("j-worker-0", "Failed", 1);
  cluster.Step();
  ASSERT_TRUE(cluster.pods.contains("j-worker-0"));
  cluster.TakeEvents();
  for (int i = 0; i < 3; ++i) cluster.Step();
  EXPECT_TRUE(cluster.TakeEvents().empty());
  EXPECT_EQ(cluster.counters[Counter::kRestarted], 1);
  cluster.FinishDeletions();
  cluster.Settle();
  EXPECT_EQ(cluster.TakeEvents(), (Strings{"Normal SuccessfulCreatePod: Created pod: j-worker-0"}));
}

TEST(Outcome, UnderNeverARunningPodThatSomebodyDeletesFailsTheJob) {
  FakeCluster cluster(TestJob{.worker_policy = "Never"});
  cluster.Settle();
  cluster.AllRunning();
  cluster.Settle();
  cluster.now += std::chrono::minutes(5);
  cluster.BeginDeletion("j-worker-1");
  cluster.Settle();
  EXPECT_EQ(cluster.Types(), "Created=True Running=False Failed=True");
}

TEST(Outcome, PodsThatAreStillGoingFromBeforeTheResumptionDoNotFailTheJob) {
  FakeCluster cluster(TestJob{.master_policy = "Never", .worker_policy = "Never"});
  cluster.is_graceful = true;
  cluster.Settle();
  cluster.AllRunning();
  cluster.Settle();
  cluster.PatchJob({"spec", "runPolicy", "suspend"}, "true");
  cluster.Settle();
  cluster.PatchJob({"spec", "runPolicy", "suspend"}, "false");
  cluster.Settle();
  EXPECT_EQ(cluster.Types(), "Created=True Running=False Suspended=False");
  for (const auto& [name, pod] : cluster.pods) cluster.Phase(name, "Failed", 143);
  cluster.Settle();
  EXPECT_EQ(cluster.Types(), "Created=True Running=False Suspended=False");
  cluster.FinishDeletions();
  cluster.Settle();
  cluster.AllRunning();
  cluster.Settle();
  EXPECT_EQ(cluster.Types(), "Created=True Suspended=False Running=True");
}

// A kubelet requests the deletion once more at the end, at a time after the resumption. The program
// may have saved its state and exited with 0.
TEST(Outcome, WhatOldPodsComeToAfterTheResumptionSaysNothing) {
  for (const char* const policy : {"Never", "OnFailure", "ExitCode"}) {
    for (const int code : {0, 1, 143}) {
      SCOPED_TRACE(std::string(policy) + " " + std::to_string(code));
      FakeCluster cluster(TestJob{
          .master_policy = policy, .worker_policy = policy, .run_policy = R"({"backoffLimit":0})"});
      cluster.is_graceful = true;
      cluster.Settle();
      cluster.AllRunning();
      cluster.Settle();
      cluster.PatchJob({"spec", "runPolicy", "suspend"}, "true");
      cluster.Settle();
      cluster.now += std::chrono::seconds(5);
      cluster.PatchJob({"spec", "runPolicy", "suspend"}, "false");
      cluster.Settle();
      for (const auto& [name, pod] : cluster.pods) {
        EXPECT_NE(text::Find(pod, {"metadata", "deletionTimestamp"}), nullptr);
      }
      cluster.now += std::chrono::seconds(25);
      for (const std::string& name : FakeCluster::Names(cluster.pods)) {
        cluster.EndDeletion(name, code);
        cluster.Settle();
      }
      EXPECT_EQ(cluster.Types(), "Created=True Running=False Suspended=False");
      EXPECT_EQ(cluster.Counts("Worker"), "a0 s0 f0");
      cluster.FinishDeletions();
      cluster.Settle();
      cluster.AllRunning();
      cluster.Settle();
      EXPECT_EQ(cluster.Types(), "Created=True Suspended=False Running=True");
      cluster.Phase("j-master-0", "Succeeded", 0);
      cluster.Settle();
      EXPECT_EQ(cluster.Types(), "Created=True Suspended=False Running=False Succeeded=True");
    }
  }
}

// All within one second: the runs are distinguished nevertheless.
TEST(Outcome, SuspendedAndResumedTwiceInASecond) {
  FakeCluster cluster(TestJob{.master_policy = "Never", .worker_policy = "Never"});
  cluster.is_graceful = true;
  cluster.Settle();
  for (int round = 0; round < 3; ++round) {
    cluster.AllRunning();
    cluster.Settle();
    cluster.PatchJob({"spec", "runPolicy", "suspend"}, "true");
    cluster.Settle();
    cluster.PatchJob({"spec", "runPolicy", "suspend"}, "false");
    cluster.Settle();
    for (const std::string& name : FakeCluster::Names(cluster.pods)) cluster.EndDeletion(name, 143);
    cluster.Settle();
    EXPECT_EQ(cluster.Types().find("Failed"), std::string::npos) << round;
    cluster.FinishDeletions();
    cluster.Settle();
    EXPECT_EQ(cluster.pods.size(), 3U);
  }
  cluster.AllRunning();
  cluster.Settle();
  cluster.BeginDeletion("j-worker-0");
  cluster.Settle();
  EXPECT_NE(cluster.Types().find("Failed=True"), std::string::npos) << "that one is of this run";
}

// The pods were asked to stop, but the job was resumed before that was reported.
TEST(Outcome, ASuspensionIsOnRecordBeforeAPodIsTouched) {
  FakeCluster cluster(TestJob{.master_policy = "Never", .worker_policy = "Never"});
  cluster.Settle();
  cluster.AllRunning();
  cluster.Settle();
  cluster.PatchJob({"spec", "runPolicy", "suspend"}, "true");
  const Plan first = cluster.Step();
  EXPECT_TRUE(first.writes.empty());
  EXPECT_TRUE(first.status);
  EXPECT_FALSE(cluster.Step().writes.empty());
}

TEST(Outcome, SurplusPodsOfAShrinkingJobFailNothing) {
  FakeCluster cluster(TestJob{.has_master = false, .workers = 3, .worker_policy = "Never"});
  cluster.is_graceful = true;
  cluster.Settle();
  cluster.AllRunning();
  cluster.Phase("j-worker-1", "Pending");
  cluster.Settle();
  cluster.PatchJob({"spec", "pytorchReplicaSpecs", "Worker", "replicas"}, "2");
  cluster.Settle();
  EXPECT_EQ(cluster.Counts("Worker"), "a1 s0 f0");
  EXPECT_EQ(cluster.Types(), "Created=True Running=True");
}

// E6, O17: any worker of an elastic job.
TEST(Outcome, OneWorkerIsEnoughForAnElasticJob) {
  FakeCluster cluster(TestJob{.has_master = false,
                              .spec = R"({"elasticPolicy":{"minReplicas":1,"maxReplicas":3}})"});
  cluster.Settle();
  cluster.Phase("j-worker-0", "Running");
  cluster.Settle();
  cluster.TakeEvents();
  cluster.Phase("j-worker-1", "Succeeded", 0);
  cluster.Settle();
  EXPECT_EQ(cluster.Conditions(),
            (Strings{kCreatedLine, "Running=False PyTorchJobRunning: PyTorchJob ns/j is running.",
                     "Succeeded=True PyTorchJobSucceeded: PyTorchJob ns/j successfully "
                     "completed."}));
  EXPECT_EQ(cluster.Counts("Worker"), "a0 s2 f0");
  EXPECT_EQ(cluster.TakeEvents(),
            (Strings{"Normal ExitedWithCode: Pod: ns.j-worker-1 exited with code 0",
                     "Normal PyTorchJobSucceeded: PyTorchJob ns/j successfully completed."}));
}

TEST(Outcome, AJobScaledToNothingHasNotSucceeded) {
  FakeCluster cluster(TestJob{.has_master = false});
  cluster.Settle();
  cluster.PatchJob({"spec", "pytorchReplicaSpecs", "Worker", "replicas"}, "0");
  cluster.Settle();
  EXPECT_EQ(cluster.Types(), "Created=True");
  EXPECT_TRUE(cluster.pods.empty());
}

}  // namespace
}  // namespace reconcile
