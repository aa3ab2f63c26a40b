#include "watch/draw_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "watch/draw.h"

namespace watch {
namespace {

using cli::Screen;
using cli::Style;

constexpr size_t kCurveRows = 4;  // at least
constexpr size_t kWide = 100;     // columns from which the past of each rank is shown
constexpr size_t kLeastLog = 4;
constexpr base::Duration kQuiet = std::chrono::seconds(30);  // quiet times are shown from then on

std::string CpuText(const RankRow& rank) {
  return rank.cpu ? fmt::format("{:.0f}%", 100 * *rank.cpu) : "-";
}

std::string MemoryText(const RankRow& rank) {
  if (!rank.memory) return "-";
  const auto mebibytes = static_cast<double>(*rank.memory) / (1 << 20);
  return mebibytes < 10'000 ? fmt::format("{:.0f}M", mebibytes)
                            : fmt::format("{:.1f}G", mebibytes / 1024);
}

std::string LateText(const RankRow& rank) {
  if (!rank.late) return "-";
  const double ms = std::chrono::duration<double, std::milli>(*rank.late).count();
  return ms < 10'000 ? fmt::format("{:.{}f}ms", ms, ms < 10 ? 1 : 0)
                     : fmt::format("{:.0f}s", ms / 1000);
}

// The text after its instance: why it waits, or how often it was restarted. "" for neither.
std::string RemarkOn(const RankRow& rank) {
  if (!rank.waits.empty()) return "  " + rank.waits;
  if (rank.restarts == 0) return "";
  const std::string why = rank.last_end.empty() ? "" : fmt::format(" ({})", rank.last_end);
  return fmt::format("  restarted {}{}{}", rank.restarts, rank.restarts == 1 ? " time" : " times",
                     why);
}

// Returns the first row below them.
size_t DrawRanks(Screen& screen, State& state, size_t row, size_t rows) {
  const std::vector<RankRow>& ranks = state.view->ranks;
  struct RankColumn {
    std::string_view head;
    size_t at;
  };
  constexpr std::array<RankColumn, 9> kColumns = {{{"RANK", 0},
                                                   {"STATE", 6},
                                                   {"QUIET", 18},
                                                   {"CPU", 25},
                                                   {"MEMORY", 32},
                                                   {"GPU", 40},
                                                   {"LATE BY", 46},
                                                   {"STEP", 54},
                                                   {"CPU UNTIL NOW", 66}}};
  const bool has_past = screen.width() >= kWide &&
                        std::any_of(ranks.begin(), ranks.end(),
                                    [](const RankRow& rank) { return !rank.used.empty(); });
  const size_t instance_at = has_past ? 68 + kPastColumns : 66;
  for (const RankColumn& column : kColumns) {
    if (has_past || column.at < 66) screen.Put(column.at, row, column.head, Style::kDim);
  }
  screen.Put(instance_at, row, "INSTANCE", Style::kDim);
  const size_t shown = rows > 1 ? rows - 1 : 0;
  state.rank_top = std::min(state.rank_top, ranks.size() > shown ? ranks.size() - shown : 0);
  for (size_t i = 0; i < shown && state.rank_top + i < ranks.size(); ++i) {
    const RankRow& rank = ranks[state.rank_top + i];
    const size_t at = row + 1 + i;
    const bool is_quiet = rank.quiet && *rank.quiet >= kQuiet;
    screen.Put(0, at, fmt::to_string(rank.rank), Style::kPlain, 5);
    screen.Put(6, at, rank.state.empty() ? "-" : rank.state, StyleOfState(rank.state), 11);
    screen.Put(18, at, rank.quiet ? base::ShortDuration(*rank.quiet) : "-",
               is_quiet ? Style::kWaiting : Style::kPlain, 6);
    screen.Put(25, at, CpuText(rank), Style::kPlain, 6);
    screen.Put(32, at, MemoryText(rank), Style::kPlain, 7);
    screen.Put(40, at, rank.gpu.empty() ? "-" : rank.gpu, Style::kPlain, 5);
    screen.Put(46, at, LateText(rank), Style::kPlain, 7);
    screen.Put(54, at, rank.step.empty() ? "-" : rank.step, Style::kPlain, 11);
    if (has_past) screen.Put(66, at, Spark(rank.used), Style::kBusy, kPastColumns);
    const size_t end = screen.Put(instance_at, at, rank.instance);
    screen.Put(end, at, RemarkOn(rank), Style::kWaiting);
  }
  const size_t below = ranks.size() - std::min(ranks.size(), state.rank_top + shown);
  const size_t end = row + std::min(rows, ranks.size() + 1);
  if (below == 0 && state.rank_top == 0) return end;
  std::string more;
  if (below > 0) more = fmt::format("{} more rank{}: n", below, below == 1 ? "" : "s");
  if (state.rank_top > 0) {
    more += fmt::format("{}{} before: p", more.empty() ? "" : ", ", state.rank_top);
  }
  screen.Put(0, end, more, Style::kDim);
  return end + 1;
}

size_t CurveRows(const Screen& screen) {
  return std::clamp(screen.height() / 6, kCurveRows, 2 * kCurveRows);
}

size_t DrawCurve(Screen& screen, const JobView& view, size_t row) {
  double lowest = 0, highest = 0;
  bool is_first = true;
  for (const double value : view.curve) {
    if (!std::isfinite(value)) continue;
    lowest = is_first ? value : std::min(lowest, value);
    highest = is_first ? value : std::max(highest, value);
    is_first = false;
  }
  constexpr size_t kLabels = 10;
  const auto lines = Braille(view.curve, screen.width() - kLabels, CurveRows(screen));
  screen.Put(0, row, fmt::format("{} {:.4g}", view.curve_name, view.curve.back()), Style::kStrong);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i == 0) screen.Put(0, row + 1, fmt::format("{:.3g}", highest), Style::kDim, kLabels - 1);
    if (i + 1 == lines.size()) {
      screen.Put(0, row + 1 + i, fmt::format("{:.3g}", lowest), Style::kDim, kLabels - 1);
    }
    screen.Put(kLabels, row + 1 + i, lines[i], Style::kBusy);
  }
  return row + 1 + lines.size();
}

void DrawLog(Screen& screen, State& state, size_t row) {
  const std::vector<const std::string*> log = ShownLog(state);
  const size_t end = screen.height() - 1;
  if (row >= end) return;
  const size_t rows = end - row - 1;
  state.log_back = std::min(state.log_back, log.size() > rows ? log.size() - rows : 0);
  std::string title = "log";
  if (!state.log_filter.empty()) title += fmt::format(" with \"{}\"", state.log_filter);
  if (state.log_back > 0) title += fmt::format(", {} lines before its end", state.log_back);
  screen.Put(0, row, title, Style::kDim);
  const size_t last = log.size() - state.log_back;
  const size_t first = last > rows ? last - rows : 0;
  for (size_t i = first; i < last; ++i) screen.Put(0, row + 1 + i - first, *log[i]);
}

}  // namespace

Style StyleOfState(std::string_view state) {
  constexpr std::array<std::string_view, 3> kGood = {"SUCCEEDED", "Completed", "Succeeded"};
  constexpr std::array<std::string_view, 4> kBad = {"FAILED", "Error", "Failed", "OOMKilled"};
  const auto is_in = [state](const auto& list) {
    return std::find(list.begin(), list.end(), state) != list.end();
  };
  if (is_in(kGood)) return Style::kGood;
  if (is_in(kBad)) return Style::kBad;
  if (state == "RUNNING" || state == "Running") return Style::kBusy;
  return Style::kWaiting;
}

void DrawJob(Screen& screen, State& state, base::Time now) {
  const JobView& view = *state.view;
  size_t row = 0;
  size_t column = screen.Put(0, row, view.name + "  ", Style::kStrong);
  if (view.is_gone) {
    screen.Put(column, row, "no longer exists", Style::kWaiting);
  } else if (!view.row.status.empty()) {
    column = screen.Put(column, row, view.row.status, StyleOfState(view.row.status));
    const base::Duration age = std::max(now - view.row.created, base::Duration(0));
    column = screen.Put(column, row, fmt::format("  {}", base::ShortDuration(age)));
    if (!view.row.reason.empty()) {
      screen.Put(column, row, "  " + view.row.reason, Style::kWaiting);
    }
  }
  ++row;
  for (const std::string& line : view.progress) {
    if (row < 3) screen.Put(0, row++, line);
  }
  const bool has_curve = view.curve.size() > 1;
  const size_t of_curve = has_curve && screen.height() >= 18 ? CurveRows(screen) + 1 : 0;
  const size_t left = screen.height() - 1 - row;
  const size_t most = left > of_curve + kLeastLog + 1 ? left - of_curve - kLeastLog - 1 : 2;
  // Half of the rows, because most users look at the log below.
  if (!view.ranks.empty()) row = DrawRanks(screen, state, row, std::min(most, 1 + left / 3));
  if (of_curve > 0) row = DrawCurve(screen, view, row);
  DrawLog(screen, state, row);
}

}  // namespace watch
