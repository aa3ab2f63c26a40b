#include "reconcile/pod/master_port.h"

#include <cstdint>
#include <string>

#include "api/names.h"
#include "base/strings.h"

namespace reconcile {
namespace {

// FNV-1a: the same in every build, unlike std::hash.
uint64_t StableHash(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace

std::optional<int> ChosenMasterPort(const api::PyTorchJob& job) {
  const auto found = job.annotations.find(std::string(api::kMasterPortAnnotation));
  if (found == job.annotations.end()) return std::nullopt;
  if (found->second == "auto") {
    return kFirstChosenPort + static_cast<int>(StableHash(job.uid) % kChosenPorts);
  }
  const auto port = base::ParseInt(found->second);
  if (!port || *port < 1 || *port > UINT16_MAX) return std::nullopt;
  return static_cast<int>(*port);
}

}  // namespace reconcile
