#include "answers/log/own_stamp.h"

#include <gtest/gtest.h>

namespace answers {
namespace {

TEST(OwnStamp, AsLoggersPrintIt) {
  for (const char* line :
       {"2026-03-02 10:11:04,500 INFO step 3", "[2026-03-02 10:11:04.5] step 3",
        "2026/03/02 10:11:04.500 - mmengine - INFO", "03/02/2026 10:11:04.5 - INFO - __main__ - x",
        "[INFO|trainer.py:2134] 2026-03-02 10:11:04,500 >> x", "  time : 2026-03-02_10:11:04.5",
        "INFO 2026-03-02T10:11:04.500000 x"}) {
    const auto stamp = ReadOwnStamp(line);
    ASSERT_TRUE(stamp) << line;
    EXPECT_TRUE(stamp->has_year) << line;
    EXPECT_EQ(base::FormatRfc3339Micro(stamp->time), "2026-03-02T10:11:04.500000Z") << line;
    EXPECT_EQ(base::FormatRfc3339(WithoutYear(*stamp).time), "2000-03-02T10:11:04Z");
  }
}

TEST(OwnStamp, OfLoggersThatLeaveTheYearOut) {
  for (const char* line :
       {"I0302 10:11:04.120000 4200 train.py:12] x", "[E302 10:11:04.1 ProcessGroupNCCL.cpp:616]",
        "INFO 03-02 10:11:04 [loop.py:12] x", "[03/02 10:11:04 d2.engine]: x",
        "Mar  2 10:11:04 gpu-01 train[42]: x", "Mar 02 10:11:04 gpu-01 kernel: x"}) {
    const auto stamp = ReadOwnStamp(line);
    ASSERT_TRUE(stamp) << line;
    EXPECT_FALSE(stamp->has_year) << line;
    EXPECT_EQ(base::FormatRfc3339(stamp->time), "2000-03-02T10:11:04Z") << line;
  }
}

TEST(OwnStamp, OtherNumbersAreNone) {
  for (const char* line : {"", "10:11:04", "step 10:11:04", "eta 03/99 10:11:04",
                           "2026-13-02 10:11:04", "2026-03-02 25:11:04", "12/400 [00:05<02:21]",
                           "a very long line before which there is nothing but words and words "
                           "2026-03-02 10:11:04"}) {
    EXPECT_FALSE(ReadOwnStamp(line)) << line;
  }
}

}  // namespace
}  // namespace answers
