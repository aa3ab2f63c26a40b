// The beginning of NCCL's own log lines.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string_view>

namespace answers {

// "gpu-1:311:402 [3] misc/socket.cc:49 NCCL WARN ...": the host, the process, its thread, and the
// device that it uses (NCCL's debug.cc).
struct NcclPrefix {
  std::string_view host;
  int process = 0;
  int device = 0;
};

// Nullopt for another line.
std::optional<NcclPrefix> ReadNcclPrefix(std::string_view line);

// The devices that the processes in these lines use, if a device's number is its process's rank
// within the host: there is one host, with several processes, each with a device of its own. Empty
// otherwise. Pure.
std::set<int> DevicesOfProcesses(std::span<const std::string_view> lines);

}  // namespace answers
