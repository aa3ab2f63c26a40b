#include "local/daemon/progress/event_files.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>

#include "local/daemon/progress/testing/event_record.h"

namespace local::daemon {
namespace {

TEST(EventFiles, AFolderThatDoesNotAnswerHoldsNoOther) {
  std::string pattern = testing::TempDir() + "/muster-events-XXXXXX";
  const std::string state = mkdtemp(pattern.data());
  {
    ProgressFiles progress(state);
    std::promise<void> is_held, goes_on, is_read;
    std::atomic<int> of_dead{0}, of_live{0};
    EventFiles files(progress, [&](const std::string& folder) {
      if (folder == "/dead") {
        ++of_dead;
        is_held.set_value();
        goes_on.get_future().wait();
      } else if (of_live++ == 0) {
        is_read.set_value();
      }
    });
    files.Follow("job-1", "/dead", 0);
    is_held.get_future().wait();
    files.Follow("job-2", "/live", 0);
    files.Check(std::chrono::hours(1));  // it may still answer
    EXPECT_EQ(of_live, 0);
    files.Check(std::chrono::seconds(0));
    is_read.get_future().wait();
    EXPECT_EQ(of_dead, 1);
    goes_on.set_value();
  }
  std::filesystem::remove_all(state);
}

TEST(EventFiles, AJobThatEndsWhileItsFolderDoesNotAnswerIsLeft) {
  std::string pattern = testing::TempDir() + "/muster-events-XXXXXX";
  const std::string state = mkdtemp(pattern.data());
  {
    ProgressFiles progress(state);
    std::promise<void> is_held, goes_on, is_read;
    std::atomic<int> of_none{0}, of_live{0};
    EventFiles files(progress, [&](const std::string& folder) {
      if (folder == "/dead") {
        is_held.set_value();
        goes_on.get_future().wait();
      } else if (folder.empty()) {
        ++of_none;
      } else if (of_live++ == 0) {
        is_read.set_value();
      }
    });
    files.Follow("job-1", "/dead", 0);
    is_held.get_future().wait();
    files.Leave("job-1");
    files.Check(std::chrono::seconds(0));
    goes_on.set_value();
    files.Follow("job-2", "/live", 0);
    is_read.get_future().wait();
    EXPECT_EQ(of_none, 0);
  }
  std::filesystem::remove_all(state);
}

TEST(EventFiles, ALaterPodOfAJobHidesNothingOfTheFirst) {
  std::string pattern = testing::TempDir() + "/muster-events-XXXXXX";
  const std::string state = mkdtemp(pattern.data());
  const std::string folder = state + "/run";
  std::filesystem::create_directory(folder);
  std::ofstream(folder + "/events.out.tfevents.1.host", std::ios::binary) << EventRecord(1, 0.5F);
  {
    ProgressFiles progress(state);
    std::promise<void> is_held, goes_on, is_read;
    std::atomic<int> of_live{0};
    EventFiles files(progress, [&](const std::string& looked_at) {
      if (looked_at == "/dead") {
        is_held.set_value();
        goes_on.get_future().wait();
      } else if (looked_at == "/live" && of_live++ == 0) {
        is_read.set_value();
      }
    });
    files.Follow("job-1", "/dead", 0);
    is_held.get_future().wait();
    files.Follow("job-2", folder, kRunStart);
    files.Follow("job-2", folder, kRunStart + 10'000);
    files.Follow("job-3", "/live", 0);  // comes after it
    files.Check(std::chrono::seconds(0));
    is_read.get_future().wait();
    EXPECT_EQ(progress.LastOf("job-2", kEventFilesSource), kRunStart + 1500);
    goes_on.set_value();
  }
  std::filesystem::remove_all(state);
}

}  // namespace
}  // namespace local::daemon
