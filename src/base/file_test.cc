#include "base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/defer.h"

namespace base {
namespace {

class FileTest : public testing::Test {
 protected:
  FileTest() {
    std::string pattern = testing::TempDir() + "/muster-file-XXXXXX";
    root_ = mkdtemp(pattern.data());
  }
  ~FileTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }

  std::string At(const std::string& name) const { return root_ + "/" + name; }
  void Put(const std::string& name, const std::string& content = "x") {
    ASSERT_TRUE(WriteFileAtomic(At(name), content, 0600, Durability::kNone).has_value());
  }
  unsigned ModeOf(const std::string& name) const {
    struct stat info{};
    return stat(At(name).c_str(), &info) == 0 ? info.st_mode & 07777U : 0U;
  }
  size_t CountEntries() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(root_),
                                             std::filesystem::directory_iterator()));
  }

  std::string root_;
};

TEST_F(FileTest, WritesAndReadsBack) {
  const std::string content = std::string("a\0b\n", 4) + std::string(100'000, 'x');
  for (const Durability durability : {Durability::kNone, Durability::kSync}) {
    ASSERT_TRUE(WriteFileAtomic(At("f"), content, 0600, durability).has_value());
    EXPECT_EQ(ReadFile(At("f")).value(), content);
  }
  ASSERT_TRUE(WriteFileAtomic(At("f"), "", 0600, Durability::kNone).has_value());
  EXPECT_EQ(ReadFile(At("f")).value(), "");
  EXPECT_EQ(CountEntries(), 1U);
}

TEST_F(FileTest, ReadFileHasALimit) {
  Put("f", "12345");
  EXPECT_EQ(ReadFile(At("f"), 5).value(), "12345");
  EXPECT_EQ(ReadFile(At("f"), 4).error().code, Code::kExhausted);
}

TEST_F(FileTest, ErrorsNameThePath) {
  const auto absent = ReadFile(At("absent"));
  EXPECT_EQ(absent.error().code, Code::kNotFound);
  EXPECT_NE(absent.error().message.find(At("absent")), std::string::npos);
  const auto written = WriteFileAtomic(At("no/such/dir"), "x", 0600, Durability::kNone);
  EXPECT_EQ(written.error().code, Code::kNotFound);
  EXPECT_NE(written.error().message.find(At("no/such/dir")), std::string::npos);
}

TEST_F(FileTest, WriteFileAtomicReplacesWithTheExactMode) {
  const mode_t before = umask(0077);
  const Defer restore([before] { umask(before); });
  ASSERT_TRUE(WriteFileAtomic(At("f"), "old", 0600, Durability::kNone).has_value());
  ASSERT_TRUE(WriteFileAtomic(At("f"), "new", 0644, Durability::kNone).has_value());
  EXPECT_EQ(ModeOf("f"), 0644U);
  EXPECT_EQ(ReadFile(At("f")).value(), "new");
}

TEST_F(FileTest, WriteFileAtomicLeavesNothingBehindWhenItFails) {
  ASSERT_TRUE(MakeDirs(At("taken/inside")).has_value());
  EXPECT_FALSE(WriteFileAtomic(At("taken"), "x", 0600, Durability::kNone).has_value());
  EXPECT_EQ(CountEntries(), 1U);
}

TEST_F(FileTest, InACurrentFolderThatIsGoneNoneIsMade) {
  const std::string before = std::filesystem::current_path();
  ASSERT_TRUE(MakeDirs(At("gone")).has_value());
  std::filesystem::current_path(At("gone"));
  ASSERT_TRUE(RemoveTree(At("gone")).has_value());
  const auto made = MakeDirs("a/b");
  std::filesystem::current_path(before);
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().code, Code::kNotFound) << made.error().message;
}

TEST_F(FileTest, MakeDirsMakesEachWithTheMode) {
  const mode_t before = umask(0077);
  const Defer restore([before] { umask(before); });
  ASSERT_TRUE(MakeDirs(At("a/b//c/"), 0755).has_value());
  EXPECT_EQ(ModeOf("a"), 0755U);
  EXPECT_EQ(ModeOf("a/b/c"), 0755U);
  ASSERT_TRUE(MakeDirs(At("a/b/c"), 0700).has_value());
  EXPECT_EQ(ModeOf("a/b/c"), 0755U);
  ASSERT_TRUE(MakeDirs(At("d/e"), std::nullopt).has_value());
  EXPECT_EQ(ModeOf("d"), 0700U);
  EXPECT_EQ(ModeOf("d/e"), 0700U);
  Put("file");
  EXPECT_FALSE(MakeDirs(At("file")).has_value());
  EXPECT_FALSE(MakeDirs(At("file/x")).has_value());
}

TEST_F(FileTest, RemoveTreeRemovesReadOnlyDirectoriesToo) {
  ASSERT_TRUE(MakeDirs(At("t/a/b")).has_value());
  Put("t/a/f");
  ASSERT_EQ(chmod(At("t/a").c_str(), 0500), 0);
  ASSERT_EQ(mkfifo(At("t/pipe").c_str(), 0600), 0);
  ASSERT_TRUE(RemoveTree(At("t")).has_value());
  EXPECT_EQ(CountEntries(), 0U);
}

TEST_F(FileTest, RemoveTreeTakesFilesAndAbsence) {
  Put("f");
  EXPECT_TRUE(RemoveTree(At("f")).has_value());
  EXPECT_TRUE(RemoveTree(At("f")).has_value());
  EXPECT_TRUE(RemoveTree("").has_value());
}

TEST_F(FileTest, RemoveTreeNeverFollowsALink) {
  ASSERT_TRUE(MakeDirs(At("kept")).has_value());
  Put("kept/f");
  ASSERT_TRUE(MakeDirs(At("t")).has_value());
  ASSERT_EQ(symlink(At("kept").c_str(), At("t/link").c_str()), 0);
  ASSERT_TRUE(RemoveTree(At("t")).has_value());
  EXPECT_EQ(ReadFile(At("kept/f")).value(), "x");
  for (const std::string name : {"link", "link/", "link//"}) {
    ASSERT_EQ(symlink(At("kept").c_str(), At("link").c_str()), 0);
    ASSERT_TRUE(RemoveTree(At(name)).has_value()) << name;
    EXPECT_EQ(ReadFile(At("kept/f")).value(), "x") << name;
  }
  EXPECT_EQ(CountEntries(), 1U);
}

TEST(DirectoryOf, GoesByTheText) {
  EXPECT_EQ(DirectoryOf("/usr/bin/python3"), "/usr/bin");
  EXPECT_EQ(DirectoryOf("/python3"), "/");
  EXPECT_EQ(DirectoryOf("bin/python3"), "bin");
  EXPECT_EQ(DirectoryOf("python3"), "");
}

}  // namespace
}  // namespace base
