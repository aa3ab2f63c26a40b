#include "dashboard/live.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "arena/testing/verb_test_base.h"

namespace dashboard {
namespace {

// A tab: what it was sent, and how much of that it has not read.
class FakeTab : public net::Responder {
 public:
  void Send(net::HttpResponse) override {}
  void Start(int status, net::Headers) override { status_ = status; }
  void Write(std::string chunk) override {
    const std::lock_guard lock(mutex_);
    text_ += chunk;
    if (!last_read_.empty() && chunk.find(last_read_) != std::string::npos) pending_ += behind_;
    changed_.notify_all();
  }
  void Finish() override {}
  void CutShort(std::string) override {}
  void Upgrade(net::Headers, std::function<void(std::string_view)>) override {}
  void Used(size_t) override {}
  size_t PendingBytes() const override {
    const std::lock_guard lock(mutex_);
    return pending_;
  }
  void WhenTaken(size_t, std::function<void()> callback) override {
    const std::lock_guard lock(mutex_);
    when_taken_ = std::move(callback);
  }
  bool IsClosed() const override { return is_closed_; }
  void OnClose(std::function<void()> callback) override { on_close_ = std::move(callback); }

  // Whether it comes within ten seconds.
  bool Await(const std::string& text) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(10),
                             [&] { return text_.find(text) != std::string::npos; });
  }
  size_t Count(const std::string& text) {
    const std::lock_guard lock(mutex_);
    size_t count = 0;
    for (size_t at = 0; (at = text_.find(text, at)) != std::string::npos; ++at) ++count;
    return count;
  }
  // Reads nothing after what contains `text`, and has then `bytes` before it.
  void FallBehindAfter(std::string text, size_t bytes) {
    const std::lock_guard lock(mutex_);
    last_read_ = std::move(text);
    behind_ = bytes;
  }
  void Read() {
    std::function<void()> callback;
    {
      const std::lock_guard lock(mutex_);
      pending_ = 0;
      last_read_.clear();
      callback = std::move(when_taken_);
    }
    if (callback) callback();
  }
  void Close() {
    is_closed_ = true;
    on_close_();
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string text_;
  size_t pending_ = 0;
  std::string last_read_;
  size_t behind_ = 0;
  std::atomic<bool> is_closed_{false};
  int status_ = 0;
  std::function<void()> when_taken_, on_close_;
};

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

TEST_F(LiveTest, ATabIsToldEverythingThenWhatChanges) {
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

TEST_F(LiveTest, ATabOfAJobIsToldOfItsInstances) {
  Live live(*client_, context_, {"default", ""});
  const auto tab = Open(live, {"default/first", std::nullopt});
  EXPECT_TRUE(tab->Await(R"(event: job
data: {"key":"default/first","instances":[{"name":"first-master-0")"));
  cluster_->Remove(arena::kJobs, "first");
  EXPECT_TRUE(tab->Await(R"({"key":"default/first","instances":null})"));
}

TEST_F(LiveTest, ATabThatDidNotReadIsToldEverythingOnceMore) {
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

TEST_F(LiveTest, TooManyTabsAreRefused) {
  Live live(*client_, context_, {"default", ""});
  for (size_t i = 0; i < kMostStreams; ++i) Open(live, {});
  const base::Status one_more = live.Add(std::make_shared<FakeTab>(), {});
  ASSERT_FALSE(one_more);
  EXPECT_EQ(one_more.error().code, base::Code::kExhausted);
}

}  // namespace
}  // namespace dashboard
