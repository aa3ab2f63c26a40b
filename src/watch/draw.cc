#include "watch/draw.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/utf8.h"
#include "cli/table.h"
#include "watch/draw_job.h"

namespace watch {
namespace {

using cli::Screen;
using cli::Style;

constexpr size_t kHead = 2;  // title and heads of columns
constexpr size_t kFoot = 1;
constexpr size_t kWordsRows = 2;   // above the foot: what the selected row has no room for
constexpr size_t kWithWords = 16;  // the least height with them

constexpr std::array<std::string_view, 16> kHelp = {
    "j k, arrows     move; in a job: scroll its log",
    "PgUp PgDn g G   a page, to the first, to the last",
    "enter           look at the job; esc goes back",
    "/               show only jobs, or lines, with these words; esc shows all",
    "o               sort by: newest, name, status, progress",
    "n p             in a job: further ranks, earlier ranks",
    "",
    "l               its logs, as they come",
    "s               a shell in it",
    "t               the Python stacks of its ranks",
    "e               why it failed",
    "r               how it spent its time",
    "x               stop it, or start it again",
    "",
    "q, ^C           quit",
    "any key         closes this page",
};

void DrawHelp(Screen& screen) {
  screen.Put(0, 0, "muster watch: keys", Style::kStrong);
  for (size_t i = 0; i < kHelp.size() && i + 2 < screen.height(); ++i) {
    screen.Put(2, i + 2, kHelp[i]);
  }
}

std::string Counts(const State& state) {
  size_t running = 0, waiting = 0, failed = 0;
  for (const JobRow& row : state.jobs) {
    running += row.status == "RUNNING" ? 1 : 0;
    waiting += row.status == "PENDING" || row.status == "QUEUING" ? 1 : 0;
    failed += row.status == "FAILED" ? 1 : 0;
  }
  return fmt::format("{} job{}: {} running, {} waiting, {} failed", state.jobs.size(),
                     state.jobs.size() == 1 ? "" : "s", running, waiting, failed);
}

struct Column {
  std::string_view head;
  size_t width;
};

// The remaining width shows why a job waits, and its progress.
std::array<Column, 5> ColumnsFor(size_t width) {
  constexpr size_t kFixed = 11 + 7 + 6;
  const size_t name = std::clamp<size_t>(width / 4, 12, 40);
  return {{{"NAME", name},
           {"STATUS", 11},
           {"RANKS", 7},
           {"AGE", 6},
           {"PROGRESS", width > kFixed + name ? width - kFixed - name : 0}}};
}

std::string WordsOf(const JobRow& row) {
  if (row.reason.empty() || row.progress.empty()) return row.reason + row.progress;
  return fmt::format("{}; {}", row.reason, row.progress);
}

// The number of bytes of the first `count` characters.
size_t EndOf(std::string_view text, size_t count) {
  size_t end = 0;
  for (; count > 0 && end < text.size(); --count) {
    end += std::max<size_t>(base::Utf8Length(text.substr(end)), 1);
  }
  return end;
}

// In two rows, broken between words.
void DrawWords(Screen& screen, size_t row, std::string_view words) {
  size_t end = EndOf(words, screen.width());
  if (end < words.size()) {
    const size_t blank = words.rfind(' ', end);
    if (blank != std::string_view::npos && blank > 0) end = blank;
  }
  screen.Put(0, row, words.substr(0, end));
  words.remove_prefix(end);
  if (words.starts_with(' ')) words.remove_prefix(1);
  screen.Put(0, row + 1, words);
}

void DrawRow(Screen& screen, size_t at, const std::array<Column, 5>& columns,
             const std::array<std::string, 5>& cells, Style style, Style of_status) {
  size_t column = 0;
  for (size_t i = 0; i < columns.size(); ++i) {
    const size_t room = columns[i].width > 1 ? columns[i].width - 1 : columns[i].width;
    screen.Put(column, at, cells[i], i == 1 ? of_status : style, room);
    column += columns[i].width;
  }
}

void DrawList(Screen& screen, State& state, base::Time now) {
  const auto rows = ShownRows(state);
  const auto columns = ColumnsFor(screen.width());
  std::array<std::string, 5> heads;
  for (size_t i = 0; i < heads.size(); ++i) heads[i] = columns[i].head;
  DrawRow(screen, 1, columns, heads, Style::kDim, Style::kDim);
  const size_t page = PageOf(screen.height());
  size_t selected = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i]->uid == state.selected) selected = i;
  }
  if (selected < state.top) state.top = selected;
  if (selected >= state.top + page) state.top = selected - page + 1;
  state.top = std::min(state.top, rows.size() > page ? rows.size() - page : 0);
  for (size_t i = state.top; i < rows.size() && i < state.top + page; ++i) {
    const JobRow& row = *rows[i];
    const bool is_selected = i == selected;
    const size_t at = kHead + i - state.top;
    if (is_selected) screen.Fill(at, Style::kSelected);
    DrawRow(screen, at, columns,
            {row.name, row.status, row.ranks,
             base::ShortDuration(std::max(now - row.created, base::Duration(0))), WordsOf(row)},
            is_selected ? Style::kSelected : Style::kPlain,
            is_selected ? Style::kSelected : StyleOfState(row.status));
    const std::string words = WordsOf(row);
    if (is_selected && screen.height() >= kWithWords &&
        cli::TextWidth(words) >= columns.back().width) {
      DrawWords(screen, screen.height() - kFoot - kWordsRows, words);
    }
  }
  if (!rows.empty() || screen.height() <= kHead + kFoot) return;
  screen.Put(2, kHead + 1,
             !state.has_listed      ? "asking the cluster ..."
             : state.filter.empty() ? "no jobs: `muster run train.py` starts one"
                                    : "no job has these words",
             Style::kDim);
}

void DrawFoot(Screen& screen, const State& state) {
  const size_t at = screen.height() - 1;
  if (state.is_filtering) {
    const std::string& filter = state.view ? state.log_filter : state.filter;
    screen.Put(screen.Put(0, at, "/" + filter, Style::kStrong), at, " ", Style::kSelected);
  } else if (state.asked) {
    screen.Put(0, at,
               fmt::format("{} {}? y, or any other key",
                           state.asked->kind == Wish::Kind::kResume ? "start again" : "stop",
                           state.asked->name),
               Style::kWaiting);
  } else if (!state.said.empty()) {
    screen.Put(0, at, state.said, Style::kStrong);
  } else if (!state.problem.empty()) {
    screen.Put(0, at, state.problem, Style::kBad);
  } else {
    screen.Put(
        0, at,
        state.view
            ? "l logs  s shell  t stacks  e explain  r report  x stop  / filter  ? help  q quit"
            : "enter look  l logs  s shell  e explain  x stop  / filter  o sort  "
              "? help  q quit",
        Style::kDim);
  }
}

}  // namespace

size_t PageOf(size_t height) {
  const size_t other = kHead + kFoot + (height >= kWithWords ? kWordsRows : 0);
  return height > other ? height - other : 1;
}

Screen Draw(State& state, size_t width, size_t height, base::Time now) {
  Screen screen(width, height);
  if (width < kLeastWidth || height < kLeastHeight) {
    screen.Put(0, 0, fmt::format("{}x{} at least", kLeastWidth, kLeastHeight));
    return screen;
  }
  if (state.is_helping) {
    DrawHelp(screen);
    return screen;
  }
  if (state.view) {
    DrawJob(screen, state, now);
  } else {
    std::string title = "muster watch   " + Counts(state);
    if (!state.filter.empty()) title += fmt::format("   with \"{}\"", state.filter);
    if (state.sort != Sort::kNewest) title += fmt::format("   by {}", NameOf(state.sort));
    screen.Put(0, 0, title, Style::kStrong);
    DrawList(screen, state, now);
  }
  DrawFoot(screen, state);
  return screen;
}

}  // namespace watch
