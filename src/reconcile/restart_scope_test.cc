#include "reconcile/restart_scope.h"

#include <algorithm>

#include "reconcile/testing/fake_cluster.h"

namespace reconcile {
namespace {

TestJob ScopedJob(const std::string& scope, const std::string& run_policy = "{}") {
  return TestJob{.workers = 2,
                 .master_policy = "ExitCode",
                 .worker_policy = "ExitCode",
                 .run_policy = run_policy,
                 .metadata = R"({"annotations":{"muster.dev/restart-scope":")" + scope + R"("}})"};
}

std::string OnRecord(const FakeCluster& cluster, std::string_view type = kRestarts) {
  const text::Array* const conditions = text::FindArray(cluster.job, {"status", "conditions"});
  for (const text::Json& condition : *conditions) {
    if (text::GetString(condition, {"type"}) != type) continue;
    // The last condition is the job's state.
    EXPECT_LT(&condition - conditions->data(), 2);
    return std::string(text::GetString(condition, {"message"}));
  }
  return "";
}

// The conditions without the two that count.
std::string States(const FakeCluster& cluster) {
  std::string types = cluster.Types();
  for (const std::string counter : {"Restarts=True ", "Disruptions=True "}) {
    if (types.starts_with(counter)) types.erase(0, counter.size());
  }
  return types;
}

std::map<std::string, std::string> Uids(const FakeCluster& cluster) {
  std::map<std::string, std::string> uids;
  for (const auto& [name, pod] : cluster.pods) uids[name] = cluster.Uid(name);
  return uids;
}

// The names of the pods that have been replaced.
Strings Replaced(const std::map<std::string, std::string>& before, const FakeCluster& cluster) {
  Strings replaced;
  for (const auto& [name, uid] : Uids(cluster)) {
    if (before.contains(name) && before.at(name) != uid) replaced.push_back(name);
  }
  return replaced;
}

struct ScopeCase {
  const char* scope;
  const char* fails;
  Strings replaced;
  const char* record;
};

TEST(RestartScope, SaysWhatAFailedPodTakesWithIt) {
  const ScopeCase cases[] = {
      {"pod", "j-worker-1", {"j-worker-1"}, "worker-1=1"},
      {"replica", "j-worker-1", {"j-worker-0", "j-worker-1"}, "worker=1"},
      {"replica", "j-master-0", {"j-master-0"}, "master=1"},
      {"job", "j-worker-1", {"j-master-0", "j-worker-0", "j-worker-1"}, "job=1"},
      {"elsewhere", "j-worker-1", {"j-worker-1"}, ""},
  };
  for (const ScopeCase& entry : cases) {
    SCOPED_TRACE(std::string(entry.scope) + " " + entry.fails);
    FakeCluster cluster(ScopedJob(entry.scope));
    cluster.Settle();
    cluster.AllRunning();
    cluster.Settle();
    const auto before = Uids(cluster);
    cluster.Phase(entry.fails, "Failed", 137);
    cluster.Settle();
    EXPECT_EQ(Replaced(before, cluster), entry.replaced);
    EXPECT_EQ(cluster.pods.size(), 3U);
    EXPECT_EQ(OnRecord(cluster), entry.record);
    EXPECT_EQ(cluster.counters[Counter::kRestarted], 1);
  }
}

TEST(RestartScope, IsOnRecordBeforeAPodIsTouched) {
  FakeCluster cluster(ScopedJob("job"));
  cluster.Settle();
  cluster.Phase("j-worker-0", "Failed", 137);
  const Plan first = cluster.Step();
  EXPECT_TRUE(first.writes.empty());
  EXPECT_TRUE(first.events.empty());
  EXPECT_EQ(OnRecord(cluster), "job=1");
  // The next reconciliation goes on from there and counts nothing twice.
  const Plan second = cluster.Step();
  EXPECT_EQ(second.writes.size(), 3U);
  cluster.Settle();
  EXPECT_EQ(OnRecord(cluster), "job=1");
}

TEST(RestartScope, NewPodsWaitForAllOldOnesToBeGone) {
  FakeCluster cluster(ScopedJob("job"));
  cluster.is_graceful = true;
  cluster.Settle();
  cluster.AllRunning();
  cluster.Settle();
  cluster.Phase("j-worker-0", "Failed", 137);
  cluster.Settle();
  EXPECT_EQ(States(cluster), "Created=True Restarting=True");
  cluster.pods.erase("j-master-0");
  cluster.Settle();
  EXPECT_FALSE(cluster.pods.contains("j-master-0"));
  cluster.FinishDeletions();
  cluster.Settle();
  EXPECT_EQ(cluster.pods.size(), 3U);
  for (const auto& [name, pod] : cluster.pods) {
    EXPECT_EQ(text::GetString(pod, {"metadata", "annotations", api::kRestartsAnnotation}), "1");
  }
}

TEST(RestartScope, BackoffLimitCountsRestarts) {
  for (const char* const scope : {"pod", "replica", "job"}) {
    SCOPED_TRACE(scope);
    FakeCluster cluster(ScopedJob(scope, R"({"backoffLimit":2})"));
    cluster.Settle();
    for (int failure = 1; failure <= 3; ++failure) {
      cluster.AllRunning();
      cluster.Settle();
      cluster.Phase(failure == 2 ? "j-worker-0" : "j-worker-1", "Failed", 137);
      cluster.Settle();
      EXPECT_EQ(cluster.Types().find("Failed") != std::string::npos, failure == 3) << failure;
    }
    EXPECT_EQ(cluster.Conditions().back(),
              "Failed=True PyTorchJobFailed: Job j has failed because it has reached the specified "
              "backoff limit");
    EXPECT_EQ(FakeCluster::Names(cluster.pods), Strings{"j-worker-1"}) << "its log tells why";
  }
}

TEST(RestartScope, WithoutOneReplacedPodsAreNotCounted) {
  TestJob job = ScopedJob("", R"({"backoffLimit":2})");
  FakeCluster cluster(job);
  cluster.Settle();
  for (int failure = 0; failure < 5; ++failure) {
    cluster.AllRunning();
    cluster.Settle();
    cluster.Phase("j-worker-1", "Failed", 137);
    cluster.Settle();
  }
  EXPECT_EQ(cluster.Types().find("Failed"), std::string::npos);
}

TEST(RestartScope, CountsOnFromTheAnnotationOfAnOlderOperator) {
  FakeCluster cluster(ScopedJob("job", R"({"backoffLimit":3})"));
  cluster.PatchJob({"metadata", "annotations", "muster.dev/restarts"}, R"("job=2")");
  cluster.Settle();
  cluster.AllRunning();
  cluster.Phase("j-worker-1", "Failed", 137);
  cluster.Settle();
  EXPECT_EQ(OnRecord(cluster), "job=3");
}

TEST(RestartScope, TakesARecordThatIsNone) {
  FakeCluster cluster(ScopedJob("pod"));
  cluster.PatchJob({"metadata", "annotations", "muster.dev/restarts"},
                   R"("worker-1=many,=3,,x,worker-0=-7,job=99999999999")");
  cluster.Settle();
  cluster.AllRunning();
  cluster.Phase("j-worker-1", "Failed", 137);
  cluster.Settle();
  EXPECT_EQ(cluster.pods.size(), 3U);
}

TEST(Disruption, RestartsTheScopeAtOnceAndIsNotCounted) {
  FakeCluster cluster(ScopedJob("job", R"({"backoffLimit":0})"));
  cluster.is_graceful = true;
  cluster.Settle();
  for (int round = 1; round <= 3; ++round) {
    cluster.AllRunning();
    cluster.Settle();
    cluster.TakeEvents();
    const auto before = Uids(cluster);
    cluster.Evict("j-worker-1");
    cluster.Settle();
    const std::string count = std::to_string(round);
    EXPECT_EQ(OnRecord(cluster), "job=" + count);
    EXPECT_EQ(OnRecord(cluster, kDisruptions), "job=" + count);
    EXPECT_NE(cluster.Types().find("Restarting=True"), std::string::npos);
    const Strings events = cluster.TakeEvents();
    EXPECT_EQ(std::count(events.begin(), events.end(),
                         "Warning Disrupted: Pod j-worker-1 was evicted (Eviction API: evicting)"),
              1);
    EXPECT_EQ(std::count(events.begin(), events.end(),
                         "Warning PyTorchJobRestarting: job j is restarting because pod j-worker-1 "
                         "was evicted (Eviction API: evicting)."),
              1);
    // None of these exits is the outcome of the job.
    cluster.EndDeletion("j-master-0", round == 1 ? 0 : 1);
    cluster.EndDeletion("j-worker-0", 1);
    cluster.Settle();
    cluster.EndDeletion("j-worker-1", 143);
    cluster.Settle();
    EXPECT_TRUE(cluster.TakeEvents().empty());
    cluster.FinishDeletions();
    cluster.Settle();
    EXPECT_EQ(Replaced(before, cluster), (Strings{"j-master-0", "j-worker-0", "j-worker-1"}));
  }
  cluster.AllRunning();
  cluster.Settle();
  cluster.Phase("j-worker-0", "Failed", 137);
  cluster.Settle();
  EXPECT_NE(cluster.Types().find("Failed=True"), std::string::npos);
}

TEST(Disruption, CountsWhereTheJobSaysSo) {
  TestJob built = ScopedJob("job", R"({"backoffLimit":1})");
  built.metadata =
      R"({"annotations":{"muster.dev/restart-scope":"job","muster.dev/count-disruptions":"true"}})";
  FakeCluster cluster(built);
  cluster.Settle();
  for (int round = 1; round <= 2; ++round) {
    cluster.AllRunning();
    cluster.Settle();
    cluster.Evict("j-worker-1");
    cluster.Settle();
    cluster.FinishDeletions();
    cluster.Settle();
    EXPECT_EQ(cluster.Types().find("Failed=True") != std::string::npos, round == 2) << round;
  }
}

// A node under pressure does not delete the pod; the exit code is the program's own.
TEST(Disruption, OfANodeReplacesWhateverTheExitCode) {
  for (const char* const scope : {"", "job"}) {
    FakeCluster cluster(ScopedJob(scope, R"({"backoffLimit":0})"));
    cluster.Settle();
    cluster.AllRunning();
    cluster.Settle();
    const auto before = Uids(cluster);
    cluster.Disrupt("j-worker-0", "TerminationByKubelet", "The node was low on memory.");
    cluster.End("j-worker-0", 1);
    cluster.Settle();
    EXPECT_EQ(Replaced(before, cluster).size(), *scope == '\0' ? 1U : 3U) << scope;
    const Strings events = cluster.TakeEvents();
    EXPECT_EQ(
        std::count(events.begin(), events.end(),
                   "Warning Disrupted: Pod j-worker-0 was ended by its node (The node was low "
                   "on memory.)"),
        1);
  }
}

// Volcano uses a reason of its own, which the kubelet soon overwrites.
TEST(Disruption, ByVolcanoIsOne) {
  FakeCluster cluster(ScopedJob("job"));
  cluster.is_graceful = true;
  cluster.Settle();
  cluster.AllRunning();
  cluster.Settle();
  text::Set(cluster.pods.at("j-worker-0"), {"status", "conditions"},
            Parse(R"([{"type":"Ready","status":"False","reason":"Evict",
                       "message":"Pod is evicted, because of preempt"}])"));
  cluster.BeginDeletion("j-worker-0");
  cluster.Step();
  text::Erase(cluster.pods.at("j-worker-0"), {"status", "conditions"});
  cluster.Settle();
  EXPECT_EQ(OnRecord(cluster), "job=1");
  const Strings events = cluster.TakeEvents();
  EXPECT_EQ(std::count(events.begin(), events.end(),
                       "Warning Disrupted: Pod j-worker-0 was evicted by its scheduler (Pod is "
                       "evicted, because of preempt)"),
            1);
}

TEST(Disruption, OfAMasterIsNoSuccess) {
  FakeCluster cluster(TestJob{});
  cluster.Settle();
  cluster.AllRunning();
  cluster.Settle();
  cluster.Evict("j-master-0");
  cluster.Settle();
  cluster.now += std::chrono::seconds(5);
  cluster.EndDeletion("j-master-0", 0);
  cluster.Settle();
  EXPECT_EQ(States(cluster), "Created=True Restarting=True");
  cluster.FinishDeletions();
  cluster.Settle();
  EXPECT_EQ(cluster.pods.size(), 3U);
  // It had ended before: that end counts.
  cluster.AllRunning();
  cluster.Settle();
  cluster.End("j-master-0", 0);
  cluster.now += std::chrono::seconds(5);
  cluster.Evict("j-master-0");
  cluster.Settle();
  EXPECT_EQ(States(cluster), "Created=True Running=False Succeeded=True");
}

TEST(Disruption, UnderNeverFailsTheJobAndIsNamed) {
  Options options;
  options.reports_first_failure = true;
  FakeCluster cluster(TestJob{.master_policy = "Never", .worker_policy = "Never"}, options);
  cluster.Settle();
  cluster.AllRunning();
  cluster.Settle();
  cluster.Evict("j-worker-0");
  cluster.Settle();
  EXPECT_TRUE(cluster.Conditions().back().ends_with(
      "failed. rank 1 (j-worker-0) was evicted (Eviction API: evicting)"))
      << cluster.Conditions().back();
}

struct TwoEnds {
  const char* scope;
  int between;  // seconds from the worker's kill to the master's exit
  const char* types;
};

TEST(RestartScope, TheFirstOfTwoEndsDecides) {
  const TwoEnds cases[] = {
      {"job", 3, "Created=True Restarting=True"},
      {"job", 0, "Created=True Restarting=True"},
      {"job", -3, "Created=True Running=False Failed=True"},
      {"replica", 3, "Created=True Running=False Failed=True"},
      {"", 3, "Created=True Running=False Failed=True"},
  };
  for (const TwoEnds& test : cases) {
    SCOPED_TRACE(std::string(test.scope) + " " + std::to_string(test.between));
    FakeCluster cluster(ScopedJob(test.scope, R"({"backoffLimit":9})"));
    cluster.Settle();
    cluster.AllRunning();
    cluster.Settle();
    cluster.now += std::chrono::seconds(10);
    cluster.End("j-worker-1", 137);
    cluster.now += std::chrono::seconds(test.between);
    cluster.End("j-master-0", 1);
    cluster.now += std::chrono::seconds(10);
    cluster.Settle();
    EXPECT_EQ(States(cluster), test.types);
  }
}

// The restart is recorded, and another pod ends by itself before it is asked to stop.
TEST(RestartScope, AnEndBetweenTheRecordAndTheDeletionFailsNothing) {
  FakeCluster cluster(ScopedJob("job", R"({"backoffLimit":1})"));
  cluster.Settle();
  cluster.AllRunning();
  cluster.Settle();
  cluster.Phase("j-worker-0", "Failed", 137);
  cluster.Step();
  cluster.Phase("j-master-0", "Failed", 1);
  cluster.Settle();
  EXPECT_EQ(States(cluster), "Created=True Restarting=True");
  EXPECT_EQ(cluster.pods.size(), 3U);
}

TEST(MasterPort, FollowsFromTheJob) {
  TestJob built;
  built.metadata = R"({"annotations":{"muster.dev/master-port":"auto"}})";
  FakeCluster cluster(built);
  cluster.Settle();
  const auto port_of = [](const FakeCluster& in, const std::string& pod) {
    for (const text::Json& entry : *text::FindArray(
             *text::FindArray(in.pods.at(pod), {"spec", "containers"})->begin(), {"env"})) {
      if (text::GetString(entry, {"name"}) == "MASTER_PORT") {
        return std::string(text::GetString(entry, {"value"}));
      }
    }
    return std::string();
  };
  const std::string port = port_of(cluster, "j-master-0");
  EXPECT_GE(std::stoi(port), 20000);
  EXPECT_LT(std::stoi(port), 30000);
  EXPECT_EQ(port_of(cluster, "j-worker-1"), port);
  EXPECT_EQ(std::to_string(*text::GetInt(
                *text::FindArray(cluster.services.at("j-master-0"), {"spec", "ports"})->begin(),
                {"port"})),
            port);
  built.name = "another";
  FakeCluster other(built);
  other.Settle();
  EXPECT_NE(port_of(other, "another-master-0"), port);
  built.metadata = R"({"annotations":{"muster.dev/master-port":"29500"}})";
  FakeCluster chosen(built);
  chosen.Settle();
  EXPECT_EQ(port_of(chosen, "another-master-0"), "29500");
  built.metadata = R"({"annotations":{"muster.dev/master-port":"70000"}})";
  FakeCluster nonsense(built);
  nonsense.Settle();
  EXPECT_EQ(port_of(nonsense, "another-master-0"), "23456");
}

TEST(InitStep, WaitsForThePortInTheJobsOwnImage) {
  TestJob built;
  built.metadata = R"({"annotations":{"muster.dev/init-step":"port"}})";
  FakeCluster cluster(built);
  cluster.Settle();
  const text::Json* const list =
      text::Find(cluster.pods.at("j-worker-0"), {"spec", "initContainers"});
  ASSERT_NE(list, nullptr);
  const text::Json& container = list->get_array().front();
  EXPECT_EQ(text::GetString(container, {"image"}), "registry.local/train:1");
  EXPECT_EQ(text::GetBool(container, {"securityContext", "allowPrivilegeEscalation"}), false);
  const text::Array& command = *text::FindArray(container, {"command"});
  EXPECT_EQ(command[3], "j-master-0");
  EXPECT_EQ(command[4], "23456");
  EXPECT_EQ(text::Find(cluster.pods.at("j-master-0"), {"spec", "initContainers"}), nullptr);
}

TEST(InitStep, IsLeftOutOnRequest) {
  Options options;
  options.init_step = "none";
  FakeCluster cluster(TestJob{}, options);
  cluster.Settle();
  EXPECT_EQ(text::Find(cluster.pods.at("j-worker-0"), {"spec", "initContainers"}), nullptr);
  TestJob built;
  built.metadata = R"({"annotations":{"muster.dev/init-step":"dns"}})";
  FakeCluster asked(built, options);
  asked.Settle();
  EXPECT_NE(text::Find(asked.pods.at("j-worker-0"), {"spec", "initContainers"}), nullptr);
}

// What the kubelet says of how `pod` ended.
void Terminate(FakeCluster& cluster, const std::string& pod, int exit_code,
               const std::string& details) {
  cluster.Phase(pod, "Failed", exit_code);
  text::Json terminated = Parse(details);
  text::Set(terminated, {"exitCode"}, exit_code);
  text::Json& status = text::Ensure(cluster.pods.at(pod), {"status"});
  text::Ensure(status, {"containerStatuses"}).as_array()[0].as_object()["state"] =
      text::Object{{"terminated", std::move(terminated)}};
}

// The message of Failed, which its event tells too, after j-worker-1 has ended in that way.
std::string MessageAfter(int exit_code, const std::string& details, const TestJob& job) {
  Options options;
  options.reports_first_failure = true;
  FakeCluster cluster(job, options);
  cluster.Settle();
  cluster.AllRunning();
  cluster.Settle();
  cluster.TakeEvents();
  Terminate(cluster, "j-worker-1", exit_code, details);
  cluster.Settle();
  std::string message = cluster.Conditions().back();
  const std::string_view head = "Failed=True PyTorchJobFailed: ";
  EXPECT_TRUE(message.starts_with(head)) << message;
  message = message.substr(head.size());
  const Strings events = cluster.TakeEvents();
  const bool is_told = std::any_of(events.begin(), events.end(), [&](const std::string& event) {
    return event.ends_with(" PyTorchJobFailed: " + message);
  });
  EXPECT_TRUE(is_told) << message;
  return message;
}

const TestJob kNeverJob{.master_policy = "Never", .worker_policy = "Never"};
const TestJob kExitCodeJob{.worker_policy = "ExitCode"};
const TestJob kLimitedJob{.run_policy = R"({"backoffLimit":0})"};
const std::string kNeverText = "PyTorchJob j is failed because 1 Worker replica(s) failed.";
const std::string kExitCodeText = "job \"j\" is failing because \"Worker\" replica(s) failed.";
const std::string kLimitText =
    "Job j has failed because it has reached the specified backoff limit";

// For clients that compare messages exactly. "Error" is what kubelets say of every exit code.
TEST(FirstFailure, OfWhichOnlyTheExitCodeIsKnownLeavesV1sText) {
  for (const char* const details :
       {"{}", R"({"reason":"Error"})", R"({"reason":"Error","message":"\n"})"}) {
    for (const int code : {3, 137}) {
      EXPECT_EQ(MessageAfter(code, details, kNeverJob), kNeverText);
      EXPECT_EQ(MessageAfter(code, details, kLimitedJob), kLimitText);
    }
    EXPECT_EQ(MessageAfter(3, details, kExitCodeJob), kExitCodeText);
  }
}

TEST(FirstFailure, OfWhichMoreIsKnownIsReportedAfterV1sText) {
  EXPECT_EQ(MessageAfter(137, R"({"reason":"OOMKilled"})", kNeverJob),
            kNeverText + " rank 2 (j-worker-1) was killed by SIGKILL (OOMKilled: out of memory)");
  EXPECT_EQ(MessageAfter(137, R"({"reason":"OOMKilled"})", kLimitedJob),
            kLimitText + ": rank 2 (j-worker-1) was killed by SIGKILL (OOMKilled: out of memory)");
  EXPECT_EQ(MessageAfter(3, R"({"reason":"StartError"})", kExitCodeJob),
            kExitCodeText + " rank 2 (j-worker-1) exited with code 3: StartError");
  EXPECT_EQ(MessageAfter(0, R"({"signal":11})", kNeverJob),
            kNeverText + " rank 2 (j-worker-1) segfaulted (SIGSEGV)");
}

TEST(FirstFailure, ThatALimitFollowsKeepsItsPod) {
  Options options;
  options.reports_first_failure = true;
  FakeCluster cluster(kLimitedJob, options);
  cluster.Settle();
  cluster.AllRunning();
  cluster.Settle();
  cluster.Phase("j-worker-1", "Failed", 137);
  cluster.Settle();
  EXPECT_EQ(FakeCluster::Names(cluster.pods), Strings{"j-worker-1"});
}

// The log is lost with the pod, so the job quotes it; events hold no more than one line.
TEST(FirstFailure, BringsTheLastLinesOfItsLog) {
  Options options;
  options.reports_first_failure = true;
  FakeCluster cluster(TestJob{.run_policy = R"({"backoffLimit":0})"}, options);
  cluster.Settle();
  const std::string worker = text::ToJson(cluster.pods.at("j-worker-0"));
  EXPECT_NE(worker.find(R"("terminationMessagePolicy":"FallbackToLogsOnError")"), std::string::npos)
      << worker;
  cluster.AllRunning();
  cluster.Settle();
  cluster.Phase("j-worker-1", "Failed", 1);
  text::Json& status = text::Ensure(cluster.pods.at("j-worker-1"), {"status"});
  text::Ensure(status, {"containerStatuses"}).as_array()[0].as_object()["state"] = Parse(
      R"({"terminated":{"exitCode":1,"message":"Traceback:\n  File \"t.py\"\nValueError: x\n"}})");
  cluster.Settle();
  const std::string line =
      "Job j has failed because it has reached the specified backoff limit: rank 2 (j-worker-1) "
      "exited with code 1: ValueError: x";
  EXPECT_EQ(cluster.Conditions().back(),
            "Failed=True PyTorchJobFailed: " + line +
                "\nIts last lines:\nTraceback:\n  File \"t.py\"\nValueError: x");
  const Strings events = cluster.TakeEvents();
  EXPECT_NE(std::find(events.begin(), events.end(), "Normal PyTorchJobFailed: " + line),
            events.end());
  EXPECT_EQ(States(cluster), "Created=True Running=False Failed=True");
}

TEST(FirstFailure, LeavesATemplatesOwnTerminationMessagePolicy) {
  Options options;
  options.reports_first_failure = true;
  FakeCluster cluster(
      TestJob{.workers = -1,
              .pod_template = R"({"spec":{"containers":[{"name":"pytorch","image":"i",
                  "terminationMessagePolicy":"File"}]}})"},
      options);
  cluster.Settle();
  const std::string master = text::ToJson(cluster.pods.at("j-master-0"));
  EXPECT_NE(master.find(R"("terminationMessagePolicy":"File")"), std::string::npos) << master;
}

}  // namespace
}  // namespace reconcile
