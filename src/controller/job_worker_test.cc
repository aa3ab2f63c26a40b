#include "controller/job_worker.h"

#include "controller/simulated_cluster.h"

namespace controller {
namespace {

// The simulated server, as a transport, and one autoscaler beside it.
class DirectLink final : public cluster::Transport {
 public:
  DirectLink(SimulatedServer& server, std::string& autoscaler)
      : server_(server), autoscaler_(autoscaler) {}
  base::Result<net::HttpResponse> Send(const net::HttpRequest& request) override {
    if (request.target.find("/horizontalpodautoscalers") == std::string::npos) {
      return server_.Handle(request);
    }
    if (request.method == "POST") autoscaler_ = request.body;
    if (request.method == "DELETE") autoscaler_.clear();
    if (request.method == "GET" && autoscaler_.empty()) return net::HttpResponse{404, {}, "{}"};
    return net::HttpResponse{200, {}, autoscaler_.empty() ? "{}" : autoscaler_};
  }
  base::Result<std::unique_ptr<net::BodyStream>> Open(const net::HttpRequest&) override {
    return base::Fail(base::Code::kInternal, "no watches here");
  }

 private:
  SimulatedServer& server_;
  std::string& autoscaler_;
};

text::Json OneWorkerJob(const std::string& name) {
  auto job = text::ParseJson(R"({"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob",
    "metadata": {}, "spec": {"pytorchReplicaSpecs": {"Worker": {"replicas": 1, "template": {
      "spec": {"containers": [{"name": "pytorch", "image": "i"}]}}}}}})");
  EXPECT_TRUE(job);
  text::Set(*job, {"metadata", "name"}, text::Json(name));
  return *job;
}

struct JobWorkerTest : testing::Test {
  JobWorkerTest() { options.is_operator = true; }
  void Hear() {
    std::vector<text::Json> jobs;
    for (const auto& [name, job] : server.Of(SimKind::kJob)) jobs.push_back(job);
    worker.ReplaceJobs(std::move(jobs));
  }
  bool HasStatus(const std::string& job) {
    return text::Find(server.Of(SimKind::kJob).at(job), {"status"}) != nullptr;
  }

  base::FakeClock clock{*base::ParseRfc3339("2026-07-30T10:00:00Z")};
  SimulatedServer server{clock};
  std::string autoscaler;
  cluster::Client client{std::make_unique<DirectLink>(server, autoscaler)};
  Options options;
  JobWorker worker{client, clock, options, [](const text::Json&, const reconcile::Event&) {}};
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

TEST_F(JobWorkerTest, AnAutoscalerGoesThoughItsMetricsWereGoneAtTheNextPass) {
  text::Json job = OneWorkerJob("a");
  text::Set(job, {"spec", "elasticPolicy"},
            text::Object{{"metrics", text::Array{text::Object{{"type", "Resource"}}}}});
  server.CreateJob(std::move(job));
  Hear();
  ASSERT_TRUE(worker.WorkOneNow());
  EXPECT_NE(autoscaler, "");
  server.Patch(
      SimKind::kJob, "a",
      text::Object{{"spec", text::Object{{"elasticPolicy", text::Object{{"metrics", nullptr}}}}}});
  Hear();
  while (worker.WorkOneNow()) {
  }
  EXPECT_EQ(autoscaler, "");
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
