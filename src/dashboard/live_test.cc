#include "dashboard/live.h"

#include <gtest/gtest.h>

#include <mutex>

#include "arena/testing/verb_test_base.h"
#include "dashboard/testing/fake_tab.h"

namespace dashboard {
namespace {

class LiveTest : public arena::VerbTest {
 protected:
  LiveTest() : context_(MakeContext()) {
    cluster_->Put(arena::kJobs, MakeJob("first", "Running", std::chrono::seconds(60)));
    cluster_->Put(arena::kPods, MakePod("first", "master", 0, "Running"));
  }

  std::shared_ptr<FakeTab> Open(Live& live, const Live::Wish& wish) {
    auto tab = std::make_shared<FakeTab>();
    EXPECT_TRUE(live.Add(tab, wish));
    return tab;
  }

  arena::Context context_;
};

TEST_F(LiveTest, ATabGetsEverythingThenWhatChanges) {
  Live live(*client_, context_, {"default", ""});
  const auto tab = Open(live, {});
  ASSERT_TRUE(tab->Await(R"(event: rows
data: {"all":true,"set":[)"));
  ASSERT_TRUE(tab->Await(R"("name":"first")"));
  cluster_->Put(arena::kJobs, MakeJob("second", "Running", std::chrono::seconds(6)));
  ASSERT_TRUE(tab->Await(R"(data: {"set":[)"));
  ASSERT_TRUE(tab->Await(R"("name":"second")"));
  EXPECT_EQ(tab->Count(R"("name":"first")"), 1u);
  cluster_->Remove(arena::kJobs, "second");
  EXPECT_TRUE(tab->Await(R"("gone":["default/second"])"));
}

TEST_F(LiveTest, ATabOfAJobGetsItsInstances) {
  Live live(*client_, context_, {"default", ""});
  const auto tab = Open(live, {"default/first", std::nullopt});
  EXPECT_TRUE(tab->Await(R"(event: job
data: {"key":"default/first","instances":[{"name":"first-master-0")"));
  cluster_->Remove(arena::kJobs, "first");
  EXPECT_TRUE(tab->Await(R"({"key":"default/first","instances":null})"));
}

TEST_F(LiveTest, ATabThatDidNotReadGetsEverythingOnceMore) {
  Live live(*client_, context_, {"default", ""});
  const auto tab = Open(live, {});
  ASSERT_TRUE(tab->Await("event: progress"));
  tab->FallBehindAfter(R"("name":"second")", 2 * kMostBehind);
  cluster_->Put(arena::kJobs, MakeJob("second", "Running", std::chrono::seconds(6)));
  ASSERT_TRUE(tab->Await(R"("name":"second")"));
  // It is behind now: what comes is not sent.
  const auto other = Open(live, {});
  cluster_->Put(arena::kJobs, MakeJob("third", "Running", std::chrono::seconds(6)));
  ASSERT_TRUE(other->Await(R"("name":"third")"));
  EXPECT_EQ(tab->Count(R"("name":"third")"), 0u);
  tab->Read();
  ASSERT_TRUE(tab->Await(R"("name":"third")"));
  EXPECT_EQ(tab->Count(R"("all":true)"), 2u);
}

TEST_F(LiveTest, ALogIsFollowedUntilTheTabIsClosed) {
  cluster_->on_log = [](const net::Target& target) {
    arena::FakeLog log{200, "2026-07-30T09:59:59.000000Z hello\n"};
    log.stays_open = target.Query("follow") == "true";
    return log;
  };
  // Lines of several instances are put in order by the clock.
  const arena::Context context{.environment = base::Environment(environment_),
                               .clock = base::SystemClock(),
                               .flags = {},
                               .connect = {},
                               .cluster_namespace = "",
                               .find_user_name = {},
                               .pause = {}};
  Live live(*client_, context, {"default", ""});
  LogQuery query;
  query.run = "first";
  query.is_raw = true;
  const auto tab = Open(live, {"default/first", query});
  EXPECT_TRUE(tab->Await(R"([first-master-0] 2026-07-30T09:59:59.000000Z hello\n)"));
  tab->Close();
}

TEST_F(LiveTest, ATabOfAJobGetsItsRanksOverTime) {
  std::string cpu = "1";
  std::mutex mutex;
  int asked = 0;
  cluster_->on_progress = [&](const net::HttpRequest& request) -> std::string {
    EXPECT_NE(request.target.find("ranks="), std::string::npos) << request.target;
    const std::lock_guard lock(mutex);
    ++asked;
    return R"({"from":1000,"step":1000,"ranks":[{"rank":0,"cpu":[)" + cpu +
           R"(],"memoryBytes":[],"ioBytesPerSecond":[],"quietSeconds":[],"stall":[]}]})";
  };
  context_.cluster_is_this_machine = true;
  Live live(*client_, context_, {"default", ""});
  const auto tab = Open(live, {"default/first", std::nullopt});
  EXPECT_TRUE(
      tab->Await("event: strip\ndata: {\"key\":\"default/first\",\"from\":1000,\"step\":1000,"
                 "\"at\":0,\"ranks\":[{\"rank\":0,\"cpu\":[1],"));
  {
    const std::lock_guard lock(mutex);
    cpu = "1,0.5";
  }
  clock_.Advance(kShownInterval);
  // Time alone, and another tab, are no reason to ask the cluster; that it has new looks is one.
  const auto second = Open(live, {"default/first", std::nullopt});
  EXPECT_TRUE(second->Await("\"at\":0,\"ranks\":[{\"rank\":0,\"cpu\":[1],"));
  cluster_->Put(
      "/apis/muster.dev/v1/progress",
      *text::ParseJson(R"({"metadata": {"name": "u"}, "uid": "uid-first", "hasLooks": true})"));
  EXPECT_TRUE(tab->Await("\"at\":1,\"ranks\":[{\"rank\":0,\"cpu\":[0.5],"));
  const auto later = Open(live, {"default/first", std::nullopt});
  EXPECT_TRUE(later->Await("\"at\":0,\"ranks\":[{\"rank\":0,\"cpu\":[1,0.5],"));
  {
    const std::lock_guard lock(mutex);
    EXPECT_EQ(asked, 2);
  }
  const auto other = Open(live, {});
  ASSERT_TRUE(other->Await("event: progress"));
  EXPECT_EQ(other->Count("event: strip"), 0u);
}

TEST_F(LiveTest, HowBusyTheRanksAreIsToldInSteps) {
  const auto looks = [](const char* busy) {
    return *text::ParseJson(R"({"metadata": {"name": "u"}, "uid": "uid-first", "hasLooks": true,
                                "busy": )" +
                            std::string(busy) + "}");
  };
  context_.cluster_is_this_machine = true;
  cluster_->Put("/apis/muster.dev/v1/progress",
                *text::ParseJson(R"({"metadata": {"name": "u"}, "uid": "uid-first",
                                     "sources": [{"source": "log", "step": 1}]})"));
  Live live(*client_, context_, {"default", ""});
  const auto tab = Open(live, {});
  ASSERT_TRUE(tab->Await(R"("uid-first":{"source":"log","step":1})"));
  cluster_->Put("/apis/muster.dev/v1/progress", looks(R"({"cpu": 0.51, "gpu": null})"));
  EXPECT_TRUE(tab->Await(R"("uid-first":{"cpu":0.5,"gpu":null})"));
  // Less than a step is no news.
  cluster_->Put("/apis/muster.dev/v1/progress", looks(R"({"cpu": 0.52, "gpu": null})"));
  cluster_->Put("/apis/muster.dev/v1/progress", looks(R"({"cpu": 0.52, "gpu": 0.88})"));
  EXPECT_TRUE(tab->Await(R"("uid-first":{"cpu":0.5,"gpu":0.9})"));
  EXPECT_EQ(tab->Count(R"("uid-first":{"cpu")"), 2u);
  const auto later = Open(live, {});
  EXPECT_TRUE(later->Await(R"(event: busy
data: {"uid-first":{"cpu":0.5,"gpu":0.9}})"));
}

TEST_F(LiveTest, ProgressComesByAWatchWhileATabIsOpen) {
  const auto progress = [](int step) {
    return *text::ParseJson(R"({"metadata": {"name": "uid-first"}, "uid": "uid-first",
                                "sources": [{"source": "log", "step": )" +
                            std::to_string(step) + "}]}");
  };
  context_.cluster_is_this_machine = true;
  cluster_->Put("/apis/muster.dev/v1/progress", progress(1));
  Live live(*client_, context_, {"default", ""});
  const auto tab = Open(live, {});
  EXPECT_TRUE(tab->Await(R"("uid-first":{"source":"log","step":1})"));
  cluster_->Put("/apis/muster.dev/v1/progress", progress(2));
  EXPECT_TRUE(tab->Await(R"("uid-first":{"source":"log","step":2})"));
  cluster_->Remove("/apis/muster.dev/v1/progress", "uid-first");
  tab->Close();
  // A tab that comes later finds nothing of the job that has ended.
  const auto later = Open(live, {});
  EXPECT_TRUE(later->Await("event: progress\ndata: {}"));
}

TEST_F(LiveTest, TooManyTabsAreRefused) {
  Live live(*client_, context_, {"default", ""});
  for (size_t i = 0; i < kMostStreams; ++i) Open(live, {});
  const base::Status one_more = live.Add(std::make_shared<FakeTab>(), {});
  ASSERT_FALSE(one_more);
  EXPECT_EQ(one_more.error().code, base::Code::kExhausted);
}

}  // namespace
}  // namespace dashboard
