#include "watch/draw.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

namespace watch {
namespace {

constexpr base::Time kNow{std::chrono::seconds(1'000'000)};

std::string TextOf(const cli::Screen& screen) {
  std::string text;
  for (size_t row = 0; row < screen.height(); ++row) {
    std::string line;
    for (size_t column = 0; column < screen.width(); ++column) {
      const char32_t glyph = screen.at(column, row).glyph;
      line += glyph < 0x80 ? static_cast<char>(glyph) : '*';
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

State Jobs(int count) {
  State state;
  state.has_listed = true;
  for (int i = 0; i < count; ++i) {
    JobRow row;
    row.name = row.uid = fmt::format("job-{:03}", i);
    row.status = "RUNNING";
    row.ranks = "2/2";
    row.progress = fmt::format("step {}/1000 ({}%), loss 0.51", 10 * i, i);
    row.created = kNow - std::chrono::seconds(60 + i);
    state.jobs.push_back(row);
  }
  return state;
}

TEST(Draw, ShowsTheJobs) {
  State state = Jobs(2);
  EXPECT_EQ(TextOf(Draw(state, 80, 8, kNow)),
            "muster watch   2 jobs: 2 running, 0 waiting, 0 failed\n"
            "NAME                STATUS     RANKS  AGE   PROGRESS\n"
            "job-000             RUNNING    2/2    1m    step 0/1000 (0%), loss 0.51\n"
            "job-001             RUNNING    2/2    1m    step 10/1000 (1%), loss 0.51\n"
            "\n"
            "\n"
            "\n"
            "enter look  l logs  s shell  e explain  x stop  / filter  o sort  ? help  q quit\n");
}

TEST(Draw, KeepsTheSelectedRowOnTheScreen) {
  State state = Jobs(200);
  state.selected = "job-150";
  const std::string text = TextOf(Draw(state, 80, 24, kNow));
  EXPECT_NE(text.find("job-150"), std::string::npos);
  EXPECT_EQ(text.find("job-000"), std::string::npos);
  state.selected = "job-000";
  EXPECT_NE(TextOf(Draw(state, 80, 24, kNow)).find("job-000"), std::string::npos);
}

TEST(Draw, ShowsAJobWithItsRanksItsCurveAndItsLog) {
  State state = Jobs(1);
  JobView& view = state.view.emplace();
  view.name = "base";
  view.row = state.jobs[0];
  view.progress = {"step 7/10 (log of base-master-0)"};
  for (int rank = 0; rank < 4; ++rank) {
    view.ranks.push_back(
        {rank, "base-master-0", "Running", "step 7", std::chrono::seconds(45), 0.5,
         int64_t{812} << 20, "35%",
         rank == 0 ? std::optional<base::Duration>(std::chrono::milliseconds(12)) : std::nullopt});
  }
  view.curve_name = "loss";
  for (int i = 0; i < 100; ++i) view.curve.push_back(1.0 / (i + 1));
  for (int i = 0; i < 50; ++i) view.log.push_back(fmt::format("line {}", i));
  const std::string text = TextOf(Draw(state, 80, 24, kNow));
  EXPECT_NE(text.find("base  RUNNING"), std::string::npos) << text;
  EXPECT_NE(
      text.find("0     Running     45s    50%    812M    35%   12ms    step 7      base-master-0"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("loss 0.01"), std::string::npos) << text;
  EXPECT_EQ(text.find("CPU UNTIL NOW"), std::string::npos) << text;
  view.ranks[0].used = {std::nullopt, 0.1, 1.0};
  const std::string wide = TextOf(Draw(state, 120, 24, kNow));
  EXPECT_NE(wide.find("CPU UNTIL NOW"), std::string::npos) << wide;
  EXPECT_NE(wide.find("step 7       **                   base-master-0"), std::string::npos)
      << wide;
  view.ranks[1].restarts = 2;
  view.ranks[1].last_end = "OOMKilled";
  view.ranks[2].restarts = 1;
  view.ranks[2].waits = "FailedMount: no such disk";
  const std::string remarks = TextOf(Draw(state, 160, 24, kNow));
  EXPECT_NE(remarks.find("base-master-0  restarted 2 times (OOMKilled)\n"), std::string::npos)
      << remarks;
  EXPECT_NE(remarks.find("base-master-0  FailedMount: no such disk\n"), std::string::npos)
      << remarks;
  EXPECT_NE(text.find("line 49"), std::string::npos) << text;
  EXPECT_EQ(text.find("line 10\n"), std::string::npos) << text;
  state.log_back = 1000;
  EXPECT_NE(TextOf(Draw(state, 80, 24, kNow)).find("line 0\n"), std::string::npos);
}

TEST(Draw, ShowsTheWholeWordsOfTheSelectedRow) {
  State state = Jobs(2);
  const std::string words =
      "rank 0 (base-master-0) exited with code 1: ZeroDivisionError: division by zero in the "
      "middle of it";
  state.jobs[1].reason = words;
  state.jobs[1].progress = "";
  EXPECT_EQ(TextOf(Draw(state, 80, 24, kNow)).find("division"), std::string::npos);
  state.selected = "job-001";
  const std::string text = TextOf(Draw(state, 80, 24, kNow));
  EXPECT_NE(text.find("\nrank 0 (base-master-0) exited with code 1: ZeroDivisionError: division "
                      "by zero\nin the middle of it\nenter look"),
            std::string::npos)
      << text;
  state.jobs[1].reason = std::string(300, 'x');
  EXPECT_NE(TextOf(Draw(state, 80, 24, kNow)).find(std::string(80, 'x')), std::string::npos);
  EXPECT_EQ(PageOf(24), 19u);
  EXPECT_EQ(PageOf(12), 9u);
}

TEST(Draw, BreaksALongWordBetweenCharacters) {
  State state = Jobs(2);
  JobRow& row = state.jobs[1];
  row.progress = "";
  state.selected = row.uid;
  const auto shows = [&](const std::string& first, const std::string& second) {
    const std::string text = TextOf(Draw(state, 80, 24, kNow));
    EXPECT_NE(text.find("\n" + first + "\n" + second + "\nenter look"), std::string::npos) << text;
  };
  for (int i = 0; i < 150; ++i) row.reason += static_cast<char>('!' + i % 90);
  shows(row.reason.substr(0, 80), row.reason.substr(80));
  row.reason.insert(80, " ");
  shows(row.reason.substr(0, 80), row.reason.substr(81));
  row.reason = "a";
  for (int i = 0; i < 100; ++i) row.reason += "\xc3\xa9";
  shows("a" + std::string(79, '*'), std::string(21, '*'));
}

TEST(Draw, AsksAboutTheJobThatWasSelectedThen) {
  State state = Jobs(1);
  OnKey(state, {Key::Kind::kChar, 'x'}, 10);
  state.jobs[0].status = kSuspended;
  state.jobs[0].name = "another";
  EXPECT_NE(TextOf(Draw(state, 80, 24, kNow)).find("\nstop job-000? y"), std::string::npos);
}

TEST(Draw, FitsAnyScreen) {
  for (const size_t width : {1, 39, 40, 80, 300}) {
    for (const size_t height : {1, 7, 8, 12, 24, 100}) {
      for (const bool has_view : {false, true}) {
        State state = Jobs(30);
        if (has_view) {
          JobView& view = state.view.emplace();
          view.ranks.resize(100);
          view.curve = {1, NAN, 2};
          view.log.resize(5);
        }
        const cli::Screen screen = Draw(state, width, height, kNow);
        EXPECT_EQ(screen.width(), width);
        EXPECT_EQ(screen.height(), height);
        state.is_helping = true;
        Draw(state, width, height, kNow);
      }
    }
  }
}

TEST(Draw, SaysWhyThereIsNothing) {
  State state;
  EXPECT_NE(TextOf(Draw(state, 80, 24, kNow)).find("asking the cluster"), std::string::npos);
  state.has_listed = true;
  EXPECT_NE(TextOf(Draw(state, 80, 24, kNow)).find("no jobs"), std::string::npos);
  state.problem = "the server is away";
  EXPECT_NE(TextOf(Draw(state, 80, 24, kNow)).find("the server is away"), std::string::npos);
}

TEST(Spark, IsABlockForEachValueAndABlankWhereThereIsNone) {
  EXPECT_EQ(Spark({0.0, 0.5, 1.0, std::nullopt, 7.5}), "▁▄█ █");
  EXPECT_EQ(Spark({NAN, 2.0}, 4), " ▄");
  EXPECT_EQ(Spark({}), "");
}

TEST(Braille, DrawsTwoValuesAColumnAndFourDotsARow) {
  EXPECT_EQ(Braille({0, 1, 2, 3}, 2, 1), std::vector<std::string>{"⡠⠊"});
  EXPECT_EQ(Braille({0, 7}, 1, 2), (std::vector<std::string>{"⠈", "⡀"}));
  EXPECT_EQ(Braille({NAN, HUGE_VAL}, 1, 1), std::vector<std::string>{"⠀"});
  EXPECT_TRUE(Braille({}, 10, 1).at(0).empty());
  EXPECT_EQ(Braille(std::vector<double>(1000, 1.0), 10, 1).at(0).size(), 30u);
  // Few values take the whole width too.
  EXPECT_EQ(Braille({0, 3}, 2, 1), std::vector<std::string>{"⡠⠊"});
  EXPECT_EQ(Braille({0, NAN, 3}, 10, 1).at(0).size(), 30u);
}

}  // namespace
}  // namespace watch
