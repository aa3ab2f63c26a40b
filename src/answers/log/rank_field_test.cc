#include "answers/log/rank_field.h"

#include <gtest/gtest.h>

#include "answers/files/read_log.h"
#include "answers/verdict.h"

namespace answers {
namespace {

constexpr std::string_view kBelow =
    "Traceback (most recent call last):\n  File \"/w/a.py\", line 3, in f\n    step()\n"
    "KeyError: 'lr'\n";

std::optional<int> RankOfRecords(const std::string& log) {
  const Evidence evidence = ReadLogs({{"job.log", log}});
  const Verdict verdict = Explain(evidence);
  EXPECT_EQ(verdict.kind, "exception") << log;
  return verdict.rank ? evidence.ranks[*verdict.rank].rank : std::nullopt;
}

std::string Record(std::string form, int rank, const std::string& text) {
  const std::string number = std::to_string(rank);
  form.replace(form.find('%'), 1, number);
  form.replace(form.find('$'), 1, text);
  return form + "\n";
}

TEST(RankField, OfARecordIsThatOfTheTracebackBelow) {
  for (const char* const form :
       {"2026-04-01 12:00:01.017 | INFO     | rank=% | loop:run:88 - $",
        "2026-05-06 01:10:05,118 ERROR n1 rank=% trainer | $",
        "2026-05-06 01:10:05,118 - [rank: %] - ERROR - $", "[2026-05-06 01:10:05] [Rank %] $",
        "I0302 10:11:04.120000 77 loop.py:3] [rank%] $",
        "2026-05-06T01:10:05Z [error    ] $                 rank=% step=3",
        "2026/05/06 01:10:05 (rank %) $", "[2025-09-03 14:47:27 TP%] $",
        "[2025-09-03 14:47:27 TP% EP0] $",
        "{\"level\": \"error\", \"rank\": %, \"message\": \"$\"}",
        "{\"rank\":%,\"level\":\"error\",\"message\":\"$\"}", "[Rank %] $", "[rank % of 8] $",
        "[rank: %] $", "(rank %) $"}) {
    const std::string log = Record(form, 0, "ready") + Record(form, 5, "ready") +
                            Record(form, 5, "training failed") + std::string(kBelow) +
                            Record(form, 0, "Connection closed by peer");
    EXPECT_EQ(RankOfRecords(log), 5) << form;
  }
}

std::optional<int> RankInForm(const std::string& form) {
  return RankOfRecords(Record(form, 0, "ready") + Record(form, 1, "ready") +
                       Record(form, 2, "training failed") + std::string(kBelow) +
                       Record(form, 1, "Connection closed by peer") +
                       Record(form, 0, "Connection closed by peer"));
}

TEST(RankField, MayBeANumberInTheSamePlaceOfMostRecords) {
  for (const char* const form :
       {"2026-05-06 01:10:05,118 | rank % | ERROR | $", "2026-05-06 01:10:05,118 [%/4] ERROR $",
        "05/06/2026 01:10:05 [%/4] ERROR $", "ERROR:2026-05-06 01:10:05,118 (rank=%) $",
        "2026-05-06 01:10:05,118 ERROR R% $", "2026-05-06 01:10:05,118 ERROR rank %: $",
        "2026-05-06 01:10:05,118 - rank % - ERROR - $", "2026-05-06 01:10:05,118 gpu % ERROR $",
        "2026-05-06 01:10:05,118 ERROR [cuda:%] $", "2026-05-06 01:10:05,118 ERROR [%] $",
        "ERROR [rank %] $", "[ERROR] [rank%] $"}) {
    EXPECT_EQ(RankInForm(form), 2) << form;
  }
  for (const char* const form :
       {"2026-05-06 01:10:05,118 ERROR [fold %] $", "2026-05-06 01:10:05,118 ERROR worker %: $",
        "2026-05-06 01:10:05,118 ERROR [node %] $", "2026-05-06 01:10:05,118 ERROR DP% $",
        "2026-05-06 01:10:05,118 ERROR [node rank %] $",
        "2026-05-06 01:10:05,118 ERROR node rank %: $"}) {
    EXPECT_EQ(RankInForm(form), std::nullopt) << form;
  }
}

TEST(RankField, OfACounterIsNone) {
  const std::string form = "2026-05-06 01:10:05,118 [%/4] ERROR $";
  EXPECT_EQ(RankOfRecords(Record(form, 0, "a") + Record(form, 0, "b") + Record(form, 1, "a") +
                          Record(form, 1, "b") + Record(form, 2, "c") + std::string(kBelow)),
            std::nullopt);
  const auto rank_of = [&form](const std::vector<int>& numbers) {
    std::string log;
    for (const int number : numbers) log += Record(form, number, "a");
    return RankOfRecords(log + std::string(kBelow));
  };
  EXPECT_EQ(rank_of({0, 1, 0, 1, 2, 1, 2, 3, 2}), std::nullopt) << "of two processes";
  EXPECT_EQ(rank_of({0, 1, 2, 3, 1, 2}), std::nullopt) << "of one that was resumed";
  EXPECT_EQ(rank_of({0, 2, 1, 3, 0, 3, 1, 2}), 2);
}

TEST(RankField, OfRecordsBesideThoseOfALauncher) {
  const std::string launchers =
      "[2026-05-06 01:10:05,118] [INFO] [launch.py:145:main] nnodes=1, num_local_procs=4\n"
      "W0506 01:10:05.118000 40 site-packages/torch/distributed/run.py:793] \n";
  const std::string form = "2026-05-06 01:10:05,118 | ERROR | rank=% | $";
  EXPECT_EQ(RankOfRecords(launchers + launchers + launchers + Record(form, 0, "a") +
                          Record(form, 1, "b") + Record(form, 2, "c") + std::string(kBelow)),
            2);
}

TEST(RankField, IsNoNumberOfAFewMessages) {
  const std::string work = "2026-05-06 01:10:05,118 INFO trainer | loss 2.3\n";
  const std::string adapter = "2026-05-06 01:10:06,118 INFO adapter | rank=16 alpha=32\n";
  EXPECT_EQ(RankOfRecords(work + work + work + adapter + adapter + std::string(kBelow)),
            std::nullopt);
  EXPECT_EQ(RankOfRecords(adapter + std::string(kBelow)), std::nullopt);
  for (const char* const form :
       {"2026-05-06 01:10:05,118 [local rank %] $", "2026-05-06 01:10:05,118 local_rank=% $",
        "2026-05-06 01:10:05,118 | lora rank=% | $", "[2025-09-03 14:47:27 DP1 TP%] $",
        "2026-05-06 01:10:05,118 node rank: % $",
        "2026-05-06 01:10:05,118 | data parallel rank: % $",
        "2026-05-06 01:10:05,118 pipeline rank: % $", "2026-05-06 01:10:05,118 tensor rank=% $",
        "rank % $", "[PG 1 Rank %] $", "[Rank %] Watchdog caught collective operation $",
        "[rank: %] Child process with PID 42 $"}) {
    const std::string log = Record(form, 1, "a") + Record(form, 2, "b") + Record(form, 3, "c");
    EXPECT_EQ(RankOfRecords(log + std::string(kBelow)), std::nullopt) << form;
  }
}

TEST(RankField, IsNotThatOfAnotherProcessesLines) {
  const std::string form = "2026-05-06 01:10:05,118 ERROR rank=% | $";
  const std::string records = Record(form, 1, "a") + Record(form, 2, "b");
  EXPECT_EQ(RankOfRecords(records + std::string(kBelow)), 2);
  EXPECT_EQ(RankOfRecords(records + "bye\n" + std::string(kBelow)), std::nullopt);
  const std::string work = "[Rank %] $";
  EXPECT_EQ(RankOfRecords(Record(work, 1, "step") + Record(work, 2, "step") + std::string(kBelow)),
            std::nullopt)
      << "Python prints a traceback without a record";
  std::vector<LogLine> lines = ReadLogLines(
      {"2026-05-06 01:10:05,118 ERROR rank=1 | a", "2026-05-06 01:10:05,118 ERROR rank=2 | b",
       "Traceback (most recent call last):", "  File \"/w/a.py\", line 3, in f", "KeyError: 'k'",
       "", "During handling of the above exception, another exception occurred:", "",
       "Traceback (most recent call last):", "  File \"/w/a.py\", line 5, in g", "KeyError: 'l'",
       "Traceback (most recent call last):"});
  TakeRankFields(lines);
  EXPECT_EQ(lines[10].rank, 2);
  EXPECT_FALSE(lines[11].rank);
}

TEST(RankField, ThatTwoNodesHaveIsALocalRank) {
  const auto records = [](const std::string& form) {
    std::string log;
    for (const std::string node : {"1", "2"}) {
      for (const int rank : {0, 1}) {
        std::string line = Record(form, rank, rank == 1 && node == "2" ? "failed" : "ready");
        line.replace(line.find('@'), 1, node);
        log += line;
      }
    }
    return log;
  };
  for (const char* const form :
       {"2026-05-06 01:10:05,118 ERROR [node @] [rank %] $",
        "2026-05-06 01:10:05,118 ERROR node=@ rank=% | $",
        "2026-05-06 01:10:05,118 ERROR host=gpu@ rank=% | $",
        "2026-05-06 01:10:05,118 ERROR hostname: gpu@, rank: % $",
        "{\"level\": \"error\", \"rank\": %, \"host\": \"gpu@\", \"msg\": \"$\"}"}) {
    EXPECT_EQ(RankOfRecords(records(form) + std::string(kBelow)), std::nullopt) << form;
  }
  EXPECT_EQ(RankOfRecords(records("2026-05-06 01:10:05,118 ERROR job=@ rank=% | $") +
                          std::string(kBelow)),
            1);
  std::string pods;
  for (const std::string pod : {"a-0", "a-1"}) {
    for (const int rank : {0, 1}) {
      pods +=
          "[pod/" + pod + "/c] " + Record("2026-05-06 01:10:05,118 ERROR rank=% | $", rank, "x");
    }
  }
  for (const char* const line : {"Traceback (most recent call last):",
                                 "  File \"/w/a.py\", line 3, in f", "KeyError: 'k'"}) {
    pods += std::string("[pod/a-1/c] ") + line + "\n";
  }
  EXPECT_EQ(RankOfRecords(pods), std::nullopt);
}

TEST(RankField, OfFilesMayBeALocalRankOrAnothers) {
  const auto rank_in = [](const std::vector<LogFile>& files) {
    const Evidence evidence = ReadLogs(files);
    const Verdict verdict = Explain(evidence);
    return verdict.rank ? evidence.ranks[*verdict.rank].rank : std::nullopt;
  };
  const std::string form = "2026-05-06 01:10:05,118 ERROR rank=% | $";
  const std::string both = Record(form, 0, "a") + Record(form, 1, "b");
  const std::string failed = both + std::string(kBelow);
  EXPECT_EQ(rank_in({{"node-0.log", both}, {"node-1.log", failed}}), std::nullopt);
  EXPECT_EQ(rank_in({{"job.out", both}, {"job.err", failed}}), 1) << "of the same processes";
  EXPECT_EQ(rank_in({{"attempt_0/job.log", both}, {"attempt_1/job.log", failed}}), 1);
  EXPECT_EQ(rank_in({{"rank_7.log", failed}, {"rank_8.log", "step 1\n"}}), 7)
      << "it speaks of others";
  EXPECT_EQ(rank_in({{"worker-0.log", failed}, {"worker-1.log", "step 1\n"}}), 1)
      << "a pod of several ranks";
}

TEST(RankField, OfAWarningIsNotThatOfPythonsTracebackBelow) {
  const std::string form = "2026-05-06 01:10:05,118 WARNING rank=% | $";
  EXPECT_EQ(RankOfRecords(Record(form, 1, "slow") + Record(form, 2, "slow") + std::string(kBelow)),
            std::nullopt);
}

TEST(RankField, ThatDiffersFromALinesPrefixIsAnotherNumber) {
  std::vector<LogLine> lines =
      ReadLogLines({"[rank1]: 2026-05-06 01:10:05,118 rank=0 a", "2026-05-06 01:10:05,118 rank=0 b",
                    "2026-05-06 01:10:05,118 rank=1 c"});
  TakeRankFields(lines);
  EXPECT_EQ(lines[0].rank, 1);
  EXPECT_FALSE(lines[1].rank);
}

}  // namespace
}  // namespace answers
