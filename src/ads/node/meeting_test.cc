#include "ads/node/meeting.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <thread>

#include "ads/testing/temporary_folder.h"
#include "process/pidfd.h"

namespace ads {
namespace {

using std::chrono::seconds;

// The work dir of a job, and nodes in it.
class MeetingTest : public testing::Test {
 protected:
  EntrySettings Node(int64_t rank) const {
    EntrySettings settings;
    settings.rank = rank;
    settings.worker_count = 1;
    settings.work_dir = "file://" + folder_.path();
    settings.job_ocid = "job";
    settings.job_run_ocid = "run" + std::to_string(rank);
    return settings;
  }
  std::unique_ptr<ObjectStorage> Open() const { return *OpenFolder(Node(0).MeetingUri()); }
  std::string Content(const std::string& name) const {
    return base::ReadFile(folder_.path() + "/job/" + name).value_or("absent");
  }
  void Age(const std::string& name, seconds by) const {
    const auto at = std::chrono::system_clock::now() - by;
    const timespec time{std::chrono::system_clock::to_time_t(at), 0};
    const timespec times[] = {time, time};
    ASSERT_EQ(::utimensat(AT_FDCWD, (folder_.path() + "/job/" + name).c_str(), times, 0), 0);
  }

  TemporaryFolder folder_;
  base::Clock& clock_ = base::SystemClock();
};

TEST_F(MeetingTest, FilesHaveTheOriginalsNamesAndContents) {
  const EntrySettings main = Node(0);
  const EntrySettings worker = Node(1);
  const auto storage = Open();
  Meeting of_main(main, *storage, clock_);
  Meeting of_worker(worker, *storage, clock_);
  const auto written = of_worker.Announce("10.0.0.6");
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(written->shown, "{'OCI__WORKER_IP': '10.0.0.6'}");
  EXPECT_EQ(written->uri, "file://" + folder_.path() + "/job/WORKER_run1_config.json");
  ASSERT_TRUE(of_main.Announce("10.0.0.5"));
  EXPECT_EQ(Content("MAIN_config.json"), R"({"MASTER_ADDR": "10.0.0.5"})");
  EXPECT_EQ(Content("WORKER_run1_config.json"), R"({"OCI__WORKER_IP": "10.0.0.6"})");
  const auto config = of_worker.AwaitMain();
  ASSERT_TRUE(config);
  EXPECT_EQ(config->at("MASTER_ADDR"), "10.0.0.5");
  EXPECT_EQ(of_main.Stop().value_or(true), false);
  EXPECT_EQ(Content("stop"), "stop");
  EXPECT_EQ(of_worker.Stop().value_or(false), true);
}

TEST_F(MeetingTest, AWaitingWorkerIsWokenByTheMainNode) {
  const EntrySettings main = Node(0);
  const EntrySettings worker = Node(1);
  const auto storage = Open();
  Meeting of_worker(worker, *storage, clock_);
  ASSERT_TRUE(of_worker.Announce("10.0.0.6"));
  std::jthread later([&] {
    const auto own = Open();
    Meeting of_main(main, *own, clock_);
    EXPECT_TRUE(of_main.Announce("10.0.0.5"));
  });
  const auto config = of_worker.AwaitMain();
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->at("MASTER_ADDR"), "10.0.0.5");
}

TEST_F(MeetingTest, WithoutAMainNodeTheTimeRunsOut) {
  EntrySettings worker = Node(1);
  worker.timeout = seconds(0);
  const auto storage = Open();
  Meeting meeting(worker, *storage, clock_);
  const auto config = meeting.AwaitMain();
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().code, base::Code::kTimeout);
  EXPECT_TRUE(config.error().message.starts_with(
      "Exception: Timed out waiting to be in ready status. Likely cause configuration is missing "
      "in the `WORK_DIR`"))
      << config.error().message;
}

TEST_F(MeetingTest, WhatAnEarlierRunLeftIsNoConfig) {
  const EntrySettings main = Node(0);
  EntrySettings worker = Node(1);
  worker.timeout = seconds(0);
  const auto storage = Open();
  Meeting earlier(main, *storage, clock_);
  ASSERT_TRUE(earlier.Announce("10.0.0.99"));
  ASSERT_TRUE(earlier.Stop());
  Age("stop", seconds(3600));
  Meeting of_worker(worker, *storage, clock_);
  EXPECT_FALSE(of_worker.AwaitMain());
  // The present main node removes the mark.
  Meeting of_main(main, *storage, clock_);
  ASSERT_TRUE(of_main.Announce("10.0.0.5"));
  EXPECT_EQ(Content("stop"), "absent");
  const auto config = of_worker.AwaitMain();
  ASSERT_TRUE(config);
  EXPECT_EQ(config->at("MASTER_ADDR"), "10.0.0.5");
}

TEST_F(MeetingTest, AFailureIsSeenByTheOthersAlone) {
  const EntrySettings main = Node(0);
  const EntrySettings worker = Node(1);
  const auto storage = Open();
  Meeting of_main(main, *storage, clock_);
  Meeting of_worker(worker, *storage, clock_);
  ASSERT_TRUE(of_main.Announce("10.0.0.5"));
  ASSERT_TRUE(of_main.AwaitMain());
  ASSERT_TRUE(of_worker.AwaitMain());
  ASSERT_TRUE(of_worker.ReportFailure(3));
  const auto seen = of_main.FindFailure();
  ASSERT_TRUE(seen && *seen);
  EXPECT_EQ((*seen)->rank, "1");
  EXPECT_EQ((*seen)->exit_code, "3");
  EXPECT_FALSE(of_worker.FindFailure().value_or(Meeting::Failure{}));
}

TEST_F(MeetingTest, AFailureOfAnEarlierRunIsForgotten) {
  const EntrySettings main = Node(0);
  const EntrySettings worker = Node(1);
  const auto storage = Open();
  Meeting earlier(worker, *storage, clock_);
  ASSERT_TRUE(earlier.ReportFailure(3));
  Age("FAILED_run1.json", seconds(60));
  EntrySettings third = Node(2);
  Meeting of_third(third, *storage, clock_);
  EXPECT_FALSE(of_third.FindFailure().value_or(Meeting::Failure{}));
  Meeting of_main(main, *storage, clock_);
  ASSERT_TRUE(of_main.Announce("10.0.0.5"));
  EXPECT_EQ(Content("FAILED_run1.json"), "absent");
}

TEST_F(MeetingTest, AWaitingWorkerLearnsOfAFailure) {
  const EntrySettings worker = Node(1);
  const EntrySettings other = Node(2);
  const auto storage = Open();
  Meeting of_worker(worker, *storage, clock_);
  Meeting of_other(other, *storage, clock_);
  ASSERT_TRUE(of_other.ReportFailure(7));
  const auto config = of_worker.AwaitMain();
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().message, "RuntimeError: the node of rank 2 failed with exit code 7");
}

// A folder that is unavailable for the first few requests.
class BusyStorage : public ObjectStorage {
 public:
  BusyStorage(std::unique_ptr<ObjectStorage> storage, int refusals)
      : storage_(std::move(storage)), refusals_(refusals) {}
  base::Status Put(const std::string& name, std::string_view content) override {
    return storage_->Put(name, content);
  }
  base::Result<std::string> Get(const std::string& name) override {
    if (refusals_-- > 0) return base::Fail(base::Code::kUnavailable, "429: too many requests");
    return storage_->Get(name);
  }
  base::Result<base::Time> ModifiedAt(const std::string& name) override {
    return storage_->ModifiedAt(name);
  }
  base::Status Remove(const std::string& name) override { return storage_->Remove(name); }
  base::Result<std::vector<std::string>> List(const std::string& prefix) override {
    if (refusals_ > 0) return base::Fail(base::Code::kExhausted, "429: too many requests");
    return storage_->List(prefix);
  }
  base::Status PutFile(const std::string& name, const std::string& path) override {
    return storage_->PutFile(name, path);
  }
  base::Status GetFile(const std::string& name, const std::string& path) override {
    return storage_->GetFile(name, path);
  }
  std::string UriOf(const std::string& name) const override { return storage_->UriOf(name); }
  // Always readable, so the next request comes at once.
  int ChangesFd() override { return ready_; }

 private:
  std::unique_ptr<ObjectStorage> storage_;
  int refusals_;
  int ready_ = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
};

TEST_F(MeetingTest, AStorageThatIsAwayIsAskedAgain) {
  const EntrySettings main = Node(0);
  const EntrySettings worker = Node(1);
  const auto storage = Open();
  Meeting of_main(main, *storage, clock_);
  ASSERT_TRUE(of_main.Announce("10.0.0.5"));
  BusyStorage busy(Open(), 3);
  Meeting of_worker(worker, busy, clock_);
  const auto config = of_worker.AwaitMain();
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->at("MASTER_ADDR"), "10.0.0.5");
  // With no time left, the storage's own error is returned.
  EntrySettings hasty = Node(2);
  hasty.timeout = seconds(0);
  BusyStorage away(Open(), 1000);
  Meeting of_hasty(hasty, away, clock_);
  EXPECT_EQ(of_hasty.AwaitMain().error().message, "429: too many requests");
}

// The nodes of a job on this machine.
TEST_F(MeetingTest, AwaitMain_EndsWhenTheMainNodeWasKilledBeforeItAnnouncedItself) {
  const EntrySettings settings = Node(1);
  const auto storage = Open();
  {
    const auto killed = *LocalNodes::Open(folder_.path() + "/local", 0);
  }
  const auto nodes = *LocalNodes::Open(folder_.path() + "/local", 1);
  Meeting worker(settings, *storage, clock_, nodes.get());
  const auto config = worker.AwaitMain();
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().message, "RuntimeError: the node of rank 0 was killed");
}

TEST_F(MeetingTest, ChangesFd_ReportsAKilledNodeAndTheFolder) {
  const EntrySettings settings = Node(0);
  const auto storage = Open();
  const auto nodes = *LocalNodes::Open(folder_.path() + "/local", 0);
  auto worker = *LocalNodes::Open(folder_.path() + "/local", 1);
  Meeting main(settings, *storage, clock_, nodes.get());
  const int changes = main.ChangesFd();
  ASSERT_GE(changes, 0);
  ASSERT_TRUE(main.FindFailure());
  main.DrainChanges();
  EXPECT_FALSE(process::WaitReadable(changes, std::chrono::milliseconds(0)));
  ASSERT_TRUE(storage->Put("one", "1"));
  EXPECT_TRUE(process::WaitReadable(changes, seconds(60)));
  main.DrainChanges();
  EXPECT_FALSE(process::WaitReadable(changes, std::chrono::milliseconds(0)));
  worker.reset();
  EXPECT_TRUE(process::WaitReadable(changes, seconds(60)));
  const auto failure = main.FindFailure();
  ASSERT_TRUE(failure && *failure);
  EXPECT_EQ((*failure)->Describe(), "the node of rank 1 was killed");
}

}  // namespace
}  // namespace ads
