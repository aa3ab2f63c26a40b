#include "answers/read_log.h"

#include <algorithm>
#include <map>
#include <optional>

#include "answers/log_line.h"
#include "answers/witness_line.h"
#include "base/strings.h"

namespace answers {
namespace {

constexpr size_t kLongestLine = 4096;
constexpr size_t kMostLines = 20'000;

struct Split {
  Line line;
  std::optional<int> rank;
  std::string_view pod;
};

// The last `limit` lines.
std::vector<Split> SplitLines(std::string_view text, size_t limit) {
  std::vector<std::string_view> lines;
  if (text.ends_with('\n')) text.remove_suffix(1);
  while (lines.size() < limit) {
    const size_t end = text.rfind('\n');
    lines.push_back(end == std::string_view::npos ? text : text.substr(end + 1));
    if (end == std::string_view::npos) break;
    text = text.substr(0, end);
  }
  std::vector<Split> split;
  split.reserve(lines.size());
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    const LogLine read = ReadLogLine(*line);
    split.push_back({{read.time, std::string(read.text.substr(0, kLongestLine)), split.size()},
                     read.rank,
                     read.pod});
  }
  return split;
}

// The number behind the last "rank" in a path, or torchrun's folder of a rank.
std::optional<int> RankOfFile(std::string_view name) {
  const std::vector<std::string> parts = base::Split(name, '/');
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    const std::string lower = base::ToLower(*part);
    size_t at = lower.rfind("rank");
    if (at != std::string::npos) {
      at = lower.find_first_of("0123456789", at);
      if (at != std::string::npos)
        return static_cast<int>(std::strtol(lower.c_str() + at, nullptr, 10));
    }
    const auto number = base::ParseInt(*part);
    if (number && *number >= 0 && *number < 100'000) return static_cast<int>(*number);
  }
  return std::nullopt;
}

// What torchrun's table says in "key : value" lines.
struct Table {
  std::optional<int> rank, exit_code;
  std::string host;
};

std::optional<std::string_view> ValueOf(std::string_view line, std::string_view key) {
  line = base::Trim(line);
  if (!line.starts_with(key)) return std::nullopt;
  line = base::Trim(line.substr(key.size()));
  if (!line.starts_with(':')) return std::nullopt;
  return base::Trim(line.substr(1));
}

std::optional<int> NumberOf(std::string_view value) {
  const auto number = base::ParseInt(value.substr(0, value.find(' ')));
  return number && *number > -1000 && *number < 1'000'000 ? std::optional(static_cast<int>(*number))
                                                          : std::nullopt;
}

// The table's rows, the root cause last, as it is printed; and whether it was there.
void ReadTable(const std::vector<Split>& lines, std::vector<Table>& rows, bool& has_root) {
  bool is_table = false;
  for (const Split& split : lines) {
    const std::string_view text = base::Trim(split.line.text);
    if (text == "Failures:" || text.starts_with("Root Cause (first observed failure)")) {
      is_table = true;
      has_root = has_root || text != "Failures:";
    }
    if (!is_table) continue;
    if (text.starts_with('[') && text.ends_with("]:")) rows.emplace_back();
    if (rows.empty()) continue;
    Table& row = rows.back();
    if (const auto rank = ValueOf(text, "rank")) row.rank = NumberOf(*rank);
    if (const auto host = ValueOf(text, "host")) row.host = *host;
    if (const auto code = ValueOf(text, "exitcode")) {
      row.exit_code = NumberOf(*code);
      if (row.exit_code && *row.exit_code < 0) row.exit_code = 128 - *row.exit_code;
    }
  }
}

class Sorter {
 public:
  void Add(const LogFile& file) {
    const std::vector<Split> lines = SplitLines(file.text, kMostLines);
    const std::optional<int> own = RankOfFile(file.name);
    for (const Split& split : lines) {
      Rank& rank = RankFor(file.name, split.rank ? split.rank : own, split.pod);
      if (auto witness = ReadWitness(split.line.text)) {
        rank.witnesses.push_back(std::move(*witness));
        continue;
      }
      rank.lines.push_back(split.line);
      rank.lines.back().order += before_;
    }
    before_ += lines.size();
    std::vector<Table> rows;
    bool has_root = false;
    ReadTable(lines, rows, has_root);
    for (const Table& row : rows) Note(row, file.name);
    if (has_root && !rows.empty()) evidence_.first_rank = rows.back().rank;
  }

  Evidence Take() { return std::move(evidence_); }

 private:
  Rank& RankFor(const std::string& file, std::optional<int> number, std::string_view pod) {
    const std::string name = pod.empty() ? file : std::string(pod);
    const auto [found, is_new] =
        places_.try_emplace({name, number.value_or(-1)}, evidence_.ranks.size());
    if (is_new) {
      Rank& rank = evidence_.ranks.emplace_back();
      rank.rank = number;
      rank.name = name;
    }
    return evidence_.ranks[found->second];
  }

  void Note(const Table& row, const std::string& file) {
    if (!row.rank) return;
    const auto known = std::find_if(evidence_.ranks.begin(), evidence_.ranks.end(),
                                    [&row](const Rank& rank) { return rank.rank == row.rank; });
    Rank& rank = known != evidence_.ranks.end() ? *known : RankFor(file, row.rank, "");
    rank.exit_code = row.exit_code;
    if (!row.host.empty()) rank.host = row.host;
  }

  Evidence evidence_;
  std::map<std::pair<std::string, int>, size_t> places_;
  size_t before_ = 0;
};

}  // namespace

std::vector<Line> ReadLines(std::string_view text, size_t limit) {
  std::vector<Line> lines;
  if (text.empty()) return lines;
  for (Split& split : SplitLines(text, limit)) lines.push_back(std::move(split.line));
  return lines;
}

Evidence ReadLogs(const std::vector<LogFile>& files) {
  Sorter sorter;
  for (const LogFile& file : files) sorter.Add(file);
  return sorter.Take();
}

}  // namespace answers
