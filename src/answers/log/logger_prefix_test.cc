#include "answers/log/logger_prefix.h"

#include <gtest/gtest.h>

#include <string>

#include "answers/files/read_log.h"
#include "answers/verdict.h"

namespace answers {
namespace {

std::string TextOf(std::string_view line) {
  std::vector<LogLine> lines = ReadLogLines({line});
  TakeLoggerPrefixes(lines);
  return std::string(lines[0].text);
}

constexpr std::string_view kGlogs =
    "I1210 18:28:01.790000 1 site-packages/torch/distributed/elastic/agent/server/api.py:525] ";
constexpr std::string_view kNames =
    "[2024-06-25 22:20:17,556] torch.distributed.elastic.agent.server.api: [INFO] ";

TEST(LoggerPrefix, IsTakenFromTheIndentedLinesOfAMessage) {
  for (const std::string_view prefix : {kGlogs, kNames}) {
    const std::string before(prefix);
    EXPECT_EQ(TextOf(before + "  global_ranks=[8, 9]"), "  global_ranks=[8, 9]");
    EXPECT_NE(TextOf(before + "[default] Rendezvous complete for workers. Result:"),
              "[default] Rendezvous complete for workers. Result:")
        << "the message's first line";
  }
}

TEST(LoggerPrefix, IsNotThatOfAnotherPartOfTorchOrOfAnotherProgram) {
  for (const std::string line :
       {"W0302 10:11:04.120000 41 torch/_dynamo/convert_frame.py:906]   File \"/w/a.py\", line 3",
        "I0302 10:11:04.120000 41 server.cc:12]   global_ranks=[8, 9]",
        "mylib.elastic: [INFO]   global_ranks=[8, 9]", "torch.distributed.run   global_ranks=[8]",
        "I0302 torch/distributed/run.py:9]   global_ranks=[8]"}) {
    EXPECT_EQ(TextOf(line), line);
  }
}

std::optional<int> RankOf(std::string_view prefix, const std::string& globals) {
  const std::string before(prefix);
  const std::string log = before + "[default] Rendezvous complete for workers. Result:\n" + before +
                          "  group_rank=1\n" + before + "  local_ranks=[0, 1]\n" + before +
                          "  role_ranks=[8, 9]\n" + before + "  global_ranks=" + globals + "\n" +
                          "[default1]:Traceback (most recent call last):\n"
                          "[default1]:  File \"/w/a.py\", line 3, in f\n[default1]:KeyError: 'k'\n";
  const Evidence evidence = ReadLogs({{"job.log", log}});
  const Verdict verdict = Explain(evidence);
  return verdict.rank ? evidence.ranks[*verdict.rank].rank : std::nullopt;
}

TEST(LoggerPrefix, TheRanksBelowItAreTheLocalOnes) {
  for (const std::string_view prefix : {kGlogs, kNames, std::string_view()}) {
    EXPECT_EQ(RankOf(prefix, "[8, 9]"), 9) << prefix;
    EXPECT_EQ(RankOf(prefix, "[8]"), 1) << "a list that does not fit";
  }
}

}  // namespace
}  // namespace answers
