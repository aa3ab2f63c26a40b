#include "answers/stall/phase.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <utility>

#include "answers/stall/stack.h"

namespace answers {
namespace {

constexpr const char* kTorch = "/usr/lib/python3/dist-packages/torch";

// The innermost frame comes first; each is a function and a file below torch or with a whole path.
std::string Dump(const std::vector<std::pair<std::string, std::string>>& frames) {
  std::string dump = "Current thread 0x0001 (most recent call first):\n";
  for (const auto& [file, function] : frames) {
    const bool is_whole = file[0] == '/' || file[0] == '<';
    dump += fmt::format("  File \"{}{}\", line 7 in {}\n", is_whole ? "" : kTorch,
                        (is_whole ? "" : "/") + file, function);
  }
  return dump + "\n";
}

const std::pair<std::string, std::string> kOwn{"/w/train.py", "<module>"};
const std::string kComputes = Dump({{"nn/modules/module.py", "_call_impl"}, kOwn});
const std::string kReduces = Dump({{"distributed/distributed_c10d.py", "all_reduce"},
                                   {"distributed/c10d_logger.py", "wrapper"},
                                   kOwn});
const std::string kAwaitsBatch = Dump({{"/usr/lib/python3.11/selectors.py", "select"},
                                       {"utils/data/dataloader.py", "_try_get_data"},
                                       {"utils/data/dataloader.py", "__next__"},
                                       kOwn});
// Without workers, the user's own dataset runs inside the loader.
const std::string kMakesBatch = Dump({{"/w/data.py", "__getitem__"},
                                      {"utils/data/_utils/fetch.py", "fetch"},
                                      {"utils/data/dataloader.py", "_next_data"},
                                      kOwn});
const std::string kMeets = Dump({{"distributed/rendezvous.py", "_create_c10d_store"},
                                 {"distributed/distributed_c10d.py", "init_process_group"},
                                 {"<muster>", "init_process_group"},
                                 kOwn});
const std::string kSaves =
    Dump({{"serialization.py", "_save"}, {"serialization.py", "save"}, kOwn});
const std::string kLoads = Dump({{"serialization.py", "load"}, kOwn});

TEST(Phase, IsThatOfTheLowestRank) {
  EXPECT_EQ(PhaseOfJob({{0, kComputes}, {1, kMakesBatch}}), Phase::kNone);
  EXPECT_EQ(PhaseOfJob({{0, kMakesBatch}, {1, kComputes}}), Phase::kDataWait);
  EXPECT_EQ(PhaseOfJob({{0, kAwaitsBatch}}), Phase::kDataWait);
  EXPECT_EQ(PhaseOfJob({{0, kMeets}, {1, kComputes}}), Phase::kRendezvous);
  EXPECT_EQ(PhaseOfJob({{0, kSaves}}), Phase::kSave);
  EXPECT_EQ(PhaseOfJob({{2, kLoads}, {3, kComputes}}), Phase::kLoad);
}

TEST(ReadStacks, LeavesOutTheFrameThatMeasuresTheRendezvous) {
  const auto stacks = ReadStacks(kMeets);
  ASSERT_EQ(stacks.size(), 1u);
  EXPECT_EQ(stacks[0].frames.size(), 3u);
  const Doing doing = WhatItDoes(stacks[0].frames);
  EXPECT_EQ(doing.what, "init_process_group");
  EXPECT_EQ(doing.where, "train.py:7");
  EXPECT_EQ(doing.inner, "init_process_group (distributed_c10d.py:7)");
  EXPECT_FALSE((Frame{"<muster>", 43, "init_process_group"}.IsUsers()));
}

TEST(Phase, IsDataOfWhoWaitsForARankThatHasNone) {
  EXPECT_EQ(PhaseOfJob({{0, kReduces}, {1, kComputes}, {2, kAwaitsBatch}}), Phase::kDataWait);
  EXPECT_EQ(PhaseOfJob({{0, kReduces}, {1, kComputes}}), Phase::kNone);
}

TEST(Phase, IsNoneOfNothing) {
  EXPECT_EQ(PhaseOfJob({}), Phase::kNone);
  EXPECT_EQ(PhaseOfJob({{0, ""}, {1, "Current thread 0x1 (most"}}), Phase::kNone);
}

}  // namespace
}  // namespace answers
