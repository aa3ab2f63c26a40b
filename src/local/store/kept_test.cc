#include "local/store/kept.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <future>

#include "base/file.h"
#include "local/store/sqlite.h"
#include "local/store/store.h"
#include "local/store/upkeep.h"

namespace local::store {
namespace {

constexpr const char* kJobs = "pytorchjobs.kubeflow.org";

text::Json Job(const std::string& name, const std::string& uid, int second) {
  return text::Object{{"metadata", text::Object{{"name", name},
                                                {"namespace", "default"},
                                                {"uid", uid},
                                                {"creationTimestamp",
                                                 fmt::format("2026-07-30T10:00:{:02}Z", second)},
                                                {"managedFields", text::Array{text::Object{}}}}},
                      {"spec", text::Object{{"a", 1}}}};
}

text::Json Pod(const std::string& name, const std::string& uid, const std::string& owner,
               const std::string& kind = "PyTorchJob") {
  return text::Object{
      {"metadata", text::Object{{"name", name},
                                {"namespace", "default"},
                                {"uid", uid},
                                {"ownerReferences",
                                 text::Array{text::Object{
                                     {"kind", kind}, {"uid", owner}, {"controller", true}}}}}},
      {"spec",
       text::Object{
           {"nodeName", "here"},
           {"volumes", text::Array{}},
           {"containers",
            text::Array{text::Object{
                {"name", "pytorch"},
                {"image", "host"},
                {"env", text::Array{text::Object{{"name", "TOKEN"}, {"value", "tiger"}}}}}}}}},
      {"status", text::Object{{"phase", "Failed"}}}};
}

class KeptTest : public testing::Test {
 protected:
  KeptTest() {
    char path[] = "/tmp/muster-kept-XXXXXX";
    folder_ = ::mkdtemp(path);
    Open();
  }
  ~KeptTest() override {
    store_.reset();
    (void)base::RemoveTree(folder_);
  }

  void Open() {
    store_.reset();
    auto opened = Store::Open(folder_ + "/db");
    ASSERT_TRUE(opened) << opened.error().message;
    store_ = std::move(*opened);
  }
  base::Result<Outcome> Write(Mutation mutation) {
    std::promise<base::Result<Outcome>> promise;
    store_->Submit(std::move(mutation),
                   [&](base::Result<Outcome> outcome) { promise.set_value(std::move(outcome)); });
    return promise.get_future().get();
  }
  void Put(const std::string& resource, const text::Json& object) {
    const Key key{resource, "default", std::string(text::GetString(object, {"metadata", "name"}))};
    ASSERT_TRUE(Write({key, [&](View&, std::optional<Record>) -> base::Result<Next> {
                         return Next{Next::Action::kPut, object, {}};
                       }}));
  }
  void Delete(const std::string& resource, const std::string& name, bool is_dry = false) {
    Mutation mutation{{resource, "default", name},
                      [](View&, std::optional<Record>) -> base::Result<Next> {
                        return Next{Next::Action::kDelete, nullptr, {}};
                      }};
    mutation.dry_run = is_dry;
    ASSERT_TRUE(Write(std::move(mutation)));
  }
  std::vector<std::string> Uids(const KeptQuery& query) {
    std::vector<std::string> uids;
    const auto kept = store_->ListKept(query);
    EXPECT_TRUE(kept);
    for (const Kept& one : *kept) uids.push_back(one.uid);
    return uids;
  }

  std::string folder_;
  std::unique_ptr<Store> store_;
};

using Uids_ = std::vector<std::string>;

TEST_F(KeptTest, ADeletedJobAndItsPodsStayOverARestart) {
  Put(kJobs, Job("a", "1111", 1));
  Put("pods", Pod("a-master-0", "p1", "1111"));
  EXPECT_EQ(Uids({}), Uids_());
  Delete("pods", "a-master-0");
  EXPECT_EQ(Uids({}), Uids_()) << "the job is still there";
  EXPECT_EQ(Uids({.run = "1111"}), Uids_({"p1"}));
  Delete(kJobs, "a");
  Open();
  EXPECT_EQ(Uids({}), Uids_({"1111"}));
  EXPECT_EQ(Uids({.run = "1111"}), Uids_({"p1"}));
  EXPECT_EQ(KeptUids(folder_ + "/db").value(), (std::set<std::string>{"1111", "p1"}));
}

TEST_F(KeptTest, WhatIsKeptHasNoVariablesOfPodsAndNoManagedFields) {
  Put(kJobs, Job("a", "1111", 1));
  Put("pods", Pod("a-master-0", "p1", "1111"));
  Delete("pods", "a-master-0");
  Delete(kJobs, "a");
  const std::string pod = store_->ListKept({.uid = "p1"}).value().at(0).json;
  EXPECT_EQ(pod.find("tiger"), std::string::npos) << pod;
  EXPECT_NE(pod.find("Failed"), std::string::npos) << pod;
  EXPECT_NE(pod.find("\"image\":\"host\""), std::string::npos) << pod;
  const std::string job = store_->ListKept({.uid = "1111"}).value().at(0).json;
  EXPECT_EQ(job.find("managedFields"), std::string::npos) << job;
  EXPECT_NE(job.find("\"spec\":{\"a\":1}"), std::string::npos) << job;
}

TEST_F(KeptTest, OtherPodsAndDryDeletionsLeaveNothing) {
  Put("pods", Pod("board", "p1", "2222", "ReplicaSet"));
  Delete("pods", "board");
  Put(kJobs, Job("a", "1111", 1));
  Delete(kJobs, "a", true);
  EXPECT_TRUE(KeptUids(folder_ + "/db").value().empty());
}

TEST_F(KeptTest, TheNewestComesFirstAndALimitHolds) {
  int second = 0;
  for (const char* uid : {"aa11", "aa22", "bb33"}) {
    Put(kJobs, Job("same", uid, ++second));
    Delete(kJobs, "same");
  }
  EXPECT_EQ(Uids({}), Uids_({"bb33", "aa22", "aa11"}));
  EXPECT_EQ(Uids({.name = "same", .limit = 1}), Uids_({"bb33"}));
  EXPECT_EQ(Uids({.uid_prefix = "aa"}), Uids_({"aa22", "aa11"}));
  EXPECT_EQ(Uids({.namespace_name = "other"}), Uids_());
  EXPECT_EQ(store_->NewestKept(2).value(), Uids_({"bb33", "aa22"}));
  EXPECT_EQ(store_->CountKept({}).value(), 3);
  ASSERT_TRUE(store_->Forget({"aa22"}));
  EXPECT_EQ(Uids({}), Uids_({"bb33", "aa11"}));
}

TEST_F(KeptTest, OfRunsOfOneSecondTheOneDeletedLastIsTheNewest) {
  for (const char* uid : {"cc11", "aa22", "bb33"}) {
    Put(kJobs, Job("same", uid, 1));
    Delete(kJobs, "same");
  }
  EXPECT_EQ(Uids({}), Uids_({"bb33", "aa22", "cc11"}));
  EXPECT_EQ(Uids({.name = "same", .limit = 1}), Uids_({"bb33"}));
}

}  // namespace
}  // namespace local::store
