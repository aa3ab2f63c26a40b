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

TEST(GpusOfRank, AreThoseThatItsLocalRankNumbers) {
  struct Case {
    size_t gpus, local, ranks, first, count;
  };
  constexpr Case kCases[] = {{8, 0, 1, 0, 8}, {8, 3, 8, 3, 1}, {8, 1, 2, 4, 4}, {8, 1, 3, 2, 2},
                             {1, 1, 2, 0, 1}, {2, 3, 4, 1, 1}, {0, 0, 1, 0, 0}, {1, 0, 0, 0, 0}};
  for (const Case& of : kCases) {
    const GpuRange range = GpusOfRank(of.gpus, of.local, of.ranks);
    EXPECT_EQ(range.first, of.first) << of.gpus << ' ' << of.local << ' ' << of.ranks;
    EXPECT_EQ(range.count, of.count) << of.gpus << ' ' << of.local << ' ' << of.ranks;
  }
}

}  // namespace
}  // namespace api
