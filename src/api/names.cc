#include "api/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/strings.h"

namespace api {

std::string ReplicaName(std::string_view job, std::string_view type, int index) {
  std::string name = fmt::format("{}-{}-{}", job, base::ToLower(type), index);
  std::replace(name.begin(), name.end(), '/', '-');
  return name;
}

std::string ContainerErrorPrefix(std::string_view pod, std::string_view container) {
  return fmt::format("Error pod {} container {} ", pod, container);
}

bool IsDnsLabel(std::string_view text) {
  const auto is_inner = [](char c) {
    return (c >= 'a' && c <= 'z') || base::IsDigit(c) || c == '-';
  };
  return !text.empty() && text.front() != '-' && text.back() != '-' &&
         std::all_of(text.begin(), text.end(), is_inner);
}

bool IsDns1035Label(std::string_view text) {
  return IsDnsLabel(text) && !base::IsDigit(text.front());
}

bool IsDnsSubdomain(std::string_view text) {
  const std::vector<std::string> labels = base::Split(text, '.');
  return std::all_of(labels.begin(), labels.end(), IsDnsLabel);
}

bool IsObjectName(std::string_view text) {
  return text.size() <= kMaxSubdomainLength && IsDnsSubdomain(text);
}

bool IsLabelValue(std::string_view text) {
  if (text.empty()) return true;
  return text.size() <= kMaxLabelLength && IsAlphanumeric(text.front()) &&
         IsAlphanumeric(text.back()) && std::all_of(text.begin(), text.end(), IsNameCharacter);
}

bool IsVariableName(std::string_view text) {
  return !text.empty() && !(text.front() >= '0' && text.front() <= '9') &&
         std::all_of(text.begin(), text.end(), IsNameCharacter);
}

bool IsQualifiedName(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    if (!IsObjectName(text.substr(0, slash))) return false;
    text.remove_prefix(slash + 1);
  }
  return !text.empty() && IsLabelValue(text);
}

}  // namespace api
