#include "api/gpus.h"

#include <gtest/gtest.h>

namespace api {
namespace {

text::Json Read(std::string_view json) { return *text::ParseJson(json); }

TEST(SumOfGpuLimits, CountsAllMakers) {
  EXPECT_EQ(SumOfGpuLimits(Read(R"({"spec": {"containers": [
      {"resources": {"limits": {"nvidia.com/gpu": "2", "cpu": 1}}},
      {"resources": {"limits": {"amd.com/gpu": 1}}}]}})")),
            3);
  EXPECT_EQ(SumOfGpuLimits(text::Object()), 0);
}

TEST(GpuResourceOf, IsWhatTheNodeHas) {
  EXPECT_EQ(GpuResourceOf(Read(R"({"status": {"allocatable": {"amd.com/gpu": "8"}}})")),
            "amd.com/gpu");
  EXPECT_EQ(GpuResourceOf(Read(R"({"status": {"allocatable": {"nvidia.com/gpu": "0"}}})")),
            "nvidia.com/gpu");
}

}  // namespace
}  // namespace api
