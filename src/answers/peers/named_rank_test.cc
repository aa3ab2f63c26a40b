#include "answers/peers/named_rank.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "answers/files/read_log.h"
#include "answers/verdict.h"

namespace answers {
namespace {

std::string Differs(int by, int named) {
  return fmt::format(
      "[rank{0}]: RuntimeError: Detected mismatch between collectives on ranks. Rank {0} is "
      "running "
      "collective: CollectiveFingerPrint(SequenceNumber=9, OpType=ALLREDUCE, TensorShape=[1]), but "
      "Rank {1} is running collective: CollectiveFingerPrint(SequenceNumber=9, OpType=BROADCAST)."
      "Collectives differ in the following aspects: \t Op type: ALLREDUCEvs BROADCAST\n",
      by, named);
}

std::optional<int> OddIn(const std::string& log) {
  return OddInMismatch(ReadLogs({{"job.log", log}}));
}

TEST(NamedRank, TheOneThatAllOthersFindDifferent) {
  EXPECT_EQ(OddIn(Differs(0, 3) + Differs(1, 3) + Differs(2, 3)), 3);
  EXPECT_EQ(OddIn(Differs(0, 2) + Differs(1, 2) + Differs(2, 0) + Differs(3, 2)), 2);
  EXPECT_EQ(OddIn(Differs(1, 0) + Differs(2, 0) + Differs(0, 1)), 0);
  const std::string others = "[rank0]: a\n[rank1]: a\n[rank2]: a\n[rank3]: a\n[rank5]: a\n";
  EXPECT_EQ(OddIn(others + Differs(4, 5)), 5) << "ranks 0 to 3 agree with rank 4";
  EXPECT_EQ(OddIn(Differs(4, 5)), std::nullopt) << "those above rank 5 may agree with it";
}

TEST(NamedRank, AlsoIfItHasPrintedNothing) {
  const Evidence evidence = ReadLogs({{"job.log", Differs(1, 2) + Differs(0, 2) + Differs(3, 2)}});
  const Verdict verdict = Explain(evidence);
  ASSERT_TRUE(verdict.rank.has_value());
  EXPECT_EQ(evidence.ranks[*verdict.rank].rank, 2);
}

TEST(NamedRank, NobodyOfTwoOrOfHalves) {
  EXPECT_EQ(OddIn(Differs(0, 1) + Differs(1, 0)), std::nullopt);
  EXPECT_EQ(OddIn(Differs(0, 1)), std::nullopt);
  EXPECT_EQ(OddIn(Differs(0, 2) + Differs(1, 2) + Differs(2, 0) + Differs(3, 0)), std::nullopt);
  EXPECT_EQ(OddIn(Differs(0, 2) + Differs(1, 2) + "[rank5]: step 1\n"), std::nullopt)
      << "ranks 3 to 5 may agree with rank 2";
  EXPECT_EQ(OddIn("[rank6]: RuntimeError: Detected mismatch between collectives on ranks. Rank 2 "
                  "is running collective: A, but Rank 3 is running collective: B.\n"),
            std::nullopt)
      << "it counts in a group of its own";
}

TEST(NamedRank, AlsoOfModelsAndOrdersOfLayers) {
  const auto models = [](int by, int named, int parameters) {
    return fmt::format(
        "[rank{0}]: RuntimeError: DDP expects same model across all ranks, but Rank {0} has 62 "
        "params, while rank {1} has inconsistent {2} params.\n",
        by, named, parameters);
  };
  EXPECT_EQ(OddIn(models(0, 3, 60) + models(1, 3, 60) + models(2, 3, 60)), 3);
  EXPECT_EQ(OddIn(models(1, 0, 0) + models(2, 0, 0)), std::nullopt) << "rank 0 had not come";
  const auto orders = [](int rank, int named) {
    return fmt::format(
        "[rank{}]: RuntimeError: Forward order differs across ranks: rank 0 is all-gathering 2 "
        "parameters while rank {} is all-gathering 3 parameters\n",
        rank, named);
  };
  EXPECT_EQ(OddIn(orders(0, 2) + orders(1, 2) + orders(2, 2)), 2);
  EXPECT_EQ(OddIn(orders(0, 1) + orders(1, 1)), std::nullopt);
}

TEST(NamedRank, TheVerdictIsAboutTheOddOneOrNobody) {
  const Evidence evidence =
      ReadLogs({{"job.log", Differs(0, 2) + Differs(1, 2) + "[rank2]: step 1\n"}});
  const Verdict verdict = Explain(evidence);
  EXPECT_EQ(verdict.kind, "collective-mismatch");
  ASSERT_TRUE(verdict.rank);
  EXPECT_EQ(evidence.ranks[*verdict.rank].rank, 2);
  EXPECT_FALSE(Explain(ReadLogs({{"job.log", Differs(0, 1) + Differs(1, 0)}})).rank);
  EXPECT_TRUE(Explain(ReadLogs({{"job.log", Differs(1, 0)}})).rank) << "it failed first";
}

// Each rank that sees it throws, and one report says only that two differ.
TEST(NamedRank, OneReportOfALargerJobNamesNobody) {
  const auto judge = [](const std::string& log) {
    const Evidence evidence = ReadLogs({{"job.log", log}});
    const Verdict verdict = Explain(evidence);
    EXPECT_EQ(verdict.kind, "collective-mismatch") << log;
    return verdict.rank ? evidence.ranks[*verdict.rank].rank : std::nullopt;
  };
  const std::string without_prefix = Differs(3, 4).substr(std::string("[rank3]: ").size());
  EXPECT_EQ(judge(without_prefix), std::nullopt);
  EXPECT_EQ(judge(Differs(3, 6)), std::nullopt);
  EXPECT_EQ(judge(Differs(3, 6) + "[rank6]: step 1\n"), std::nullopt);
  std::string shapes = Differs(3, 6);
  shapes.replace(shapes.find("TensorShape"), 0, std::string(500, 'x'));
  EXPECT_EQ(judge(shapes), std::nullopt) << "the line that is shown ends before the other rank";
  const std::string table =
      "Root Cause (first observed failure):\n[0]:\n  rank      : 3 (local_rank: 3)\n"
      "  exitcode  : 1 (pid: 7)\n";
  EXPECT_EQ(judge(Differs(3, 6) + table), 3) << "it failed first";
}

std::string Stalled(const std::string& prefix, const std::string& list) {
  return prefix +
         "[2026-03-02 10:11:04.000000: W /b/horovod/common/stall_inspector.cc:107] One or more "
         "tensors were submitted to be reduced, gathered or broadcasted by subset of ranks and are "
         "waiting for remainder of ranks for more than 60 seconds. \n" +
         prefix + list;
}

TEST(NamedRank, WhomHorovodMisses) {
  const auto missing = [](const std::string& log) {
    return MissingOfHorovod(ReadLogs({{"job.log", log}}));
  };
  const std::string of = "[1,0]<stderr>:";
  EXPECT_EQ(missing(Stalled(of, "Missing ranks:\n" + of + "2: [allreduce.a, allreduce.b ...]\n")),
            2);
  EXPECT_EQ(missing(Stalled("", "Stalled ranks:\n2: [allreduce.a]\n")), 2);
  EXPECT_EQ(missing(Stalled(of, "Missing ranks:\n" + of + "1: [a]\n" + of + "3: [a]\n")),
            std::nullopt);
  EXPECT_EQ(missing(Stalled("", "Missing ranks:\n1: [a]\n3: [a]\n")), std::nullopt);
  EXPECT_EQ(missing(Stalled(of, "Missing ranks:\n" + of + "1: [a]\n" + of + "3!: [a]\n")), 3);
  EXPECT_EQ(missing(Stalled(of, "Missing ranks:\n" + of + "1: [a]\n") +
                    Stalled(of, "Missing ranks:\n" + of + "2: [a]\n")),
            2)
      << "the last report";
  EXPECT_EQ(missing(of + "step 1\n"), std::nullopt);
}

TEST(NamedRank, AStalledRankIsNotTheCoordinator) {
  const std::string of = "[1,0]<stderr>:";
  const auto judge = [&of](const std::string& list, const std::string& end) {
    const Evidence evidence = ReadLogs({{"job.log", "[1,2]<stdout>:step 1\n[1,1]<stdout>:step 1\n" +
                                                        Stalled(of, list) + of + end}});
    const Verdict verdict = Explain(evidence);
    EXPECT_EQ(verdict.kind, "hang");
    return verdict.rank ? evidence.ranks[*verdict.rank].rank : std::nullopt;
  };
  const std::string shut =
      "One or more rank (marked by \"!\") is stalled for longer than 120 seconds. Will shutdown.\n";
  EXPECT_EQ(judge("Missing ranks:\n" + of + "2: [a]\n", "no more\n"), 2);
  EXPECT_EQ(judge("Missing ranks:\n" + of + "2!: [a]\n", shut), 2);
  EXPECT_EQ(judge("Missing ranks:\n" + of + "1: [a]\n" + of + "2: [b]\n", ""), std::nullopt);
}

}  // namespace
}  // namespace answers
