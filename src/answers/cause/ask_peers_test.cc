// Whole logs: whom the others waited for.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "answers/files/read_log.h"
#include "answers/testing/named_rank.h"
#include "answers/verdict.h"

namespace answers {
namespace {

TEST(AskPeers, WhoseIdDidNotComeInTimeIsMissing) {
  const Evidence evidence = ReadLogs(
      {{"job.log",
        "[rank1]: Traceback (most recent call last):\n[rank1]:   File \"/w/a.py\", line 3, in f\n"
        "[rank1]: torch.distributed.DistBackendError: [1] is setting up NCCL communicator and "
        "retrieving ncclUniqueId from [0] via c10d key-value store by key '0', but store->get('0') "
        "got error: wait timeout after 600000ms, keys: /default_pg/0//cuda//0\n"}});
  EXPECT_EQ(Explain(evidence).kind, "rendezvous");
  EXPECT_EQ(RankNamedIn(evidence), 0);
}

TEST(AskPeers, WhoeverTimedOutInABarrierWaitedForAnother) {
  const auto judge = [](const std::string& error) {
    return RankNamedIn(ReadLogs({{"job.log",
                                  "[rank2]: step 3\n[rank0]: Traceback (most recent call last):\n"
                                  "[rank0]:   File \"/w/a.py\", line 3, in f\n[rank0]: "
                                  "RuntimeError: " +
                                      error + "\n"}}));
  };
  EXPECT_EQ(judge("Rank 0 timed out in monitoredBarrier after 600000 ms."), std::nullopt);
  EXPECT_EQ(judge("[Rank 0]: Rank 2 failed to pass monitoredBarrier in 600000 ms"), 2);
}

TEST(AskPeers, WhereAllWaitedNoneIsTheFirst) {
  const std::string said =
      "RuntimeError: [../third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:81] Timed out "
      "waiting 1800000ms for recv operation to complete\n";
  const std::string log = "[rank0]: " + said + "[rank1]: " + said;
  const Evidence evidence = ReadLogs({{"job.log", log}});
  EXPECT_EQ(Explain(evidence).kind, "collective-timeout");
  EXPECT_EQ(RankNamedIn(evidence), std::nullopt);
  EXPECT_EQ(RankNamedIn(ReadLogs({{"job.log", log + "Root Cause (first observed failure):\n[0]:\n"
                                                    "  rank      : 1 (local_rank: 1)\n"
                                                    "  exitcode  : 1 (pid: 43)\n"}})),
            1)
      << "its launcher has seen it end first";
}

TEST(AskPeers, AnotherLineOfABarrierNamesWhoDidNotCome) {
  const std::string timed_out =
      "[rank0]:[E311 09:12:44.120331200 ProcessGroupGloo.cpp:144] Rank 0 timed out in "
      "monitoredBarrier after 60000 ms.\nNo ranks successfully processed in monitoredBarrier.\n";
  const std::string raised =
      "[rank0]: Traceback (most recent call last):\n[rank0]:   File \"/w/a.py\", line 3, in f\n"
      "[rank0]: RuntimeError: Rank 3 failed to pass monitoredBarrier in 60000 ms\n";
  EXPECT_EQ(RankNamedIn(ReadLogs({{"job.log", timed_out + raised}})), 3);
  EXPECT_EQ(RankNamedIn(ReadLogs({{"job.log", timed_out}})), std::nullopt);
  EXPECT_EQ(RankNamedIn(ReadLogs({{"frtrace.txt",
                                   "Not all ranks joining collective, sequence number: 2210\n"
                                   "collective: nccl:_all_gather_base\nmissing ranks: {1}\n"}})),
            1);
}

TEST(AskPeers, HorovodNamesARankThatHasPrintedNothing) {
  const std::string of = "[1,0]<stderr>:";
  const Evidence evidence = ReadLogs(
      {{"job.log", "[1,0]<stdout>:step 1\n" + of +
                       "[2023-12-01 04:10:31.01120: W /h/stall_inspector.cc:107] One or more "
                       "tensors were submitted to be reduced, gathered or broadcasted by subset of "
                       "ranks and are waiting for remainder of ranks for more than 60 seconds.\n" +
                       of + "Missing ranks:\n" + of + "3: [allreduce.a ...]\n"}});
  EXPECT_EQ(Explain(evidence).kind, "hang");
  EXPECT_EQ(RankNamedIn(evidence), 3);
}

}  // namespace
}  // namespace answers
