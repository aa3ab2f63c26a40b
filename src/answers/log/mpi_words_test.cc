#include "answers/log/mpi_words.h"

#include <gtest/gtest.h>

namespace answers {
namespace {

constexpr std::string_view kBadTermination =
    "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES";

// "3 139": the rank and the exit code, "-" if unknown.
std::string RankAndCode(const std::optional<LauncherRow>& row) {
  if (!row) return "nothing";
  const auto number = [](std::optional<int> value) { return value ? std::to_string(*value) : "-"; };
  return number(row->rank) + " " + number(row->exit_code);
}

// The same of the only process of which Hydra's blocks in these lines are taken to speak.
std::string OfHydra(const std::vector<std::string_view>& lines) {
  const std::vector<LauncherRow> rows = ReadLauncherWords(lines).rows;
  return rows.size() == 1 ? RankAndCode(rows[0]) : std::to_string(rows.size()) + " rows";
}

TEST(MpiWords, OpenMpiNamesWhoCalledAbort) {
  constexpr std::string_view kLine =
      "MPI_ABORT was invoked on rank 3 in communicator MPI_COMM_WORLD";
  EXPECT_EQ(RankAndCode(ReadMpiAbort({kLine, "with errorcode 14."}, 0)), "3 14");
  EXPECT_EQ(RankAndCode(ReadMpiAbort({kLine, "  Proc: [[9321,1],3]", "  Errorcode: 1"}, 0)), "3 1");
  EXPECT_EQ(RankAndCode(ReadMpiAbort({kLine, "with errorcode -1."}, 0)), "3 255");
  EXPECT_EQ(RankAndCode(ReadMpiAbort({kLine}, 0)), "3 1");
  EXPECT_EQ(RankAndCode(ReadMpiAbort({kLine, "with errorcode 0."}, 0)), "3 -");
  EXPECT_EQ(RankAndCode(ReadMpiAbort({kLine, "with errorcode 256."}, 0)), "3 1");
  EXPECT_EQ(RankAndCode(
                ReadMpiAbort({"MPI_ABORT was invoked on rank 0 in communicator MPI COMMUNICATOR 4 "
                              "SPLIT FROM 0"},
                             0)),
            "nothing")
      << "a rank of another communicator";
}

TEST(MpiWords, MpichNamesWhoCalledAbort) {
  EXPECT_EQ(RankAndCode(ReadMpiAbort({"Abort(1) on node 2 (rank 2 in comm 0): application called "
                                      "MPI_Abort(MPI_COMM_WORLD, 1) - process 2"},
                                     0)),
            "2 1");
  EXPECT_EQ(RankAndCode(ReadMpiAbort(
                {"application called MPI_Abort(MPI_COMM_WORLD, 274287887) - process 1"}, 0)),
            "1 15");
  EXPECT_EQ(
      RankAndCode(ReadMpiAbort({"application called MPI_Abort(MPI_COMM_WORLD, 0) - process 1"}, 0)),
      "1 -");
  EXPECT_EQ(RankAndCode(
                ReadMpiAbort({"application called MPI_Abort(comm=0x84000004, 1) - process 0"}, 0)),
            "nothing");
}

TEST(MpiWords, OpenMpiNamesWhoseCallFailed) {
  EXPECT_EQ(RankAndCode(ReadMpiAbort({"[n1:22275] *** reported by process [969080833,5]"}, 0)),
            "5 1");
  EXPECT_EQ(RankAndCode(ReadMpiAbort(
                {"[n1:5291] *** reported by process [140508871983105,140505560121344]"}, 0)),
            "nothing");
  EXPECT_EQ(
      RankAndCode(ReadMpiAbort({"[n1:34122] *** reported by process [4294967295,4294967295]"}, 0)),
      "nothing");
}

TEST(MpiWords, OpenMpiNamesWhoDidNotFinalize) {
  EXPECT_EQ(
      RankAndCode(ReadMpiAbort({"mpirun has exited due to process rank 1 with PID 6032 on"}, 0)),
      "1 -");
  EXPECT_EQ(
      RankAndCode(ReadMpiAbort({"mpiexec has exited due to process rank 1 with PID 6032 on"}, 0)),
      "1 -");
}

TEST(MpiWords, HydraNamesTheRankThatItDidNotEnd) {
  const std::vector<std::string_view> lines = {kBadTermination,
                                               "=   RANK 0 PID 5490 RUNNING AT n1",
                                               "=   KILLED BY SIGNAL: 9 (Killed)",
                                               kBadTermination,
                                               "=   RANK 1 PID 5491 RUNNING AT n1",
                                               "=   KILLED BY SIGNAL: 11 (Segmentation fault)",
                                               kBadTermination,
                                               "=   RANK 2 PID 5492 RUNNING AT n1",
                                               "=   KILLED BY SIGNAL: 9 (Killed)"};
  const auto row = ReadHydra(lines, 3);
  EXPECT_EQ(RankAndCode(row), "1 139");
  EXPECT_EQ(row->host, "n1");
  EXPECT_EQ(row->pid, 5491);
  EXPECT_EQ(row->words, "KILLED BY SIGNAL: 11 (Segmentation fault)");
  EXPECT_EQ(OfHydra(lines), "1 139");
  EXPECT_EQ(ReadLauncherWords(lines).first_rank, 1);
}

TEST(MpiWords, TheOnlyOneThatHydraListsMayFollowOneThatItDoesNot) {
  const std::vector<std::string_view> lines = {
      kBadTermination, "=   RANK 1 PID 65033 RUNNING AT n1", "=   KILLED BY SIGNAL: 9 (Killed)"};
  EXPECT_EQ(OfHydra(lines), "- -");
  EXPECT_EQ(ReadLauncherWords(lines).first_rank, std::nullopt);
  EXPECT_EQ(OfHydra({kBadTermination, lines[1], "=   KILLED BY SIGNAL: 15 (Terminated)"}), "- -");
  EXPECT_EQ(OfHydra({kBadTermination, lines[1], "=   KILLED BY SIGNAL: 6 (Aborted)"}), "1 134");
}

TEST(MpiWords, TheOnlyOneForWhichHydraEndsTheOthersIsNamedWithoutACause) {
  constexpr std::string_view kCleans = "=   CLEANING UP REMAINING PROCESSES";
  const std::vector<std::string_view> lines = {kBadTermination, "=   RANK 3 PID 5490 RUNNING AT n1",
                                               "=   KILLED BY SIGNAL: 9 (Killed)", kCleans,
                                               "=   YOU CAN IGNORE THE BELOW CLEANUP MESSAGES"};
  EXPECT_EQ(OfHydra(lines), "3 -");
  EXPECT_EQ(ReadLauncherWords(lines).first_rank, 3);
  EXPECT_EQ(
      OfHydra({kBadTermination, "=   RANK 0 PID 5490 RUNNING AT n1",
               "=   KILLED BY SIGNAL: 9 (Killed)", kCleans, kBadTermination,
               "=   RANK 1 PID 5491 RUNNING AT n1", "=   KILLED BY SIGNAL: 9 (Killed)", kCleans}),
      "- -");
}

TEST(MpiWords, WhoCalledAbortIsKnownAlsoIfHydraListsOthers) {
  EXPECT_EQ(ReadLauncherWords({"application called MPI_Abort(MPI_COMM_WORLD, 1) - process 3",
                               kBadTermination, "=   RANK 0 PID 5490 RUNNING AT n1",
                               "=   KILLED BY SIGNAL: 9 (Killed)"})
                .first_rank,
            3);
}

TEST(MpiWords, APidIsOfItsRankAlsoIfHydraHasEndedItItself) {
  const auto words = ReadLauncherWords(
      {kBadTermination, "=   RANK 0 PID 5490 RUNNING AT n1", "=   KILLED BY SIGNAL: 9 (Killed)",
       kBadTermination, "=   RANK 1 PID 5491 RUNNING AT n1", "=   KILLED BY SIGNAL: 9 (Killed)"});
  EXPECT_EQ(words.ranks_of_pids, (RanksOfPids{{5490, 0}, {5491, 1}}));
  const auto alike = ReadLauncherWords(
      {kBadTermination, "=   RANK 0 PID 42 RUNNING AT n1", "=   KILLED BY SIGNAL: 9 (Killed)",
       kBadTermination, "=   RANK 4 PID 42 RUNNING AT n2", "=   KILLED BY SIGNAL: 9 (Killed)"});
  EXPECT_EQ(alike.ranks_of_pids, (RanksOfPids{{42, std::nullopt}})) << "on two hosts";
}

TEST(MpiWords, ABlockThatHydraPrintsTwiceIsOne) {
  EXPECT_EQ(OfHydra({kBadTermination, "=   RANK 2 PID 5490 RUNNING AT n1",
                     "=   KILLED BY SIGNAL: 11 (Segmentation fault)", kBadTermination,
                     "=   RANK 2 PID 5490 RUNNING AT n1",
                     "=   KILLED BY SIGNAL: 11 (Segmentation fault)"}),
            "2 139");
}

TEST(MpiWords, OfSeveralThatHydraListsNobodyKnowsTheFirst) {
  EXPECT_EQ(OfHydra({kBadTermination, "=   RANK 0 PID 5490 RUNNING AT n1",
                     "=   KILLED BY SIGNAL: 9 (Killed)", kBadTermination,
                     "=   RANK 1 PID 5491 RUNNING AT n1", "=   KILLED BY SIGNAL: 9 (Killed)"}),
            "- -");
  EXPECT_EQ(OfHydra({kBadTermination, "=   RANK 2 PID 5490 RUNNING AT n1",
                     "=   KILLED BY SIGNAL: 11 (Segmentation fault)", kBadTermination,
                     "=   RANK 7 PID 5491 RUNNING AT n1", "=   KILLED BY SIGNAL: 6 (Aborted)"}),
            "- 139");
}

TEST(MpiWords, MpichsHydraSaysInAnotherLineThatItsCodeIsASignal) {
  constexpr std::string_view kPid = "=   PID 5279 RUNNING AT n1";
  constexpr std::string_view kExitString = "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: ";
  const std::string killed = std::string(kExitString) + "Killed (signal 9)";
  const std::string ended = std::string(kExitString) + "Terminated: 15 (signal 15)";
  EXPECT_EQ(OfHydra({kBadTermination, kPid, "=   EXIT CODE: 9", killed}), "- 137");
  EXPECT_EQ(OfHydra({kBadTermination, kPid, "=   EXIT CODE: 6", ended}), "- 134");
  EXPECT_EQ(OfHydra({kBadTermination, kPid, "=   EXIT CODE: 139"}), "- 139") << "with a core";
  EXPECT_EQ(OfHydra({kBadTermination, kPid, "=   EXIT CODE: 9"}), "- 9");
  EXPECT_EQ(OfHydra({kBadTermination, "=   RANK 2 PID 9665 RUNNING AT icx1", "=   EXIT STATUS: 1"}),
            "2 1");
  EXPECT_EQ(OfHydra({kBadTermination, kPid, "=   EXIT CODE: 1", ended}), "- 1");
  EXPECT_EQ(OfHydra({kBadTermination, "=   RANK 2 PID 9665 RUNNING AT c7", "=   EXIT STATUS: 1"}),
            "2 1");
  EXPECT_EQ(OfHydra({kBadTermination, kPid, "=   EXIT CODE: 24", "====", kBadTermination, kPid,
                     "=   EXIT CODE: 24"}),
            "- 24");
  EXPECT_EQ(OfHydra({"step 1", "EXIT CODE: 9"}), "0 rows");
}

}  // namespace
}  // namespace answers
