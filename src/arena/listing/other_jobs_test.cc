#include "arena/listing/other_jobs.h"

#include <sys/stat.h>

#include "arena/testing/verb_test_base.h"
#include "base/file.h"
#include "base/strings.h"

namespace arena {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr const char* kTfJobs = "/apis/kubeflow.org/v1/namespaces/default/tfjobs";
constexpr const char* kMpiJobs = "/apis/kubeflow.org/v1/namespaces/default/mpijobs";
constexpr const char* kDiscovery = "/apis/kubeflow.org/v1";

// A Kubernetes cluster that serves TFJobs and MPIJobs.
class OtherJobsTest : public VerbTest {
 protected:
  OtherJobsTest() {
    std::string made = testing::TempDir() + "kinds.XXXXXX";
    cache_ = ::mkdtemp(made.data());
    environment_["XDG_CACHE_HOME"] = cache_;
    is_this_machine_ = false;
    server_ = "https://one.example:6443";
    cluster_->other_kinds = {"tfjobs", "mpijobs", "mpijobs/status", "elsejobs"};
    cluster_->refuse = [this](const net::HttpRequest& request) {
      asked_.push_back(request.target.substr(0, request.target.find('?')));
      return refusal_(asked_.back());
    };
    cluster_->Put(kJobs, MakeJob("pt", "Running", seconds(21)));
    cluster_->Put(kPods, MakePod("pt", "master", 0, "Running"));
    cluster_->Put(kTfJobs, MakeOther("TFJob", "tf-dist", "Succeeded", minutes(14)));
    cluster_->Put(kMpiJobs, MakeOther("MPIJob", "mpi", "Running", minutes(3)));
  }
  ~OtherJobsTest() override { EXPECT_TRUE(base::RemoveTree(cache_)); }

  text::Json MakeOther(const std::string& kind, const std::string& name,
                       const std::string& condition, base::Duration age) {
    const std::string created = base::FormatRfc3339(clock_.Now() - age);
    text::Json job = Json(R"({"spec": {"runPolicy": {"cleanPodPolicy": "None"}, "tfReplicaSpecs": {
      "Chief": {"replicas": 1, "template": {"spec": {"priorityClassName": "high", "containers": [
        {"name": "c", "resources": {"limits": {"nvidia.com/gpu": 1}}}]}}},
      "Worker": {"replicas": 3, "template": {"spec": {"containers": [
        {"name": "c", "resources": {"limits": {"nvidia.com/gpu": "2"}}}]}}}}}})");
    text::Set(job, {"apiVersion"}, "kubeflow.org/v1");
    text::Set(job, {"kind"}, text::Json(kind));
    text::Set(
        job, {"metadata"},
        text::Object{{"name", name}, {"namespace", "default"}, {"creationTimestamp", created}});
    text::Set(job, {"status"},
              text::Object{{"conditions",
                            text::Array{text::Object{{"type", "Created"}, {"status", "True"}},
                                        text::Object{{"type", condition}, {"status", "True"}}}},
                           {"startTime", created}});
    return job;
  }

  // How often that path was asked for since the last time.
  int64_t Asked(const std::string& path) { return std::count(asked_.begin(), asked_.end(), path); }
  std::string CacheFile() const {
    return cache_ + "/muster/kinds-" + base::Md5Hex(server_) + ".json";
  }

  std::string cache_;
  std::vector<std::string> asked_;
  std::function<std::optional<FakeCluster::Refusal>(const std::string& path)> refusal_ =
      [](const auto&) { return std::nullopt; };
};

TEST_F(OtherJobsTest, ListShowsEveryKindNewestFirst) {
  EXPECT_EQ(Run({"list"}).out,
            "NAME     STATUS     TRAINER     AGE  NODE\n"
            "pt       RUNNING    PYTORCHJOB  21s  10.0.0.11\n"
            "mpi      RUNNING    MPIJOB      3m   N/A\n"
            "tf-dist  SUCCEEDED  TFJOB       14m  N/A\n");
  EXPECT_EQ(Run({"list", "-o", "wide"}).out,
            "NAME     STATUS     TRAINER     DURATION  GPU(Requested)  GPU(Allocated)  NODE\n"
            "pt       RUNNING    PYTORCHJOB  21s       0               0               10.0.0.11\n"
            "mpi      RUNNING    MPIJOB      3m        7               7               N/A\n"
            "tf-dist  SUCCEEDED  TFJOB       14m       7               N/A             N/A\n");
  const text::Json jobs = Json(Run({"list", "-o", "json"}).out);
  ASSERT_EQ(jobs.as_array().size(), 3);
  EXPECT_EQ(text::GetString(jobs.as_array()[2], {"trainer"}), "tfjob");
  EXPECT_EQ(text::GetString(jobs.as_array()[2], {"priority"}), "high");
  EXPECT_EQ(text::GetInt(jobs.as_array()[2], {"requestGPUs"}), 7);
  EXPECT_NE(Run({"top", "job"}).out.find("tfjob"), std::string::npos);
}

TEST_F(OtherJobsTest, OneListAKindAndOneDiscoveryInTenMinutes) {
  Run({"list"});
  EXPECT_EQ(Asked(kDiscovery), 1);
  for (const char* path : {kJobs, kPods, kTfJobs, kMpiJobs}) EXPECT_EQ(Asked(path), 1) << path;
  // The last one is of the namespace: are its users kept apart?
  EXPECT_EQ(asked_.size(), 6u);
  struct stat file{};
  ASSERT_EQ(::stat(CacheFile().c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600u);

  asked_.clear();
  clock_.Advance(minutes(10) - seconds(1));
  EXPECT_NE(Run({"list"}).out.find("TFJOB"), std::string::npos);
  EXPECT_EQ(Asked(kDiscovery), 0);
  EXPECT_EQ(asked_.size(), 5u);
  clock_.Advance(seconds(1));
  Run({"list"});
  EXPECT_EQ(Asked(kDiscovery), 1);
  // Another server has kinds of its own.
  asked_.clear();
  server_ = "https://two.example:6443";
  Run({"list"});
  EXPECT_EQ(Asked(kDiscovery), 1);
}

TEST_F(OtherJobsTest, AnAnswerThatIsNoGoodAnyMoreIsAskedForAgain) {
  const std::string now = base::FormatRfc3339(clock_.Now());
  const std::string later = base::FormatRfc3339(clock_.Now() + minutes(1));
  ASSERT_TRUE(base::MakeDirs(cache_ + "/muster"));
  int64_t discoveries = 0;
  for (const std::string& content :
       {std::string(), std::string("{"), std::string("[]"),
        R"({"server": "https://else", "asked": ")" + now + R"(", "kinds": []})",
        R"({"server": ")" + server_ + R"(", "asked": ")" + later + R"(", "kinds": []})",
        R"({"server": ")" + server_ + R"(", "asked": ")" + now + R"("})"}) {
    ASSERT_TRUE(base::WriteFileAtomic(CacheFile(), content, 0600, base::Durability::kNone));
    EXPECT_NE(Run({"list"}).out.find("TFJOB"), std::string::npos) << content;
    EXPECT_EQ(Asked(kDiscovery), ++discoveries) << content;
  }
}

TEST_F(OtherJobsTest, AKindThatIsGoneIsForgotten) {
  Run({"list"});
  cluster_->other_kinds = {"mpijobs"};
  refusal_ = [](const std::string& path) -> std::optional<FakeCluster::Refusal> {
    if (path != kTfJobs) return std::nullopt;
    return FakeCluster::Refusal{404, "NotFound", "the server could not find the resource"};
  };
  const Ended ended = Run({"list"});
  EXPECT_EQ(ended.exit_code, 0) << ended.log;
  EXPECT_NE(ended.out.find("MPIJOB"), std::string::npos);
  asked_.clear();
  Run({"list"});
  EXPECT_EQ(Asked(kDiscovery), 1);
  EXPECT_EQ(Asked(kTfJobs), 0);
}

TEST_F(OtherJobsTest, TypeAsksForItsKindAlone) {
  for (const char* type : {"tfjob", "TensorFlow", "TF"}) {
    asked_.clear();
    EXPECT_EQ(Run({"list", "-T", type}).out,
              "NAME     STATUS     TRAINER  AGE  NODE\ntf-dist  SUCCEEDED  TFJOB    14m  N/A\n");
    EXPECT_EQ(Asked(kTfJobs), 1);
    EXPECT_EQ(asked_.size(), 2u);
  }
  EXPECT_NE(Run({"list", "-T", "mpi"}).out.find("MPIJOB"), std::string::npos);
  asked_.clear();
  EXPECT_EQ(Run({"list", "-T", "py"}).out.find("TFJOB"), std::string::npos);
  EXPECT_EQ(Run({"list", "-T", "volcano", "-o", "json"}).out, "[]");
  EXPECT_EQ(Asked(kDiscovery) + Asked(kTfJobs), 0);
}

TEST_F(OtherJobsTest, TheEmbeddedClusterIsNotAskedForOtherKinds) {
  is_this_machine_ = true;
  Run({"list"});
  Run({"list", "-T", "tf"});
  Run({"get", "tf-dist", "-T", "tf"});
  Run({"delete", "tf-dist", "-T", "tf"});
  EXPECT_EQ(Asked(kDiscovery) + Asked(kTfJobs), 0);
}

TEST_F(OtherJobsTest, WhatTheUserMayNotListIsLeftOutUnlessItWasAskedFor) {
  refusal_ = [](const std::string& path) -> std::optional<FakeCluster::Refusal> {
    if (path != kTfJobs) return std::nullopt;
    return FakeCluster::Refusal{403, "Forbidden", "forbidden: User \"tom\" cannot list tfjobs"};
  };
  const Ended all = Run({"list"});
  EXPECT_EQ(all.exit_code, 0);
  EXPECT_NE(all.out.find("MPIJOB"), std::string::npos);
  EXPECT_EQ(all.log, "");
  const Ended one = Run({"list", "-T", "tfjob"});
  EXPECT_EQ(one.exit_code, 1);
  EXPECT_NE(one.log.find("the user has no privileges to list the training jobs in namespace "
                         "default,reason: forbidden"),
            std::string::npos)
      << one.log;
}

TEST_F(OtherJobsTest, AnyOtherErrorIsOne) {
  for (const char* broken : {kDiscovery, kMpiJobs}) {
    refusal_ = [broken](const std::string& path) -> std::optional<FakeCluster::Refusal> {
      if (path != broken) return std::nullopt;
      return FakeCluster::Refusal{500, "InternalError", "etcd is away"};
    };
    const Ended ended = Run({"list"});
    EXPECT_EQ(ended.exit_code, 1) << broken;
    EXPECT_EQ(ended.out, "");
    EXPECT_NE(ended.log.find("etcd is away"), std::string::npos) << ended.log;
  }
}

TEST_F(OtherJobsTest, GetShowsOneByItsType) {
  text::Json pod = MakePod("tf-dist", "chief", 0, "Succeeded", 1);
  text::Set(
      pod, {"metadata", "ownerReferences"},
      text::Array{text::Object{{"kind", "TFJob"}, {"uid", "uid-tf-dist"}, {"controller", true}}});
  cluster_->Put(kPods, pod);
  const Ended ended = Run({"get", "tf-dist", "-T", "tfjob"});
  EXPECT_EQ(ended.exit_code, 0) << ended.log;
  EXPECT_TRUE(ended.out.starts_with("STATUS: SUCCEEDED\nNAMESPACE: default\nPRIORITY: high\n"))
      << ended.out;
  EXPECT_NE(ended.out.find("tf-dist  SUCCEEDED  TFJOB    14m  tf-dist-chief-0"), std::string::npos)
      << ended.out;
  const Ended none = Run({"get", "pt", "-T", "tfjob"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_NE(none.log.find("Not found training job pt in namespace default,please use"),
            std::string::npos);
}

TEST_F(OtherJobsTest, GetFindsWhatListShowsWithoutItsType) {
  EXPECT_TRUE(Run({"get", "tf-dist", "-o", "wide"}).out.starts_with("Name:        tf-dist\n"));
  EXPECT_TRUE(Run({"top", "job", "tf-dist"}).out.starts_with("Name:        tf-dist\n"));
  // A PyTorchJob of that name is meant.
  cluster_->Put(kTfJobs, MakeOther("TFJob", "pt", "Succeeded", minutes(14)));
  EXPECT_NE(Run({"get", "pt", "-o", "wide"}).out.find("PYTORCHJOB"), std::string::npos);
  cluster_->Put(kMpiJobs, MakeOther("MPIJob", "tf-dist", "Succeeded", minutes(14)));
  const Ended two = Run({"get", "tf-dist"});
  EXPECT_EQ(two.exit_code, 1);
  EXPECT_NE(two.log.find("there are more than 1 training jobs with the same name tf-dist, please "
                         "check it with `arena list | grep tf-dist`"),
            std::string::npos)
      << two.log;
  EXPECT_NE(Run({"get", "tf-dist", "-T", "py"}).log.find("Not found training job tf-dist"),
            std::string::npos);
  EXPECT_NE(Run({"get", "gone"}).log.find("Not found training job gone"), std::string::npos);
  // What may not be read is not there, and other errors are errors.
  refusal_ = [](const std::string& path) -> std::optional<FakeCluster::Refusal> {
    if (!path.starts_with(kMpiJobs)) return std::nullopt;
    return FakeCluster::Refusal{403, "Forbidden", "no"};
  };
  EXPECT_TRUE(Run({"get", "tf-dist", "-o", "wide"}).out.starts_with("Name:        tf-dist\n"));
}

TEST_F(OtherJobsTest, DeleteLeavesThemToKubectl) {
  const Ended ended = Run({"delete", "tf-dist", "nothing", "-T", "tf"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_NE(ended.log.find("tf-dist is a TFJob, and muster deletes PyTorchJobs only: "
                           "kubectl delete tfjob tf-dist -n default"),
            std::string::npos)
      << ended.log;
  EXPECT_NE(ended.log.find("The training job 'nothing' does not exist,skip to delete it"),
            std::string::npos);
  // list shows it, so it exists without its type, too.
  const Ended untyped = Run({"delete", "tf-dist", "nothing"});
  EXPECT_EQ(untyped.exit_code, 1);
  EXPECT_NE(untyped.log.find("tf-dist is a TFJob, and muster deletes PyTorchJobs only"),
            std::string::npos)
      << untyped.log;
  EXPECT_NE(untyped.log.find("level=info msg=\"The training job 'nothing' does not exist"),
            std::string::npos)
      << untyped.log;
  EXPECT_TRUE(cluster_->Writes().empty());
  EXPECT_TRUE(cluster_->Find(kTfJobs, "tf-dist"));
}

// The labels are those of the kind that -T names.
TEST_F(OtherJobsTest, DeleteChoosesTheNamedKindByItsLabels) {
  for (const auto& [path, name] : {std::pair(kTfJobs, "tf-dist"), std::pair(kJobs, "pt")}) {
    text::Json job = *cluster_->Find(path, name);
    text::Set(job, {"metadata", "labels", "team"}, "vision");
    cluster_->Put(path, job);
  }
  const Ended ended = Run({"delete", "-T", "tf", "-l", "team=vision"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_NE(ended.log.find("tf-dist is a TFJob"), std::string::npos) << ended.log;
  EXPECT_EQ(ended.log.find("'pt'"), std::string::npos) << ended.log;
  const Ended none = Run({"delete", "-T", "volcano", "-l", "team=vision"});
  EXPECT_EQ(none.exit_code, 0);
  EXPECT_NE(none.log.find("No training job has the labels team=vision"), std::string::npos);
  EXPECT_TRUE(cluster_->Writes().empty());
}

// With -T a kind that may not be read is an error, which does not keep muster from the other names.
TEST_F(OtherJobsTest, DeleteOfANamedKindNeedsTheRightToReadIt) {
  refusal_ = [](const std::string& path) -> std::optional<FakeCluster::Refusal> {
    if (path != std::string(kTfJobs) + "/gone") return std::nullopt;
    return FakeCluster::Refusal{403, "Forbidden", "no right"};
  };
  const Ended typed = Run({"delete", "gone", "tf-dist", "-T", "tf"});
  EXPECT_EQ(typed.exit_code, 1);
  EXPECT_NE(typed.log.find("the training job gone: "), std::string::npos) << typed.log;
  EXPECT_NE(typed.log.find("tf-dist is a TFJob"), std::string::npos) << typed.log;
  const Ended untyped = Run({"delete", "gone", "tf-dist"});
  EXPECT_NE(untyped.log.find("The training job 'gone' does not exist"), std::string::npos)
      << untyped.log;
  EXPECT_NE(untyped.log.find("tf-dist is a TFJob"), std::string::npos) << untyped.log;
}

}  // namespace
}  // namespace arena
