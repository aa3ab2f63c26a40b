#include "answers/ended_wait.h"

#include <algorithm>
#include <string>

#include "base/strings.h"

namespace answers {
namespace {

constexpr std::string_view kAssigned = "Successfully assigned ";

bool Has(std::string_view text, std::string_view words) {
  return text.find(words) != std::string_view::npos;
}

// Returns the pod in "pod/a", the object of an event; "" if the line has none.
std::string PodOf(std::string_view line) {
  if (const size_t at = line.find(kAssigned); at != std::string_view::npos) {
    const std::string_view pod = line.substr(at + kAssigned.size());
    const std::string_view name = pod.substr(0, pod.find(' '));
    return std::string(name.substr(name.find('/') + 1));  // 0 if there is no namespace
  }
  for (const std::string& word : base::Split(line, ' ')) {
    const std::string lower = base::ToLower(word);
    if (lower.starts_with("pod/")) return lower.substr(4);
  }
  return "";
}

// Whether an event like `end` ends a wait like `line`.
bool IsEnded(std::string_view line, std::string_view end) {
  if (Has(line, " FailedScheduling ")) return Has(end, kAssigned);
  const bool is_before_start = Has(line, " FailedMount ") || Has(line, " FailedAttachVolume ") ||
                               Has(line, " FailedCreatePodSandBox ");
  return is_before_start && Has(end, " Started ") && Has(end, "Started container");
}

}  // namespace

std::vector<bool> FindEndedWaits(std::span<const std::string_view> lines) {
  struct End {
    size_t line, section;
    std::string pod;
  };
  std::vector<End> ends;
  std::vector<size_t> sections;  // what `kubectl describe` prints about one pod
  size_t section = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].starts_with("Name:")) ++section;
    sections.push_back(section);
    if (Has(lines[i], kAssigned) || Has(lines[i], "Started container")) {
      ends.push_back({i, section, PodOf(lines[i])});
    }
  }
  if (ends.empty()) return {};
  std::vector<bool> are_over(lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!Has(lines[i], " Failed")) continue;
    const std::string pod = PodOf(lines[i]);
    are_over[i] = std::any_of(ends.begin(), ends.end(), [&](const End& end) {
      if (!IsEnded(lines[i], lines[end.line])) return false;
      return pod.empty() ? end.line > i && end.section == sections[i] : end.pod == pod;
    });
  }
  return are_over;
}

}  // namespace answers
