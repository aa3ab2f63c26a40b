#include "answers/log/log_line.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "answers/log/actor_rank.h"
#include "answers/log/file_rank.h"
#include "answers/log/foreign_prefix.h"
#include "answers/log/pod_prefix.h"
#include "answers/rank_number.h"
#include "base/strings.h"

namespace answers {
namespace {

// Takes a number of at most four digits.
std::optional<int> TakeNumber(std::string_view& text) {
  size_t digits = 0;
  while (digits < text.size() && digits < 5 && base::IsDigit(text[digits])) ++digits;
  if (digits == 0 || digits > 4) return std::nullopt;
  const auto number = base::ParseInt(text.substr(0, digits));
  text.remove_prefix(digits);
  return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

bool TakeTime(LogLine& line) {
  constexpr size_t kLongest = 40;
  constexpr size_t kDate = 11;
  const std::string_view text = line.text;
  if (text.size() < kDate || !base::IsDigit(text[0]) || text[4] != '-' || text[10] != 'T') {
    return false;
  }
  const size_t blank = text.substr(0, kLongest).find(' ');
  std::string stamp(text.substr(0, blank));
  if (stamp.ends_with(':')) stamp.pop_back();
  const size_t sign = stamp.find_last_of("+-");
  const bool lacks_colon = sign > kDate && stamp.size() - sign == 5;  // "+0000"
  if (lacks_colon) stamp.insert(sign + 3, ":");
  const auto time = base::ParseRfc3339(stamp);
  if (!time || blank == std::string_view::npos) return false;
  line.time = *time;
  line.text.remove_prefix(blank + 1);
  for (const std::string_view tag : {"stdout F ", "stderr F ", "stdout P ", "stderr P "}) {
    if (Take(line.text, tag)) break;
  }
  return true;
}

// Takes "[2026-03-02 10:11:04,123] " or "2026-03-02 10:11:04 ".
bool TakeOwnTime(LogLine& line) {
  constexpr size_t kShortest = 19;
  std::string_view text = line.text;
  const bool has_bracket = Take(text, "[");
  if (text.size() < kShortest || (text[4] != '-' && text[4] != '/') || text[10] != ' ' ||
      text[13] != ':') {
    return false;
  }
  size_t end = kShortest;
  while (end < text.size() && end < 30 &&
         (base::IsDigit(text[end]) || text[end] == '.' || text[end] == ',')) {
    ++end;
  }
  const auto stamp = ReadOwnStamp(text);
  text.remove_prefix(end);
  if (!stamp || (has_bracket && !Take(text, "]")) || !Take(text, " ")) return false;
  if (!Take(text, "- ")) Take(text, "| ");
  line.own_time = stamp;
  line.text = text;
  return true;
}

// Takes "gpu-02 train[4201]: ", which newer rsyslogs and `journalctl -o short-iso` print behind
// another time than syslog's.
bool TakeProgram(LogLine& line, std::string_view text, bool needs_pid) {
  constexpr size_t kLongest = 104;
  const size_t host = text.find(' ');
  const size_t end = text.find(": ");
  if (host > end || end > kLongest) return false;
  const std::string_view program = text.substr(host + 1, end - host - 1);
  const size_t pid = program.find('[');
  const bool has_pid = pid != program.npos && program.ends_with(']') &&
                       RankOfDigits(program.substr(pid + 1, program.size() - pid - 2));
  if (program.find(' ') != program.npos || (needs_pid && !has_pid)) return false;
  if (!line.rank) line.rank = RankOfName(program.substr(0, pid));
  line.text = text.substr(end + 2);
  return true;
}

// Takes "Mar 02 10:11:04 gpu-02 train[4201]: ".
bool TakeSyslog(LogLine& line) {
  constexpr size_t kStamp = 15;
  const std::string_view text = line.text;
  if (text.size() <= kStamp || text[3] != ' ' || text[kStamp] != ' ' || text[12] != ':') {
    return false;
  }
  const auto stamp = ReadOwnStamp(text.substr(0, kStamp));
  if (!stamp || !TakeProgram(line, text.substr(kStamp + 1), false)) return false;
  line.own_time = stamp;
  return true;
}

// Takes "[rank3]:" or "[3]: ". "[default3]:", `muster run`'s "[local-rank3]:" and those of other
// roles contain the rank on one node.
bool TakeRank(LogLine& line) {
  std::string_view text = line.text;
  if (!Take(text, "[")) return false;
  const bool is_global = Take(text, "rank");
  const bool is_local =
      !is_global && (Take(text, "default") || Take(text, "trainer") || Take(text, "worker") ||
                     Take(text, "local_rank") || Take(text, "local-rank"));
  const auto rank = TakeNumber(text);
  if (!rank || !Take(text, "]:")) return false;
  if (!is_global && !is_local && text.empty()) return false;  // a row of torchrun's table
  Take(text, " ");
  (is_local ? line.local_rank : line.rank) = rank;
  if (!is_local) line.is_rank_of_task = false;
  line.text = text;
  return true;
}

// Takes "Tue Apr 21 18:22:53 2020" if a tag of mpirun or horovodrun follows.
std::string_view BehindTagsTime(std::string_view text) {
  constexpr size_t kCtime = 24;
  const bool is_time = text.size() > kCtime && text[kCtime] == '[' && text[3] == ' ' &&
                       text[13] == ':' && text[16] == ':';
  return is_time ? text.substr(kCtime) : text;
}

// Takes the name of a job and a comma: "1," or PRRTE's "prterun-HOST-81012@1,".
bool TakeJob(std::string_view& text) {
  const size_t comma = text.find(',');
  if (comma == 0 || comma > text.find_first_of("] ")) return false;
  const size_t at = text.substr(0, comma).rfind('@');
  std::string_view number = text.substr(at == std::string_view::npos ? 0 : at + 1);
  if (!TakeNumber(number) || !number.starts_with(',')) return false;
  text.remove_prefix(comma + 1);
  return true;
}

// Takes "[1,3]<stderr>:" (Open MPI), "[prterun-HOST-81012@1,3]<stderr>: " and
// "[1,3][HOST:4201]<stderr>: " (PRRTE), "[1,mpirank:3,algo-1]<stderr>:" (SageMaker), and
// "[3]<stderr>:" (horovodrun with gloo), all also behind a time.
bool TakeMpi(LogLine& line) {
  std::string_view text = BehindTagsTime(line.text);
  const std::string_view stamp = line.text.substr(0, line.text.size() - text.size());
  if (!Take(text, "[")) return false;
  if (TakeJob(text)) Take(text, "mpirank:");
  const auto rank = TakeNumber(text);
  const size_t tag = text.find("]<std");
  if (!rank || tag == std::string_view::npos) return false;
  const std::string_view between = text.substr(0, tag);
  const bool has_more = between.starts_with(',') || between.starts_with("][");
  if ((!between.empty() && !has_more) || between.find(' ') != std::string_view::npos) return false;
  text.remove_prefix(tag + 5);
  const size_t end = text.find(">:");
  if (end != 3 && end != 4) return false;  // "out", "err", "diag"
  text.remove_prefix(end + 2);
  // PRRTE adds a blank, and Python indents by an even number.
  const size_t blanks = std::min(text.find_first_not_of(' '), text.size());
  if (blanks % 2 == 1) text.remove_prefix(1);
  if (!line.own_time) line.own_time = ReadOwnStamp(stamp);
  line.rank = rank;
  line.task = rank;
  line.is_rank_of_task = true;
  line.text = text;
  return true;
}

// Takes "[HOST:mpi_rank_3]" of MVAPICH, which has the name of a function behind it.
bool TakeMvapich(LogLine& line) {
  constexpr std::string_view kName = ":mpi_rank_";
  const size_t name = line.text.find(kName);
  if (!line.text.starts_with('[') || name == std::string_view::npos || name > line.text.find(' ')) {
    return false;
  }
  std::string_view text = line.text.substr(name + kName.size());
  const auto rank = TakeNumber(text);
  if (!rank || !Take(text, "][")) return false;
  line.rank = rank;
  line.text = line.text.substr(line.text.size() - text.size() - 1);
  return true;
}

// `srun -l` pads with blanks to the width of the greatest rank.
bool TakeTask(LogLine& line) {
  std::string_view text = line.text;
  while (Take(text, " ")) {
  }
  const auto rank = TakeNumber(text);
  if (!rank || !Take(text, ": ")) return false;
  line.rank = rank;
  line.task = rank;
  line.is_rank_of_task = true;
  line.text = text;
  return true;
}

LogLine ReadStamps(std::string_view text) {
  LogLine line;
  line.text = text;
  while ((!line.time && TakeTime(line)) || (!line.own_time && TakeOwnTime(line))) {
  }
  return line;
}

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

// The number that `grep -n`, `cat -n` or `less -N` has put before a line.
struct LineNumber {
  int64_t number = 0;
  size_t size = 0;            // of the number and the sign behind it
  bool is_like_task = false;  // with ": " behind it, as `srun -l` prints a rank
};

std::optional<LineNumber> ReadLineNumber(std::string_view line) {
  constexpr size_t kMostDigits = 8;
  const size_t begin = std::min(line.find_first_not_of(' '), line.size());
  const size_t end = std::min(line.find_first_not_of("0123456789", begin), line.size());
  const auto number = base::ParseInt(line.substr(begin, end - begin));
  if (!number || end - begin > kMostDigits || end == line.size()) return std::nullopt;
  const std::string_view rest = line.substr(end);
  // "10:11:04" is a time.
  const bool is_clock = rest.size() > 3 && rest[0] == ':' && rest[3] == ':' &&
                        base::IsDigit(rest[1]) && base::IsDigit(rest[2]);
  if (is_clock || std::string_view(":-\t").find(rest[0]) == std::string_view::npos) {
    return std::nullopt;
  }
  return LineNumber{*number, end + 1, rest.starts_with(": ")};
}

// Whether srun says in this line how one of these tasks ended: "srun: error: n1: tasks 0-3,5:
// Exited with exit code 1".
bool NamesOneOf(const std::set<int64_t>& tasks, std::string_view line) {
  constexpr std::string_view kTask = ": task";
  const size_t at = line.find(kTask);
  if (at == line.npos) return false;
  line.remove_prefix(at + kTask.size());
  Take(line, "s");
  if (!Take(line, " ")) return false;
  for (const std::string& part : base::Split(line.substr(0, line.find(':')), ',')) {
    const size_t dash = part.find('-');
    const auto first = base::ParseInt(part.substr(0, dash));
    const auto last = dash == part.npos ? first : base::ParseInt(part.substr(dash + 1));
    if (!first || !last) continue;
    const auto named = tasks.lower_bound(*first);
    if (named != tasks.end() && *named <= *last) return true;
  }
  return false;
}

// Whether all lines but those of Slurm's own programs have a number, and srun names one of these as
// a task's: then `srun -l` has put them there.
bool AreOfTasks(const std::vector<std::string_view>& lines,
                const std::vector<std::optional<LineNumber>>& numbers) {
  std::set<int64_t> tasks;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = lines[i];
    const bool is_slurms = line.starts_with("srun: ") || line.starts_with("slurmstepd: ");
    const bool is_full = line.find_first_not_of(" \t\r") != line.npos;
    if (is_full && !is_slurms && (!numbers[i] || !numbers[i]->is_like_task)) return false;
    if (numbers[i]) tasks.insert(numbers[i]->number);
  }
  return std::any_of(lines.begin(), lines.end(), [&tasks](std::string_view line) {
    return line.starts_with("srun: error: ") && NamesOneOf(tasks, line);
  });
}

// Numbers of lines rise, and each is used once, while several lines of a rank have its number.
// Removes those numbers, and numbers of a program's list that only look like ranks.
void TakeLineNumbers(std::vector<std::string_view>& lines) {
  constexpr size_t kFewest = 3;
  std::vector<std::optional<LineNumber>> numbers;
  size_t full = 0;
  size_t numbered = 0;
  int64_t last = 0;
  bool are_like_tasks = true;
  for (const std::string_view line : lines) {
    const bool is_full = line.find_first_not_of(" \t\r") != std::string_view::npos;
    full += is_full && line != "--";  // which grep prints between parts of a file
    numbers.push_back(is_full ? ReadLineNumber(line) : std::nullopt);
    if (!numbers.back()) continue;
    if (numbers.back()->number <= last) return;
    last = numbers.back()->number;
    are_like_tasks = are_like_tasks && numbers.back()->is_like_task;
    ++numbered;
  }
  const bool is_whole_file = numbered * 10 >= full * 9;
  // These may be the ranks of a few tasks that each printed one line.
  const bool may_be_ranks =
      is_whole_file && are_like_tasks && last < 3 * static_cast<int64_t>(numbered);
  if (numbered < kFewest || may_be_ranks || AreOfTasks(lines, numbers)) return;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!numbers[i] || (!is_whole_file && !numbers[i]->is_like_task)) continue;
    const bool has_blank = numbers[i]->is_like_task && (are_like_tasks || !is_whole_file);
    lines[i].remove_prefix(numbers[i]->size + (has_blank ? 1 : 0));
  }
}

constexpr std::string_view kHostCharacters = "abcdefghijklmnopqrstuvwxyz0123456789.-";

bool IsHost(std::string_view name) {
  const bool has_digit = std::any_of(name.begin(), name.end(), base::IsDigit);
  const bool has_letter =
      name.find_first_not_of("0123456789") != std::string_view::npos;  // or a dot
  return name.size() >= 3 && ((has_digit && has_letter) || name == "localhost");
}

// The host before a line, and the rank if the launcher adds it.
struct Host {
  std::string_view name;  // "" if there is none
  std::optional<int> rank;
  size_t size = 0;  // of both, and of the signs behind them
};

// Reads "HOST: ", as pdsh and DeepSpeed's launcher print it, and "rank3: ".
Host HostOf(std::string_view text) {
  const std::string_view line = ReadStamps(text).text;
  const size_t end = line.find_first_not_of(kHostCharacters);
  if (end == std::string_view::npos || line.substr(end, 2) != ": ") return {};
  const std::string_view name = line.substr(0, end);
  if (!IsHost(name)) return {};
  constexpr std::string_view kRank = "rank";
  const auto rank =
      name.starts_with(kRank) ? RankOfDigits(name.substr(kRank.size())) : std::nullopt;
  return Host{name, rank, end + 2};
}

// Reads "HOST 3: ", as PALS, Cray's mpiexec, prints the host and the rank.
Host HostOfTask(std::string_view text) {
  const std::string_view line = ReadStamps(text).text;
  const size_t end = line.find_first_not_of(kHostCharacters);
  if (end == std::string_view::npos || line[end] != ' ' || !IsHost(line.substr(0, end))) return {};
  std::string_view rest = line.substr(end + 1);
  const auto rank = TakeNumber(rest);
  if (!rank || !Take(rest, ":")) return {};
  if (!rest.empty() && !Take(rest, " ")) return {};
  return {line.substr(0, end), rank, line.size() - rest.size()};
}

// Returns those of HostOfTask if most lines have one and each rank has one host: then the numbers
// are ranks.
std::vector<Host> FindTasks(const std::vector<std::string_view>& lines) {
  constexpr size_t kFewest = 3;
  std::vector<Host> hosts;
  std::map<int, std::string_view> hosts_of_ranks;
  size_t marked = 0;
  for (const std::string_view line : lines) {
    const Host& host = hosts.emplace_back(HostOfTask(line));
    if (!host.rank) continue;
    ++marked;
    if (hosts_of_ranks.try_emplace(*host.rank, host.name).first->second != host.name) return {};
  }
  if (marked < kFewest || marked * 2 <= lines.size()) return {};
  return hosts;
}

// Returns each line's host if most lines have one and the hosts repeat.
std::vector<Host> FindHosts(const std::vector<std::string_view>& lines) {
  constexpr size_t kFewest = 3;
  std::vector<Host> hosts = FindTasks(lines);
  if (!hosts.empty()) return hosts;
  hosts.reserve(lines.size());
  std::map<std::string_view, size_t> counts;
  for (const std::string_view line : lines) {
    hosts.push_back(HostOf(line));
    if (!hosts.back().name.empty()) ++counts[hosts.back().name];
  }
  size_t marked = 0;
  for (const auto& [host, count] : counts) marked += count >= kFewest ? count : 0;
  const bool are_marked = marked * 2 > lines.size();
  for (Host& host : hosts) {
    if (!host.name.empty() && (!are_marked || counts[host.name] < kFewest)) host = {};
  }
  return hosts;
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
// and the end of the first one's line came late; or one wrote where a bar stood. npos without one.
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
