#include "answers/log/log_line.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "answers/log/actor_rank.h"
#include "answers/log/foreign_prefix.h"
#include "answers/log/line_hosts.h"
#include "answers/log/line_numbers.h"
#include "answers/log/line_prefixes.h"
#include "answers/log/pod_prefix.h"
#include "answers/log/pods/file_rank.h"
#include "base/strings.h"

namespace answers {
namespace {

// Removes a margin, blanks or "> ", that somebody put before all lines.
void TakeMargin(std::vector<std::string_view>& lines) {
  size_t marked = 0;
  size_t full = 0;
  for (const std::string_view line : lines) {
    const bool is_full = line.find_first_not_of(" \t\r") != std::string_view::npos;
    full += is_full;
    marked += is_full && line[0] == '>';
  }
  if (marked > 0 && marked * 10 >= full * 9) {
    for (std::string_view& line : lines) {
      if (Take(line, ">")) Take(line, " ");
    }
  }
  size_t margin = std::string_view::npos;
  for (const std::string_view line : lines) {
    const size_t begin = line.find_first_not_of(" \t");
    const bool is_empty = begin == std::string_view::npos || line.substr(begin) == "\r";
    if (!is_empty && !line.starts_with("```")) margin = std::min(margin, begin);
  }
  if (margin == std::string_view::npos) return;
  for (std::string_view& line : lines) {
    if (!line.starts_with("```")) line.remove_prefix(std::min(margin, line.size()));
  }
}

// Returns the parts found in `text`, and those of `outer` for parts that are missing in it.
LogLine Within(const LogLine& outer, std::string_view text) {
  LogLine line = ReadLogLine(text);
  if (outer.time) line.time = outer.time;
  if (outer.own_time) line.own_time = outer.own_time;
  if (!line.rank) {
    line.rank = outer.rank;
    line.is_rank_of_task = outer.is_rank_of_task;
  }
  if (!line.task) line.task = outer.task;
  if (!line.local_rank) line.local_rank = outer.local_rank;
  if (line.pod.empty()) line.pod = outer.pod;
  if (!line.pod_index) line.pod_index = outer.pod_index;
  return line;
}

// Where a second "[rank3]: " begins within a line that has one: two ranks wrote at the same time,
// and the end of the first one's line came late. npos without one.
size_t FindSecondRank(std::string_view line) {
  constexpr std::string_view kBegin = "[rank", kBar = "%|";
  const size_t bar = line.find(kBar);
  const size_t from = line.starts_with(kBegin) ? 1 : bar;
  if (from == line.npos) return line.npos;
  for (size_t at = line.find(kBegin, from); at != line.npos; at = line.find(kBegin, at + 1)) {
    std::string_view rest = line.substr(at + kBegin.size());
    // "[rank0]: [rank0]: Traceback" has its rank twice, and " [rank3]: " is what the line tells.
    const bool is_behind = line[at - 1] != ' ' || bar < at;
    if (is_behind && TakeNumber(rest) && rest.starts_with("]: ")) return at;
  }
  return line.npos;
}

std::vector<std::string_view> WithoutGluedRanks(std::vector<std::string_view> lines) {
  const bool has_any = std::any_of(lines.begin(), lines.end(), [](std::string_view line) {
    return FindSecondRank(line) != line.npos;
  });
  if (!has_any) return lines;
  constexpr int kMostRanks = 4;
  std::vector<std::string_view> parts;
  for (std::string_view line : lines) {
    for (int i = 1; i < kMostRanks; ++i) {
      const size_t at = FindSecondRank(line);
      if (at == line.npos) break;
      parts.push_back(line.substr(0, at));
      line.remove_prefix(at);
    }
    parts.push_back(line);
  }
  return parts;
}

// Whether these services are processes of a training, "trainer-0", and no folds, layers or hosts.
bool IsOfTraining(std::string_view service) {
  static constexpr auto kProcesses = std::to_array<std::string_view>(
      {"trainer", "train", "training", "worker", "rank", "process", "proc", "replica", "learner"});
  const std::string_view word = service.substr(0, service.find_last_not_of("-_.0123456789") + 1);
  return std::any_of(kProcesses.begin(), kProcesses.end(),
                     [word](std::string_view process) { return word.ends_with(process); });
}

// Services that count from 0, "trainer-0  | ", are numbered as files of these names; docker compose
// itself counts from 1.
void NumberServices(std::vector<LogLine>& lines, const std::vector<std::string_view>& whole,
                    const std::vector<Host>& hosts) {
  const auto is_of_service = [&](size_t i) {
    return hosts[i].name.empty() && !lines[i].pod.empty() && whole[i].starts_with(lines[i].pod);
  };
  std::map<std::string_view, std::optional<int>> pods;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (is_of_service(i)) pods[lines[i].pod];
  }
  constexpr size_t kMost = 1024;
  if (pods.size() < 2 || pods.size() > kMost) return;
  std::vector<std::string> files;
  for (const auto& [pod, rank] : pods) {
    if (!IsOfTraining(pod)) return;
    if (pod.find_first_of(" /") != pod.npos || RankOfPod(pod, false) || RankOfNode(pod)) return;
    files.push_back(std::string(pod) + ".log");
  }
  const auto ranks = RanksOfFiles({files.begin(), files.end()});
  const bool are_ranks = !ranks.empty() &&
                         std::find(ranks.begin(), ranks.end(), std::nullopt) == ranks.end() &&
                         std::find(ranks.begin(), ranks.end(), 0) != ranks.end();
  if (!are_ranks) return;
  for (auto [pod, i] = std::pair(pods.begin(), size_t{0}); pod != pods.end(); ++pod, ++i) {
    pod->second = ranks[i];
  }
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto known = is_of_service(i) ? pods.find(lines[i].pod) : pods.end();
    if (known != pods.end() && !lines[i].pod_index) lines[i].pod_index = known->second;
  }
}

void NameActors(std::vector<LogLine>& lines) {
  ActorRanks ranks;
  for (const LogLine& line : lines) {
    ranks.ReadName(line.pod);
    ranks.ReadRow(line.text);
  }
  for (LogLine& line : lines) {
    if (!line.rank && !line.pod.empty()) line.rank = ranks.RankOf(line.pod);
  }
}

}  // namespace

bool Take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::string WithoutEscapes(std::string_view text) {
  constexpr size_t kLongest = 24;
  const auto is_in_sequence = [](char c) { return base::IsDigit(c) || c == ';' || c == '?'; };
  std::string plain;
  plain.reserve(text.size());
  while (!text.empty()) {
    const bool is_whole = text.starts_with("\x1b[");
    if (!is_whole && text[0] != '[') {
      const size_t next = std::min(text.find_first_of("\x1b[", 1), text.size());
      plain.append(text.substr(0, next));
      text.remove_prefix(next);
      continue;
    }
    size_t end = is_whole ? 2 : 1;
    while (end < std::min(text.size(), kLongest) && is_in_sequence(text[end])) ++end;
    const char last = end < text.size() ? text[end] : ' ';
    const bool is_colour = last == 'm' && end > 1;  // the remains of a copied escape sequence
    const bool is_any = (last >= 'a' && last <= 'z') || (last >= 'A' && last <= 'Z');
    if (is_whole ? is_any : is_colour) {
      text.remove_prefix(end + 1);
    } else {
      plain.push_back(text[0]);
      text.remove_prefix(1);
    }
  }
  return plain;
}

LogLine ReadLogLine(std::string_view text) {
  LogLine line;
  if (text.ends_with('\r')) text.remove_suffix(1);
  text = text.substr(text.rfind('\r') + 1);  // only the last state of a progress bar is visible
  line.text = text.substr(std::min(text.find_first_not_of(' '), text.size()));  // of a prefix
  const std::string_view trimmed = line.text;
  bool has_task = false;
  for (;;) {
    if ((!line.time && TakeTime(line)) || TakeRank(line) || TakeMpi(line) || TakeMvapich(line)) {
      continue;
    }
    if (line.pod.empty() && TakePodPrefix(line)) continue;
    if (!line.own_time && (TakeOwnTime(line) || TakeSyslog(line))) continue;
    if ((line.time || line.own_time) && TakeProgram(line, line.text, true)) continue;
    if (has_task || line.rank || line.local_rank || !TakeTask(line)) break;
    has_task = true;
  }
  if (line.text.size() == trimmed.size()) line.text = text;  // there is no prefix
  if (!line.own_time) line.own_time = ReadOwnStamp(line.text);
  return line;
}

std::vector<LogLine> ReadLogLines(std::vector<std::string_view> lines) {
  lines = WithoutGluedRanks(std::move(lines));
  TakeMargin(lines);
  TakeLineNumbers(lines);
  TakeNamespaces(lines);
  const std::vector<Host> hosts = FindHosts(lines);
  std::vector<LogLine> read;
  for (size_t i = 0; i < lines.size(); ++i) {
    LogLine line;
    line.text = lines[i];
    if (!hosts[i].name.empty()) {
      line = ReadStamps(lines[i]);
      line.pod = hosts[i].name;
      line.rank = hosts[i].rank;
      line.text.remove_prefix(hosts[i].size);
    }
    read.push_back(Within(line, line.text));
  }
  NameActors(read);
  NumberServices(read, lines, hosts);
  return read;
}

void TakeForeignPrefixes(std::vector<LogLine>& lines) {
  std::vector<std::string_view> texts;
  for (const LogLine& line : lines) texts.push_back(line.text);
  const std::vector<ForeignPrefix> foreign = FindForeignPrefixes(texts);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (foreign[i].size == 0) continue;
    LogLine& line = lines[i];
    const std::string_view prefix = line.text.substr(0, foreign[i].size);
    if (!line.own_time) line.own_time = ReadOwnStamp(prefix);
    if (!line.rank) line.rank = foreign[i].rank;
    if (!line.local_rank) line.local_rank = foreign[i].local_rank;
    if (line.pod.empty()) line.pod = foreign[i].source;
    line = Within(line, line.text.substr(prefix.size()));
  }
}

}  // namespace answers
