// Which muster a process is of: what a command and the daemon compare.
#pragma once

#include <string>

namespace local::daemon {

struct BuildId {
  std::string version;  // "0.1.0"; "" of musters from before they said so
  std::string commit;   // its hash, or "unknown"
  std::string date;     // of the commit, RFC 3339, UTC, or "unknown"

  bool operator==(const BuildId&) const = default;
  // "v0.1.0 (acd959a, 2026-11-22T10:00:00Z)"
  std::string text() const;
};

// By version, then by date. False where that cannot be told, as of two builds of one commit.
bool IsNewer(const BuildId& one, const BuildId& other);

}  // namespace local::daemon
