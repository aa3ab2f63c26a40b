#include <thread>

#include "arena/testing/verb_test_base.h"

namespace arena {
namespace {

class DeleteTest : public VerbTest {
 protected:
  // The controller's part: a job's pods go with it.
  void CollectGarbage() {
    cluster_->after_write = [this](const std::string& verb, const std::string& path) {
      if (verb != "DELETE" || path.find("/pytorchjobs/") == std::string::npos) return;
      const std::string job = path.substr(path.rfind('/') + 1);
      for (const char* type : {"master", "worker"}) {
        cluster_->Remove(kPods, job + "-" + type + "-0");
      }
    };
  }
  void PutJob(const std::string& name) {
    cluster_->Put(kJobs, MakeJob(name, "Running", std::chrono::seconds(5)));
    for (const char* type : {"master", "worker"}) {
      cluster_->Put(kPods, MakePod(name, type, 0, "Running"));
    }
    cluster_->Put(
        kConfigMaps,
        text::Object{
            {"metadata", text::Object{{"name", name + "-pytorchjob"}}},
            {"data",
             text::Object{{"app", "service/" + name + "-tensorboard\ndeployment.apps/" + name +
                                      "-tensorboard\npytorchjob.kubeflow.org/" + name}}}});
    cluster_->Put(kServices,
                  text::Object{{"metadata", text::Object{{"name", name + "-tensorboard"}}}});
    cluster_->Put(kDeployments,
                  text::Object{{"metadata", text::Object{{"name", name + "-tensorboard"}}}});
  }
};

TEST_F(DeleteTest, DeletesWhatTheIdentityNamesAndTheJob) {
  PutJob("pt");
  CollectGarbage();
  const Ended ended = Run({"delete", "pt"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.out, "");
  EXPECT_NE(ended.log.find("The training job pt has been deleted successfully"), std::string::npos);
  EXPECT_EQ(cluster_->ObjectCount(), 0u);
}

TEST_F(DeleteTest, ReturnsWhenTheLastPodIsGone) {
  PutJob("pt");
  text::Json board = MakePod("pt", "tensorboard", 1, "Running");
  text::Set(board, {"metadata", "name"}, "pt-tensorboard-1-0");
  text::Set(board, {"metadata", "labels", "role"}, "tensorboard");
  text::Set(board, {"metadata", "ownerReferences"}, text::Array{});
  text::Set(board, {"metadata", "deletionTimestamp"}, "2026-07-30T10:00:30Z");
  cluster_->Put(kPods, board);
  std::jthread controller;
  cluster_->after_write = [&](const std::string& verb, const std::string& path) {
    if (verb != "DELETE" || path.find("/pytorchjobs/") == std::string::npos) return;
    controller = std::jthread([this] {
      cluster_->Remove(kPods, "pt-worker-0");
      cluster_->Remove(kPods, "pt-master-0");
      cluster_->Remove(kPods, "pt-tensorboard-1-0");
    });
  };
  EXPECT_EQ(Run({"del", "pt"}).exit_code, 0);
  EXPECT_EQ(cluster_->ObjectCount(), 0u);
}

TEST_F(DeleteTest, WithoutWaitingItReturnsWhilePodsEnd) {
  PutJob("pt");
  EXPECT_EQ(Run({"delete", "pt", "--wait=false"}).exit_code, 0);
  EXPECT_TRUE(cluster_->Find(kPods, "pt-master-0"));
  EXPECT_FALSE(cluster_->Find(kJobs, "pt"));
  EXPECT_FALSE(cluster_->Find(kConfigMaps, "pt-pytorchjob")) << "it would be in a successor's way";
}

TEST_F(DeleteTest, ByForcePodsHaveNoTimeToEnd) {
  for (const char* const verb : {"delete", "suspend"}) {
    PutJob("pt");
    std::vector<std::string> graces;
    cluster_->refuse = [&](const net::HttpRequest& request) -> std::optional<FakeCluster::Refusal> {
      if (request.method == "DELETE" && request.target.find("/pods/") != std::string::npos) {
        graces.push_back(request.target + request.body);
      }
      return std::nullopt;
    };
    EXPECT_EQ(Run({verb, "pt", "--force"}).exit_code, 0);
    ASSERT_EQ(graces.size(), 2U) << verb;
    for (const std::string& grace : graces) {
      EXPECT_NE(grace.find("gracePeriodSeconds\":0"), std::string::npos) << grace;
    }
  }
}

TEST_F(DeleteTest, AMissingJobIsSaidAndTheOthersAreDeletedStill) {
  PutJob("b");
  CollectGarbage();
  const Ended ended = Run({"delete", "a", "b"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_NE(ended.log.find("The training job 'a' does not exist,skip to delete it"),
            std::string::npos);
  EXPECT_NE(ended.log.find("The training job b has been deleted successfully"), std::string::npos);
  EXPECT_EQ(cluster_->ObjectCount(), 0u);
  EXPECT_NE(
      Run({"delete", "pytorchjob/b"}, "muster").log.find("skip to delete it (did you mean b?)"),
      std::string::npos);
}

TEST_F(DeleteTest, ANameThatIsGivenTwiceIsOneJob) {
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"delete", "a", "a"}, {"delete", "a", "a", "-T", "pytorchjob"}}) {
    PutJob("a");
    CollectGarbage();
    const Ended ended = Run(args);
    EXPECT_EQ(ended.exit_code, 0);
    EXPECT_EQ(ended.log.find("does not exist"), std::string::npos) << ended.log;
    EXPECT_EQ(cluster_->ObjectCount(), 0u);
  }
}

TEST_F(DeleteTest, AJobThatArenaDidNotMakeIsDeletedToo) {
  text::Json job = MakeJob("pt", "Running", std::chrono::seconds(5));
  text::Erase(job, {"metadata", "labels"});
  cluster_->Put(kJobs, job);
  EXPECT_EQ(Run({"delete", "pt"}).exit_code, 0);
  EXPECT_EQ(cluster_->ObjectCount(), 0u);
}

TEST_F(DeleteTest, AnIdentityWhoseJobIsGoneIsCleanedUp) {
  PutJob("pt");
  cluster_->Remove(kJobs, "pt");
  cluster_->Remove(kPods, "pt-master-0");
  cluster_->Remove(kPods, "pt-worker-0");
  EXPECT_NE(Run({"delete", "pt"}).log.find("deleted successfully"), std::string::npos);
  EXPECT_EQ(cluster_->ObjectCount(), 0u);
}

TEST_F(DeleteTest, WhatCannotBeDeletedKeepsTheIdentity) {
  PutJob("pt");
  CollectGarbage();
  cluster_->refuse = [](const net::HttpRequest& request) -> std::optional<FakeCluster::Refusal> {
    if (request.method == "DELETE" && request.target.find("deployments") != std::string::npos) {
      return {{403, "Forbidden", "not yours"}};
    }
    return std::nullopt;
  };
  const Ended ended = Run({"delete", "pt"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_NE(ended.log.find("not yours"), std::string::npos);
  EXPECT_TRUE(cluster_->Find(kConfigMaps, "pt-pytorchjob"));
}

TEST_F(DeleteTest, AllAreBegunBeforeTheFirstIsWaitedFor) {
  PutJob("a");
  PutJob("b");
  std::jthread controller;
  cluster_->after_write = [&](const std::string& verb, const std::string& path) {
    // Only when both are to go do their pods go.
    if (verb != "DELETE" || !path.ends_with("/pytorchjobs/b")) return;
    controller = std::jthread([this] {
      for (const char* pod : {"a-master-0", "a-worker-0", "b-master-0", "b-worker-0"}) {
        cluster_->Remove(kPods, pod);
      }
    });
  };
  EXPECT_EQ(Run({"delete", "a", "b"}).exit_code, 0);
  EXPECT_EQ(cluster_->ObjectCount(), 0u);
}

TEST_F(DeleteTest, JobsAreChosenByLabel) {
  CollectGarbage();
  for (const char* name : {"a", "b", "c"}) {
    PutJob(name);
    text::Json job = *cluster_->Find(kJobs, name);
    text::Set(job, {"metadata", "labels", "team"}, text::Json(*name == 'c' ? "nlp" : "vision"));
    cluster_->Put(kJobs, job);
  }
  EXPECT_EQ(Run({"delete", "-l", "team=vision"}).exit_code, 0);
  EXPECT_FALSE(cluster_->Find(kJobs, "a"));
  EXPECT_FALSE(cluster_->Find(kJobs, "b"));
  EXPECT_TRUE(cluster_->Find(kJobs, "c"));
  const Ended none = Run({"delete", "--selector", "team=audio"});
  EXPECT_EQ(none.exit_code, 0);
  EXPECT_NE(none.log.find("No training job has the labels team=audio"), std::string::npos);
  EXPECT_EQ(Run({"delete", "--selector="}).exit_code, 2);
  EXPECT_EQ(Run({"delete", "-l", "team in"}).exit_code, 2);
  EXPECT_EQ(Run({"delete", "c", "-l", "team=nlp"}).exit_code, 2);
}

class SuspendTest : public DeleteTest {};

TEST_F(SuspendTest, ReturnsWhenTheInstancesAreGoneAndIsIdempotent) {
  PutJob("pt");
  std::jthread controller;
  cluster_->after_write = [&](const std::string& verb, const std::string& path) {
    if (verb != "PATCH" || path.find("/pytorchjobs/") == std::string::npos) return;
    controller = std::jthread([this] {
      cluster_->Remove(kPods, "pt-worker-0");
      cluster_->Remove(kPods, "pt-master-0");
    });
  };
  const Ended ended = Run({"suspend", "pt"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_NE(ended.log.find("The training job pt has been suspended"), std::string::npos);
  EXPECT_FALSE(cluster_->Find(kPods, "pt-master-0"));
  EXPECT_EQ(text::GetBool(*cluster_->Find(kJobs, "pt"), {"spec", "runPolicy", "suspend"}), true);
  const size_t writes = cluster_->Writes().size();
  const Ended again = Run({"suspend", "pt"});
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_NE(again.log.find("The training job pt is suspended: nothing to suspend"),
            std::string::npos);
  EXPECT_EQ(cluster_->Writes().size(), writes);
}

TEST_F(SuspendTest, ResumeTakesItBack) {
  PutJob("pt");
  EXPECT_EQ(Run({"suspend", "pt", "--wait=false"}).exit_code, 0);
  EXPECT_NE(Run({"resume", "pt"}).log.find("The training job pt has been resumed"),
            std::string::npos);
  EXPECT_EQ(text::GetBool(*cluster_->Find(kJobs, "pt"), {"spec", "runPolicy", "suspend"}), false);
  const Ended again = Run({"resume", "pt"});
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_NE(again.log.find("The training job pt is running: nothing to resume"), std::string::npos);
}

TEST_F(SuspendTest, AJobThatWaitsHasNothingToResume) {
  cluster_->Put(kJobs, MakeJob("pt", "Created", std::chrono::seconds(5)));
  const Ended ended = Run({"resume", "pt"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_NE(ended.log.find("The training job pt is not suspended: nothing to resume"),
            std::string::npos);
  EXPECT_TRUE(cluster_->Writes().empty());
}

TEST_F(SuspendTest, AJobThatHasEndedIsLeftAlone) {
  cluster_->Put(kJobs, MakeJob("pt", "Succeeded", std::chrono::seconds(5)));
  const Ended ended = Run({"suspend", "pt"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_NE(ended.log.find("the job pt has ended (SUCCEEDED)"), std::string::npos);
  EXPECT_TRUE(cluster_->Writes().empty());
}

// It keeps its pods, which nobody deletes then.
TEST_F(SuspendTest, AJobThatEndsMeanwhileIsNotWaitedFor) {
  PutJob("pt");
  cluster_->after_write = [&](const std::string& verb, const std::string& path) {
    if (verb != "PATCH" || path.find("/pytorchjobs/") == std::string::npos) return;
    text::Json ended = *cluster_->Find(kJobs, "pt");
    text::Set(ended, {"status"},
              *text::Find(MakeJob("pt", "Failed", std::chrono::seconds(5)), {"status"}));
    cluster_->Put(kJobs, ended);
  };
  const Ended ended = Run({"suspend", "pt"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_NE(ended.log.find("the job pt ended before it was suspended"), std::string::npos)
      << ended.log;
}

}  // namespace
}  // namespace arena
