#include "local/store/reserve.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/file.h"

namespace local::store {
namespace {

class ReserveTest : public testing::Test {
 protected:
  ReserveTest() { EXPECT_NE(::mkdtemp(folder_.data()), nullptr); }
  ~ReserveTest() override { EXPECT_TRUE(base::RemoveTree(folder_)); }

  std::string folder_ = testing::TempDir() + "reserve-XXXXXX";
};

TEST_F(ReserveTest, TakesItsRoomAndGivesItUpInSteps) {
  const std::string path = folder_ + "/reserve";
  Reserve reserve(path);
  EXPECT_FALSE(reserve.IsShort());
  struct stat info{};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_GE(info.st_blocks * 512, info.st_size) << "it has blocks";
  EXPECT_TRUE(reserve.Release());
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_size, kLastReserve) << "to delete jobs and to start again";
  for (uint64_t left = kLastReserve; left > 0;) {
    EXPECT_TRUE(reserve.Release());
    left -= kReserveStep;
    EXPECT_EQ(::stat(path.c_str(), &info) == 0 ? info.st_size : 0, static_cast<off_t>(left));
  }
  EXPECT_FALSE(reserve.Release());
  EXPECT_NE(::stat(path.c_str(), &info), 0);
  EXPECT_FALSE(reserve.IsShort()) << "there is room again";
  EXPECT_EQ(::stat(path.c_str(), &info), 0);
}

TEST_F(ReserveTest, TheLastPartIsFilledUpForTheNextStart) {
  const std::string path = folder_ + "/reserve";
  Reserve reserve(path);
  reserve.KeepLast();
  struct stat info{};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_size, kLastReserve);
  EXPECT_TRUE(reserve.Release());
  reserve.KeepLast();
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_size, kLastReserve);
  EXPECT_FALSE(reserve.IsShort());
  reserve.KeepLast();
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_GT(info.st_size, kLastReserve) << "never less than there is";
}

TEST_F(ReserveTest, WithoutAPathKeepsNothing) {
  Reserve reserve("");
  EXPECT_FALSE(reserve.IsShort());
  EXPECT_FALSE(reserve.Release());
}

}  // namespace
}  // namespace local::store
