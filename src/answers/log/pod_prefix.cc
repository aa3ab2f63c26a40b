#include "answers/log/pod_prefix.h"

#include <algorithm>
#include <string_view>

#include "answers/log/own_stamp.h"
#include "answers/log/pods/file_rank.h"
#include "answers/rank_number.h"
#include "base/strings.h"

namespace answers {
namespace {

constexpr std::string_view kCapitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

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

}  // namespace

bool TakePodPrefix(LogLine& line) {
  return TakePod(line) || TakeService(line) || TakeActor(line) || TakeStern(line) ||
         TakeVertex(line) || TakeLabels(line);
}

}  // namespace answers
