#include "dashboard/log_stream.h"

#include <gtest/gtest.h>

#include "arena/testing/verb_test_base.h"

namespace dashboard {
namespace {

base::Result<LogQuery> Parse(const std::string& query) {
  return ParseLogQuery(*net::ParseTarget("/api/logs/default/base?" + query), "base");
}

TEST(LogQueryTest, IsTheCommandThatPrintsTheSame) {
  const auto query = Parse("tail=5&grep=a%20b&ranks=0,4-7&raw=1&errors=1");
  ASSERT_TRUE(query) << query.error().message;
  EXPECT_EQ(
      CommandOf(*query, "muster"),
      "muster logs base --all --timestamps --tail=5 --rank=0,4-7 --grep='a b' --raw --errors");
}

TEST(LogQueryTest, WhatIsWrongIsNamed) {
  for (const auto& [query, name] : {std::pair("tail=-1", "tail"),
                                    {"tail=99999999", "tail"},
                                    {"limit=x", "limit"},
                                    {"since=yesterday", "since"},
                                    {"ranks=a", "rank"}}) {
    const auto parsed = Parse(query);
    ASSERT_FALSE(parsed) << query;
    EXPECT_EQ(parsed.error().code, base::Code::kInvalidArgument);
    EXPECT_NE(parsed.error().message.find(name), std::string::npos) << parsed.error().message;
  }
}

class LogStreamTest : public arena::VerbTest {
 protected:
  LogStreamTest() : context_(MakeContext()) {
    cluster_->Put(arena::kJobs, MakeJob("base", "Succeeded", std::chrono::seconds(60)));
    cluster_->Put(arena::kPods, MakePod("base", "master", 0, "Succeeded"));
    std::string lines;
    for (int i = 0; i < 100; ++i) {
      lines += fmt::format("2026-07-30T09:59:{:02}.{:06}Z step {}\n", i / 2, i, i);
    }
    cluster_->on_log = [lines](const net::Target&) { return arena::FakeLog{200, lines}; };
  }

  arena::Context context_;
};

TEST_F(LogStreamTest, NoMoreLinesThanWanted) {
  LogQuery query;
  query.run = "base";
  query.limit = 3;
  query.is_raw = true;
  const auto log = ReadLog(*client_, context_, query, {});
  ASSERT_TRUE(log) << log.error().message;
  EXPECT_TRUE(log->has_more);
  EXPECT_EQ(std::count(log->text.begin(), log->text.end(), '\n'), 3);
  EXPECT_NE(log->text.find("step 2\n"), std::string::npos);
  query.limit = 100;
  const auto all = ReadLog(*client_, context_, query, {});
  ASSERT_TRUE(all);
  EXPECT_FALSE(all->has_more);
}

TEST_F(LogStreamTest, TheWholeLogIsSearched) {
  LogQuery query;
  query.run = "base";
  query.grep = "step 97";
  const auto log = ReadLog(*client_, context_, query, {});
  ASSERT_TRUE(log);
  EXPECT_NE(log->text.find("step 97"), std::string::npos);
  EXPECT_EQ(std::count(log->text.begin(), log->text.end(), '\n'), 1);
}

TEST_F(LogStreamTest, WhoReadsNoMoreEndsIt) {
  LogQuery query;
  query.run = "base";
  std::stop_source stop;
  stop.request_stop();
  const auto log = ReadLog(*client_, context_, query, stop.get_token());
  ASSERT_FALSE(log);
  EXPECT_EQ(log.error().code, base::Code::kCancelled);
}

TEST_F(LogStreamTest, ARunThatNobodyKnowsIsSaid) {
  LogQuery query;
  query.run = "none";
  const auto log = ReadLog(*client_, context_, query, {});
  ASSERT_FALSE(log);
  EXPECT_EQ(log.error().code, base::Code::kNotFound);
}

}  // namespace
}  // namespace dashboard
