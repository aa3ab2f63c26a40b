#include "answers/log/rank_field.h"

#include <gtest/gtest.h>

#include "answers/log/read_log.h"
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

TEST(RankField, IsNoNumberOfAFewMessages) {
  const std::string work = "2026-05-06 01:10:05,118 INFO trainer | loss 2.3\n";
  const std::string adapter = "2026-05-06 01:10:06,118 INFO adapter | rank=16 alpha=32\n";
  EXPECT_EQ(RankOfRecords(work + work + work + adapter + adapter + std::string(kBelow)),
            std::nullopt);
  EXPECT_EQ(RankOfRecords(adapter + std::string(kBelow)), std::nullopt);
  for (const char* const form :
       {"2026-05-06 01:10:05,118 [local rank %] $", "2026-05-06 01:10:05,118 local_rank=% $",
        "2026-05-06 01:10:05,118 | lora rank=% | $", "[2025-09-03 14:47:27 DP1 TP%] $",
        "2026-05-06 01:10:05,118 node rank: % $", "rank % $", "[PG 1 Rank %] $",
        "[Rank %] Watchdog caught collective operation $",
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
