#include "answers/stall/recorder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace answers {
namespace {

using Differ = Disagreement::Kind;

struct Call {
  std::string name;
  std::string sizes = "[[8]]";
  std::string dtype = "Float";
};

// Calls are numbered from 1. As in gloo, an incomplete call has the same state as a complete one.
std::string Json(const std::vector<Call>& calls, int64_t completed, std::string_view group = "0",
                 int64_t id = 0) {
  std::string entries;
  for (size_t i = 0; i < calls.size(); ++i) {
    entries +=
        fmt::format(R"({}{{"collective_seq_id": {}, "pg_id": {}, "process_group": ["{}", "x"],)"
                    R"( "profiling_name": "gloo:{}", "input_sizes": {}, "input_dtypes": ["{}"],)"
                    R"( "is_p2p": false, "state": "scheduled", "time_created_ns": {}}})",
                    i == 0 ? "" : ",", i + 1, id, group, calls[i].name, calls[i].sizes,
                    calls[i].dtype, 1000 * (i + 1));
  }
  return fmt::format(
      R"({{"version": "2.10", "pg_status": {{"{}": {{"last_enqueued_collective": "{}",)"
      R"( "last_started_collective": "-1", "last_completed_collective": "{}"}}}},)"
      R"( "entries": [{}]}})",
      id, calls.empty() ? -1 : static_cast<int64_t>(calls.size()), completed, entries);
}

Trace TraceOf(const std::string& json) {
  auto trace = ReadTrace(json);
  EXPECT_TRUE(trace) << json;
  return trace.value_or(Trace());
}

TEST(Recorder, ReadsWhatARankHasEnteredAndFinished) {
  const Trace trace = TraceOf(Json({{"all_reduce"}, {"barrier", "[]"}}, 1, "3", 2));
  ASSERT_EQ(trace.size(), 1u);
  const GroupTrace& group = trace.at("3");
  EXPECT_EQ(group.entered, 2);
  EXPECT_EQ(group.completed, 1);
  EXPECT_EQ(group.collectives.at(1).name, "all_reduce");
  EXPECT_EQ(group.collectives.at(1).sizes, "[8]");
  EXPECT_EQ(group.collectives.at(2).sizes, "");
}

TEST(Recorder, WhatIsNoAnswerIsNone) {
  for (const std::string& text :
       {std::string(), std::string("null"), std::string("{}"), std::string(100'000, '['),
        Json({{"all_reduce"}}, 0).substr(0, 80)}) {
    EXPECT_FALSE(ReadTrace(text)) << text.substr(0, 80);
  }
  EXPECT_TRUE(TraceOf(R"({"pg_status": {}, "entries": [1, {}, {"process_group": []}]})").empty());
}

TEST(Recorder, NamesCannotSteerATerminal) {
  const Trace trace = TraceOf(Json({{"\\u001b[31mred" + std::string(500, 'x')}}, 0));
  const std::string& name = trace.at("0").collectives.at(1).name;
  EXPECT_EQ(name.substr(0, 5), "?[31m");
  EXPECT_LE(name.size(), 80u);
}

TEST(Recorder, WhoHasNotEnteredIsMissing) {
  const auto found = Compare({{0, TraceOf(Json({{"all_reduce"}, {"all_reduce"}}, 1))},
                              {1, TraceOf(Json({{"all_reduce"}}, 1))}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, Differ::kMissing);
  EXPECT_EQ(found->number, 2);
  EXPECT_EQ(found->others, std::vector<int>{0});
  EXPECT_TRUE(found->odd.contains(1));
  EXPECT_EQ(NameOf(found->expected, found->number), "all_reduce #2");
}

TEST(Recorder, ARankThatHasEnteredNothingYetIsMissingToo) {
  const auto found =
      Compare({{0, TraceOf(Json({{"all_reduce"}}, -1))}, {1, TraceOf(Json({}, -1))}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->number, 1);
  EXPECT_TRUE(found->odd.contains(1));
}

TEST(Recorder, AgreementIsNoDisagreement) {
  EXPECT_FALSE(
      Compare({{0, TraceOf(Json({{"all_reduce"}}, 1))}, {1, TraceOf(Json({{"all_reduce"}}, 1))}}));
  // Both ranks are in the call, which only takes its time.
  EXPECT_FALSE(
      Compare({{0, TraceOf(Json({{"all_reduce"}}, 0))}, {1, TraceOf(Json({{"all_reduce"}}, 0))}}));
}

TEST(Recorder, MismatchesOfOrderSizeAndType) {
  const Trace usual = TraceOf(Json({{"all_reduce"}, {"all_reduce"}}, 1));
  const auto kind_of = [&](const Call& call) {
    const auto found =
        Compare({{0, usual}, {1, usual}, {2, TraceOf(Json({{"all_reduce"}, call}, 1))}});
    EXPECT_TRUE(found && found->odd.size() == 1 && found->odd.contains(2));
    return found ? found->kind : Differ::kMissing;
  };
  EXPECT_EQ(kind_of({"barrier"}), Differ::kOrder);
  EXPECT_EQ(kind_of({"all_reduce", "[[4]]"}), Differ::kSizes);
  EXPECT_EQ(kind_of({"all_reduce", "[[8]]", "Double"}), Differ::kDtypes);
}

TEST(Recorder, UnevenSplitsAreLegal) {
  const auto found = Compare({{0, TraceOf(Json({{"all_to_all", "[[8]]"}}, 0))},
                              {1, TraceOf(Json({{"all_to_all", "[[4]]"}}, 0))}});
  EXPECT_FALSE(found);
}

TEST(Recorder, WhatAllHaveFinishedDoesNotMatterAnyMore) {
  const Trace a = TraceOf(Json({{"all_reduce"}, {"barrier"}}, 2));
  const Trace b = TraceOf(Json({{"barrier"}, {"barrier"}}, 2));
  EXPECT_FALSE(Compare({{0, a}, {1, b}}));
}

TEST(Recorder, OfSeveralGroupsTheEarliest) {
  // All ranks are in group 0; rank 2 is not a member of group 1.
  Trace first = TraceOf(Json({{"all_reduce"}, {"all_reduce"}}, 1));
  Trace second = first;
  first.merge(TraceOf(Json({{"broadcast"}}, 0, "1", 1)));
  const Trace third = TraceOf(Json({{"all_reduce"}}, 1));
  second.merge(TraceOf(Json({}, -1, "1", 1)));
  second["1"];
  const auto found = Compare({{0, first}, {1, second}, {2, third}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->group, "1");
  EXPECT_EQ(found->odd.size(), 1u);
  EXPECT_TRUE(found->odd.contains(1));
}

TEST(Recorder, WhoComesLateToCollectivesIsKnownByTheirTimes) {
  std::map<int, Trace> traces;
  for (int rank = 0; rank < 3; ++rank) {
    for (int64_t number = 1; number <= 10; ++number) {
      // Rank 2 is 5 us late each time, and rank 1 is 50 us late once.
      const int64_t late = rank == 2 ? 5'000 : rank == 1 && number == 4 ? 50'000 : rank;
      traces[rank]["0"].collectives[number] = {"all_reduce", "", "", 1'000'000 * number + late};
    }
  }
  // Some ranks have not come to this one yet.
  traces[0]["0"].collectives[11] = {"all_reduce", "", "", 99'000'000};
  const auto late = LatenessOf(traces);
  EXPECT_EQ(late.at(0).last, 0);
  EXPECT_EQ(late.at(1).last, 1);
  EXPECT_EQ(late.at(2).last, 9);
  EXPECT_EQ(late.at(2).collectives, 10);
  EXPECT_EQ(late.at(2).median, std::chrono::microseconds(5));
  EXPECT_TRUE(LatenessOf({}).empty());
  EXPECT_TRUE(LatenessOf({{0, traces[0]}}).empty());
}

TEST(Recorder, AMismatchIsSaidInOneLine) {
  Disagreement found;
  found.kind = Differ::kSizes;
  found.number = 7;
  found.expected = {"all_reduce", "[8]", "Float", 0};
  found.odd = {{3, {"all_reduce", "[4]", "Float", 0}}};
  found.others = {0, 1, 2};
  EXPECT_EQ(SayMismatch(found, {{3, "train.py:9"}, {0, "train.py:9"}}),
            "rank 3 gives [4] (train.py:9) where ranks 0-2 give [8] (train.py:9): the sizes of "
            "all_reduce #7 differ");
}

}  // namespace
}  // namespace answers
