#include "local/daemon/known_runs.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <future>

#include "api/resources.h"
#include "base/file.h"
#include "local/node/testing/agent_fake_cluster.h"

namespace local::daemon {
namespace {

constexpr const char* kJobsInStore = "pytorchjobs.kubeflow.org";

// It has run for `seconds`, since the same time as all others.
text::Json JobThatRan(const std::string& name, const std::string& command, int seconds) {
  const std::string text = fmt::format(
      R"({{"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob",
           "metadata": {{"name": "{0}", "namespace": "default", "uid": "{0}-uid",
                         "creationTimestamp": "2026-07-30T10:00:00Z"}},
           "spec": {{"pytorchReplicaSpecs": {{"Master": {{"replicas": 1, "template": {{"spec":
             {{"containers": [{{"name": "pytorch", "image": "host", "command": ["{1}"]}}]}}}}}}}}}},
           "status": {{"completionTime": "2026-07-30T10:00:{2:02}Z", "conditions": [
             {{"type": "Running", "status": "False", "reason": "r", "message": "m",
               "lastTransitionTime": "2026-07-30T10:00:00Z"}},
             {{"type": "Succeeded", "status": "True", "reason": "r", "message": "m",
               "lastTransitionTime": "2026-07-30T10:00:{2:02}Z"}}]}}}})",
      name, command, seconds);
  return text::ParseJson(text).value();
}

class KnownRunsTest : public testing::Test {
 protected:
  KnownRunsTest() {
    char path[] = "/tmp/muster-runs-XXXXXX";
    folder_ = ::mkdtemp(path);
    store_ = store::Store::Open(folder_ + "/db").value();
  }
  ~KnownRunsTest() override {
    store_.reset();
    (void)base::RemoveTree(folder_);
  }

  void Keep(const std::string& name, int seconds) {
    for (const auto action : {store::Next::Action::kPut, store::Next::Action::kDelete}) {
      std::promise<base::Result<store::Outcome>> done;
      store_->Submit(
          {{kJobsInStore, "default", name},
           [&](store::View&, std::optional<store::Record>) -> base::Result<store::Next> {
             return store::Next{action, JobThatRan(name, "kept", seconds), {}};
           }},
          [&](base::Result<store::Outcome> outcome) { done.set_value(std::move(outcome)); });
      ASSERT_TRUE(done.get_future().get());
    }
  }
  std::vector<std::string> Ends(const KnownRuns& runs) {
    std::vector<std::string> names;
    for (const auto& run : runs.past()) names.push_back(run.gang.key);
    return names;
  }

  std::string folder_;
  std::unique_ptr<store::Store> store_;
  node::FakeCluster cluster_;
  cluster::Client client_{cluster_.Connect()};
};

using Keys = std::vector<std::string>;

TEST_F(KnownRunsTest, OfJobsThatAreThereAndOfDeletedOnesByTheirEnds) {
  Keep("deleted", 20);
  cluster_.Put(api::kPyTorchJobs, JobThatRan("late", "python", 30));
  cluster_.Put(api::kPyTorchJobs, JobThatRan("early", "python", 10));
  KnownRuns runs(client_, *store_);
  ASSERT_TRUE(runs.Refresh());
  EXPECT_EQ(Ends(runs), Keys({"default/early/early-uid", "default/deleted/deleted-uid",
                              "default/late/late-uid"}));
  EXPECT_EQ(runs.commands().at("default/late"), "python");
  EXPECT_FALSE(runs.commands().contains("default/deleted"));
}

TEST_F(KnownRunsTest, NothingIsReadTwiceUnlessItHasChanged) {
  Keep("deleted", 20);
  cluster_.Put(api::kPyTorchJobs, JobThatRan("one", "python", 10));
  cluster_.Put(api::kPyTorchJobs, JobThatRan("other", "python", 10));
  KnownRuns runs(client_, *store_);
  ASSERT_TRUE(runs.Refresh());
  EXPECT_EQ(runs.parsed(), 3);
  ASSERT_TRUE(runs.Refresh());
  EXPECT_EQ(runs.parsed(), 3);
  cluster_.Put(api::kPyTorchJobs, JobThatRan("other", "bash", 40));
  ASSERT_TRUE(runs.Refresh());
  EXPECT_EQ(runs.parsed(), 4);
  EXPECT_EQ(runs.commands().at("default/other"), "bash");
  EXPECT_EQ(Ends(runs).back(), "default/other/other-uid");
}

TEST_F(KnownRunsTest, WhatIsForgottenOrDeletedCountsNoMore) {
  Keep("deleted", 20);
  cluster_.Put(api::kPyTorchJobs, JobThatRan("one", "python", 10));
  KnownRuns runs(client_, *store_);
  ASSERT_TRUE(runs.Refresh());
  ASSERT_TRUE(store_->Forget({"deleted-uid"}));
  cluster_.Remove(api::kPyTorchJobs, "default", "one");
  ASSERT_TRUE(runs.Refresh());
  EXPECT_EQ(Ends(runs), Keys());
  EXPECT_TRUE(runs.commands().empty());
}

}  // namespace
}  // namespace local::daemon
