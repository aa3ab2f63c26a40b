#include "watch/state.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/strings.h"

namespace watch {
namespace {

using Kind = Key::Kind;
using Want = Wish::Kind;

constexpr char kControlC = 3;
constexpr size_t kLongestFilter = 64;

bool HasWords(const std::string& text, const std::string& filter) {
  return filter.empty() || base::ToLower(text).find(base::ToLower(filter)) != std::string::npos;
}

bool Matches(const JobRow& row, const std::string& filter) {
  return HasWords(fmt::format("{} {} {} {}", row.namespace_name, row.name, row.status, row.reason),
                  filter);
}

size_t PositionOf(const std::vector<const JobRow*>& rows, const std::string& uid) {
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i]->uid == uid) return i;
  }
  return 0;
}

// Moves the selection by `by` rows within the list.
void Move(State& state, int64_t by) {
  const auto rows = ShownRows(state);
  if (rows.empty()) return;
  const auto at = static_cast<int64_t>(PositionOf(rows, state.selected)) + by;
  const auto last = static_cast<int64_t>(rows.size()) - 1;
  state.selected = rows[static_cast<size_t>(std::clamp<int64_t>(at, 0, last))]->uid;
}

void Scroll(State& state, int64_t by) {
  const auto most = static_cast<int64_t>(ShownLog(state).size());
  const int64_t back = static_cast<int64_t>(state.log_back) - by;
  state.log_back = static_cast<size_t>(std::clamp<int64_t>(back, 0, most));
}

void MoveOrScroll(State& state, int64_t by) {
  if (state.view) {
    Scroll(state, by);
  } else {
    Move(state, by);
  }
}

std::string& FilterOf(State& state) { return state.view ? state.log_filter : state.filter; }

Wish Filter(State& state, const Key& key) {
  std::string& filter = FilterOf(state);
  if (key.kind == Kind::kEnter) {
    state.is_filtering = false;
  } else if (key.kind == Kind::kEscape || (key.kind == Kind::kChar && key.letter == kControlC)) {
    state.is_filtering = false;
    filter.clear();
  } else if (key.kind == Kind::kBackspace) {
    if (!filter.empty()) filter.pop_back();
  } else if (key.kind == Kind::kChar && key.letter >= ' ' && filter.size() < kLongestFilter) {
    filter += key.letter;
  }
  return {};
}

Wish About(const State& state, Want want) {
  const auto job = JobAtHand(state);
  if (!job) return {};
  return {want, job->namespace_name, job->name};
}

// What it is about is decided now: rows may change until the answer.
void Ask(State& state) {
  const auto job = JobAtHand(state);
  if (job) state.asked = About(state, job->status == kSuspended ? Want::kResume : Want::kStop);
}

Wish Back(State& state) {
  if (std::string& filter = FilterOf(state); !state.view || !filter.empty()) {
    filter.clear();
    return {};
  }
  return state.is_alone ? Wish{Want::kQuit, "", ""} : Wish{Want::kClose, "", ""};
}

Wish OnLetter(State& state, char letter) {
  switch (letter) {
    case kControlC:
    case 'q':
      return {Want::kQuit, "", ""};
    case 'j':
      MoveOrScroll(state, 1);
      return {};
    case 'k':
      MoveOrScroll(state, -1);
      return {};
    case 'g':
      MoveOrScroll(state, INT32_MIN);
      return {};
    case 'G':
      MoveOrScroll(state, INT32_MAX);
      return {};
    case '/':
      state.is_filtering = true;
      return {};
    case 'o':
      if (state.view) return {};
      state.sort = state.sort == Sort::kProgress
                       ? Sort::kNewest
                       : static_cast<Sort>(static_cast<int>(state.sort) + 1);
      return {};
    case '?':
    case 'h':
      state.is_helping = true;
      return {};
    case 'n':
      ++state.rank_top;
      return {};
    case 'p':
      state.rank_top -= state.rank_top > 0 ? 1 : 0;
      return {};
    case 'l':
      return About(state, Want::kLogs);
    case 's':
      return About(state, Want::kShell);
    case 't':
      return About(state, Want::kStacks);
    case 'e':
      return About(state, Want::kExplain);
    case 'r':
      return About(state, Want::kReport);
    case 'x':
      Ask(state);
      return {};
    default:
      return {};
  }
}

}  // namespace

bool ChangesWithoutNews(const JobRow& row) {
  return row.status == "PENDING" || (row.status == "RUNNING" && !row.reason.empty());
}

std::string_view NameOf(Sort sort) {
  switch (sort) {
    case Sort::kNewest:
      return "newest";
    case Sort::kName:
      return "name";
    case Sort::kStatus:
      return "status";
    case Sort::kProgress:
      return "progress";
  }
  return "";
}

std::vector<const JobRow*> ShownRows(const State& state) {
  std::vector<const JobRow*> rows;
  for (const JobRow& row : state.jobs) {
    if (Matches(row, state.filter)) rows.push_back(&row);
  }
  std::stable_sort(rows.begin(), rows.end(), [&state](const JobRow* a, const JobRow* b) {
    switch (state.sort) {
      case Sort::kNewest:
        return a->created > b->created;
      case Sort::kName:
        return a->name < b->name;
      case Sort::kStatus:
        return a->status < b->status;
      case Sort::kProgress:
        return a->percent.value_or(-1) > b->percent.value_or(-1);
    }
    return false;
  });
  return rows;
}

std::optional<JobRow> JobAtHand(const State& state) {
  if (state.view) {
    if (state.view->is_gone) return std::nullopt;
    JobRow row = state.view->row;
    row.namespace_name = state.view->namespace_name;
    row.name = state.view->name;
    return row;
  }
  const auto rows = ShownRows(state);
  if (rows.empty()) return std::nullopt;
  return *rows[PositionOf(rows, state.selected)];
}

std::vector<const std::string*> ShownLog(const State& state) {
  std::vector<const std::string*> lines;
  for (const std::string& line : state.view->log) {
    if (HasWords(line, state.log_filter)) lines.push_back(&line);
  }
  return lines;
}

void AddToLog(State& state, std::string line) {
  std::deque<std::string>& log = state.view->log;
  if (state.log_back > 0 && HasWords(line, state.log_filter)) ++state.log_back;
  log.push_back(std::move(line));
  if (log.size() > kMostLogLines) log.pop_front();
}

Wish OnKey(State& state, const Key& key, size_t page) {
  state.said.clear();
  if (state.is_helping) {
    state.is_helping = false;
    return key.kind == Kind::kChar && key.letter == kControlC ? Wish{Want::kQuit, "", ""} : Wish{};
  }
  if (state.is_filtering) return Filter(state, key);
  if (state.asked) {
    const Wish asked = *std::exchange(state.asked, std::nullopt);
    if (key.kind == Kind::kChar && key.letter == 'y') return asked;
    state.said = asked.kind == Want::kResume ? "not started" : "not stopped";
    return {};
  }
  const auto rows = static_cast<int64_t>(std::max<size_t>(1, page));
  switch (key.kind) {
    case Kind::kUp:
      MoveOrScroll(state, -1);
      return {};
    case Kind::kDown:
      MoveOrScroll(state, 1);
      return {};
    case Kind::kPageUp:
      MoveOrScroll(state, -rows);
      return {};
    case Kind::kPageDown:
      MoveOrScroll(state, rows);
      return {};
    case Kind::kHome:
      MoveOrScroll(state, INT32_MIN);
      return {};
    case Kind::kEnd:
      MoveOrScroll(state, INT32_MAX);
      return {};
    case Kind::kEnter:
      return state.view ? Wish{} : About(state, Want::kOpen);
    case Kind::kEscape:
    case Kind::kBackspace:
      return Back(state);
    case Kind::kChar:
      return OnLetter(state, key.letter);
  }
  return {};
}

}  // namespace watch
