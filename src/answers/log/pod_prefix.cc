#include "answers/log/pod_prefix.h"

#include <algorithm>

#include "answers/log/exports/record_source.h"
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

// "train.3" of "train.3.k3j2h1g0x9w8@host-b", a task of Docker Swarm; "" of another name.
std::string_view TaskOfSwarm(std::string_view name) {
  const std::string_view task = name.substr(0, name.find('@'));
  const size_t id = task.rfind('.');
  if (task.size() == name.size() || id == task.npos) return "";
  const size_t slot = task.rfind('.', id - 1);
  const bool has_slot = slot != task.npos && RankOfDigits(task.substr(slot + 1, id - slot - 1));
  return has_slot ? task.substr(0, id) : "";
}

// Takes "worker-1  | ", the service of docker compose and the number of its container, "rank1  | ",
// and the task before lines of `docker service logs`.
bool TakeService(LogLine& line) {
  const std::string_view text = line.text;
  const size_t end = text.find(' ');
  const size_t bar = text.find_first_not_of(' ', end);
  if (end == text.npos || bar == text.npos || end < 3) return false;
  if (!text.substr(bar).starts_with("| ") && text.substr(bar) != "|") return false;
  std::string_view name = text.substr(0, end);
  const std::string_view task = TaskOfSwarm(name);
  if (!task.empty()) name = task;
  if (name[0] < 'a' || name[0] > 'z') return false;
  if (name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.-") != name.npos) return false;
  const size_t number = name.find_last_not_of(kDigits) + 1;  // 0 without another sign
  const bool has_number =
      number > 0 && number < name.size() &&
      std::string_view(task.empty() ? "-_" : ".").find(name[number - 1]) != name.npos;
  const auto rank = RankOfName(has_number ? name.substr(0, number - 1) : name);
  if (!has_number && !rank) return false;
  if (rank) line.rank = rank;
  line.pod = name;
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

// Takes stern's "job-worker-1 pytorch " and "job-node-0-1-x7f2k node ", the pod and its container.
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

// Takes the stream of CloudWatch that collectors name after a container's log, behind the time that
// `aws logs tail` prints.
bool TakeStream(LogLine& line) {
  const size_t end = line.text.find(' ');
  if (!line.time || end == line.text.npos) return false;
  const std::string_view pod = PodOfPath(line.text.substr(0, end));
  if (pod.empty()) return false;
  line.pod = pod;
  line.text.remove_prefix(end + 1);
  return true;
}

// The size of the namespace that stern prints before "job-worker-1 pytorch "; 0 without one.
size_t SizeOfNamespace(std::string_view text) {
  const size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-");
  if (end == 0 || end == text.npos || text[end] != ' ') return 0;
  LogLine behind;
  behind.text = text.substr(end + 1);
  return TakeStern(behind) ? end + 1 : 0;
}

}  // namespace

bool TakePodPrefix(LogLine& line) {
  return TakePod(line) || TakeService(line) || TakeActor(line) || TakeStern(line) ||
         TakeVertex(line) || TakeLabels(line) || TakeStream(line);
}

void TakeNamespaces(std::vector<std::string_view>& lines) {
  size_t full = 0, marked = 0;
  for (const std::string_view line : lines) {
    full += !base::Trim(line).empty() && !line.starts_with("+ ") && !line.starts_with("- ");
    marked += SizeOfNamespace(line) > 0;
  }
  if (marked == 0 || marked * 10 < full * 9) return;
  for (std::string_view& line : lines) line.remove_prefix(SizeOfNamespace(line));
}

}  // namespace answers
