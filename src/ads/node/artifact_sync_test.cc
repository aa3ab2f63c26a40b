#include "ads/node/artifact_sync.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "ads/testing/temporary_folder.h"
#include "base/fd.h"
#include "process/pidfd.h"

namespace ads {
namespace {

// Reached only if something is wrong.
constexpr std::chrono::seconds kSyncDeadline{60};

class ArtifactSyncTest : public testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) {
    const std::string path = from_.path() + "/" + name;
    ASSERT_TRUE(base::MakeDirs(base::DirectoryOf(path)));
    std::ofstream(path) << text;
  }
  std::string Copied(const std::string& name) const {
    return base::ReadFile(to_.path() + "/" + name).value_or("absent");
  }
  // Waits until a file at the top of the storage has that content.
  void AwaitCopy(const std::string& name, const std::string& text) {
    while (Copied(name) != text) {
      ASSERT_TRUE(process::WaitReadable(copies_->ChangesFd(), kSyncDeadline)) << name;
      copies_->DrainChanges();
    }
  }
  ArtifactSync Open(std::chrono::milliseconds interval) {
    (void)copies_->ChangesFd();
    const SyncRhythm rhythm{interval, std::chrono::milliseconds(1)};
    return {from_.path(), *OpenFolder(to_.path()), rhythm, base::SystemClock(), err_};
  }

  TemporaryFolder from_;
  TemporaryFolder to_;
  std::unique_ptr<ObjectStorage> copies_ = *OpenFolder(to_.path());
  cli::StringOutput err_;
};

TEST_F(ArtifactSyncTest, Start_CopiesWhatIsClosedLongBeforeTheInterval) {
  Write("before", "there at first");
  ArtifactSync sync = Open(std::chrono::hours(1));
  ASSERT_TRUE(sync.Start());
  AwaitCopy("before", "there at first");
  Write("closed", "one");
  AwaitCopy("closed", "one");
  Write("deep/er/file", "in new folders");
  ASSERT_EQ(::rename((from_.path() + "/closed").c_str(), (from_.path() + "/moved").c_str()), 0);
  AwaitCopy("moved", "one");
  ASSERT_TRUE(sync.Finish());
  EXPECT_EQ(Copied("deep/er/file"), "in new folders");
  EXPECT_EQ(err_.text(), "");
}

TEST_F(ArtifactSyncTest, Start_CopiesAnOpenFileOnceItIsStill) {
  ArtifactSync sync = Open(std::chrono::hours(1));
  // If it were created after Start, it could be seen unchanged and empty before the step is
  // written.
  std::ofstream file(from_.path() + "/events");
  file << "a step" << std::flush;
  ASSERT_TRUE(sync.Start());
  AwaitCopy("events", "a step");
  // Its next copy is due after an interval, but the final one is not delayed.
  file << ", another" << std::flush;
  ASSERT_TRUE(sync.Finish());
  EXPECT_EQ(Copied("events"), "a step, another");
}

TEST_F(ArtifactSyncTest, Start_FindsTheFolderThatIsMadeAnew) {
  ArtifactSync sync = Open(std::chrono::milliseconds(1));
  ASSERT_TRUE(sync.Start());
  Write("one", "1");
  AwaitCopy("one", "1");
  ASSERT_TRUE(base::RemoveTree(from_.path()));
  Write("two", "2");
  AwaitCopy("two", "2");
  EXPECT_TRUE(sync.Finish());
}

TEST_F(ArtifactSyncTest, Finish_CopiesOnceWhatHasNotChanged) {
  Write("logs/a", "one");
  ArtifactSync sync = Open(std::chrono::hours(1));
  ASSERT_TRUE(sync.Start());
  ASSERT_TRUE(sync.Finish());
  EXPECT_EQ(Copied("logs/a"), "one");
  ASSERT_TRUE(base::RemoveTree(to_.path() + "/logs"));
  ASSERT_TRUE(sync.Finish());
  EXPECT_EQ(Copied("logs/a"), "absent");
}

TEST_F(ArtifactSyncTest, Finish_ReportsAFileThatCannotBeCopiedAndCopiesTheOthers) {
  Write("a/b", "in a folder");
  Write("c", "beside it");
  ASSERT_TRUE(base::WriteFileAtomic(to_.path() + "/a", "no folder", 0600, base::Durability::kNone));
  ArtifactSync sync = Open(std::chrono::hours(1));
  EXPECT_FALSE(sync.Finish());
  EXPECT_EQ(Copied("c"), "beside it");
}

TEST_F(ArtifactSyncTest, Finish_ReportsAFolderThatCannotBeLookedThroughAndCopiesTheOthers) {
  Write("a", "before it");
  Write("z/z", "after it");
  // The whole path is too long for a system call, so each folder is created from the one above.
  const std::string name(200, 'd');
  base::Fd at(::open(from_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int depth = 0; depth < 25; ++depth) {
    ASSERT_EQ(::mkdirat(at.get(), name.c_str(), 0700), 0);
    at = base::Fd(::openat(at.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(at);
  }
  ArtifactSync sync = Open(std::chrono::hours(1));
  const base::Status done = sync.Finish();
  ASSERT_FALSE(done);
  EXPECT_TRUE(done.error().message.starts_with("look through \"" + from_.path() + "/ddd"));
  EXPECT_TRUE(done.error().message.ends_with("File name too long")) << done.error().message;
  EXPECT_EQ(Copied("a"), "before it");
  EXPECT_EQ(Copied("z/z"), "after it");
}

TEST_F(ArtifactSyncTest, Finish_TakesAFolderWithASlashAtItsEnd) {
  Write("logs/a", "one");
  ArtifactSync sync(from_.path() + "//", *OpenFolder(to_.path()), {std::chrono::hours(1)},
                    base::SystemClock(), err_);
  ASSERT_TRUE(sync.Finish());
  EXPECT_EQ(Copied("logs/a"), "one");
}

TEST(ArtifactSync_AbsentFolder, IsNothingToDo) {
  const TemporaryFolder to;
  cli::StringOutput err;
  ArtifactSync sync("/nowhere/at/all", *OpenFolder(to.path()), {std::chrono::seconds(60)},
                    base::SystemClock(), err);
  ASSERT_TRUE(sync.Start());
  EXPECT_TRUE(sync.Finish());
  EXPECT_EQ(err.text(), "");
}

}  // namespace
}  // namespace ads
