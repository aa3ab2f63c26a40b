#include "answers/log/line_prefixes.h"

#include <algorithm>
#include <string>

#include "answers/log/own_stamp.h"
#include "answers/log/pods/file_rank.h"
#include "answers/rank_number.h"
#include "base/strings.h"

namespace answers {
namespace {

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

}  // namespace

bool IsHost(std::string_view name) {
  const bool has_digit = std::any_of(name.begin(), name.end(), base::IsDigit);
  const bool has_letter = name.find_first_not_of(kDigits) != name.npos;  // or a dot
  return name.find_first_not_of(kHostCharacters) == name.npos && name.size() >= 3 &&
         ((has_digit && has_letter) || name == "localhost");
}

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
  const bool has_pid = pid != program.npos && program.ends_with(']') && pid + 2 < program.size() &&
                       program.find_first_not_of(kDigits, pid + 1) == program.size() - 1;
  if (program.find(' ') != program.npos) return false;
  if (needs_pid && (!has_pid || !IsHost(text.substr(0, host)))) return false;
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

}  // namespace answers
