#include "ads/storage/folder_watch.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "ads/testing/temporary_folder.h"

namespace ads {
namespace {

using Found = std::map<std::string, bool>;

// inotify's events are available when the call that caused them returns.
class FolderWatchTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }
  void Close(const std::string& name) const { std::ofstream(Path(name)) << name; }
  void MakeFolder(const std::string& name) const { ASSERT_TRUE(base::MakeDirs(Path(name))); }
  void Move(const std::string& from, const std::string& to) const {
    ASSERT_EQ(::rename(Path(from).c_str(), Path(to).c_str()), 0);
  }

  TemporaryFolder folder_;
};

TEST_F(FolderWatchTest, Read_ReportsWhetherTheWriterHasClosed) {
  MakeFolder("old/er");
  const auto watch = *FolderWatch::Open(folder_.path());
  EXPECT_EQ(watch->Read().files, Found());
  Close("old/er/closed");
  std::ofstream open(Path("open"));
  open << "text" << std::flush;
  EXPECT_EQ(watch->Read().files, (Found{{"old/er/closed", true}, {"open", false}}));
  open.close();
  EXPECT_EQ(watch->Read().files, (Found{{"open", true}}));
  ASSERT_EQ(::unlink(Path("open").c_str()), 0);
  EXPECT_EQ(watch->Read().files, Found());
}

TEST_F(FolderWatchTest, Read_SeesLinksAndWhatNewFoldersHold) {
  const auto watch = *FolderWatch::Open(folder_.path());
  MakeFolder("a/b");
  Close("a/b/early");  // before its folder is watched
  EXPECT_EQ(watch->Read().files, (Found{{"a/b/early", false}}));
  Close("a/b/late");
  ASSERT_EQ(::symlink("late", Path("a/b/link").c_str()), 0);
  EXPECT_EQ(watch->Read().files, (Found{{"a/b/late", true}, {"a/b/link", false}}));
}

TEST_F(FolderWatchTest, Read_FollowsAFolderThatMoves) {
  MakeFolder("a/b");
  const auto watch = *FolderWatch::Open(folder_.path());
  Close("a/b/one");
  Move("a", "c");
  EXPECT_TRUE(watch->Read().files.contains("c/b/one"));
  Close("c/b/two");
  EXPECT_EQ(watch->Read().files, (Found{{"c/b/two", true}}));
  // Moved out of the folder, it is no longer reported.
  const TemporaryFolder elsewhere;
  ASSERT_EQ(::rename(Path("c").c_str(), (elsewhere.path() + "/c").c_str()), 0);
  (void)watch->Read();
  std::ofstream(elsewhere.path() + "/c/b/three") << "3";
  EXPECT_EQ(watch->Read().files, Found());
}

TEST_F(FolderWatchTest, Read_ReportsWhenTheFolderHasGone) {
  const auto watch = *FolderWatch::Open(folder_.path());
  EXPECT_FALSE(watch->Read().has_ended);
  ASSERT_TRUE(base::RemoveTree(folder_.path()));
  EXPECT_TRUE(watch->Read().has_ended);
  const auto again = FolderWatch::Open(folder_.path());
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, base::Code::kNotFound);
}

TEST_F(FolderWatchTest, Read_ReportsLostEvents) {
  std::ifstream limit("/proc/sys/fs/inotify/max_queued_events");
  size_t most = 0;
  ASSERT_TRUE(limit >> most);
  const auto watch = *FolderWatch::Open(folder_.path());
  // Alternating two names, because the kernel merges equal events.
  Close("a");
  Close("b");
  for (size_t i = 0; i <= most; i += 2) {
    std::ofstream(Path("a"), std::ios::app) << "a";
    std::ofstream(Path("b"), std::ios::app) << "b";
  }
  MakeFolder("unseen");
  Close("unseen/file");
  const auto changes = watch->Read();
  EXPECT_TRUE(changes.has_gaps);
  Close("unseen/other");
  EXPECT_EQ(watch->Read().files, (Found{{"unseen/other", true}}));
}

}  // namespace
}  // namespace ads
