#include "ads/artifact_sync.h"

#include <gtest/gtest.h>

#include "ads/temporary_folder_for_tests.h"

namespace ads {
namespace {

// Files of the test are written by the real clock; the sync's own stands.
TEST(ArtifactSync_Round, LeavesFilesOfThisMomentToTheNext) {
  const TemporaryFolder from;
  const TemporaryFolder to;
  const auto write = [&](const std::string& name, const std::string& text) {
    ASSERT_TRUE(base::MakeDirs(base::DirectoryOf(from.path() + "/" + name)));
    ASSERT_TRUE(
        base::WriteFileAtomic(from.path() + "/" + name, text, 0600, base::Durability::kNone));
  };
  const auto copied = [&](const std::string& name) {
    return base::ReadFile(to.path() + "/" + name).value_or("absent");
  };
  base::FakeClock clock(base::SystemClock().Now());
  cli::StringOutput err;
  ArtifactSync sync(from.path(), *OpenFolder("file://" + to.path()), std::chrono::seconds(60),
                    clock, err);
  write("logs/a", "one");
  ASSERT_TRUE(sync.Round(false));
  EXPECT_EQ(copied("logs/a"), "absent");
  clock.Advance(std::chrono::minutes(1));
  ASSERT_TRUE(sync.Round(false));
  EXPECT_EQ(copied("logs/a"), "one");
  // What has not changed is not copied again.
  ASSERT_TRUE(base::RemoveTree(to.path() + "/logs"));
  ASSERT_TRUE(sync.Round(true));
  EXPECT_EQ(copied("logs/a"), "absent");
  write("logs/a", "two, longer");
  ASSERT_TRUE(sync.Finish());
  EXPECT_EQ(copied("logs/a"), "two, longer");
}

TEST(ArtifactSync_AbsentFolder, IsNothingToDo) {
  const TemporaryFolder to;
  cli::StringOutput err;
  ArtifactSync sync("/nowhere/at/all", *OpenFolder(to.path()), std::chrono::seconds(60),
                    base::SystemClock(), err);
  sync.Start();
  EXPECT_TRUE(sync.Finish());
}

}  // namespace
}  // namespace ads
