#include "local/server/writes/deletion.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "local/server/kinds/object_rules.h"
#include "local/server/testing/test_server.h"

namespace local::server {
namespace {

using text::GetInt;
using text::GetString;

bool IsThere(TestServer& server, const std::string& path) {
  return server.Send("GET", path).status == 200;
}

text::Json Owned(text::Json object, const text::Json& owner) {
  text::Set(object, {"metadata", "ownerReferences"}, text::Array{OwnerReference(owner)});
  return object;
}

void Bind(TestServer& server, const std::string& pod) {
  server.Expect(201, "POST", Path(kPodsPath, pod + "/binding"),
                *text::ParseJson(R"({"target":{"kind":"Node","name":"here"}})"));
}

// The objects of a write transaction; counts the keys that it was asked to list.
class CountingView : public store::View {
 public:
  using Result = base::Result<std::optional<store::Record>>;

  void Put(const std::string& resource, text::Json object, const std::string& owner) {
    const std::string name(GetString(object, {"metadata", "name"}));
    text::Set(object, {"metadata", "uid"}, text::Json("uid-" + name));
    records_.push_back(
        {{resource, "default", name}, "uid-" + name, 1, owner, nullptr, std::move(object)});
  }
  void Apply(const store::Key& key, const store::Next& next) {
    if (next.action == store::Next::Action::kDelete) {
      std::erase_if(records_, [&](const store::Record& one) { return one.key == key; });
    } else if (next.action == store::Next::Action::kPut) {
      std::ranges::find(records_, key, &store::Record::key)->object = next.object;
    }
  }

  Result Get(const store::Key& key) override {
    return First([&](const store::Record& one) { return one.key == key; });
  }
  Result GetByUid(std::string_view uid) override {
    return First([&](const store::Record& one) { return one.uid == uid; });
  }
  base::Result<std::vector<store::Key>> OwnedBy(std::string_view uid) override {
    return List([&](const store::Record& one) { return one.owner == uid; });
  }
  base::Result<std::vector<store::Key>> InNamespace(std::string_view name) override {
    return List([&](const store::Record& one) { return one.key.namespace_name == name; });
  }
  base::Result<bool> OwnsAny(std::string_view uid) override {
    return std::ranges::any_of(records_, [&](const auto& one) { return one.owner == uid; });
  }
  base::Result<bool> HoldsAny(std::string_view name) override {
    return std::ranges::any_of(records_,
                               [&](const auto& one) { return one.key.namespace_name == name; });
  }

  size_t listed() const { return listed_; }
  size_t size() const { return records_.size(); }

 private:
  Result First(const std::function<bool(const store::Record&)>& is_wanted) {
    const auto found = std::ranges::find_if(records_, is_wanted);
    if (found == records_.end()) return std::nullopt;
    return *found;
  }
  std::vector<store::Key> List(const std::function<bool(const store::Record&)>& is_wanted) {
    std::vector<store::Key> keys;
    for (const store::Record& one : records_) {
      if (is_wanted(one)) keys.push_back(one.key);
    }
    listed_ += keys.size();
    return keys;
  }

  std::vector<store::Record> records_;
  size_t listed_ = 0;
};

TEST(Deletion, AnUnboundPodGoesAtOnce) {
  TestServer server;
  const text::Json pod = server.Expect(201, "POST", kPodsPath, PodObject("a"));
  const text::Json last = server.Expect(200, "DELETE", Path(kPodsPath, "a"));
  EXPECT_EQ(GetString(last, {"metadata", "uid"}), GetString(pod, {"metadata", "uid"}));
  EXPECT_EQ(text::GetInt(last, {"metadata", "deletionGracePeriodSeconds"}), 0);
  EXPECT_FALSE(IsThere(server, Path(kPodsPath, "a")));
}

TEST(Deletion, OfMostKindsAnswersAStatus) {
  TestServer server;
  const text::Json job = server.Expect(201, "POST", kJobsPath, JobObject("j"));
  const text::Json status = server.Expect(200, "DELETE", Path(kJobsPath, "j"));
  EXPECT_EQ(GetString(status, {"kind"}), "Status");
  EXPECT_EQ(GetString(status, {"status"}), "Success");
  EXPECT_EQ(GetString(status, {"details", "uid"}), GetString(job, {"metadata", "uid"}));
}

TEST(Deletion, ABoundPodIsMarkedAndGoesWithoutGrace) {
  TestServer server;
  server.Expect(201, "POST", kPodsPath, PodObject("a"));
  Bind(server, "a");
  const text::Json marked = server.Expect(200, "DELETE", Path(kPodsPath, "a"));
  EXPECT_EQ(GetString(marked, {"kind"}), "Pod");
  EXPECT_EQ(GetString(marked, {"metadata", "deletionTimestamp"}), "2026-07-30T10:00:30Z");
  EXPECT_EQ(GetInt(marked, {"metadata", "deletionGracePeriodSeconds"}), 30);
  // A longer grace period changes nothing, a shorter one does.
  EXPECT_EQ(server.Expect(200, "DELETE", Path(kPodsPath, "a?gracePeriodSeconds=60")), marked);
  const text::Json shorter =
      server.Expect(200, "DELETE", Path(kPodsPath, "a"), text::Object{{"gracePeriodSeconds", 5}});
  EXPECT_EQ(GetInt(shorter, {"metadata", "deletionGracePeriodSeconds"}), 5);
  // Status writes still work, and do not remove the object.
  server.Patch(200, Path(kPodsPath, "a/status"),
               text::Object{{"status", text::Object{{"phase", "Running"}}}});
  server.Expect(200, "DELETE", Path(kPodsPath, "a?gracePeriodSeconds=0"));
  EXPECT_FALSE(IsThere(server, Path(kPodsPath, "a")));
}

TEST(Deletion, AFinishedPodGoesAtOnce) {
  TestServer server;
  server.Expect(201, "POST", kPodsPath, PodObject("a"));
  Bind(server, "a");
  server.Patch(200, Path(kPodsPath, "a/status"),
               text::Object{{"status", text::Object{{"phase", "Succeeded"}}}});
  server.Expect(200, "DELETE", Path(kPodsPath, "a"));
  EXPECT_FALSE(IsThere(server, Path(kPodsPath, "a")));
}

TEST(Deletion, FinalizersHoldAnObject) {
  TestServer server;
  text::Json job = JobObject("j");
  text::Set(job, {"metadata", "finalizers"}, text::Array{"a/b"});
  server.Expect(201, "POST", kJobsPath, job);
  const text::Json marked = server.Expect(200, "DELETE", Path(kJobsPath, "j"));
  EXPECT_FALSE(GetString(marked, {"metadata", "deletionTimestamp"}).empty());
  EXPECT_EQ(server.Expect(200, "DELETE", Path(kJobsPath, "j")), marked);
  server.Patch(200, Path(kJobsPath, "j"), *text::ParseJson(R"({"metadata":{"labels":{"x":"y"}}})"));
  ASSERT_TRUE(IsThere(server, Path(kJobsPath, "j")));
  server.Patch(200, Path(kJobsPath, "j"), *text::ParseJson(R"({"metadata":{"finalizers":null}})"));
  EXPECT_FALSE(IsThere(server, Path(kJobsPath, "j")));
}

TEST(Deletion, TakesDependantsAndTheirDependantsAlong) {
  TestServer server;
  const text::Json job = server.Expect(201, "POST", kJobsPath, JobObject("j"));
  const text::Json pod = server.Expect(201, "POST", kPodsPath, Owned(PodObject("p"), job));
  server.Expect(201, "POST", kPodsPath, Owned(PodObject("bound"), job));
  Bind(server, "bound");
  const std::string services = "/api/v1/namespaces/default/services";
  server.Expect(
      201, "POST", services,
      Owned(*text::ParseJson(R"({"metadata":{"name":"s"},"spec":{"ports":[{"port":1}]}})"), pod));
  server.Expect(201, "POST", kPodsPath, PodObject("other"));
  server.Expect(200, "DELETE", Path(kJobsPath, "j"));
  EXPECT_FALSE(IsThere(server, Path(kJobsPath, "j")));
  EXPECT_FALSE(IsThere(server, Path(kPodsPath, "p")));
  EXPECT_FALSE(IsThere(server, services + "/s"));
  EXPECT_TRUE(IsThere(server, Path(kPodsPath, "other")));
  const text::Json bound = server.Expect(200, "GET", Path(kPodsPath, "bound"));
  EXPECT_FALSE(GetString(bound, {"metadata", "deletionTimestamp"}).empty());
}

// kubectl says so in the body.
TEST(Deletion, ADryRunDeletesNothing) {
  TestServer server;
  server.Expect(201, "POST", kJobsPath, JobObject("j"));
  const text::Json all = text::Object{{"dryRun", text::Array{"All"}}};
  server.Expect(200, "DELETE", Path(kJobsPath, "j"), all);
  server.Expect(200, "DELETE", kJobsPath, all);
  server.Expect(400, "DELETE", Path(kJobsPath, "j"), text::Object{{"dryRun", "All"}});
  EXPECT_TRUE(IsThere(server, Path(kJobsPath, "j")));
  server.Expect(422, "DELETE", Path(kJobsPath, "j"), text::Object{{"dryRun", text::Array{"Some"}}});
}

TEST(Deletion, LeavesWhatHasAnotherOwner) {
  TestServer server;
  const text::Json first = server.Expect(201, "POST", kJobsPath, JobObject("first"));
  const text::Json second = server.Expect(201, "POST", kJobsPath, JobObject("second"));
  text::Json pod = PodObject("p");
  text::Json other = OwnerReference(second);
  text::Erase(other, {"controller"});
  text::Set(pod, {"metadata", "ownerReferences"}, text::Array{OwnerReference(first), other});
  server.Expect(201, "POST", kPodsPath, pod);
  server.Expect(200, "DELETE", Path(kJobsPath, "first"));
  const text::Json kept = server.Expect(200, "GET", Path(kPodsPath, "p"));
  EXPECT_EQ(text::FindArray(kept, {"metadata", "ownerReferences"})->size(), 1U);
  server.Expect(200, "DELETE", Path(kJobsPath, "second"));
  EXPECT_FALSE(IsThere(server, Path(kPodsPath, "p")));
}

TEST(Deletion, ForegroundWaitsForTheLastDependant) {
  TestServer server;
  const text::Json job = server.Expect(201, "POST", kJobsPath, JobObject("j"));
  server.Expect(201, "POST", kPodsPath, Owned(PodObject("p"), job));
  server.Expect(201, "POST", kPodsPath, Owned(PodObject("q"), job));
  Bind(server, "p");
  const text::Json marked =
      server.Expect(200, "DELETE", Path(kJobsPath, "j?propagationPolicy=Foreground"));
  EXPECT_EQ(text::FindArray(marked, {"metadata", "finalizers"})->front(), "foregroundDeletion");
  EXPECT_FALSE(IsThere(server, Path(kPodsPath, "q")));
  EXPECT_TRUE(IsThere(server, Path(kJobsPath, "j")));
  server.Expect(200, "DELETE", Path(kPodsPath, "p?gracePeriodSeconds=0"));
  EXPECT_FALSE(IsThere(server, Path(kJobsPath, "j")));

  server.Expect(201, "POST", kJobsPath, JobObject("alone"));
  server.Expect(200, "DELETE", Path(kJobsPath, "alone?propagationPolicy=Foreground"));
  EXPECT_FALSE(IsThere(server, Path(kJobsPath, "alone")));
}

// Otherwise, deleting a job of 10,000 pods, which end one by one, would take time that grows with
// the square of their number.
TEST(Deletion, APodsEndListsNoneOfTheOthers) {
  CountingView view;
  text::Json owner = JobObject("j");
  AddFinalizer(owner, kForegroundFinalizer);
  text::Set(owner, {"metadata", "deletionTimestamp"}, text::Json("2026-07-30T10:00:00Z"));
  view.Put("pytorchjobs.kubeflow.org", std::move(owner), "");
  for (int i = 0; i < 100; ++i) view.Put("pods", PodObject("p" + std::to_string(i)), "uid-j");
  DeleteOptions options;
  options.grace_period_seconds = 0;
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(view.size(), 101U - static_cast<size_t>(i));
    const store::Key pod{"pods", "default", "p" + std::to_string(i)};
    auto ended = Delete(view, **view.Get(pod), options, {});
    ASSERT_TRUE(ended);
    view.Apply(pod, *ended);
    for (const store::Mutation& next : ended->then) {
      auto made = next.apply(view, *view.Get(next.key));
      ASSERT_TRUE(made);
      view.Apply(next.key, *made);
    }
  }
  EXPECT_EQ(view.size(), 0U);
  EXPECT_EQ(view.listed(), 0U);
}

TEST(Deletion, OrphanLeavesDependantsWithoutOwner) {
  TestServer server;
  const text::Json job = server.Expect(201, "POST", kJobsPath, JobObject("j"));
  server.Expect(201, "POST", kPodsPath, Owned(PodObject("p"), job));
  server.Expect(200, "DELETE", Path(kJobsPath, "j"), text::Object{{"propagationPolicy", "Orphan"}});
  const text::Json pod = server.Expect(200, "GET", Path(kPodsPath, "p"));
  EXPECT_EQ(text::Find(pod, {"metadata", "ownerReferences"}), nullptr);
}

TEST(Deletion, WhatIsMadeForAnOwnerThatIsGoneGoesAgain) {
  TestServer server;
  const text::Json job = server.Expect(201, "POST", kJobsPath, JobObject("j"));
  server.Expect(200, "DELETE", Path(kJobsPath, "j"));
  server.Expect(201, "POST", kPodsPath, Owned(PodObject("late"), job));
  EXPECT_FALSE(IsThere(server, Path(kPodsPath, "late")));
}

// By a controller that has not heard of the deletion yet: the owner would wait for it for ever.
TEST(Deletion, WhatIsMadeForAnOwnerThatWaitsForItsLastDependantGoesAgain) {
  TestServer server;
  const text::Json job = server.Expect(201, "POST", kJobsPath, JobObject("j"));
  server.Expect(201, "POST", kPodsPath, Owned(PodObject("p"), job));
  Bind(server, "p");
  server.Expect(200, "DELETE", Path(kJobsPath, "j?propagationPolicy=Foreground"));
  server.Expect(201, "POST", kPodsPath, Owned(PodObject("late"), job));
  EXPECT_FALSE(IsThere(server, Path(kPodsPath, "late")));
  EXPECT_TRUE(IsThere(server, Path(kJobsPath, "j")));
  server.Expect(200, "DELETE", Path(kPodsPath, "p?gracePeriodSeconds=0"));
  EXPECT_FALSE(IsThere(server, Path(kJobsPath, "j")));
}

TEST(Deletion, ACollectionGoesBySelector) {
  TestServer server;
  for (const std::string name : {"a", "b", "c"}) {
    text::Json pod = PodObject(name);
    text::Set(pod, {"metadata", "labels", "x"}, text::Json(name == "c" ? "keep" : "drop"));
    server.Expect(201, "POST", kPodsPath, pod);
  }
  const text::Json gone =
      server.Expect(200, "DELETE", std::string(kPodsPath) + "?labelSelector=x%3Ddrop");
  EXPECT_EQ(text::FindArray(gone, {"items"})->size(), 2U);
  const text::Json left = server.Expect(200, "GET", kPodsPath);
  EXPECT_EQ(text::FindArray(left, {"items"})->size(), 1U);
  server.Expect(200, "DELETE", std::string(kPodsPath) + "?labelSelector=x%3Ddrop");
}

TEST(Deletion, ANamespaceGoesWithItsContent) {
  TestServer server;
  server.Expect(201, "POST", "/api/v1/namespaces",
                *text::ParseJson(R"({"metadata":{"name":"team"}})"));
  const std::string pods = "/api/v1/namespaces/team/pods";
  server.Expect(201, "POST", pods, PodObject("a", "team"));
  server.Expect(201, "POST", pods, PodObject("b", "team"));
  server.Expect(201, "POST", pods + "/b/binding",
                *text::ParseJson(R"({"target":{"name":"here"}})"));
  const text::Json marked = server.Expect(200, "DELETE", "/api/v1/namespaces/team");
  EXPECT_EQ(GetString(marked, {"status", "phase"}), "Terminating");
  EXPECT_FALSE(IsThere(server, pods + "/a"));
  const text::Json refused = server.Expect(403, "POST", pods, PodObject("c", "team"));
  EXPECT_NE(GetString(refused, {"message"}).find("because it is being terminated"),
            std::string::npos);
  server.Expect(200, "DELETE", pods + "/b?gracePeriodSeconds=0");
  EXPECT_FALSE(IsThere(server, "/api/v1/namespaces/team"));
}

TEST(Deletion, HonoursTheUidOfThePredecessor) {
  TestServer server;
  const text::Json pod = server.Expect(201, "POST", kPodsPath, PodObject("a"));
  const text::Json uid = *text::Find(pod, {"metadata", "uid"});
  server.Expect(200, "DELETE", Path(kPodsPath, "a"),
                text::Object{{"preconditions", text::Object{{"uid", uid}}}});
  server.Expect(201, "POST", kPodsPath, PodObject("a"));
  server.Expect(409, "DELETE", Path(kPodsPath, "a"),
                text::Object{{"preconditions", text::Object{{"uid", uid}}}});
  EXPECT_TRUE(IsThere(server, Path(kPodsPath, "a")));
}

}  // namespace
}  // namespace local::server
