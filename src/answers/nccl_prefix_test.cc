#include <gtest/gtest.h>

#include <string>

#include "answers/files/read_log.h"
#include "answers/peers/watchdog.h"
#include "answers/verdict.h"

namespace answers {
namespace {

std::optional<int> RankIn(const std::string& text) {
  const Evidence evidence = ReadLogs({{"job.log", text}});
  const Verdict verdict = Explain(evidence);
  EXPECT_EQ(verdict.kind, "cuda-out-of-memory") << text;
  return verdict.rank ? evidence.ranks[*verdict.rank].rank : std::nullopt;
}

const std::string kNoMemory = "init.cc:97 NCCL WARN Cuda failure 'out of memory'\n";

TEST(NcclPrefix, ADeviceIsTheRankWithinTheHost) {
  const std::string other = "n1:40:61 [0] NCCL INFO comm 0x7f aborting\n";
  EXPECT_EQ(RankIn(other + "n1:42:63 [2] " + kNoMemory), 2);
  EXPECT_EQ(RankIn(other + "n2:42:63 [2] " + kNoMemory), std::nullopt) << "of another host";
  EXPECT_EQ(RankIn(other + "n1:42:63 [0] " + kNoMemory), std::nullopt)
      << "each process sees one device";
  EXPECT_EQ(RankIn("n1:42:63 [0] " + kNoMemory), std::nullopt);
  EXPECT_EQ(RankIn("[rank5]: " + other + "[rank7]: n1:42:63 [2] " + kNoMemory), 7);
}

TEST(NcclPrefix, OfOtherLines) {
  EXPECT_FALSE(ReadNcclPrefix("n1:40: [0] NCCL INFO x"));
  EXPECT_FALSE(ReadNcclPrefix("the NCCL version"));
  EXPECT_FALSE(ReadNcclPrefix("n1:40:61 [9999999999999999999] NCCL INFO x"));
  EXPECT_EQ(ReadNcclPrefix("n1:40:61 [3] NCCL INFO x")->device, 3);
}

}  // namespace
}  // namespace answers
