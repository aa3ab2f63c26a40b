#include "local/daemon/progress/event_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <future>

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

}  // namespace
}  // namespace local::daemon
