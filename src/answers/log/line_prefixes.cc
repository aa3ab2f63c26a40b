#include "answers/log/line_prefixes.h"

#include <algorithm>
#include <string>

#include "answers/log/own_stamp.h"
#include "answers/log/pods/file_rank.h"
#include "answers/rank_number.h"
#include "base/strings.h"

namespace answers {
namespace {

constexpr std::string_view kCapitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

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

// Whether Kubeflow's trainers name pods like this: "job-worker-1", "job-node-0-1-x7f2k".
bool IsOfKubeflow(std::string_view name) {
  constexpr std::string_view kCharacters = "abcdefghijklmnopqrstuvwxyz0123456789.-";
  if (name.find_first_not_of(kCharacters) != std::string_view::npos) return false;
  if (RankOfNode(name) || IsLaunchersPod(name)) return true;
  const size_t dash = name.rfind('-');
  if (dash == std::string_view::npos || dash + 1 == name.size() ||
      name.find_first_not_of("0123456789", dash + 1) != std::string_view::npos) {
    return false;
  }
  return name.substr(0, dash).ends_with("-worker") || name.substr(0, dash).ends_with("-master");
}

// Where the next column begins behind one that ends at `end`: behind a tab, or at the tab stop that
// a terminal has filled up to with blanks. npos at another end.
size_t NextColumn(std::string_view line, size_t end) {
  constexpr size_t kTab = 8;
  if (end >= line.size()) return line.npos;
  if (line[end] == '\t') return end + 1;
  const size_t stop = (end / kTab + 1) * kTab;
  const size_t next = std::min(line.find_first_not_of(' ', end), line.size());
  return next >= stop ? stop : line.npos;
}

}  // namespace

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

// Takes "Mar 02 10:11:04 gpu-02 train[4201]: ".
bool TakeSyslog(LogLine& line) {
  constexpr size_t kStamp = 15;
  constexpr size_t kLongest = 120;
  const std::string_view text = line.text;
  if (text.size() <= kStamp || text[3] != ' ' || text[kStamp] != ' ' || text[12] != ':') {
    return false;
  }
  const auto stamp = ReadOwnStamp(text.substr(0, kStamp));
  const size_t host = text.find(' ', kStamp + 1);
  const size_t end = text.find(": ");
  if (!stamp || host > end || end > kLongest ||
      text.substr(host + 1, end - host - 1).find(' ') != std::string_view::npos) {
    return false;
  }
  line.own_time = stamp;
  line.text = text.substr(end + 2);
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

// Takes "[pod/NAME/CONTAINER] " or "[NAME-worker-0] ".
bool TakePod(LogLine& line) {
  std::string_view text = line.text;
  if (!Take(text, "[")) return false;
  const bool is_kubectls = Take(text, "pod/");
  const size_t end = text.find_first_of("]\t");
  if (end == std::string_view::npos || end == 0 || !text.substr(end).starts_with("] "))
    return false;
  std::string_view name = text.substr(0, end);
  const size_t container = name.find(' ');  // kubetail's "[NAME-worker-0 pytorch] "
  if (name.find(' ', container + 1) != name.npos && container != name.npos) return false;
  if (is_kubectls && container != name.npos) return false;
  name = name.substr(0, container);
  if (is_kubectls) {
    constexpr std::string_view kIndex = "/index=";
    const size_t index = name.rfind(kIndex);
    if (index != name.npos) line.pod_index = RankOfDigits(name.substr(index + kIndex.size()));
    name = name.substr(0, name.find('/'));
  } else if (name.find("-master-") == std::string_view::npos &&
             name.find("-worker-") == std::string_view::npos) {
    return false;
  }
  line.pod = name;
  line.text = text.substr(end + 2);
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

// Takes "worker-1  | ": the service of docker compose and the number of its container.
bool TakeService(LogLine& line) {
  const std::string_view text = line.text;
  const size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.-");
  const size_t bar = end == std::string_view::npos ? end : text.find_first_not_of(' ', end);
  if (bar == std::string_view::npos || end < 3 || bar == end) return false;
  if (!text.substr(bar).starts_with("| ") && text.substr(bar) != "|") return false;
  const size_t digit = text.substr(0, end).find_last_not_of("0123456789");
  if (digit == std::string_view::npos || digit + 1 == end) return false;
  if (text[digit] != '-' && text[digit] != '_') return false;
  line.pod = text.substr(0, end);
  line.text = text.substr(std::min(bar + 2, text.size()));
  return true;
}

// Takes "(RayTrainWorker pid=4201, ip=10.0.0.2) ".
bool TakeActor(LogLine& line) {
  const std::string_view text = line.text;
  if (!text.starts_with('(')) return false;
  const size_t end = text.find(") ");
  const size_t pid = text.find(" pid=");
  if (end == std::string_view::npos || pid == std::string_view::npos || pid > end || end > 120) {
    return false;
  }
  line.pod = text.substr(1, end - 1);
  line.text = text.substr(end + 2);
  return true;
}

// Takes stern's "job-worker-1 pytorch " and "job-node-0-1-x7f2k node ": the pod and its container.
bool TakeStern(LogLine& line) {
  const std::string_view text = line.text;
  const size_t end = text.find(' ');
  if (end == std::string_view::npos) return false;
  const std::string_view name = text.substr(0, end);
  if (!IsOfKubeflow(name)) return false;
  const size_t blank = text.find(' ', end + 1);
  if (blank == std::string_view::npos || blank == end + 1) return false;
  line.pod = name;
  line.text = text.substr(blank + 1);
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

// Takes Loki's labels, as logcli prints those in which lines differ: "{container="pytorch",
// pod="job-worker-1"} ".
bool TakeLabels(LogLine& line) {
  constexpr size_t kLongest = 1024;
  std::string_view text = line.text.substr(0, kLongest);
  std::string_view pod;
  if (!Take(text, "{")) return false;
  do {
    const size_t sign = text.find("=\"");
    const std::string_view name = base::Trim(text.substr(0, sign));
    if (sign == text.npos || name.empty() || name.find_first_of(" \"{}") != name.npos) return false;
    text.remove_prefix(sign + 2);
    const size_t end = text.find('"');
    if (end == text.npos) return false;
    if (name == "pod" || name == "pod_name" || name == "k8s_pod_name") pod = text.substr(0, end);
    text.remove_prefix(end + 1);
  } while (Take(text, ","));
  if (!Take(text, "} ") || pod.empty() || pod.find_first_of(" \t]/") != pod.npos) return false;
  line.text.remove_prefix(static_cast<size_t>(text.data() - line.text.data()));
  line.pod = pod;
  return true;
}

// Takes "ERROR\t2026-03-02 10:11:04 +0000\tworkerpool1-0\t", as `gcloud ai custom-jobs stream-logs`
// prints lines of Vertex AI.
bool TakeVertex(LogLine& line) {
  constexpr size_t kLongest = 160, kStamp = 25, kZone = 20;  // "2026-03-02 10:11:04 +0000"
  const std::string_view text = line.text;
  const size_t level = text.find_first_not_of(kCapitals);
  if (level == 0 || level > 10) return false;
  const size_t time = NextColumn(text, level);
  if (time == text.npos || text.size() < time + kStamp) return false;
  const std::string_view stamp = text.substr(time, kStamp);
  if (stamp[kZone] != '+' && stamp[kZone] != '-') return false;
  const size_t name = NextColumn(text, time + kStamp);
  if (name == text.npos) return false;
  const size_t end = text.find_first_of(" \t", name);
  const size_t begin = NextColumn(text, end);
  const auto own_time = ReadOwnStamp(stamp);
  if (!own_time || end == name || end > kLongest || begin == text.npos) return false;
  line.own_time = own_time;
  line.pod = text.substr(name, end - name);
  line.text = line.text.substr(begin);
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
