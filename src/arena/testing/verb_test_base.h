// VerbTest: runs command lines as a user types them against a FakeCluster.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "arena/app/app.h"
#include "arena/testing/fake_cluster.h"
#include "base/log.h"

namespace arena {

inline constexpr const char* kJobs = "/apis/kubeflow.org/v1/namespaces/default/pytorchjobs";
inline constexpr const char* kPods = "/api/v1/namespaces/default/pods";
inline constexpr const char* kConfigMaps = "/api/v1/namespaces/default/configmaps";
inline constexpr const char* kSecrets = "/api/v1/namespaces/default/secrets";
inline constexpr const char* kServices = "/api/v1/namespaces/default/services";
inline constexpr const char* kDeployments = "/apis/apps/v1/namespaces/default/deployments";
inline constexpr const char* kClaims = "/api/v1/namespaces/default/persistentvolumeclaims";
inline constexpr const char* kEvents = "/api/v1/namespaces/default/events";
inline constexpr const char* kNodes = "/api/v1/nodes";
inline constexpr const char* kPriorityClasses = "/apis/scheduling.k8s.io/v1/priorityclasses";

// Like base::FakeClock, also for several threads.
class SharedClock : public base::Clock {
 public:
  explicit SharedClock(base::Time start) : start_(start) {}
  base::Time Now() override { return start_ + base::Duration(passed_); }
  std::chrono::steady_clock::time_point Steady() override {
    return std::chrono::steady_clock::time_point(base::Duration(passed_));
  }
  void Advance(base::Duration by) { passed_ += by.count(); }

 private:
  const base::Time start_;
  std::atomic<base::Duration::rep> passed_ = 0;
};

class VerbTest : public testing::Test {
 protected:
  struct Ended {
    int exit_code = 0;
    std::string out;
    std::string log;  // what was logged, and the error
  };

  VerbTest() : clock_(*base::ParseRfc3339("2026-07-30T10:00:00Z")) {
    ::setenv("TZ", "UTC", 1);
    auto transport = std::make_unique<FakeCluster>();
    cluster_ = transport.get();
    client_ = std::make_unique<cluster::Client>(std::move(transport));
  }

  // For what verbs call: without a connection of its own.
  Context MakeContext() {
    return {.environment = base::Environment(environment_),
            .clock = clock_,
            .flags = {},
            .connect = {},
            .cluster_namespace = "",
            .find_user_name = {},
            .pause = {}};
  }

  Ended Run(const std::vector<std::string>& args, const std::string& program = "arena") {
    Context context{.environment = base::Environment(environment_),
                    .clock = clock_,
                    .program = program,
                    .flags = {},
                    .connect = [this](Context& now) -> base::Result<cluster::Client*> {
                      ++connects_;
                      now.cluster_is_this_machine = is_this_machine_;
                      now.cluster_server = server_;
                      return client_.get();
                    },
                    .cluster_is_this_machine = false,
                    .cluster_namespace = "",
                    .find_user_name = {},
                    .missing_tensorboard = [this] { return missing_tensorboard_; },
                    .choose = [this](Context& now) -> base::Status {
                      ++chooses_;
                      now.cluster_is_this_machine = is_this_machine_;
                      return {};
                    },
                    .pause = [this](base::Duration) { ++pauses_; }};
    cli::Command root(program, "");
    AddVerbs(root, context);
    cli::StringOutput out;
    cli::StringOutput err;
    testing::internal::CaptureStderr();
    const cli::Outcome outcome = cli::Execute(root, args, out, err);
    if (outcome.error) base::LogError("{}", outcome.error->message);
    return {outcome.exit_code, out.text(), err.text() + testing::internal::GetCapturedStderr()};
  }

  static text::Json Json(std::string_view text) { return *text::ParseJson(text); }

  // A job of Arena's with `replicas` pods whose phase is `phase`, made `age` ago.
  text::Json MakeJob(const std::string& name, const std::string& condition,
                     std::chrono::seconds age, int64_t gpus = 0);
  text::Json MakePod(const std::string& job, const std::string& type, int index,
                     const std::string& phase, int64_t gpus = 0,
                     const std::string& host = "10.0.0.11");

  std::map<std::string, std::string> environment_ = {
      {"HOME", "/nowhere"}, {"XDG_STATE_HOME", "/proc/nowhere"}, {"USER", "tom"}};
  SharedClock clock_;
  FakeCluster* cluster_ = nullptr;
  std::unique_ptr<cluster::Client> client_;
  bool is_this_machine_ = true;
  std::string server_;  // no cluster's kinds are kept where it has no name
  std::string missing_tensorboard_;
  int connects_ = 0;
  int chooses_ = 0;
  int pauses_ = 0;
};

inline text::Json VerbTest::MakeJob(const std::string& name, const std::string& condition,
                                    std::chrono::seconds age, int64_t gpus) {
  const std::string created = base::FormatRfc3339(clock_.Now() - age);
  text::Json job = text::Object{
      {"apiVersion", "kubeflow.org/v1"},
      {"kind", "PyTorchJob"},
      {"metadata", text::Object{{"name", name},
                                {"namespace", "default"},
                                {"uid", "uid-" + name},
                                {"creationTimestamp", created},
                                {"labels", text::Object{{"app", "pytorchjob"}, {"release", name}}},
                                {"annotations",
                                 text::Object{{"requestGPUsOfJobOwner", std::to_string(gpus)}}}}},
      {"spec", text::Object{{"pytorchReplicaSpecs",
                             text::Object{{"Master", text::Object{{"replicas", 1}}},
                                          {"Worker", text::Object{{"replicas", 1}}}}}}}};
  if (!condition.empty()) {
    text::Object status{
        {"conditions", text::Array{text::Object{{"type", condition}, {"status", "True"}}}},
        {"startTime", created}};
    job.as_object()["status"] = std::move(status);
  }
  return job;
}

inline text::Json VerbTest::MakePod(const std::string& job, const std::string& type, int index,
                                    const std::string& phase, int64_t gpus,
                                    const std::string& host) {
  const std::string name = job + "-" + type + "-" + std::to_string(index);
  const std::string created = base::FormatRfc3339(clock_.Now() - std::chrono::seconds(60));
  text::Object state;
  if (phase == "Running") {
    state["running"] = text::Object{{"startedAt", created}};
  } else if (phase == "Succeeded" || phase == "Failed") {
    state["terminated"] = text::Object{{"exitCode", phase == "Failed" ? 1 : 0},
                                       {"reason", phase == "Failed" ? "Error" : "Completed"},
                                       {"startedAt", created},
                                       {"finishedAt", created}};
  } else {
    state["waiting"] = text::Object{{"reason", "ContainerCreating"}};
  }
  text::Object limits;
  if (gpus > 0) limits["nvidia.com/gpu"] = std::to_string(gpus);
  return text::Object{
      {"apiVersion", "v1"},
      {"kind", "Pod"},
      {"metadata",
       text::Object{
           {"name", name},
           {"namespace", "default"},
           {"uid", "uid-" + name},
           {"creationTimestamp", created},
           {"labels", text::Object{{"app", "pytorchjob"},
                                   {"release", job},
                                   {"training.kubeflow.org/operator-name", "pytorchjob-controller"},
                                   {"training.kubeflow.org/job-name", job},
                                   {"training.kubeflow.org/replica-type", type},
                                   {"training.kubeflow.org/replica-index", std::to_string(index)}}},
           {"ownerReferences", text::Array{text::Object{{"kind", "PyTorchJob"},
                                                        {"name", job},
                                                        {"uid", "uid-" + job},
                                                        {"controller", true}}}}}},
      {"spec", text::Object{{"nodeName", phase == "Pending" ? "" : "node-1"},
                            {"containers",
                             text::Array{text::Object{
                                 {"name", "pytorch"},
                                 {"resources", text::Object{{"limits", std::move(limits)}}}}}}}},
      {"status",
       text::Object{
           {"phase", phase},
           {"hostIP", phase == "Pending" ? "" : host},
           {"startTime", phase == "Pending" ? text::Json() : text::Json(created)},
           {"containerStatuses",
            text::Array{text::Object{{"name", "pytorch"}, {"state", std::move(state)}}}}}}};
}

}  // namespace arena
