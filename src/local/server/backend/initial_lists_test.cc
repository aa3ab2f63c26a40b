#include "local/server/backend/initial_lists.h"

#include <gtest/gtest.h>

#include <future>
#include <latch>

#include "local/server/testing/test_server.h"

namespace local::server {
namespace {

class ListWatcher : public InitialLists::Watcher {
 public:
  explicit ListWatcher(std::latch* until = nullptr) : until_(until) {}

  net::Responder& responder() override { return *responder_; }
  void Begin() override {
    responder_->Start(200, {});
    begun_.set_value();
    if (until_ != nullptr) until_->wait();
  }
  void Write(const std::string& piece) override {
    responder_->Write(piece);
    if (is_slow) responder_->pending_bytes = 2 * kInitialPieceBytes;
  }
  void Arrive(int64_t, bool) override { responder_->Finish(); }
  void Fail(const ApiError& error) override {
    failed_with = error.http_status;
    responder_->Finish();
  }

  void AwaitBegin() { begun_.get_future().wait(); }
  std::string Body() { return responder_->Wait().body; }
  FakeResponder& fake() { return *responder_; }

  void AwaitFullPipe() {
    AwaitBegin();
    while (!responder_->HasWaiter()) std::this_thread::yield();
  }

  std::atomic<int> failed_with = 0;
  std::atomic<bool> is_slow = false;

 private:
  std::latch* const until_;
  std::promise<void> begun_;
  const std::shared_ptr<FakeResponder> responder_ = std::make_shared<FakeResponder>();
};

class InitialListsTest : public testing::Test {
 protected:
  void SetUp() override {
    char path[] = "/tmp/muster-lists-XXXXXX";
    directory_ = ::mkdtemp(path);
    auto opened = store::Store::Open(directory_ + "/state.db");
    ASSERT_TRUE(opened) << opened.error().message;
    store_ = std::move(*opened);
    lists_ = std::make_unique<InitialLists>(*store_, timers_);
  }
  void TearDown() override {
    lists_.reset();
    store_.reset();
    (void)base::RemoveTree(directory_);
  }

  void Put(const std::string& name, size_t bytes) {
    std::promise<void> done;
    store::Mutation mutation;
    mutation.key = {"configmaps", "default", name};
    mutation.apply = [&](store::View&, std::optional<store::Record>) -> base::Result<store::Next> {
      return store::Next{
          store::Next::Action::kPut,
          text::Object{{"metadata", text::Object{{"name", name}}}, {"x", std::string(bytes, 'x')}},
          {}};
    };
    store_->Submit(std::move(mutation), [&](const auto&) { done.set_value(); });
    done.get_future().wait();
  }

  // A watcher that has joined; its list consists of the names, one per line.
  std::shared_ptr<ListWatcher> Join(const std::string& key, std::latch* until = nullptr) {
    auto watcher = std::make_shared<ListWatcher>(until);
    const bool has_joined = lists_->Join(
        key,
        [this] {
          ++made_;
          return InitialLists::Source{
              store::ListQuery{.resource = "configmaps"},
              [](const store::Row& row, std::string& lines) {
                lines.append(row.name).append(row.json.size(), '.').append("\n");
              },
              [](int64_t) { return std::string("end\n"); }};
        },
        watcher);
    return has_joined ? watcher : nullptr;
  }

  std::string directory_;
  std::unique_ptr<store::Store> store_;
  std::shared_ptr<FakeTimers> timers_ = std::make_shared<FakeTimers>();
  std::unique_ptr<InitialLists> lists_;
  int made_ = 0;
};

TEST_F(InitialListsTest, WhoComesTogetherSharesOneList) {
  std::latch until(1);
  const auto first = Join("a", &until);
  first->AwaitBegin();
  const auto second = Join("a");
  const auto third = Join("a");
  const auto other = Join("b");
  Put("late", 1);  // before their list begins, so that it is in theirs and not in the first
  until.count_down();
  EXPECT_EQ(first->Body(), "end\n");
  EXPECT_TRUE(second->Body().starts_with("late"));
  EXPECT_EQ(second->Body(), third->Body());
  EXPECT_EQ(other->Body(), third->Body());
  EXPECT_EQ(made_, 3);
}

TEST_F(InitialListsTest, GoesNoFasterThanItIsTaken) {
  for (const char* name : {"m1", "m2", "m3"}) Put(name, kInitialPieceBytes);
  std::latch until(1);
  const auto blocker = Join("blocker", &until);
  blocker->AwaitBegin();
  const auto quick = Join("a");
  const auto slow = Join("a");
  slow->is_slow = true;
  until.count_down();
  blocker->Body();
  slow->AwaitFullPipe();
  EXPECT_EQ(quick->fake().Now().body.find("m2"), std::string::npos);
  slow->is_slow = false;
  slow->fake().TakeAll();
  EXPECT_TRUE(quick->Body().ends_with("end\n"));
  EXPECT_EQ(quick->Body(), slow->Body());
}

TEST_F(InitialListsTest, WhoTakesNothingIsLeftBehind) {
  for (const char* name : {"m1", "m2", "m3"}) Put(name, kInitialPieceBytes);
  std::latch until(1);
  const auto blocker = Join("blocker", &until);
  blocker->AwaitBegin();
  const auto quick = Join("a");
  const auto stuck = Join("a");
  stuck->is_slow = true;
  until.count_down();
  blocker->Body();
  stuck->AwaitFullPipe();
  timers_->Fire(kInitialPieceTime);
  EXPECT_TRUE(quick->Body().ends_with("end\n"));
  stuck->Body();
  EXPECT_EQ(stuck->failed_with, 410);
  EXPECT_EQ(quick->failed_with, 0);
}

TEST_F(InitialListsTest, IsBoundedInAll) {
  std::latch until(1);
  const auto first = Join("a", &until);
  first->AwaitBegin();
  std::vector<std::shared_ptr<ListWatcher>> watchers;
  for (size_t i = 1; i < kMaxListWatchers; ++i) {
    watchers.push_back(Join(std::to_string(i % 7)));
    ASSERT_NE(watchers.back(), nullptr) << i;
  }
  EXPECT_EQ(Join("a"), nullptr);
  until.count_down();
  for (const auto& watcher : watchers) EXPECT_EQ(watcher->Body(), "end\n");
  while (Join("again") == nullptr) std::this_thread::yield();
}

TEST_F(InitialListsTest, EndsWithWatchersThatNeverTake) {
  for (const char* name : {"m1", "m2", "m3"}) Put(name, kInitialPieceBytes);
  std::latch until(1);
  const auto stuck = Join("a", &until);
  stuck->is_slow = true;
  until.count_down();
  stuck->AwaitFullPipe();
  lists_.reset();
}

}  // namespace
}  // namespace local::server
