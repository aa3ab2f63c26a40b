#include "watch/state.h"

#include <gtest/gtest.h>

namespace watch {
namespace {

using Kind = Key::Kind;
using Want = Wish::Kind;

State Jobs() {
  State state;
  int age = 0;
  for (const char* name : {"base", "wide", "long"}) {
    JobRow row;
    row.namespace_name = "default";
    row.name = row.uid = name;
    row.status = std::string(name) == "wide" ? "FAILED" : "RUNNING";
    row.created = base::Time(std::chrono::seconds(++age));
    state.jobs.push_back(row);
  }
  return state;
}

Wish Type(State& state, std::string_view letters) {
  Wish wish;
  for (const char letter : letters) wish = OnKey(state, {Kind::kChar, letter}, 10);
  return wish;
}

std::string NamesOfRows(const State& state) {
  std::string names;
  for (const JobRow* row : ShownRows(state)) names += row->name + " ";
  return names;
}

TEST(OnKey, MovesAmongTheRowsThatAreShown) {
  State state = Jobs();
  EXPECT_EQ(NamesOfRows(state), "long wide base ");
  EXPECT_EQ(JobAtHand(state)->name, "long");
  Type(state, "jj");
  EXPECT_EQ(JobAtHand(state)->name, "base");
  OnKey(state, {Kind::kDown}, 10);
  EXPECT_EQ(JobAtHand(state)->name, "base");
  OnKey(state, {Kind::kHome}, 10);
  EXPECT_EQ(JobAtHand(state)->name, "long");
}

TEST(OnKey, FiltersAndSorts) {
  State state = Jobs();
  Type(state, "/fail");
  EXPECT_EQ(NamesOfRows(state), "wide ");
  OnKey(state, {Kind::kBackspace}, 10);
  OnKey(state, {Kind::kEnter}, 10);
  EXPECT_FALSE(state.is_filtering);
  EXPECT_EQ(Type(state, "q").kind, Want::kQuit);
  OnKey(state, {Kind::kEscape}, 10);
  EXPECT_EQ(NamesOfRows(state), "long wide base ");
  Type(state, "o");
  EXPECT_EQ(NamesOfRows(state), "base long wide ");
}

TEST(OnKey, AsksBeforeItStopsAJob) {
  State state = Jobs();
  EXPECT_EQ(Type(state, "x").kind, Want::kNone);
  EXPECT_TRUE(state.asked.has_value());
  EXPECT_EQ(Type(state, "n").kind, Want::kNone);
  EXPECT_EQ(state.said, "not stopped");
  const Wish wish = Type(state, "xy");
  EXPECT_EQ(wish.kind, Want::kStop);
  EXPECT_EQ(wish.name, "long");
}

TEST(OnKey, StartsASuspendedJobAgain) {
  State state = Jobs();
  for (JobRow& row : state.jobs) row.status = kSuspended;
  Type(state, "xn");
  EXPECT_EQ(state.said, "not started");
  EXPECT_EQ(Type(state, "xy").kind, Want::kResume);
}

TEST(OnKey, DoesWhatWasAskedThoughTheRowsHaveChanged) {
  State state = Jobs();
  Type(state, "x");
  JobRow newest = state.jobs[0];
  newest.name = newest.uid = "newest";
  newest.status = kSuspended;
  newest.created = base::Time(std::chrono::seconds(100));
  state.jobs.push_back(newest);
  ASSERT_EQ(JobAtHand(state)->name, "newest");
  Wish wish = Type(state, "y");
  EXPECT_EQ(wish.kind, Want::kStop);
  EXPECT_EQ(wish.namespace_name, "default");
  EXPECT_EQ(wish.name, "long");
  // Or its status has.
  Type(state, "x");
  state.jobs.back().status = "RUNNING";
  EXPECT_EQ(Type(state, "y").kind, Want::kResume);
  Type(state, "x");
  state.jobs.back().status = kSuspended;
  Type(state, "n");
  EXPECT_EQ(state.said, "not stopped");
  // Or it is gone.
  Type(state, "x");
  state.jobs.clear();
  EXPECT_EQ(Type(state, "y").name, "newest");
}

TEST(ChangesWithoutNews, OfARowThatPodsReport) {
  JobRow row;
  for (const char* status : {"RUNNING", "SUCCEEDED", "FAILED", "SUSPENDED"}) {
    row.status = status;
    EXPECT_FALSE(ChangesWithoutNews(row)) << status;
  }
  row.status = "PENDING";
  EXPECT_TRUE(ChangesWithoutNews(row));
  row.reason = "first-master-0 exited with code 3, starts again (restart 1)";
  row.status = "RUNNING";
  EXPECT_TRUE(ChangesWithoutNews(row));
  row.status = "FAILED";
  EXPECT_FALSE(ChangesWithoutNews(row));
}

TEST(OnKey, FiltersAndScrollsTheLogOfTheJobThatIsShown) {
  State state = Jobs();
  state.view.emplace().name = "base";
  for (int i = 0; i < 100; ++i) AddToLog(state, i % 10 == 0 ? "Saved" : "step");
  Type(state, "/saved");
  EXPECT_TRUE(state.filter.empty());
  EXPECT_EQ(ShownLog(state).size(), 10u);
  OnKey(state, {Kind::kEnter}, 10);
  Type(state, "kk");
  EXPECT_EQ(state.log_back, 2u);
  // What does not match does not move a scrolled log.
  AddToLog(state, "step");
  EXPECT_EQ(state.log_back, 2u);
  AddToLog(state, "saved");
  EXPECT_EQ(state.log_back, 3u);
  Type(state, "g");
  EXPECT_EQ(state.log_back, 11u);
  EXPECT_EQ(OnKey(state, {Kind::kEscape}, 10).kind, Want::kNone);
  EXPECT_EQ(ShownLog(state).size(), 102u);
  EXPECT_EQ(OnKey(state, {Kind::kEscape}, 10).kind, Want::kClose);
}

TEST(AddToLog, KeepsTheLatestLines) {
  State state = Jobs();
  state.view.emplace().name = "base";
  for (size_t i = 0; i < 2 * kMostLogLines; ++i) AddToLog(state, "line");
  EXPECT_EQ(state.view->log.size(), kMostLogLines);
}

TEST(OnKey, OpensAJobAndGoesBack) {
  State state = Jobs();
  EXPECT_EQ(OnKey(state, {Kind::kEnter}, 10).kind, Want::kOpen);
  state.view.emplace().name = "base";
  EXPECT_EQ(Type(state, "e").name, "base");
  EXPECT_EQ(OnKey(state, {Kind::kEscape}, 10).kind, Want::kClose);
  state.is_alone = true;
  EXPECT_EQ(OnKey(state, {Kind::kEscape}, 10).kind, Want::kQuit);
  state.view->is_gone = true;
  EXPECT_EQ(Type(state, "s").kind, Want::kNone);
}

TEST(OnKey, OfNoJobThereIsNothingToDo) {
  State state;
  for (const char letter : {'j', 'k', 'l', 's', 't', 'e', 'r', 'g', 'G'}) {
    EXPECT_EQ(OnKey(state, {Kind::kChar, letter}, 10).kind, Want::kNone);
  }
  EXPECT_EQ(OnKey(state, {Kind::kEnter}, 10).kind, Want::kNone);
  Type(state, "x");
  EXPECT_FALSE(state.asked.has_value());
}

TEST(OnKey, AnyKeyClosesTheHelp) {
  State state = Jobs();
  Type(state, "?");
  EXPECT_TRUE(state.is_helping);
  EXPECT_EQ(Type(state, "q").kind, Want::kNone);
  EXPECT_FALSE(state.is_helping);
}

}  // namespace
}  // namespace watch
