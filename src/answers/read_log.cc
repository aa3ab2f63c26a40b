#include "answers/read_log.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "answers/cluster_words.h"
#include "answers/launcher_words.h"
#include "answers/log_line.h"
#include "answers/watchdog.h"
#include "answers/witness_line.h"
#include "base/strings.h"

namespace answers {
namespace {

constexpr size_t kLongestLine = 4096;
constexpr size_t kMostLines = 20'000;

struct Split {
  Line line;
  std::optional<base::Time> own_time;
  std::optional<int> rank;
  std::string_view pod;
};

// The last `limit` lines, the oldest first.
std::vector<std::string_view> LastLines(std::string_view text, size_t limit) {
  std::vector<std::string_view> lines;
  if (text.ends_with('\n')) text.remove_suffix(1);
  while (lines.size() < limit) {
    const size_t end = text.rfind('\n');
    lines.push_back(end == std::string_view::npos ? text : text.substr(end + 1));
    if (end == std::string_view::npos) break;
    text = text.substr(0, end);
  }
  std::reverse(lines.begin(), lines.end());
  return lines;
}

std::vector<Split> SplitLines(std::string_view text, size_t limit) {
  std::vector<std::string_view> lines = LastLines(text, limit);
  const std::vector<std::string_view> hosts = TakeHosts(lines);
  std::vector<Split> split;
  split.reserve(lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    const LogLine read = ReadLogLine(lines[i]);
    split.push_back({{read.time, std::string(read.text.substr(0, kLongestLine)), i},
                     read.own_time,
                     read.rank,
                     read.pod.empty() ? hosts[i] : read.pod});
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

// torchrun's "attempt_1/" in a path, and the path without it.
int TakeAttempt(std::string& name) {
  constexpr std::string_view kFolder = "attempt_";
  const size_t at = name.find(kFolder);
  if (at == std::string::npos || (at > 0 && name[at - 1] != '/')) return 0;
  const size_t end = name.find('/', at);
  if (end == std::string::npos) return 0;
  const auto number =
      base::ParseInt(std::string_view(name).substr(at + kFolder.size(), end - at - kFolder.size()));
  if (!number || *number < 0 || *number > 10'000) return 0;
  name.erase(at, end + 1 - at);
  return static_cast<int>(*number);
}

// Of the operator's pods the master is rank 0, and worker 0 is rank 1.
std::optional<int> RankOfPod(std::string_view pod, bool has_master) {
  if (pod.ends_with("-master-0")) return 0;
  constexpr std::string_view kWorker = "-worker-";
  const size_t at = pod.rfind(kWorker);
  if (at == std::string_view::npos) return std::nullopt;
  const auto number = base::ParseInt(pod.substr(at + kWorker.size()));
  if (!number || *number < 0 || *number > 100'000) return std::nullopt;
  return static_cast<int>(*number) + (has_master ? 1 : 0);
}

// PyTorch's agent begins again with all ranks.
bool IsRestart(std::string_view line) {
  return line.find("; will restart worker group") != std::string_view::npos ||
         line.find("] Restarting worker group") != std::string_view::npos;
}

// Whether the watchdogs of several ranks speak in lines that have no prefix.
bool HasSeveralWatchdogs(const std::vector<Split>& lines) {
  std::set<int> ranks;
  for (const Split& split : lines) {
    const auto rank = split.rank ? std::nullopt : RankOfWatchdog(split.line.text);
    if (rank) ranks.insert(*rank);
  }
  return ranks.size() > 1;
}

// The program's own stamps, where the carriers of its lines add none: a line without is of the
// time of the one before.
void TakeOwnTimes(std::vector<Split>& lines) {
  std::optional<base::Time> last;
  for (const Split& split : lines) {
    if (split.line.time) return;
    if (!last) last = split.own_time;
  }
  for (Split& split : lines) {
    if (split.own_time) last = split.own_time;
    split.line.time = last;
  }
}

bool HasTimes(std::string_view text) {
  const std::vector<std::string_view> lines = LastLines(text, kMostLines);
  return std::any_of(lines.begin(), lines.end(), [](std::string_view line) {
    const LogLine read = ReadLogLine(line);
    return read.time || read.own_time;
  });
}

class Sorter {
 public:
  Sorter(bool has_master, bool has_own_times)
      : has_master_(has_master), has_own_times_(has_own_times) {}

  void Add(const LogFile& file) {
    std::vector<Split> lines = SplitLines(file.text, kMostLines);
    std::string name = file.name;
    const int first_attempt = TakeAttempt(name);
    const std::optional<int> own = RankOfFile(file.name);
    const bool by_watchdog = !own && HasSeveralWatchdogs(lines);
    const bool has_prefixes = std::any_of(
        lines.begin(), lines.end(), [](const Split& split) { return split.rank.has_value(); });
    if (has_own_times_) TakeOwnTimes(lines);
    std::optional<int> section;
    int attempt = first_attempt;
    for (Split& split : lines) {
      if (const auto begins = ReadSection(split.line.text)) section = *begins;
      if (IsRestart(split.line.text)) ++attempt;
      std::optional<int> number = split.rank;
      if (!number && section && *section >= 0) number = section;
      if (!number) number = own;
      if (!number && !has_prefixes) number = RankOfPod(split.pod, has_master_);
      if (!number && by_watchdog) number = RankOfWatchdog(split.line.text);
      Rank& rank = RankFor(name, number, split.pod, attempt);
      if (auto witness = ReadWitness(split.line.text)) {
        rank.witnesses.push_back(std::move(*witness));
        continue;
      }
      split.line.order += before_;
      rank.lines.push_back(split.line);
    }
    before_ += lines.size();
    AddWords(lines, name, attempt);
  }

  Evidence Take() { return std::move(evidence_); }

 private:
  Rank& RankFor(const std::string& file, std::optional<int> number, std::string_view pod,
                int attempt) {
    const std::string name = pod.empty() ? file : std::string(pod);
    const auto [found, is_new] =
        places_.try_emplace({name, number.value_or(-1), attempt}, evidence_.ranks.size());
    if (is_new) {
      Rank& rank = evidence_.ranks.emplace_back();
      rank.rank = number;
      rank.name = name;
      rank.attempt = attempt;
    }
    return evidence_.ranks[found->second];
  }

  // What launchers and kubectl say in these lines.
  void AddWords(const std::vector<Split>& lines, const std::string& name, int attempt) {
    std::vector<std::string_view> texts;
    texts.reserve(lines.size());
    for (const Split& split : lines) texts.push_back(split.line.text);
    const LauncherWords words = ReadLauncherWords(texts);
    for (const LauncherRow& row : words.rows) Note(row, name, attempt);
    if (words.first_rank) evidence_.first_rank = words.first_rank;
    for (Event& event : ReadClusterWords(texts)) evidence_.events.push_back(std::move(event));
  }

  void Note(const LauncherRow& row, const std::string& file, int attempt) {
    if (!row.rank) return;
    const auto known = std::find_if(evidence_.ranks.rbegin(), evidence_.ranks.rend(),
                                    [&row](const Rank& rank) { return rank.rank == row.rank; });
    Rank& rank = known != evidence_.ranks.rend() ? *known : RankFor(file, row.rank, "", attempt);
    if (row.exit_code) rank.exit_code = row.exit_code;
    if (!row.host.empty()) rank.host = row.host;
  }

  const bool has_master_, has_own_times_;
  Evidence evidence_;
  std::map<std::tuple<std::string, int, int>, size_t> places_;
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
  const bool has_master = std::any_of(files.begin(), files.end(), [](const LogFile& file) {
    return file.text.find("-master-0") != std::string_view::npos;
  });
  // Programs' stamps compare where all files have some; in one file the order of lines is better.
  const bool has_own_times =
      files.size() > 1 && std::all_of(files.begin(), files.end(), [](const LogFile& file) {
        return file.text.empty() || HasTimes(file.text);
      });
  Sorter sorter(has_master, has_own_times);
  for (const LogFile& file : files) sorter.Add(file);
  return sorter.Take();
}

}  // namespace answers
