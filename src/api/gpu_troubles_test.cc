#include "api/gpu_troubles.h"

#include <gtest/gtest.h>

namespace api {
namespace {

TEST(GpuTroubles, AreReadAsTheyWereWritten) {
  const GpuTroubles troubles{*base::ParseRfc3339("2026-07-30T10:00:05Z"), {"GPU 1: a", "GPU 2: b"}};
  const auto read = ReadGpuTroubles(FormatGpuTroubles(troubles));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->time, troubles.time);
  EXPECT_EQ(read->texts, troubles.texts);
}

TEST(GpuTroubles, WhatIsMalformedIsNone) {
  for (const char* text : {"", "x\nGPU 1: a", "2026-07-30T10:00:05Z"}) {
    EXPECT_FALSE(ReadGpuTroubles(text)) << text;
  }
}

}  // namespace
}  // namespace api
