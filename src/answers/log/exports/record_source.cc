#include "answers/log/exports/record_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "answers/rank_number.h"
#include "base/strings.h"

namespace answers {
namespace {

using text::Json;

constexpr size_t kLongestPodName = 253;  // of Kubernetes' objects

// The number of a pod in its Job, by the label of Kubernetes as collectors write it:
// "k8s-pod/batch_kubernetes_io/job-completion-index". "" if it may not be the only Job.
std::string IndexIn(const Json* labels) {
  static constexpr auto kOfJobSets = std::to_array<std::string_view>(
      {"jobset_sigs_k8s_io/job-index", "jobset.sigs.k8s.io/job-index",
       "jobset_sigs_k8s_io/job-global-index", "jobset.sigs.k8s.io/job-global-index"});
  if (labels == nullptr || !labels->is_object()) return "";
  std::string index;
  for (const auto& member : labels->get_object()) {
    const std::string_view name = member.key();
    const auto* const words = member.value().if_string();
    const auto number = words == nullptr ? std::nullopt : RankOfDigits(*words);
    if (!number) continue;
    const bool is_of_jobset =
        std::any_of(kOfJobSets.begin(), kOfJobSets.end(),
                    [name](std::string_view end) { return name.ends_with(end); });
    if (is_of_jobset && *number != 0) return "";
    if (name.ends_with("/job-completion-index")) index = fmt::format("/index={}", *number);
  }
  return index;
}

std::string IndexOfPod(const Json& record) {
  std::string index = IndexIn(text::Find(record, {"labels"}));
  if (index.empty()) index = IndexIn(text::Find(record, {"kubernetes", "labels"}));
  return index;
}

// The value of "pod_name:gpt-worker-3" in Datadog's tags, a list or a text with commas.
std::string TagIn(const Json& record, std::string_view key) {
  const auto value_of = [key](std::string_view tag) {
    tag = base::Trim(tag);
    const bool is_key = tag.starts_with(key) && tag.substr(key.size()).starts_with(':');
    return is_key ? std::string(tag.substr(key.size() + 1)) : "";
  };
  for (const Json& tag : text::Items(record, {"tags"})) {
    const auto* const words = tag.if_string();
    if (words == nullptr) continue;
    if (std::string value = value_of(*words); !value.empty()) return value;
  }
  for (const std::string& tag : base::Split(text::GetString(record, {"ddtags"}), ',')) {
    if (std::string value = value_of(tag); !value.empty()) return value;
  }
  return "";
}

std::string PodOf(const Json& record) {
  const std::string_view pod = FirstString(record, {{"kubernetes", "pod_name"},
                                                    {"kubernetes", "pod", "name"},
                                                    {"resource", "labels", "pod_name"},
                                                    {"resource", "k8s.pod.name"},
                                                    {"ResourceAttributes", "k8s.pod.name"},
                                                    {"pod_name"},
                                                    {"k8s.pod.name"},
                                                    {"kubernetes.pod_name"},
                                                    {"labels", "pod"},
                                                    {"labels", "pod_name"},
                                                    {"labels", "k8s_pod_name"},
                                                    {"fields", "pod"},
                                                    {"podName"},
                                                    {"PodName"}});
  if (!pod.empty()) return std::string(pod);
  if (std::string tagged = TagIn(record, "pod_name"); !tagged.empty()) return tagged;
  const std::string_view path = PodOfPath(FirstString(record, {{"labels", "filename"},
                                                               {"tag"},
                                                               {"logStreamName"},
                                                               {"@logStream"},
                                                               {"log", "file", "path"}}));
  if (!path.empty()) return std::string(path);
  const std::string_view replica = text::GetString(record, {"resource", "labels", "task_name"});
  if (!replica.empty()) return std::string(replica);
  std::string stream(FirstString(record, {{"logStreamName"}, {"@logStream"}}));
  std::replace(stream.begin(), stream.end(), '/', '.');
  return stream;
}

}  // namespace

std::string_view PodOfPath(std::string_view path) {
  for (const std::string_view folder : {"var.log.containers.", "var/log/containers/"}) {
    const size_t at = path.find(folder);
    if (at == path.npos) continue;
    const std::string_view name = path.substr(at + folder.size());
    const size_t end = name.find('_');
    return end == name.npos ? "" : name.substr(0, end);
  }
  constexpr std::string_view kPods = "var/log/pods/";
  const size_t pods = path.find(kPods);
  if (pods == path.npos) return "";
  const std::string_view name = path.substr(pods + kPods.size());
  const size_t begin = name.find('_');
  const size_t end = begin == name.npos ? begin : name.find('_', begin + 1);
  return end == name.npos ? "" : name.substr(begin + 1, end - begin - 1);
}

std::string_view FirstString(const Json& record, std::initializer_list<text::Path> keys) {
  for (const text::Path key : keys) {
    if (const std::string_view found = text::GetString(record, key); !found.empty()) return found;
  }
  return "";
}

std::string PodPrefixOf(const Json& record, std::string_view tag) {
  std::string pod = PodOf(record);
  if (pod.empty()) pod = PodOfPath(tag);
  const std::string_view container = FirstString(record, {{"kubernetes", "container_name"},
                                                          {"kubernetes", "container", "name"},
                                                          {"resource", "labels", "container_name"},
                                                          {"labels", "container"},
                                                          {"containerName"}});
  if (pod.empty() || pod.find_first_of("] \t/\r\n") != pod.npos) return "";
  const bool has_container =
      !container.empty() && container.find_first_of("] \t/\r\n") == container.npos;
  if (pod.size() > kLongestPodName || container.size() > kLongestPodName) return "";
  return fmt::format("[pod/{}/{}{}] ", pod, has_container ? container : "pytorch",
                     IndexOfPod(record));
}

}  // namespace answers
