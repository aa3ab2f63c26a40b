// S1, S2, S6, E6, E9: what a job's and a pod's status is called, and for how long.
#include "api/job/training_summary.h"
#include "arena/testing/verb_test_base.h"

namespace arena {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

struct Condition {
  const char* type;
  const char* status;
};

text::Json JobWith(const std::vector<Condition>& conditions) {
  text::Array array;
  for (const Condition& condition : conditions) {
    array.push_back(text::Object{{"type", condition.type}, {"status", condition.status}});
  }
  return text::Object{{"metadata", {{"name", "pt"}, {"namespace", "default"}}},
                      {"status", {{"conditions", std::move(array)}}}};
}

class S1 : public VerbTest {};

// As `arena get` says it.
TEST_F(S1, TheStatusFollowsTheConditions) {
  struct Case {
    std::vector<Condition> conditions;
    const char* status;
  };
  const Case cases[] = {
      {{{"Created", "True"}}, "PENDING"},
      {{{"Created", "True"}, {"Running", "True"}}, "RUNNING"},
      {{{"Created", "True"}, {"Running", "False"}, {"Succeeded", "True"}}, "SUCCEEDED"},
      {{{"Created", "True"}, {"Running", "False"}, {"Failed", "True"}}, "FAILED"},
      {{{"Created", "True"}, {"Queueing", "True"}}, "PENDING"},
      {{{"Created", "True"}, {"Queueing", "False"}, {"Running", "True"}}, "RUNNING"},
      {{{"Created", "True"}, {"Queueing", "False"}, {"Running", "True"}, {"Succeeded", "True"}},
       "SUCCEEDED"},
      {{{"Running", "True"}, {"Failed", "True"}}, "FAILED"},
      {{{"Queuing", "True"}}, "QUEUING"},
      {{{"Suspended", "True"}}, "PENDING"},
  };
  for (const Case& c : cases) {
    std::string name;
    for (const Condition& condition : c.conditions) name += std::string(condition.type) + " ";
    cluster_->Put(kJobs, JobWith(c.conditions));
    const text::Json job = Json(Run({"get", "pt", "-o", "json"}).out);
    EXPECT_EQ(text::GetString(job, {"status"}), c.status) << name;
  }
}

TEST(S2, DurationsAreOneUnit) {
  const std::pair<int64_t, const char*> cases[] = {
      {-5, "<invalid>"}, {-1, "0s"},     {59, "59s"},   {60, "1m"},       {3599, "59m"},
      {3600, "1h"},      {86399, "23h"}, {86400, "1d"}, {31536000, "1y"},
  };
  for (const auto& [input, text] : cases) {
    EXPECT_EQ(base::ShortDuration(seconds(input)), text) << input;
  }
}

TEST(S6, APodsStatusIsKubectls) {
  struct Case {
    const char* pod;
    const char* text;
  };
  const Case cases[] = {
      {R"({"status": {"phase": "Pending"}})", "Pending"},
      {R"({"status": {"phase": "Pending", "containerStatuses": [
           {"state": {"waiting": {"reason": "ContainerCreating"}}}]}})",
       "ContainerCreating"},
      {R"({"spec": {"initContainers": [{"name": "a"}, {"name": "b"}]},
           "status": {"phase": "Pending", "initContainerStatuses": [
           {"name": "a", "state": {"terminated": {"exitCode": 0}}},
           {"name": "b", "state": {"running": {}}}]}})",
       "Init:1/2"},
      {R"({"spec": {"initContainers": [{"name": "a"}]},
           "status": {"phase": "Failed", "initContainerStatuses": [
           {"name": "a", "state": {"terminated": {"exitCode": 1, "reason": "Error"}}}]}})",
       "Init:Error"},
      {R"({"spec": {"initContainers": [{"name": "a"}]},
           "status": {"phase": "Pending", "initContainerStatuses": [
           {"name": "a", "state": {"waiting": {"reason": "CrashLoopBackOff"}}}]}})",
       "Init:CrashLoopBackOff"},
      {R"({"status": {"phase": "Running", "containerStatuses": [
           {"ready": true, "state": {"running": {}}}]}})",
       "Running"},
      {R"({"status": {"phase": "Running", "containerStatuses": [
           {"state": {"waiting": {"reason": "CrashLoopBackOff"}}}]}})",
       "CrashLoopBackOff"},
      {R"({"status": {"phase": "Succeeded", "containerStatuses": [
           {"state": {"terminated": {"exitCode": 0, "reason": "Completed"}}}]}})",
       "Completed"},
      {R"({"status": {"phase": "Failed", "containerStatuses": [
           {"state": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}}]}})",
       "OOMKilled"},
      {R"({"status": {"phase": "Failed", "containerStatuses": [
           {"state": {"terminated": {"exitCode": 3}}}]}})",
       "ExitCode:3"},
      {R"({"status": {"phase": "Failed", "containerStatuses": [
           {"state": {"terminated": {"exitCode": 137, "signal": 9}}}]}})",
       "Signal:9"},
      {R"({"status": {"phase": "Failed", "reason": "Evicted"}})", "Evicted"},
      {R"({"metadata": {"deletionTimestamp": "2026-07-30T10:00:00Z"},
           "status": {"phase": "Running", "containerStatuses": [
           {"ready": true, "state": {"running": {}}}]}})",
       "Terminating"},
      {R"({"metadata": {"deletionTimestamp": "2026-07-30T10:00:00Z"},
           "status": {"phase": "Running", "reason": "NodeLost"}})",
       "Unknown"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(api::PodStatusText(*text::ParseJson(c.pod)), c.text) << c.pod;
  }
}

class StatusCompat : public VerbTest {};

// A pod as the old pytorch-operator labels it.
TEST_F(StatusCompat, E6_PodsOfTheOldOperatorAreFound) {
  cluster_->Put(kJobs, MakeJob("pt", "Running", seconds(60), 1));
  text::Json pod = MakePod("pt", "master", 0, "Running", 1);
  text::Set(pod, {"metadata", "labels"},
            text::Object{{"app", "pytorchjob"},
                         {"release", "pt"},
                         {"group-name", "kubeflow.org"},
                         {"job-name", "pt"},
                         {"pytorch-job-name", "pt"},
                         {"pytorch-replica-type", "master"},
                         {"pytorch-replica-index", "0"}});
  cluster_->Put(kPods, pod);
  const text::Json json = Json(Run({"get", "pt", "-o", "json"}).out);
  EXPECT_EQ(text::GetString(json, {"chiefName"}), "pt-master-0");
  EXPECT_NE(
      Run({"list", "-o", "wide"})
          .out.find(
              "pt    RUNNING  PYTORCHJOB  1m        1               1               10.0.0.11\n"),
      std::string::npos);
}

TEST_F(StatusCompat, E9_AJobWhosePodsAreGoneIsWhole) {
  text::Json job = MakeJob("pt", "Succeeded", hours(5), 8);
  text::Set(job, {"status", "completionTime"},
            text::Json(base::FormatRfc3339(clock_.Now() - hours(3))));
  cluster_->Put(kJobs, job);
  EXPECT_EQ(Run({"list", "-o", "wide"}).out,
            "NAME  STATUS     TRAINER     DURATION  GPU(Requested)  GPU(Allocated)  NODE\n"
            "pt    SUCCEEDED  PYTORCHJOB  2h        0               N/A             N/A\n");
  const std::string json = Run({"get", "pt", "-o", "json"}).out;
  EXPECT_NE(json.find("\n    \"chiefName\": \"\",\n    \"instances\": [],\n"), std::string::npos)
      << json;
  EXPECT_EQ(Run({"get", "pt", "-o", "wide"}).out,
            "Name:        pt\n"
            "Status:      SUCCEEDED\n"
            "Namespace:   default\n"
            "Priority:    N/A\n"
            "Trainer:     PYTORCHJOB\n"
            "Duration:    2h\n"
            "CreateTime:  2026-07-30 05:00:00\n"
            "EndTime:     2026-07-30 07:00:00\n"
            "\n"
            "Instances:\n"
            "  NAME  STATUS  AGE  IS_CHIEF  GPU(Requested)  NODE\n"
            "  ----  ------  ---  --------  --------------  ----\n");
}

}  // namespace
}  // namespace arena
