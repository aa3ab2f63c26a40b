#include "local/node/logs/follower.h"

#include <fcntl.h>

#include "base/guarded.h"
#include "local/node/testing/pod_fixture.h"

namespace local::node {
namespace {

// Collects the chunks of a stream.
class Collector {
 public:
  LogReceiver Receiver(size_t close_after = SIZE_MAX) {
    return {[this, close_after](std::string chunk) {
              const std::lock_guard lock(mutex_);
              text_ += chunk;
              changed_.notify_all();
              return text_.size() < close_after;
            },
            [this](base::Status status) {
              const std::lock_guard lock(mutex_);
              status_ = std::move(status);
              changed_.notify_all();
            },
            nullptr, nullptr};
  }
  std::string AwaitEnd() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, kTestWait, [this] { return status_.has_value(); }))
        << text_;
    return text_;
  }
  void AwaitText(const std::string& text) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, kTestWait, [&] { return text_ == text; })) << text_;
  }
  bool HasEnded() {
    const std::lock_guard lock(mutex_);
    return status_.has_value();
  }
  base::Status status() {
    const std::lock_guard lock(mutex_);
    return status_.value_or(base::Status());
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string text_;
  std::optional<base::Status> status_;
};

class LogFollowerTest : public PodTest {
 protected:
  void SetUp() override {
    PodTest::SetUp();
    auto follower = LogFollower::Create();
    ASSERT_TRUE(follower);
    follower_ = std::move(*follower);
  }
  std::string ReadNow(const PodSpec& spec, LogQuery query) {
    Collector collector;
    follower_->Open(spec.directory, "pytorch", query, collector.Receiver());
    const std::string text = collector.AwaitEnd();
    const base::Status status = collector.status();
    return status ? text : "<" + status.error().message + ">";
  }
  static LogQuery Follow() {
    LogQuery query;
    query.follow = true;
    return query;
  }

  std::unique_ptr<LogFollower> follower_;
};

TEST_F(LogFollowerTest, GivesTheLogOfAFinishedPod) {
  const PodSpec spec = Pod({Shell("seq 1 5")});
  Run(spec);
  EXPECT_EQ(ReadNow(spec, {}), "1\n2\n3\n4\n5\n");
  EXPECT_EQ(ReadNow(spec, Follow()), "1\n2\n3\n4\n5\n");
  LogQuery tail;
  tail.tail_lines = 2;
  EXPECT_EQ(ReadNow(spec, tail), "4\n5\n");
  tail.follow = true;
  EXPECT_EQ(ReadNow(spec, tail), "4\n5\n");
  LogQuery limit;
  limit.limit_bytes = 3;
  EXPECT_EQ(ReadNow(spec, limit), "1\n2");
  LogQuery since;
  since.since = base::SystemClock().Now() + std::chrono::hours(1);
  EXPECT_EQ(ReadNow(spec, since), "");
}

TEST_F(LogFollowerTest, FollowsUntilThePodHasEnded) {
  ASSERT_EQ(::mkfifo((root_ + "/go").c_str(), 0600), 0);
  const PodSpec spec = Pod({Shell("echo one; cat " + root_ + "/go; seq 1 30000")});
  Start(spec);
  Collector first;
  Collector second;
  follower_->Open(spec.directory, "pytorch", Follow(), first.Receiver());
  follower_->Open(spec.directory, "pytorch", Follow(), second.Receiver());
  first.AwaitText("one\n");
  second.AwaitText("one\n");
  base::Fd(::open((root_ + "/go").c_str(), O_WRONLY | O_CLOEXEC)).Reset();
  std::string expected = "one\n";
  for (int i = 1; i <= 30000; ++i) expected += fmt::format("{}\n", i);
  EXPECT_EQ(first.AwaitEnd(), expected);
  EXPECT_EQ(second.AwaitEnd(), expected);
  EXPECT_TRUE(first.status());
}

TEST_F(LogFollowerTest, FollowsAcrossRestartsEachLineOnce) {
  PodSpec spec =
      Pod({Shell("echo x >> n; wc -l < n; [ $(wc -l < n) -ge 4 ]")}, PodRestartPolicy::kOnFailure);
  spec.containers[0].cwd = root_;
  ASSERT_TRUE(base::MakeDirs(spec.directory));
  Collector collector;
  follower_->Open(spec.directory, "pytorch", Follow(), collector.Receiver());
  Run(spec);
  EXPECT_EQ(collector.AwaitEnd(), "1\n2\n3\n4\n");
  LogQuery previous;
  previous.previous = true;
  EXPECT_EQ(ReadNow(spec, previous), "3\n");
  EXPECT_EQ(ReadNow(spec, {}), "4\n");
}

TEST_F(LogFollowerTest, EndsWhenTheShimIsKilled) {
  const PodSpec spec = Pod({Shell("echo up; sleep 1000")});
  ShimHandle handle = Start(spec);
  Collector collector;
  follower_->Open(spec.directory, "pytorch", Follow(), collector.Receiver());
  collector.AwaitText("up\n");
  EXPECT_FALSE(collector.HasEnded());
  ::kill(handle.pid(), SIGKILL);
  EXPECT_EQ(collector.AwaitEnd(), "up\n");
  EXPECT_TRUE(collector.status());
  EXPECT_EQ(ReadNow(spec, Follow()), "up\n");
}

TEST_F(LogFollowerTest, SaysWhyThereIsNothing) {
  PodSpec spec = Pod({Shell("true")});
  EXPECT_EQ(ReadNow(spec, {}), "<container \"pytorch\" is waiting to start: ContainerCreating>");
  Run(spec);
  EXPECT_EQ(ReadNow(spec, {}), "");
  LogQuery previous;
  previous.previous = true;
  EXPECT_EQ(ReadNow(spec, previous), "<previous terminated container \"pytorch\" not found>");
}

TEST_F(LogFollowerTest, StopsWhenNobodyListens) {
  const PodSpec spec = Pod({Shell("yes")});
  ShimHandle handle = Start(spec);
  Collector collector;
  follower_->Open(spec.directory, "pytorch", Follow(), collector.Receiver(1000));
  collector.AwaitEnd();
  EXPECT_EQ(collector.status().error().code, base::Code::kCancelled);
  ASSERT_TRUE(handle.Terminate(std::chrono::seconds(0)));
  AwaitEnd(spec, handle);
}

TEST_F(LogFollowerTest, WaitsForAReceiverWhoHasMuchToTake) {
  // About 16 MB in chunks; a receiver that reads nothing gets only a few of them.
  const PodSpec spec =
      Pod({Shell("yes 0123456789012345678901234567890123456789 | head -n 400000")});
  Run(spec);
  struct Taker {
    std::mutex mutex;
    std::condition_variable changed;
    size_t pending = 0, written = 0;
    std::function<void()> taken;
    bool is_finished = false;
  } taker;
  LogReceiver receiver;
  receiver.write = [&taker](const std::string& chunk) {
    const std::lock_guard lock(taker.mutex);
    taker.pending += chunk.size();
    taker.written += chunk.size();
    return true;
  };
  receiver.finish = [&taker](const base::Status&) {
    const std::lock_guard lock(taker.mutex);
    taker.is_finished = true;
    taker.changed.notify_all();
  };
  receiver.pending = [&taker] {
    const std::lock_guard lock(taker.mutex);
    return taker.pending;
  };
  receiver.when_taken = [&taker](size_t limit, std::function<void()> callback) {
    EXPECT_GT(limit, 0U);
    const std::lock_guard lock(taker.mutex);
    taker.taken = std::move(callback);
    taker.changed.notify_all();
  };
  follower_->Open(spec.directory, "pytorch", {}, std::move(receiver));
  int waits = 0;
  std::unique_lock lock(taker.mutex);
  while (true) {
    ASSERT_TRUE(
        taker.changed.wait_for(lock, kTestWait, [&] { return taker.taken || taker.is_finished; }));
    EXPECT_LT(taker.pending, 6U << 20);
    if (taker.is_finished) break;
    ++waits;
    taker.pending = 0;
    const auto taken = std::exchange(taker.taken, nullptr);
    lock.unlock();
    taken();
    lock.lock();
  }
  EXPECT_EQ(taker.written, 400'000U * 41);
  EXPECT_GE(waits, 2);
}

TEST_F(LogFollowerTest, ItsEndEndsEveryStream) {
  const PodSpec spec = Pod({Shell("echo up; sleep 1000")});
  Start(spec);
  Collector collector;
  follower_->Open(spec.directory, "pytorch", Follow(), collector.Receiver());
  collector.AwaitText("up\n");
  follower_.reset();
  EXPECT_TRUE(collector.HasEnded());
  EXPECT_EQ(collector.status().error().code, base::Code::kCancelled);
}

}  // namespace
}  // namespace local::node
