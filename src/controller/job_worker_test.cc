#include "controller/job_worker.h"

#include "controller/simulated_cluster.h"

namespace controller {
namespace {

// The simulated server, as a transport.
class DirectLink final : public cluster::Transport {
 public:
  explicit DirectLink(SimulatedServer& server) : server_(server) {}
  base::Result<net::HttpResponse> Send(const net::HttpRequest& request) override {
    return server_.Handle(request);
  }
  base::Result<std::unique_ptr<net::BodyStream>> Open(const net::HttpRequest&) override {
    return base::Fail(base::Code::kInternal, "no watches here");
  }

 private:
  SimulatedServer& server_;
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
  cluster::Client client{std::make_unique<DirectLink>(server)};
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

TEST_F(JobWorkerTest, AloneAJobHasItsStatusAtOnce) {
  server.CreateJob(OneWorkerJob("a"));
  Hear();
  ASSERT_TRUE(worker.WorkOneNow());
  EXPECT_EQ(server.Of(SimKind::kPod).size(), 1U);
  EXPECT_TRUE(HasStatus("a"));
}

}  // namespace
}  // namespace controller
