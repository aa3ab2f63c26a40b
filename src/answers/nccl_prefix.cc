#include "answers/nccl_prefix.h"

#include <map>

#include "base/strings.h"

namespace answers {
namespace {

constexpr int kMostDevices = 64;

// Takes the number before `end`, which it takes too.
std::optional<int> TakeNumber(std::string_view& text, std::string_view end) {
  constexpr int64_t kMost = 1 << 30;
  const size_t size = text.find_first_not_of("0123456789");
  if (size == std::string_view::npos || !text.substr(size).starts_with(end)) return std::nullopt;
  const auto number = base::ParseInt(text.substr(0, size));
  text.remove_prefix(size + end.size());
  return number && *number < kMost ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

}  // namespace

std::optional<NcclPrefix> ReadNcclPrefix(std::string_view line) {
  if (line.find("NCCL ") == std::string_view::npos) return std::nullopt;
  NcclPrefix prefix;
  const size_t colon = line.find(':');
  if (colon == 0 || colon == std::string_view::npos) return std::nullopt;
  prefix.host = line.substr(0, colon);
  if (prefix.host.find(' ') != std::string_view::npos) return std::nullopt;
  line.remove_prefix(colon + 1);
  const auto process = TakeNumber(line, ":");
  const auto thread = process ? TakeNumber(line, " [") : std::nullopt;
  const auto device = thread ? TakeNumber(line, "] ") : std::nullopt;
  if (!device || *device >= kMostDevices) return std::nullopt;
  prefix.process = *process;
  prefix.device = *device;
  return prefix;
}

std::set<int> DevicesOfProcesses(std::span<const std::string_view> lines) {
  std::map<int, int> devices;  // by the process
  std::string_view host;
  for (const std::string_view line : lines) {
    const auto prefix = ReadNcclPrefix(line);
    if (!prefix) continue;
    if (host.empty()) host = prefix->host;
    const auto [known, is_new] = devices.try_emplace(prefix->process, prefix->device);
    if (host != prefix->host || known->second != prefix->device) return {};
  }
  std::set<int> used;
  for (const auto& [process, device] : devices) used.insert(device);
  return used.size() > 1 && used.size() == devices.size() ? used : std::set<int>();
}

}  // namespace answers
