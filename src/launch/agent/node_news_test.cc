#include "launch/agent/node_news.h"

#include <gtest/gtest.h>

#include "rendezvous/nodes/rendezvous.h"

namespace launch {
namespace {

TEST(NodeNews, SurvivesTheWay) {
  NodeNews news;
  news.looks = {{4, 4711, false, false, {'S', 7, 8, 9, 10}}, {5, 0, true}};
  news.testimony.emplace();
  news.testimony->dumps = {{4, "Thread 0x1\n  File \"a.py\", line 3 in f\n"}};
  news.testimony->traces = {{4, "{}"}};
  news.testimony->unanswered = {{4, "connects to a"}};
  news.testimony->lines = {{4, "work.wait()"}};
  news.testimony->mute = {5};
  news.testimony->with_work = {4};
  news.testimony->kernel[5] = {4712, "waits", true, false};
  news.question = 3;
  news.line = "stalled 3 s";
  news.killed = news.looks[0];
  news.is_final = true;
  auto read = DecodeNews(EncodeNews(news));
  ASSERT_TRUE(read);
  ASSERT_EQ(read->looks.size(), 2u);
  EXPECT_EQ(read->looks[0].pid, 4711);
  EXPECT_EQ(read->looks[0].activity.state, 'S');
  EXPECT_EQ(read->looks[0].activity.ticks, 7u);
  EXPECT_EQ(read->looks[0].activity.switches, 8u);
  EXPECT_EQ(read->looks[0].activity.transfers, 9u);
  EXPECT_EQ(read->looks[0].activity.dumped, 10u);
  EXPECT_TRUE(read->looks[1].has_ended);
  EXPECT_EQ(read->testimony->dumps, news.testimony->dumps);
  EXPECT_EQ(read->testimony->traces, news.testimony->traces);
  EXPECT_EQ(read->testimony->unanswered, news.testimony->unanswered);
  EXPECT_EQ(read->testimony->lines, news.testimony->lines);
  EXPECT_EQ(read->testimony->mute, news.testimony->mute);
  EXPECT_EQ(read->testimony->with_work, news.testimony->with_work);
  EXPECT_EQ(read->testimony->kernel[5].text, "waits");
  EXPECT_TRUE(read->testimony->kernel[5].is_rest);
  EXPECT_EQ(read->question, 3);
  EXPECT_EQ(read->line, "stalled 3 s");
  ASSERT_TRUE(read->killed);
  EXPECT_TRUE(answers::StandsStill(news.looks[0], *read->killed));
  EXPECT_TRUE(read->is_final);
}

TEST(NodeNews, WhatIsTooLongForAMessageIsLeftOut) {
  NodeNews news;
  news.testimony.emplace();
  for (int rank = 0; rank < 64; ++rank) {
    news.testimony->dumps[rank].assign(rank == 3 ? 1 << 20 : 16 << 10, '"');
    news.testimony->traces[rank].assign(64 << 10, 1);
    news.testimony->lines[rank].assign(64 << 10, '"');
    news.testimony->unanswered[rank].assign(64 << 10, '"');
  }
  news.line.assign(1 << 20, '"');
  const std::string text = EncodeNews(news);
  EXPECT_LT(text.size(), rendezvous::Rendezvous::kLongestTold);
  const auto read = DecodeNews(text);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->testimony->dumps.size(), 23u);
  EXPECT_EQ(read->testimony->cut.size(), 41u);
  EXPECT_TRUE(read->testimony->cut.contains(3)) << "it alone is too long";
  EXPECT_TRUE(read->testimony->dumps.contains(4));
  EXPECT_EQ(read->testimony->traces.size(), 5u);
  EXPECT_EQ(read->testimony->mute.size(), 59u);
}

TEST(NodeNews, TextThatIsNoUtf8DoesNotSpoilTheRest) {
  NodeNews news;
  news.testimony.emplace();
  news.testimony->dumps = {{0, "a\xff"}};
  news.testimony->kernel[0].text = "b\xc3";
  news.line = "c\xe2\x82";
  const auto read = DecodeNews(EncodeNews(news));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->testimony->dumps.at(0), "a?");
  EXPECT_EQ(read->testimony->kernel.at(0).text, "b?");
  EXPECT_TRUE(read->line.starts_with("c?"));
}

TEST(NodeNews, GarbageIsAnError) {
  EXPECT_TRUE(DecodeNews(R"({"looks":[[1,2,false,"S",5,6,7,8]]})"));
  for (const char* const text :
       {"{", "[]", R"({"looks":{}})", R"({"looks":[1]})", R"({"looks":[[1]]})",
        R"({"looks":[[1,2,false,"S","5",6,7,8]]})",
        R"({"looks":[[4294967297,2,false,"S",5,6,7,8]]})",
        R"({"looks":[[1,2,false,"S",5,-6,7,8]]})", R"({"question":"a"})", R"({"killed":4})",
        R"({"testimony":1})", R"({"testimony":{"dumps":[[1]]}})",
        R"({"testimony":{"dumps":[["a","b"]]}})", R"({"testimony":{"mute":[-1]}})",
        R"({"testimony":{"kernel":[1]}})", R"({"testimony":{"kernel":[{"pid":1}]}})"}) {
    EXPECT_FALSE(DecodeNews(text)) << text;
  }
}

TEST(NodeNews, WhatAUserMayReadIsOneLineOfPrintableAscii) {
  NodeNews news;
  news.testimony.emplace();
  news.testimony->unanswered = {{0, "a\x1b[2Jb\nc"}};
  news.testimony->lines = {{0, "a\x1b[2Jb\nc"}};
  news.testimony->kernel[0].text = "a\x1b[2Jb\nc";
  const auto read = DecodeNews(EncodeNews(news));
  ASSERT_TRUE(read);
  for (const std::string& text : {read->testimony->unanswered.at(0), read->testimony->lines.at(0),
                                  read->testimony->kernel.at(0).text}) {
    EXPECT_EQ(text, "ab c");
  }
  EXPECT_EQ(DecodeNews(R"({"line":"a\u001b[2J\nb"})")->line, "a b");
  EXPECT_EQ(DecodeNews(R"({"line":"a\u009b2Jb"})")->line, "a??2Jb");
}

TEST(NodeNews, ANodeSpeaksOfItsOwnRanksAlone) {
  NodeNews news;
  news.looks = {{4, 100}, {5, 101}};
  EXPECT_TRUE(IsOf(news, 4, 2));
  EXPECT_FALSE(IsOf(news, 3, 2));
  EXPECT_FALSE(IsOf(news, 4, 1));
  EXPECT_FALSE(IsOf(news, 4, 3)) << "rank 6 is missing";
  news.looks[1].rank = 4;
  EXPECT_FALSE(IsOf(news, 4, 2)) << "rank 5 is missing";
  news.looks.clear();
  EXPECT_TRUE(IsOf(news, 4, 2)) << "it may tell something else";
  news.testimony.emplace();
  news.testimony->dumps[5] = "a";
  EXPECT_TRUE(IsOf(news, 4, 2));
  EXPECT_FALSE(IsOf(news, 4, 1));
  news.testimony->dumps.clear();
  news.testimony->with_work = {3};
  EXPECT_FALSE(IsOf(news, 4, 2));
}

}  // namespace
}  // namespace launch
