#include "local/daemon/progress/job_pods.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "api/names.h"
#include "api/resources.h"
#include "local/node/testing/agent_fake_cluster.h"

namespace local::daemon {
namespace {

text::Json JobPod(const std::string& name, bool is_deleted = false) {
  text::Json pod = text::Object{{"apiVersion", "v1"},
                                {"kind", "Pod"},
                                {"metadata",
                                 {{"name", name},
                                  {"namespace", "ns"},
                                  {"uid", "uid-" + name},
                                  {"labels", {{api::kJobNameLabel, "job"}}}}},
                                {"status", {{"phase", "Running"}}}};
  if (is_deleted) {
    text::Set(pod, {"metadata", "deletionTimestamp"}, text::Json("2026-07-30T10:00:00Z"));
  }
  return pod;
}

class JobPodsTest : public testing::Test {
 protected:
  JobPods::Listener NoteAs(const std::string& who) {
    return [this, who](std::string_view uid, const text::Json* pod) {
      const std::lock_guard lock(mutex_);
      announced_.push_back(who + (pod == nullptr ? " -" : " +") + std::string(uid));
      changed_.notify_one();
    };
  }
  // Waits until `count` announcements were made, and returns all of them.
  std::vector<std::string> Announced(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(10), [&] { return announced_.size() >= count; });
    return announced_;
  }

  node::FakeCluster cluster_;
  cluster::Client client_{cluster_.Connect()};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> announced_;
};

using Words = std::vector<std::string>;

TEST_F(JobPodsTest, EachListenerHearsOfEachPodAndOfItsEndOnce) {
  cluster_.Put(api::kPods, JobPod("a"));
  const JobPods pods(client_, {NoteAs("first"), NoteAs("second")});
  EXPECT_EQ(Announced(2), (Words{"first +uid-a", "second +uid-a"}));
  cluster_.Put(api::kPods, JobPod("a", true));
  EXPECT_EQ(Announced(4),
            (Words{"first +uid-a", "second +uid-a", "first -uid-a", "second -uid-a"}));
  cluster_.Remove(api::kPods, "ns", "a");
  cluster_.Put(api::kPods, JobPod("b"));
  EXPECT_EQ(Announced(6).at(4), "first +uid-b");
}

TEST_F(JobPodsTest, APodThatIsDeletedFromTheBeginningIsNoNews) {
  cluster_.Put(api::kPods, JobPod("old", true));
  cluster_.Put(api::kPods, JobPod("young"));
  const JobPods pods(client_, {NoteAs("one")});
  EXPECT_EQ(Announced(1), Words{"one +uid-young"});
}

}  // namespace
}  // namespace local::daemon
