#include "controller/loop/job_worker.h"

#include <fmt/format.h>

#include <set>

#include "api/job/training_summary.h"
#include "api/job/wait_for.h"
#include "api/object.h"
#include "controller/loop/projection.h"
#include "controller/testing/simulated_cluster.h"

namespace controller {
namespace {

// The simulated server as a transport, with one autoscaler.
class DirectLink final : public cluster::Transport {
 public:
  // `refusal`: the answer to the creation of a pod; "" allows it.
  DirectLink(SimulatedServer& server, std::string& autoscaler, int& autoscaler_requests,
             std::string& refusal)
      : server_(server),
        autoscaler_(autoscaler),
        autoscaler_requests_(autoscaler_requests),
        refusal_(refusal) {}
  base::Result<net::HttpResponse> Send(const net::HttpRequest& request) override {
    if (request.method == "POST" && !refusal_.empty() &&
        request.target.find("/pods") != std::string::npos) {
      return net::HttpResponse{
          403,
          {},
          R"({"kind": "Status", "reason": "Forbidden", "message": ")" + refusal_ + R"("})"};
    }
    if (request.target == "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n") {
      return net::HttpResponse{
          200, {}, R"({"spec": {"renewTime": "2026-07-30T09:59:10.000000Z"}})"};
    }
    if (request.target.find("/horizontalpodautoscalers") == std::string::npos) {
      return server_.Handle(request);
    }
    ++autoscaler_requests_;
    if (request.method == "GET" &&
        request.target.find("/horizontalpodautoscalers/") == std::string::npos) {
      return net::HttpResponse{200, {}, R"({"items": [)" + autoscaler_ + "]}"};
    }
    if (request.method == "POST") autoscaler_ = request.body;
    if (request.method == "DELETE") autoscaler_.clear();
    if (request.method == "GET" && autoscaler_.empty()) return net::HttpResponse{404, {}, "{}"};
    return net::HttpResponse{200, {}, autoscaler_.empty() ? "{}" : autoscaler_};
  }
  base::Result<std::unique_ptr<net::BodyStream>> Open(const net::HttpRequest&) override {
    return base::Fail(base::Code::kInternal, "watches are not supported");
  }

 private:
  SimulatedServer& server_;
  std::string& autoscaler_;
  int& autoscaler_requests_;
  std::string& refusal_;
};

text::Json OneWorkerJob(const std::string& name) {
  auto job = text::ParseJson(R"({"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob",
    "metadata": {}, "spec": {"pytorchReplicaSpecs": {"Worker": {"replicas": 1, "template": {
      "spec": {"containers": [{"name": "pytorch", "image": "i"}]}}}}}})");
  EXPECT_TRUE(job);
  text::Set(*job, {"metadata", "name"}, text::Json(name));
  return *job;
}

text::Json ElasticJob(const std::string& name) {
  text::Json job = OneWorkerJob(name);
  text::Set(job, {"spec", "elasticPolicy"},
            text::Object{{"metrics", text::Array{text::Object{{"type", "Resource"}}}}});
  return job;
}

struct JobWorkerTest : testing::Test {
  JobWorkerTest() { options.is_operator = true; }
  void Hear() { Hear(worker); }
  void Hear(JobWorker& who) {
    std::vector<text::Json> keys;
    for (const auto& [name, job] : server.Of(SimKind::kJob)) {
      keys.emplace_back(JobKey(job));
      who.PutJob(job);
    }
    who.KeepJobs(keys);
  }
  // Delivers what the watches would, and does the work that follows.
  void WorkUntilQuiet() {
    for (int round = 0; round < 8; ++round) {
      HearOfChildren(SimKind::kPod, ChildKind::kPod, ProjectPod);
      HearOfChildren(SimKind::kService, ChildKind::kService, ProjectService);
      Hear();
      while (worker.WorkOneNow()) {
      }
    }
  }
  void HearOfChildren(SimKind from, ChildKind kind, void (*project)(text::Json&)) {
    std::vector<text::Json> keys;
    for (const auto& [name, child] : server.Of(from)) {
      text::Json projected = child;
      project(projected);
      keys.emplace_back(ChildKey(kind, projected));
      worker.PutChild(kind, std::move(projected));
    }
    worker.KeepChildren(kind, keys);
  }
  void TakeMetrics(const std::string& job) {
    SetElasticPolicy(job, text::Object{{"metrics", nullptr}});
  }
  void SetElasticPolicy(const std::string& job, const text::Json& policy) {
    server.Patch(SimKind::kJob, job,
                 text::Object{{"spec", text::Object{{"elasticPolicy", policy}}}});
  }
  void CreateWaiting(const std::string& name, const std::string& awaited) {
    text::Json job = OneWorkerJob(name);
    text::Set(job, {"spec", "runPolicy", "suspend"}, text::Json(true));
    text::Set(
        job, {"metadata", "annotations", api::kWaitForAnnotation},
        text::Json(fmt::format("{}={}", awaited, api::Uid(server.Of(SimKind::kJob).at(awaited)))));
    server.CreateJob(std::move(job));
  }
  std::string Pods() {
    std::string names;
    for (const auto& [name, pod] : server.Of(SimKind::kPod)) names += name + " ";
    return names;
  }
  bool HasStatus(const std::string& job) {
    return text::Find(server.Of(SimKind::kJob).at(job), {"status"}) != nullptr;
  }

  base::FakeClock clock{*base::ParseRfc3339("2026-07-30T10:00:00Z")};
  SimulatedServer server{clock};
  std::string autoscaler;
  int autoscaler_requests = 0;
  std::string refusal;
  cluster::Client client{
      std::make_unique<DirectLink>(server, autoscaler, autoscaler_requests, refusal)};
  Options options;
  std::vector<std::string> events;
  JobWorker worker{client, clock, options,
                   [this](const text::Json&, const reconcile::Event& event) {
                     events.push_back(event.message);
                   }};
};

TEST_F(JobWorkerTest, PodsOfJobsThatWaitComeBeforeTheStatusOfThoseThatHaveTheirs) {
  for (const char* name : {"a", "b", "c"}) server.CreateJob(OneWorkerJob(name));
  Hear();
  for (const size_t pods : {1U, 2U, 3U}) {
    ASSERT_TRUE(worker.WorkOneNow());
    EXPECT_EQ(server.Of(SimKind::kPod).size(), pods);
    for (const char* name : {"a", "b", "c"}) EXPECT_FALSE(HasStatus(name)) << name;
  }
  while (worker.WorkOneNow()) {
  }
  for (const char* name : {"a", "b", "c"}) EXPECT_TRUE(HasStatus(name)) << name;
}

TEST_F(JobWorkerTest, ABigJobIsMadeInOneGoThoughOthersWait) {
  text::Json big = OneWorkerJob("big");
  text::Set(big, {"spec", "pytorchReplicaSpecs", "Worker", "replicas"}, text::Json(100));
  server.CreateJob(std::move(big));
  server.CreateJob(OneWorkerJob("small"));
  Hear();
  ASSERT_TRUE(worker.WorkOneNow());
  EXPECT_EQ(server.Of(SimKind::kPod).size(), 100U);
  ASSERT_TRUE(worker.WorkOneNow());
  EXPECT_EQ(server.Of(SimKind::kPod).size(), 101U);
}

TEST_F(JobWorkerTest, EachChildHasAnEventUnlessOtherJobsWait) {
  for (const char* name : {"a", "b"}) {
    text::Json job = OneWorkerJob(name);
    text::Set(job, {"spec", "pytorchReplicaSpecs", "Worker", "replicas"}, text::Json(2));
    server.CreateJob(std::move(job));
  }
  Hear();
  ASSERT_TRUE(worker.WorkOneNow());
  EXPECT_EQ(events, (std::vector<std::string>{"Created 2 pods: a-worker-0, a-worker-1",
                                              "Created 2 services: a-worker-0, a-worker-1"}));
  WorkUntilQuiet();
  events.clear();
  server.Remove(SimKind::kPod, "b-worker-0");
  server.Remove(SimKind::kPod, "b-worker-1");
  WorkUntilQuiet();
  EXPECT_EQ(events,
            (std::vector<std::string>{"Created pod: b-worker-0", "Created pod: b-worker-1"}));
}

TEST_F(JobWorkerTest, AJobThatWaitsStartsWhenTheOtherHasSucceeded) {
  server.CreateJob(OneWorkerJob("first"));
  CreateWaiting("next", "first");
  WorkUntilQuiet();
  EXPECT_EQ(Pods(), "first-worker-0 ");
  server.SetPhase("first-worker-0", "Succeeded", 0);
  WorkUntilQuiet();
  EXPECT_EQ(Pods(), "first-worker-0 next-worker-0 ");
}

TEST_F(JobWorkerTest, AJobThatWaitsFailsWhenTheOtherFailsOrIsDeleted) {
  text::Json first = OneWorkerJob("first");
  text::Set(first, {"spec", "pytorchReplicaSpecs", "Worker", "restartPolicy"}, text::Json("Never"));
  server.CreateJob(std::move(first));
  server.CreateJob(OneWorkerJob("gone"));
  CreateWaiting("next", "first");
  CreateWaiting("other", "gone");
  WorkUntilQuiet();
  server.SetPhase("first-worker-0", "Failed", 1);
  server.Remove(SimKind::kJob, "gone");
  WorkUntilQuiet();
  for (const auto& [name, why] : {std::pair("next", "has failed"), std::pair("other", "deleted")}) {
    const api::TrainingSummary summary =
        api::Summarize(server.Of(SimKind::kJob).at(name), {}, clock.Now());
    EXPECT_EQ(summary.status, "FAILED");
    EXPECT_NE(summary.reason.find(why), std::string::npos) << summary.reason;
  }
}

TEST_F(JobWorkerTest, AJobThatANewListLacksIsLetGoAsADeletedOne) {
  std::vector<std::string> released, deleted;
  options.release_master_port = [&](const std::string& uid) { released.push_back(uid); };
  options.job_deleted = [&](const std::string& uid) { deleted.push_back(uid); };
  server.CreateJob(OneWorkerJob("gone"));
  server.CreateJob(OneWorkerJob("stays"));
  const std::vector<std::string> gone = {
      std::string(api::Uid(server.Of(SimKind::kJob).at("gone")))};
  Hear();
  server.Remove(SimKind::kJob, "gone");
  Hear();
  EXPECT_EQ(released, gone);
  EXPECT_EQ(deleted, gone);
}

// It is given its port after the deletion was heard of, so that nobody else gives it back.
TEST_F(JobWorkerTest, APortThatADeletedJobIsGivenIsGivenBack) {
  std::set<std::string> ports;
  options.release_master_port = [&](const std::string& uid) { ports.erase(uid); };
  options.assign_master_port = [&](const std::string& uid, std::optional<int>, std::optional<int>) {
    const text::Json job = server.Of(SimKind::kJob).at("a");
    server.Remove(SimKind::kJob, "a");
    worker.TakeJob({cluster::WatchEvent::Type::kDeleted, job});
    ports.insert(uid);
    return 20'000;
  };
  server.CreateJob(OneWorkerJob("a"));
  Hear();
  ASSERT_TRUE(worker.WorkOneNow());
  EXPECT_EQ(ports, std::set<std::string>());
}

TEST_F(JobWorkerTest, APortThatAStoredPodHasIsAssignedBeforeAnyOther) {
  std::vector<std::pair<std::string, std::optional<int>>> asked;
  options.assign_master_port = [&](const std::string& uid, std::optional<int> existing,
                                   std::optional<int>) {
    asked.emplace_back(uid, existing);
    return existing.value_or(20'001);
  };
  server.CreateJob(OneWorkerJob("a"));
  WorkUntilQuiet();
  server.CreateJob(OneWorkerJob("b"));
  Hear();
  asked.clear();
  worker.KeepPorts();
  const std::string uid(api::Uid(server.Of(SimKind::kJob).at("a")));
  EXPECT_EQ(asked, (decltype(asked){{uid, 20'001}}));
}

TEST_F(JobWorkerTest, AJobDoesNotGetThePortOfAnEarlierOneOfItsNameWhosePodIsStillThere) {
  std::map<std::string, std::set<std::optional<int>>> asked;  // by uid
  options.assign_master_port = [&](const std::string& uid, std::optional<int> existing,
                                   std::optional<int>) {
    asked[uid].insert(existing);
    return existing.value_or(20'000);
  };
  server.CreateJob(OneWorkerJob("a"));
  WorkUntilQuiet();
  server.Remove(SimKind::kJob, "a");
  server.CreateJob(OneWorkerJob("a"));
  Hear();
  asked.clear();
  while (worker.WorkOneNow()) {
  }
  const std::string uid(api::Uid(server.Of(SimKind::kJob).at("a")));
  EXPECT_EQ(asked[uid], (std::set<std::optional<int>>{std::nullopt}));
}

TEST_F(JobWorkerTest, ThePortThatTheTemplateOfRank0DeclaresIsAskedFor) {
  std::vector<std::optional<int>> asked;
  options.assign_master_port = [&](const std::string&, std::optional<int> existing,
                                   std::optional<int> wanted) {
    if (!existing) asked.push_back(wanted);
    return 20'000;
  };
  text::Json job = OneWorkerJob("a");
  text::Set(job, {"spec", "pytorchReplicaSpecs", "Worker", "template", "spec", "containers"},
            *text::ParseJson(R"([{"name": "side", "image": "i", "ports": [{"containerPort": 1}]},
                {"name": "pytorch", "image": "i", "ports": [{"name": "http", "containerPort": 80},
                {"name": "pytorchjob-port", "containerPort": 8080}]}])"));
  server.CreateJob(std::move(job));
  server.CreateJob(OneWorkerJob("b"));
  Hear();
  ASSERT_TRUE(worker.WorkOneNow());
  ASSERT_TRUE(worker.WorkOneNow());
  EXPECT_EQ(asked, (std::vector<std::optional<int>>{8080, std::nullopt}));
}

TEST_F(JobWorkerTest, NothingIsMadeAgainForAJobThatIsGoneThoughNobodyHasReportedItYet) {
  server.CreateJob(OneWorkerJob("a"));
  WorkUntilQuiet();
  ASSERT_EQ(Pods(), "a-worker-0 ");
  const text::Json job = server.Of(SimKind::kJob).at("a");
  server.Remove(SimKind::kJob, "a");
  server.CollectGarbage();
  const int writes = server.writes();
  for (int round = 0; round < 8; ++round) {
    HearOfChildren(SimKind::kPod, ChildKind::kPod, ProjectPod);
    HearOfChildren(SimKind::kService, ChildKind::kService, ProjectService);
    clock.Advance(std::chrono::minutes(2));
    while (worker.WorkOneNow()) {
    }
  }
  EXPECT_EQ(server.writes(), writes);
  worker.TakeJob({cluster::WatchEvent::Type::kDeleted, job});
  while (worker.WorkOneNow()) {
  }
  EXPECT_EQ(worker.LookAtQueue().waiting, 0U);
}

TEST_F(JobWorkerTest, NothingIsMadeAgainForANewJobThatIsGoneThoughNobodyHasReportedItYet) {
  server.CreateJob(OneWorkerJob("a"));
  Hear();
  server.Remove(SimKind::kJob, "a");
  while (worker.WorkOneNow()) {
  }
  const auto hear_of_children = [&] {
    HearOfChildren(SimKind::kPod, ChildKind::kPod, ProjectPod);
    HearOfChildren(SimKind::kService, ChildKind::kService, ProjectService);
  };
  hear_of_children();
  server.CollectGarbage();
  hear_of_children();
  ASSERT_EQ(Pods(), "");
  clock.Advance(std::chrono::minutes(2));
  while (worker.WorkOneNow()) {
  }
  EXPECT_EQ(Pods(), "");
}

TEST_F(JobWorkerTest, NothingIsMadeAgainForAJobThatIsBeingDeletedThoughNobodyHasReportedItYet) {
  server.CreateJob(OneWorkerJob("a"));
  WorkUntilQuiet();
  ASSERT_EQ(Pods(), "a-worker-0 ");
  server.Patch(
      SimKind::kJob, "a",
      text::Object{{"metadata", text::Object{{"deletionTimestamp", "2026-07-30T10:00:00Z"}}}});
  server.Remove(SimKind::kPod, "a-worker-0");
  HearOfChildren(SimKind::kPod, ChildKind::kPod, ProjectPod);
  clock.Advance(std::chrono::minutes(2));
  while (worker.WorkOneNow()) {
  }
  EXPECT_EQ(Pods(), "");
}

TEST_F(JobWorkerTest, AnAutoscalerGoesThoughItsMetricsWereGoneAtTheNextPass) {
  server.CreateJob(ElasticJob("a"));
  Hear();
  ASSERT_TRUE(worker.WorkOneNow());
  EXPECT_NE(autoscaler, "");
  TakeMetrics("a");
  Hear();
  while (worker.WorkOneNow()) {
  }
  EXPECT_EQ(autoscaler, "");
}

TEST_F(JobWorkerTest, AnAutoscalerGoesWhoseMetricsWentWhileNobodyWorked) {
  server.CreateJob(ElasticJob("a"));
  Hear();
  while (worker.WorkOneNow()) {
  }
  ASSERT_TRUE(HasStatus("a"));
  const std::string first = autoscaler;
  for (const text::Json& policy : {text::Json(text::Object{{"metrics", nullptr}}), text::Json()}) {
    SetElasticPolicy("a", policy);
    autoscaler = first;
    JobWorker next{client, clock, options, [](const text::Json&, const reconcile::Event&) {}};
    next.LearnAutoscalers();
    Hear(next);
    while (next.WorkOneNow()) {
    }
    EXPECT_EQ(autoscaler, "") << text::ToJson(policy);
  }
}

TEST_F(JobWorkerTest, OnlyJobsThatHaveOneAreAskedForTheirAutoscaler) {
  server.CreateJob(ElasticJob("a"));
  Hear();
  while (worker.WorkOneNow()) {
  }
  const std::string others = R"({"metadata": {"name": "web", "ownerReferences": [
      {"kind": "Deployment", "name": "web", "uid": "uid-of-web", "controller": true}]}}, {}, )";
  autoscaler = others + autoscaler;
  server.CreateJob(ElasticJob("b"));
  TakeMetrics("b");
  JobWorker next{client, clock, options, [](const text::Json&, const reconcile::Event&) {}};
  autoscaler_requests = 0;
  next.LearnAutoscalers();
  EXPECT_EQ(autoscaler_requests, 1);
  server.Remove(SimKind::kJob, "a");
  Hear(next);
  while (next.WorkOneNow()) {
  }
  ASSERT_TRUE(HasStatus("b"));
  EXPECT_EQ(autoscaler_requests, 1);
}

TEST_F(JobWorkerTest, AFinishedJobIsCleanedUpByThePolicyThatItIsGivenLater) {
  server.CreateJob(OneWorkerJob("a"));
  server.CreateJob(OneWorkerJob("b"));
  WorkUntilQuiet();
  for (const char* pod : {"a-worker-0", "b-worker-0"}) server.SetPhase(pod, "Succeeded", 0);
  WorkUntilQuiet();
  EXPECT_EQ(worker.ActiveJobs(), 0U);
  ASSERT_EQ(server.Of(SimKind::kPod).size(), 2U);
  server.Patch(
      SimKind::kJob, "a",
      text::Object{{"spec", text::Object{{"runPolicy", text::Object{{"cleanPodPolicy", "All"}}}}}});
  WorkUntilQuiet();
  EXPECT_FALSE(server.Of(SimKind::kPod).contains("a-worker-0"));
  EXPECT_FALSE(server.Of(SimKind::kService).contains("a-worker-0"));
  EXPECT_TRUE(server.Of(SimKind::kPod).contains("b-worker-0"));
  EXPECT_TRUE(server.Of(SimKind::kService).contains("b-worker-0"));
  EXPECT_EQ(worker.ActiveJobs(), 0U);
}

TEST_F(JobWorkerTest, AJobWhosePodsAreRefusedHasAStatusThatSaysSo) {
  refusal = "exceeded quota: small";
  server.CreateJob(OneWorkerJob("a"));
  // Another job that waits does not delay its status.
  server.CreateJob(OneWorkerJob("b"));
  WorkUntilQuiet();
  const auto summary = [this] {
    return api::Summarize(server.Of(SimKind::kJob).at("a"), {}, clock.Now());
  };
  EXPECT_EQ(summary().status, "PENDING");
  EXPECT_EQ(summary().reason, "pod a-worker-0: exceeded quota: small");
  EXPECT_TRUE(summary().start_time);
  // Recorded once: nothing is written while it stays the same.
  const int writes = server.writes();
  for (int retry = 0; retry < 8; ++retry) {
    clock.Advance(std::chrono::minutes(1));
    WorkUntilQuiet();
  }
  EXPECT_EQ(server.writes(), writes);

  refusal.clear();
  clock.Advance(std::chrono::minutes(1));
  WorkUntilQuiet();
  EXPECT_TRUE(server.Of(SimKind::kPod).contains("a-worker-0"));
  EXPECT_EQ(summary().reason, "");
}

TEST_F(JobWorkerTest, TheDeadlineOfAJobWhosePodsAreRefusedRuns) {
  refusal = "violates PodSecurity";
  text::Json job = OneWorkerJob("a");
  text::Set(job, {"spec", "runPolicy", "activeDeadlineSeconds"}, 30);
  server.CreateJob(std::move(job));
  WorkUntilQuiet();
  clock.Advance(std::chrono::seconds(30));
  WorkUntilQuiet();
  EXPECT_EQ(api::Summarize(server.Of(SimKind::kJob).at("a"), {}, clock.Now()).status, "FAILED");
}

// When Kubernetes calls it Unknown, it has been silent for 50 s already.
TEST_F(JobWorkerTest, ANodeIsLostSinceItsLeaseWasRenewed) {
  options.needs_nodes = [] {};
  text::Json job = OneWorkerJob("a");
  text::Set(job, {"metadata", "annotations", "muster.dev/node-lost-seconds"}, "60");
  server.CreateJob(std::move(job));
  WorkUntilQuiet();
  server.SetPhase("a-worker-0", "Running", 0);
  WorkUntilQuiet();
  const auto pod = [this] {
    return text::GetString(server.Of(SimKind::kPod).at("a-worker-0"), {"metadata", "uid"});
  };
  const std::string before(pod());
  auto node = text::ParseJson(R"({"metadata": {"name": "n"}, "status": {"conditions": [
      {"type": "Ready", "status": "Unknown", "lastTransitionTime": "2026-07-30T10:00:00Z"}]}})");
  ASSERT_TRUE(node);
  worker.TakeNode({cluster::WatchEvent::Type::kModified, *node});
  WorkUntilQuiet();
  EXPECT_EQ(pod(), before);
  clock.Advance(std::chrono::seconds(10));
  WorkUntilQuiet();
  EXPECT_NE(pod(), before);
}

TEST_F(JobWorkerTest, CountsThatStillChangeAreWrittenTogether) {
  text::Json job = OneWorkerJob("a");
  text::Set(job, {"spec", "pytorchReplicaSpecs", "Worker", "replicas"}, 3);
  server.CreateJob(std::move(job));
  WorkUntilQuiet();
  const auto active = [this] {
    return text::GetInt(server.Of(SimKind::kJob).at("a"),
                        {"status", "replicaStatuses", "Worker", "active"})
        .value_or(0);
  };
  // Running is written at once.
  server.SetPhase("a-worker-0", "Running", 0);
  WorkUntilQuiet();
  EXPECT_EQ(active(), 1);
  for (const char* pod : {"a-worker-1", "a-worker-2"}) {
    server.SetPhase(pod, "Running", 0);
    WorkUntilQuiet();
    EXPECT_EQ(active(), 1);
  }
  clock.Advance(std::chrono::seconds(1));
  WorkUntilQuiet();
  EXPECT_EQ(active(), 3);
}

TEST_F(JobWorkerTest, AloneAJobHasItsStatusAtOnce) {
  server.CreateJob(OneWorkerJob("a"));
  Hear();
  ASSERT_TRUE(worker.WorkOneNow());
  EXPECT_EQ(server.Of(SimKind::kPod).size(), 1U);
  EXPECT_TRUE(HasStatus("a"));
}

}  // namespace
}  // namespace controller
