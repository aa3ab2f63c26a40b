#include "answers/peers/watchdog.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "answers/files/read_log.h"
#include "answers/verdict.h"

namespace answers {
namespace {

std::string Caught(int rank, const char* group, int sequence, const char* call, int elements) {
  return fmt::format(
      "[rank{0}]:[E302 10:41:12.5 ProcessGroupNCCL.cpp:1595] [PG ID 0 PG GUID {1} Rank {0}] "
      "Process "
      "group watchdog thread terminated with exception: [Rank {0}] Watchdog caught collective "
      "operation timeout: WorkNCCL(SeqNum={2}, OpType={3}, NumelIn={4}, NumelOut={4}, "
      "Timeout(ms)=600000) ran for 600001 milliseconds before timing out.\n",
      rank, group, sequence, call, elements);
}

std::string Enqueued(int rank, const char* group, int last) {
  return fmt::format(
      "[rank{0}]:[E302 10:41:13.1 ProcessGroupNCCL.cpp:1484] [PG ID 0 PG GUID {1} Rank {0}] "
      "Received a "
      "dump signal due to a collective timeout. Last enqueued NCCL work: {2}, last completed NCCL "
      "work: {2}.\n",
      rank, group, last);
}

TEST(Watchdogs, TwoCallsOfOneNumberDoNotFit) {
  const auto found = ReadWatchdogs(
      ReadLogs({{"out", Caught(0, "0", 7, "ALLREDUCE", 10) + Caught(1, "0", 7, "BROADCAST", 10)}}));
  EXPECT_EQ(found.one, "rank 0 waited in ALLREDUCE of 10 elements as number 7");
  EXPECT_EQ(found.other, "rank 1 waited in BROADCAST of 10 elements as number 7");
}

TEST(Watchdogs, SizesDoNotFitWhereAllRanksGiveAsMuch) {
  const auto sizes = [](const char* call) {
    return !ReadWatchdogs(
                ReadLogs({{"out", Caught(0, "0", 7, call, 10) + Caught(1, "0", 7, call, 12)}}))
                .one.empty();
  };
  EXPECT_TRUE(sizes("ALLREDUCE"));
  EXPECT_FALSE(sizes("ALLTOALL_BASE"));
}

TEST(Watchdogs, ThreeAgainstOneNameTheOne) {
  const auto waits = [](int rank, int elements) {
    return Caught(rank, "0", 7, "ALLREDUCE", elements);
  };
  const auto odd = [](const std::string& log) {
    return ReadWatchdogs(ReadLogs({{"out", log}})).odd;
  };
  const std::string three = waits(0, 10) + waits(2, 10) + waits(3, 10);
  EXPECT_EQ(odd(three + waits(1, 9)), 1);
  EXPECT_EQ(odd(waits(4, 9) + waits(1, 10) + three), 4);
  EXPECT_EQ(odd(three + Caught(1, "0", 7, "BROADCAST", 10)), 1);
  EXPECT_EQ(odd(waits(0, 10) + waits(2, 10) + waits(1, 9)), std::nullopt) << "of only two";
  EXPECT_EQ(odd(three + waits(1, 9) + waits(4, 9)), std::nullopt);
  EXPECT_EQ(odd(three + waits(1, 9) + waits(4, 8)), std::nullopt);
  EXPECT_EQ(odd(three + waits(1, 9) + waits(1, 10)), std::nullopt) << "it waited in both";
  EXPECT_EQ(odd(three + waits(1, 9) + "[rank7]: step 1\n"), std::nullopt)
      << "ranks 4 to 7 may have waited where rank 1 did";
  EXPECT_EQ(odd(three + waits(1, 10)), std::nullopt);
  const Evidence evidence = ReadLogs({{"out", three + waits(1, 9)}});
  const Verdict verdict = Explain(evidence);
  EXPECT_EQ(verdict.kind, "collective-mismatch");
  ASSERT_TRUE(verdict.rank);
  EXPECT_EQ(evidence.ranks[*verdict.rank].rank, 1);
}

TEST(Watchdogs, NumbersOfTwoGroupsAreNotCompared) {
  EXPECT_TRUE(ReadWatchdogs(ReadLogs({{"out", Caught(0, "2", 7, "ALLREDUCE", 10) +
                                                  Caught(1, "3", 7, "BROADCAST", 10)}}))
                  .one.empty());
}

TEST(Watchdogs, WhoHadNotEnteredTheCall) {
  const std::string waited =
      Caught(0, "0", 7, "ALLREDUCE", 10) + Caught(3, "0", 7, "ALLREDUCE", 10);
  const Evidence evidence = ReadLogs({{"out", waited + Enqueued(1, "0", 7) + Enqueued(2, "0", 6)}});
  EXPECT_EQ(ReadWatchdogs(evidence).behind, 2);
  const Verdict verdict = Explain(evidence);
  EXPECT_EQ(verdict.kind, "collective-timeout");
  ASSERT_TRUE(verdict.rank);
  EXPECT_EQ(evidence.ranks[*verdict.rank].rank, 2);
  // If two ranks are equally far behind, neither is named.
  EXPECT_FALSE(
      ReadWatchdogs(ReadLogs({{"out", waited + Enqueued(1, "0", 6) + Enqueued(2, "0", 6)}}))
          .behind);
}

// torch 2.2 prints the call that timed out without its group, and the consequences with it.
TEST(Watchdogs, LinesWithoutAGroupAreOfTheOnlyOneThatIsNamed) {
  const auto caught = [](int rank, int sequence, const char* call) {
    return fmt::format(
        "[rank{0}]:[E302 10:41:12.5 ProcessGroupNCCL.cpp:523] [Rank {0}] Watchdog caught "
        "collective "
        "operation timeout: WorkNCCL(SeqNum={1}, OpType={2}, NumelIn=5, NumelOut=5, "
        "Timeout(ms)=600000) ran for 600001 milliseconds before timing out.\n",
        rank, sequence, call);
  };
  const auto reported = [](int rank, int group, const char* words, int last) {
    return fmt::format(
        "[rank{0}]:[E302 10:41:12.6 ProcessGroupNCCL.cpp:1785] [PG {1} (default_pg) Rank {0}] {2} "
        "last enqueued NCCL work: {3}, last completed NCCL work: 8.\n",
        rank, group, words, last);
  };
  const char* const kDetected =
      "Exception (either an error or timeout) detected by watchdog at work: 9,";
  const std::string both = caught(0, 9, "BROADCAST") + caught(1, 9, "ALLREDUCE");
  EXPECT_FALSE(ReadWatchdogs(ReadLogs({{"out", both + reported(0, 0, kDetected, 9)}})).one.empty());
  EXPECT_TRUE(ReadWatchdogs(ReadLogs({{"out", both + reported(0, 0, kDetected, 9) +
                                                  reported(1, 3, kDetected, 9)}}))
                  .one.empty());
  const std::string waited = caught(0, 9, "ALLREDUCE") + caught(2, 9, "ALLREDUCE");
  const char* const kDump = "Received a dump signal due to a collective timeout from  rank 0.";
  EXPECT_EQ(ReadWatchdogs(ReadLogs({{"out", waited + reported(1, 0, kDump, 8)}})).behind, 1);
}

TEST(Watchdog, WhoDidNotComeToABarrier) {
  const auto missing = [](std::string_view line) { return MissingAtBarrier(line, std::nullopt); };
  EXPECT_EQ(missing("RuntimeError: [Rank 0]: Rank 1 failed to pass monitoredBarrier in 5 ms"), 1);
  EXPECT_EQ(missing("RuntimeError: Ranks 2, 5 failed to pass monitoredBarrier in 5 ms"), 2);
  EXPECT_EQ(missing("Rank 0 timed out in a barrier after 5 ms. Missing ranks: 5"), 5);
  EXPECT_EQ(missing("Rank 0 timed out in a barrier after 5 ms. Missing ranks: 5, 6"), std::nullopt);
  EXPECT_EQ(missing("Rank x failed to pass monitoredBarrier"), std::nullopt);
  EXPECT_EQ(missing("Rank 1 has failed"), std::nullopt);
}

TEST(Watchdog, TorchfrtraceNamesWhoIsMissing) {
  const auto judge = [](const std::string& before, const std::string& ranks) {
    const Evidence evidence = ReadLogs(
        {{"frtrace.txt", "loaded 4 files in 0.1s\n" + before +
                             "Not all ranks joining collective, sequence number: 2210\n" + before +
                             "internal record id: 4411\n" + before +
                             "collective: nccl:_all_gather_base\n" + before + "missing ranks: {" +
                             ranks + "}\n" + before + "expected ranks: {0, 1, 2, 3}\n"},
         {"job.log", Caught(0, "0", 2210, "ALLREDUCE", 10) + Caught(2, "0", 2210, "ALLREDUCE", 10) +
                         Caught(3, "0", 2210, "ALLREDUCE", 10)}});
    const Verdict verdict = Explain(evidence);
    EXPECT_EQ(verdict.kind, "late-peer");
    return verdict.rank ? evidence.ranks[*verdict.rank].rank : std::nullopt;
  };
  EXPECT_EQ(judge("", "1"), 1);
  EXPECT_EQ(judge("INFO:root:", "1"), 1);
  EXPECT_EQ(judge("", "1, 3"), std::nullopt);
}

TEST(Watchdog, WhoDidNotStoreNcclsId) {
  const auto missing = [](int asks, const std::string& key, std::optional<int> asker) {
    return MissingAtBarrier(
        fmt::format("torch.distributed.DistBackendError: [{0}] is setting up NCCL communicator and "
                    "retrieving ncclUniqueId from [0] via c10d key-value store by key '{1}', but "
                    "store->get('{1}') got error: wait timeout after 600000ms",
                    asks, key),
        asker);
  };
  EXPECT_EQ(missing(3, "0", std::nullopt), 0);
  EXPECT_EQ(missing(3, "0", 3), 0);
  EXPECT_EQ(missing(1, "0", 5), std::nullopt) << "in a group of some ranks";
  EXPECT_EQ(missing(3, "2:3", 3), 2) << "of send and recv the lower rank";
  EXPECT_EQ(missing(1, "0:1", 7), std::nullopt);
}

TEST(Watchdogs, WhoSaidThatItWasDoneWhileAllOthersWaited) {
  const auto judge = [](const std::string& of_two, const std::string& more = "") {
    const Evidence evidence = ReadLogs({{"out", Caught(0, "0", 7, "ALLREDUCE", 10) + of_two +
                                                    Caught(1, "0", 7, "ALLREDUCE", 10) + more}});
    const Verdict verdict = Explain(evidence);
    EXPECT_EQ(verdict.kind, "collective-timeout");
    return verdict.rank ? evidence.ranks[*verdict.rank].rank : std::nullopt;
  };
  EXPECT_EQ(judge("[rank2]: step 9 loss 1.5\n[rank2]: Training finished.\n"), 2);
  EXPECT_EQ(judge("[rank2]: all epochs are done, exiting\n"), 2);
  EXPECT_EQ(judge("[rank2]: step 9 loss 1.5\n"), std::nullopt);
  EXPECT_EQ(judge("[rank2]: done\n[rank2]: saving the model\n"), std::nullopt);
  EXPECT_EQ(judge("[rank2]: done\n", "[rank3]: step 9\n"), std::nullopt) << "two are absent";
  EXPECT_EQ(judge("[rank3]: done\n"), std::nullopt) << "the log lacks rank 2";
}

}  // namespace
}  // namespace answers
