#include "arena/testing/verb_test_base.h"

namespace arena {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

class ListTest : public VerbTest {
 protected:
  // The three jobs of compat/arena.md 2.3.
  void PutJobs() {
    cluster_->Put(kJobs, MakeJob("pt-dist", "Running", seconds(60), 16));
    for (const char* type : {"master", "worker"}) {
      cluster_->Put(kPods, MakePod("pt-dist", type, 0, "Running", 8));
    }
    cluster_->Put(kJobs, MakeJob("pt-pend", "Created", minutes(2), 8));
    text::Json pending = MakeJob("pt-pend", "Created", minutes(2), 8);
    text::Erase(pending, {"status", "startTime"});
    cluster_->Put(kJobs, pending);
    // Arena reads the annotation off the first pod, so there is one.
    cluster_->Put(kPods, MakePod("pt-pend", "master", 0, "Pending", 8));
    text::Json done = MakeJob("pt-done", "Succeeded", hours(5), 1);
    text::Set(done, {"status", "completionTime"},
              text::Json(base::FormatRfc3339(clock_.Now() - hours(3))));
    cluster_->Put(kJobs, done);
    cluster_->Put(kPods, MakePod("pt-done", "master", 0, "Succeeded", 1, "10.0.0.12"));
  }
};

TEST_F(ListTest, WideIsTheTableOfArena015) {
  PutJobs();
  const Ended ended = Run({"list", "-o", "wide"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(
      ended.out,
      "NAME     STATUS     TRAINER     DURATION  GPU(Requested)  GPU(Allocated)  NODE\n"
      "pt-dist  RUNNING    PYTORCHJOB  1m        16              16              10.0.0.11\n"
      "pt-pend  PENDING    PYTORCHJOB  0s        8               0               N/A\n"
      "pt-done  SUCCEEDED  PYTORCHJOB  2h        1               N/A             10.0.0.12\n");
}

TEST_F(ListTest, WithoutAFormatItIsTheTableOfTheDocuments) {
  PutJobs();
  EXPECT_EQ(Run({"ls"}).out,
            "NAME     STATUS     TRAINER     AGE  NODE\n"
            "pt-dist  RUNNING    PYTORCHJOB  1m   10.0.0.11\n"
            "pt-pend  PENDING    PYTORCHJOB  2m   N/A\n"
            "pt-done  SUCCEEDED  PYTORCHJOB  5h   N/A\n");
}

TEST_F(ListTest, SelectsByLabelsAsDeleteDoes) {
  for (const char* name : {"audio-1", "text-1"}) {
    text::Json job = MakeJob(name, "Running", seconds(60));
    text::Set(job, {"metadata", "labels", "team"}, text::Json(*name == 'a' ? "audio" : "nlp"));
    cluster_->Put(kJobs, job);
  }
  const auto list = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), "list");
    return Run(flags, "muster");
  };
  for (const char* format : {"wide", "json", "yaml"}) {
    const Ended chosen = list({"-l", "team!=nlp", "-o", format});
    EXPECT_EQ(chosen.exit_code, 0);
    EXPECT_NE(chosen.out.find("audio-1"), std::string::npos) << chosen.out;
    EXPECT_EQ(chosen.out.find("text-1"), std::string::npos) << chosen.out;
  }
  EXPECT_EQ(list({"-A", "--selector", "team in (nlp)"}).out.find("audio-1"), std::string::npos);
  EXPECT_NE(list({"-A", "--selector", "team in (nlp)"}).out.find("text-1"), std::string::npos);
  EXPECT_EQ(list({"--selector="}).exit_code, 2);
  EXPECT_EQ(list({"-l", "team in"}).exit_code, 2);
  EXPECT_EQ(list({"-l", "team=nlp", "--all"}).exit_code, 2);
  EXPECT_EQ(Run({"list", "-l", "team=nlp"}, "arena").exit_code,
            Run({"list", "--no-such-flag"}, "arena").exit_code)
      << "Arena has no such flag";
}

// A job is listed however it came, and suspended is a word of its own; under Arena's name, as
// Arena.
TEST_F(ListTest, ListsEveryJobUnderItsOwnName) {
  cluster_->Put(kJobs, MakeJob("ours", "Suspended", seconds(60)));
  text::Json applied = MakeJob("applied", "Running", seconds(90), 2);
  text::Erase(applied, {"metadata", "labels"});
  cluster_->Put(kJobs, applied);
  text::Json pod = MakePod("applied", "master", 0, "Running", 2);
  text::Erase(pod, {"metadata", "labels", "app"});
  text::Erase(pod, {"metadata", "labels", "release"});
  cluster_->Put(kPods, pod);
  for (const bool is_here : {true, false}) {
    is_this_machine_ = is_here;
    EXPECT_EQ(Run({"list"}, "muster").out,
              "NAME     STATUS     TRAINER     AGE  NODE\n"
              "ours     SUSPENDED  PYTORCHJOB  1m   N/A\n"
              "applied  RUNNING    PYTORCHJOB  1m   10.0.0.11\n");
    EXPECT_EQ(Run({"list"}).out,
              "NAME  STATUS   TRAINER     AGE  NODE\n"
              "ours  PENDING  PYTORCHJOB  1m   N/A\n");
  }
}

TEST_F(ListTest, AllNamespacesPutsTheNamespaceFirst) {
  cluster_->Put(kJobs, MakeJob("a", "Created", seconds(5)));
  text::Json other = MakeJob("b", "Created", seconds(9));
  text::Set(other, {"metadata", "namespace"}, "team");
  cluster_->Put("/apis/kubeflow.org/v1/namespaces/team/pytorchjobs", other);
  cluster_->Put("/api/v1/namespaces", Json(R"({"metadata": {"name": "team"}})"));
  EXPECT_EQ(Run({"list", "-A"}).out,
            "NAMESPACE  NAME  STATUS   TRAINER     AGE  NODE\n"
            "default    a     PENDING  PYTORCHJOB  5s   N/A\n"
            "team       b     PENDING  PYTORCHJOB  9s   N/A\n");
  EXPECT_EQ(Run({"list", "-n", "team"}).out,
            "NAME  STATUS   TRAINER     AGE  NODE\nb     PENDING  PYTORCHJOB  9s   N/A\n");
}

TEST_F(ListTest, EmptyIsTheHeaderAlone) {
  EXPECT_EQ(Run({"list"}).out, "NAME  STATUS  TRAINER  AGE  NODE\n");
  EXPECT_EQ(Run({"list", "-o", "json"}).out, "[]");
  EXPECT_EQ(Run({"list", "-o", "yaml"}).out, "[]\n");
  cluster_->Put(kJobs, MakeJob("a", "Created", seconds(5)));
  EXPECT_EQ(Run({"list", "-T", "tf"}).out, "NAME  STATUS  TRAINER  AGE  NODE\n");
}

TEST_F(ListTest, TheServersTableSparesReadingTheJobs) {
  cluster_->table = Json(R"json({"kind": "Table", "metadata": {"resourceVersion": "5"},
    "columnDefinitions": [
      {"name": "Name", "priority": 0}, {"name": "State", "priority": 0}, {"name": "Age", "priority": 0},
      {"name": "Status", "priority": 1}, {"name": "Trainer", "priority": 1},
      {"name": "Duration", "priority": 1}, {"name": "GPU(Requested)", "priority": 1},
      {"name": "GPU(Allocated)", "priority": 1}, {"name": "Node", "priority": 1},
      {"name": "Created", "priority": 1}, {"name": "Stall", "priority": 1}],
    "rows": [
      {"cells": ["old", "Succeeded", "5h", "SUCCEEDED", "PYTORCHJOB", "2h", 1, 0, "10.0.0.12", "2026-07-30T05:00:00Z", ""]},
      {"cells": ["new", "Running", "1m", "RUNNING", "PYTORCHJOB", "59s", "16", "16", "10.0.0.11", "2026-07-30T09:59:00Z",
        "stalled 34 s: rank 1 has not entered barrier"]}]})json");
  cluster_->refuse = [](const net::HttpRequest& request) -> std::optional<FakeCluster::Refusal> {
    if (request.target.find("/pods") != std::string::npos)
      return {{500, "InternalError", "read pods"}};
    return std::nullopt;
  };
  EXPECT_EQ(Run({"list", "-o", "wide"}).out,
            "NAME  STATUS     TRAINER     DURATION  GPU(Requested)  GPU(Allocated)  NODE\n"
            "new   RUNNING    PYTORCHJOB  59s       16              16              10.0.0.11\n"
            "old   SUCCEEDED  PYTORCHJOB  2h        1               N/A             10.0.0.12\n");
}

TEST_F(ListTest, JsonHasArenasKeysInOrder) {
  cluster_->Put(kJobs, MakeJob("pt", "Running", seconds(123), 1));
  cluster_->Put(kPods, MakePod("pt", "master", 0, "Running", 1));
  EXPECT_EQ(Run({"list", "-o", "json"}).out, R"([
    {
        "uuid": "uid-pt",
        "name": "pt",
        "namespace": "default",
        "duration": "123s",
        "status": "RUNNING",
        "trainer": "pytorchjob",
        "tensorboard": "",
        "chiefName": "pt-master-0",
        "instances": [
            {
                "ip": "",
                "status": "Running",
                "name": "pt-master-0",
                "age": "60s",
                "node": "node-1",
                "nodeIP": "10.0.0.11",
                "chief": true,
                "requestGPUs": 1,
                "gpuMetrics": {},
                "creationTimestamp": 1785405540
            }
        ],
        "priority": "N/A",
        "requestGPUs": 1,
        "allocatedGPUs": 1,
        "creationTimestamp": 1785405477,
        "modelName": "",
        "modelVersion": "",
        "modelSource": ""
    }
])");
  const std::string yaml = Run({"list", "-o", "yaml"}).out;
  EXPECT_TRUE(
      yaml.starts_with("- uuid: uid-pt\n  name: pt\n  namespace: default\n  duration: 123s\n"))
      << yaml;
  EXPECT_NE(yaml.find("\n  instances:\n  - ip: \"\"\n    status: Running\n"), std::string::npos)
      << yaml;
  EXPECT_NE(yaml.find("\n    gpuMetrics: {}\n"), std::string::npos) << yaml;
  EXPECT_NE(yaml.find("\n  modelname: \"\"\n"), std::string::npos) << yaml;
}

// More than one thread reads: the jobs' pods stay with their jobs.
TEST_F(ListTest, OfAThousandJobsEachHasItsOwnInstance) {
  constexpr int kCount = 1'200;
  for (int i = 0; i < kCount; ++i) {
    const std::string name = fmt::format("job-{}", i);
    const bool is_big = i % 2 == 0;  // a pod that is longer than what the embedded server sends
    text::Json pod = MakePod(name, "master", 0, "Running", 1, fmt::format("10.0.0.{}", i));
    const std::string filling(is_big ? 4'000 : 4, 'x');
    text::Set(pod, {"metadata", "annotations", "filling"}, text::Json(filling));
    cluster_->Put(kJobs, MakeJob(name, "Running", seconds(60), 1));
    cluster_->Put(kPods, pod);
  }
  const text::Json list = Json(Run({"list", "-o", "json"}).out);
  ASSERT_EQ(list.get_array().size(), size_t{kCount});
  for (const text::Json& job : list.get_array()) {
    const std::string name(text::GetString(job, {"name"}));
    const text::Array& instances = *text::FindArray(job, {"instances"});
    ASSERT_EQ(instances.size(), 1u) << name;
    EXPECT_EQ(text::GetString(instances[0], {"name"}), name + "-master-0");
    EXPECT_EQ(text::GetString(instances[0], {"nodeIP"}), "10.0.0." + name.substr(4));
  }
}

TEST_F(ListTest, BadFormatsAndTypesAreFoundBeforeTheClusterIs) {
  const Ended format = Run({"list", "-o", "name"});
  EXPECT_EQ(format.exit_code, 2);
  EXPECT_NE(format.log.find("unknown output format,only support:[wide|json|yaml]"),
            std::string::npos);
  const Ended type = Run({"list", "-T", "nothing"});
  EXPECT_EQ(type.exit_code, 2);
  EXPECT_NE(type.log.find("unsupport job type,arena only supports: [py(Pytorch),"),
            std::string::npos);
  EXPECT_EQ(connects_, 0);
}

TEST_F(ListTest, AnErrorIsNeverAnEmptyTable) {
  cluster_->refuse = [](const net::HttpRequest&) {
    return std::optional(
        FakeCluster::Refusal{403, "Forbidden", "forbidden: User \"tom\" cannot list"});
  };
  const Ended ended = Run({"list"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_EQ(ended.out, "");
  EXPECT_NE(
      ended.log.find("the user has no privileges to list the training jobs in namespace default"),
      std::string::npos);
}

TEST_F(ListTest, WhoMayNotListPodsSeesJobsAndMaySuspendThem) {
  cluster_->Put(kJobs, MakeJob("pt", "Running", seconds(21)));
  cluster_->refuse = [](const net::HttpRequest& request) -> std::optional<FakeCluster::Refusal> {
    if (request.target.find("/pods") == std::string::npos) return std::nullopt;
    return {{403, "Forbidden", "pods is forbidden: User \"tom\" cannot list"}};
  };
  const Ended listed = Run({"list"}, "muster");
  EXPECT_EQ(listed.exit_code, 0) << listed.log;
  EXPECT_NE(listed.out.find("pt    RUNNING"), std::string::npos) << listed.out;
  EXPECT_NE(listed.log.find("the instances are not known: pods is forbidden"), std::string::npos)
      << listed.log;
  EXPECT_NE(Run({"get", "pt"}, "muster").out.find("STATUS: RUNNING"), std::string::npos);
  EXPECT_EQ(Run({"suspend", "pt", "--force"}, "muster").exit_code, 1);
  const Ended suspended = Run({"suspend", "pt"}, "muster");
  EXPECT_EQ(suspended.exit_code, 0);
  EXPECT_NE(suspended.log.find("whether the instances of the job pt have ended is not known"),
            std::string::npos)
      << suspended.log;
  const Ended explained = Run({"explain", "pt", "-o", "json"}, "muster");
  EXPECT_NE(explained.out.find("the instances: pods is forbidden"), std::string::npos)
      << explained.out;
  EXPECT_EQ(explained.out.find("nothing has failed yet"), std::string::npos) << explained.out;
  for (const char* const verb : {"logs", "report"}) {
    EXPECT_EQ(Run({verb, "pt"}, "muster").exit_code, 1) << verb;
  }
}

}  // namespace
}  // namespace arena
