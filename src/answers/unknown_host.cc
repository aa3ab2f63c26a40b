#include "answers/unknown_host.h"

#include <array>
#include <string>

#include "answers/rule.h"

namespace answers {
namespace {

// Returns the host in "The IPv6 network addresses of (job-master-0, 23456) cannot be retrieved",
// "Could not resolve host: x" or "Could not resolve hostname x: ..."; "" for other lines.
std::string_view HostIn(std::string_view text) {
  static constexpr auto kBefore = std::to_array<std::string_view>(
      {"network addresses of (", "resolve host: ", "resolve hostname ", "resolve host address ",
       "resolve host ", "lookup "});
  for (const std::string_view words : kBefore) {
    const size_t at = text.find(words);
    if (at == std::string_view::npos) continue;
    std::string_view host = text.substr(at + words.size());
    if (host.starts_with('\'') || host.starts_with('"')) host.remove_prefix(1);
    return host.substr(0, host.find_first_of(" ,:;)'\""));
  }
  return "";
}

}  // namespace

std::optional<size_t> LineOfUnknownHost(std::span<const Line> lines, std::string_view unreached) {
  std::optional<size_t> found;
  std::string_view host;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string_view text = lines[i].text;
    const std::string_view named = HostIn(text);
    if (!found && !named.empty() && unreached.find(named) != std::string_view::npos) {
      const Rule* const rule = RuleForException(text);
      if (rule == nullptr || rule->kind != "dns") continue;
      found = i;
      host = named;
    } else if (found && text.find("failed to connect to [" + std::string(host)) != text.npos) {
      return std::nullopt;
    }
  }
  return found;
}

}  // namespace answers
