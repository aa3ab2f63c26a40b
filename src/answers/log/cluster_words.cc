#include "answers/log/cluster_words.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "answers/finding.h"
#include "answers/rank_number.h"
#include "base/strings.h"

namespace answers {
namespace {

// Removes the next word from the text and returns it.
std::string_view TakeWord(std::string_view& text) {
  text = base::Trim(text);
  const size_t end = std::min(text.find_first_of(" \t"), text.size());
  const std::string_view word = text.substr(0, end);
  text = base::Trim(text.substr(end));
  return word;
}

bool IsName(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
}

// Reads "2m  Warning  FailedScheduling  pod/x  0/8 nodes are available"; `kubectl describe` prints
// it without the object. Events of type Normal report a scheduler's own decisions.
std::optional<Event> ReadEventRow(std::string_view line) {
  std::string_view rest = line;
  for (int column = 0; column < 3; ++column) {
    const std::string_view type = TakeWord(rest);
    if (type != "Warning" && type != "Normal") continue;
    Event event;
    event.reason = TakeWord(rest);
    if (!IsName(event.reason)) return std::nullopt;
    event.message = rest;
    std::string_view object = rest;
    object = TakeWord(object);
    if (object.find('/') != std::string_view::npos) event.object = object;
    return event;
  }
  return std::nullopt;
}

// Reads "job-worker-1   0/1   OOMKilled   0   5m"; the namespace may stand before it, and the
// reason may be in a later column.
std::optional<Event> ReadPodRow(std::string_view line) {
  const auto is_ready = [](std::string_view word) {
    const size_t slash = word.find('/');
    return slash != std::string_view::npos && base::ParseInt(word.substr(0, slash)) &&
           base::ParseInt(word.substr(slash + 1));
  };
  std::string_view rest = line;
  std::string_view name = TakeWord(rest);
  std::string_view ready = TakeWord(rest);
  if (!is_ready(ready)) {
    name = ready;
    ready = TakeWord(rest);
  }
  if (!is_ready(ready)) return std::nullopt;
  Event event;
  event.object = "pod " + std::string(name);
  while (!rest.empty()) {
    std::string_view word = TakeWord(rest);
    constexpr std::string_view kInit = "Init:";
    if (word.starts_with(kInit)) word.remove_prefix(kInit.size());
    if (!IsName(word) || !FindInStatus(word, "")) continue;
    event.reason = word;
    return event;
  }
  return std::nullopt;
}

// Reads refusals such as `container "c" in pod "p" is waiting to start: trying and failing to pull
// image`.
std::optional<Event> ReadRefusal(std::string_view line) {
  if (!line.starts_with("Error from server")) return std::nullopt;
  Event event;
  event.object = "the API server";
  event.message = line;
  constexpr std::string_view kWaiting = " is waiting to start: ";
  const size_t at = line.find(kWaiting);
  if (at == std::string_view::npos) return event;
  const std::string_view why = base::Trim(line.substr(at + kWaiting.size()));
  const bool is_image = why == "trying and failing to pull image" || why == "image can't be pulled";
  event.reason = is_image ? "ImagePullBackOff" : std::string(why);
  return event;
}

// Reads "      Reason:       OOMKilled", "reason: OOMKilled" and "\"reason\": \"OOMKilled\",".
std::optional<std::string_view> FieldValue(std::string_view line, std::string_view key) {
  line = base::Trim(line);
  if (line.starts_with('"')) line.remove_prefix(1);
  if (!base::EqualsIgnoreCase(line.substr(0, key.size()), key)) return std::nullopt;
  line.remove_prefix(key.size());
  if (line.starts_with('"')) line.remove_prefix(1);
  if (!line.starts_with(':')) return std::nullopt;
  line = base::Trim(line.substr(1));
  if (line.ends_with(',')) line.remove_suffix(1);
  if (line.size() > 1 && line.starts_with('"') && line.ends_with('"')) {
    line = line.substr(1, line.size() - 2);
  }
  return line;
}

// The value of a label, also with quotes: "training.kubeflow.org/replica-index=2".
std::optional<std::string_view> LabelValue(std::string_view line, std::string_view key) {
  const size_t at = line.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = line.substr(at + key.size());
  if (!rest.starts_with('=') && !rest.starts_with(": ")) return std::nullopt;
  rest = rest.substr(rest.starts_with('=') ? 1 : 2);
  return base::Trim(rest.substr(0, rest.find_first_of(" ,\t")));
}

// Whether the line gives a pod several GPUs, or says that it starts several processes.
bool HasSeveralProcesses(std::string_view line) {
  for (const std::string_view variable : {"PET_NPROC_PER_NODE", "NPROC_PER_NODE"}) {
    const auto count = FieldValue(line, variable);
    if (count && !count->empty() && *count != "1") return true;  // or "auto"
  }
  std::string_view resource = base::Trim(line);
  if (resource.starts_with('"')) resource.remove_prefix(1);
  for (const std::string_view begin : {"nvidia.com/", "amd.com/gpu", "gpu.intel.com/", "habana.ai/",
                                       "aws.amazon.com/neuron", "huawei.com/Ascend"}) {
    if (!resource.starts_with(begin)) continue;
    const auto count = FieldValue(line, resource.substr(0, resource.find_first_of(":\"")));
    if (count && base::ParseInt(*count).value_or(0) > 1) return true;
  }
  return false;
}

// The number of the pod that `kubectl describe` describes below lines[name], counted as ranks are,
// by the labels of Kubernetes' Job, of a JobSet's first job, and of Kubeflow's trainers, or by the
// variable RANK. Nullopt for a pod of several GPUs: it may have several ranks.
std::optional<int> IndexOfDescribed(const std::vector<std::string_view>& lines, size_t name,
                                    bool has_master) {
  std::optional<int> index, variable;
  bool is_worker = false;
  for (size_t i = name + 1; i < lines.size() && !lines[i].starts_with("Name:"); ++i) {
    const std::string_view line = lines[i];
    for (const std::string_view key :
         {"batch.kubernetes.io/job-completion-index", "training.kubeflow.org/replica-index"}) {
      if (const auto value = LabelValue(line, key)) index = RankNumber(*value);
    }
    // Kubeflow's PyTorchJob sets it (pkg/controller.v1/pytorch/envvar.go).
    if (const auto rank = FieldValue(line, "RANK"); rank && !rank->empty()) {
      variable = RankNumber(*rank);
    }
    for (const std::string_view key :
         {"jobset.sigs.k8s.io/job-index", "jobset.sigs.k8s.io/job-global-index"}) {
      const auto value = LabelValue(line, key);
      if (value && *value != "0") return std::nullopt;
    }
    if (const auto type = LabelValue(line, "training.kubeflow.org/replica-type")) {
      is_worker = base::EqualsIgnoreCase(*type, "worker");
      if (!is_worker && !base::EqualsIgnoreCase(*type, "master")) return std::nullopt;
    }
    if (HasSeveralProcesses(line)) return std::nullopt;
  }
  if (variable || !index || !is_worker) return variable ? variable : index;
  // Without a master worker 0 is rank 0; whether there is one, other pods' descriptions say.
  return has_master ? std::optional(*index + 1) : std::nullopt;
}

// Returns the message that belongs to the reason in lines[at]. A description has it below the
// reason, and YAML above, because its keys are sorted; it may span several lines.
std::optional<std::string> MessageNear(const std::vector<std::string_view>& lines, size_t at) {
  constexpr size_t kFarthest = 8;
  const auto indent_of = [](std::string_view line) { return line.find_first_not_of(" \t-"); };
  if (at + 1 < lines.size()) {
    if (const auto below = FieldValue(lines[at + 1], "message")) return std::string(*below);
  }
  for (size_t above = at; above-- > 0 && at - above <= kFarthest;) {
    const auto value = FieldValue(lines[above], "message");
    if (!value || indent_of(lines[above]) != indent_of(lines[at])) continue;
    std::string message(*value);
    for (size_t more = above + 1; more < at && indent_of(lines[more]) > indent_of(lines[at]);
         ++more) {
      message.append(" ").append(base::Trim(lines[more]));
    }
    return message;
  }
  return std::nullopt;
}

}  // namespace

std::vector<Event> ReadClusterWords(const std::vector<std::string_view>& lines) {
  std::vector<Event> events;
  std::string described = "a pod";
  const std::vector<bool> ended = FindOvertaken(lines);
  std::optional<int> index;
  const bool has_master = std::any_of(lines.begin(), lines.end(), [](std::string_view line) {
    const auto type = LabelValue(line, "training.kubeflow.org/replica-type");
    return type && base::EqualsIgnoreCase(*type, "master");
  });
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = lines[i];
    if (line.starts_with("Name:")) {
      described = "pod " + std::string(*FieldValue(line, "Name"));
      index = IndexOfDescribed(lines, i, has_master);
    }
    if (!ended.empty() && ended[i]) continue;
    auto event = ReadEventRow(line);
    if (!event) event = ReadPodRow(line);
    if (!event) event = ReadRefusal(line);
    if (const auto reason = FieldValue(line, "reason"); !event && reason && IsName(*reason)) {
      event = Event{{}, described, std::string(*reason), {}, index};
      if (const auto message = MessageNear(lines, i)) event->message = *message;
    }
    if (event && FindInStatus(event->reason, event->message)) events.push_back(std::move(*event));
  }
  return events;
}

}  // namespace answers
