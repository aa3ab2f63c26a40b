#include "ads/config/user_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "ads/testing/temporary_folder.h"
#include "base/fd.h"
#include "base/file.h"

namespace ads {
namespace {

unsigned ModeOfUserFile(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 ? info.st_mode & 0777U : 0U;
}

TEST(UserFile, ALinkStaysAndItsFileKeepsItsMode) {
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/file", link = folder.path() + "/link";
  ASSERT_TRUE(base::WriteFileAtomic(file, "old", 0600, base::Durability::kNone));
  ASSERT_EQ(::symlink("file", link.c_str()), 0);
  ASSERT_TRUE(WriteUserFile(link, "new"));
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(base::ReadFile(file).value_or(""), "new");
  EXPECT_EQ(ModeOfUserFile(file), 0600U);
}

TEST(UserFile, ANewFileObeysTheUmask) {
  const TemporaryFolder folder;
  for (const mode_t mask : {0022U, 0002U, 0077U}) {
    const mode_t before = ::umask(mask);
    const std::string path = folder.path() + "/" + std::to_string(mask);
    const base::Status written = WriteUserFile(path, "x");
    ::umask(before);
    ASSERT_TRUE(written);
    EXPECT_EQ(ModeOfUserFile(path), 0666U & ~mask);
  }
}

TEST(UserFile, APipeIsWrittenInto) {
  const TemporaryFolder folder;
  const std::string pipe = folder.path() + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::string read;
  std::jthread reader([&] { read = base::ReadFile(pipe).value_or("not read"); });
  ASSERT_TRUE(WriteUserFile(pipe, "new"));
  reader.join();
  EXPECT_EQ(read, "new");
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  EXPECT_FALSE(IsUserFile(pipe));
}

TEST(UserFile, WhatALinkWillLeadToIsMadeThere) {
  const TemporaryFolder folder;
  const std::string link = folder.path() + "/link";
  ASSERT_TRUE(base::MakeDirs(folder.path() + "/deep"));
  ASSERT_EQ(::symlink("deep/file", link.c_str()), 0);
  EXPECT_EQ(FindUserFile(link).path, folder.path() + "/deep/file");
  EXPECT_FALSE(IsUserFile(link));
  ASSERT_TRUE(WriteUserFile(link, "new"));
  EXPECT_EQ(base::ReadFile(folder.path() + "/deep/file").value_or(""), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
}

// As /dev/stdout of `ads ... > all.log` and `>> all.log`.
TEST(UserFile, AnOpenFileIsWrittenWhereItsWriterIs) {
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/file", link = folder.path() + "/link";
  for (const int append : {0, O_APPEND}) {
    ASSERT_TRUE(base::WriteFileAtomic(file, "", 0600, base::Durability::kNone));
    const base::Fd out(::open(file.c_str(), O_WRONLY | O_CLOEXEC | append));
    ASSERT_TRUE(out);
    const std::string path = "/dev/fd/" + std::to_string(out.get());
    ASSERT_TRUE(base::WriteAll(out.get(), "before ", file));
    ASSERT_TRUE(WriteUserFile(path, "new "));
    ASSERT_TRUE(base::WriteAll(out.get(), "after", file));
    EXPECT_EQ(base::ReadFile(file).value_or(""), "before new after");
    EXPECT_FALSE(IsUserFile(path));
    ::unlink(link.c_str());
    ASSERT_EQ(::symlink(path.c_str(), link.c_str()), 0);
    ASSERT_TRUE(WriteUserFile(link, "!"));
    EXPECT_EQ(base::ReadFile(file).value_or(""), "before new after!");
  }
}

TEST(UserFile, AFolderIsRefused) {
  const TemporaryFolder folder;
  const auto refused = WriteUserFile(folder.path(), "x");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find(folder.path()), std::string::npos);
}

}  // namespace
}  // namespace ads
