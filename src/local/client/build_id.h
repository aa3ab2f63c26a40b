// Identifies a build of muster, so that a command can compare its own with the daemon's.
#pragma once

#include <string>

namespace local::daemon {

struct BuildId {
  std::string version;  // "0.1.0"; "" for builds that do not report it
  std::string commit;   // the hash, or "unknown"
  std::string date;     // of the commit: RFC 3339, UTC, or "unknown"

  bool operator==(const BuildId&) const = default;
  // "v0.1.0 (acd959a, 2026-11-22T10:00:00Z)"
  std::string text() const;
};

// Compares versions, then dates. False when these do not decide, as for two builds of one commit.
bool IsNewer(const BuildId& one, const BuildId& other);

}  // namespace local::daemon
