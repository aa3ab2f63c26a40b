#include "answers/log/pods/cluster_words.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "answers/finding.h"
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

std::vector<Event> ReadClusterWords(const std::vector<std::string_view>& lines,
                                    const std::vector<DescribedPod>& pods) {
  std::vector<Event> events;
  const std::vector<bool> ended = FindOvertaken(lines);
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = lines[i];
    if (!ended.empty() && ended[i]) continue;
    auto event = ReadEventRow(line);
    if (!event) event = ReadPodRow(line);
    if (!event) event = ReadRefusal(line);
    if (const auto reason = FieldValue(line, "reason"); !event && reason && IsName(*reason)) {
      event = Event{{}, "", std::string(*reason), {}};
      if (const auto message = MessageNear(lines, i)) event->message = *message;
    }
    if (event && event->object.empty()) {
      const DescribedPod* const pod = DescribedAt(pods, i);
      const bool is_named = pod != nullptr && !pod->name.empty();
      event->object = is_named ? "pod " + pod->name : "a pod";
      if (pod != nullptr) event->index = pod->rank;
    }
    if (event && FindInStatus(event->reason, event->message)) events.push_back(std::move(*event));
  }
  return events;
}

std::vector<std::pair<std::string, std::string>> ReadPlaces(
    const std::vector<std::string_view>& lines) {
  constexpr std::string_view kAssigned = "Successfully assigned ", kTo = " to ";
  std::vector<std::pair<std::string, std::string>> places;
  size_t column = std::string_view::npos;  // of `get pods -o wide`
  bool has_namespace = false;
  for (const std::string_view line : lines) {
    if (const size_t at = line.find(kAssigned); at != line.npos) {
      const std::string_view pod = line.substr(at + kAssigned.size());
      const size_t to = pod.find(kTo);
      if (to == pod.npos) continue;
      std::string_view node = pod.substr(to + kTo.size());
      const size_t slash = pod.substr(0, to).find('/');
      places.emplace_back(pod.substr(slash + 1, to - slash - 1), TakeWord(node));  // 0 without one
      continue;
    }
    const bool is_heading = line.starts_with("NAME") && line.find(" READY ") != line.npos;
    if (is_heading) {
      column = line.find(" NODE ");
      has_namespace = line.starts_with("NAMESPACE ");
      continue;
    }
    if (column == line.npos || column + 1 >= line.size() || line[column] != ' ') continue;
    std::string_view names = line;
    if (has_namespace) TakeWord(names);
    const std::string_view pod = TakeWord(names);
    std::string_view node = line.substr(column + 1);
    if (node.starts_with(' ') || node.starts_with('<')) continue;
    places.emplace_back(pod, TakeWord(node));
  }
  return places;
}

std::string_view NodeOf(const Event& event) {
  constexpr std::string_view kNode = "node/";
  const std::string_view object = event.object;
  return object.starts_with(kNode) ? object.substr(kNode.size()) : std::string_view();
}

}  // namespace answers
