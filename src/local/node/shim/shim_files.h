// What a shim and the programs that look for it agree on.
#pragma once

#include <csignal>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "text/json.h"

namespace local::node {

inline constexpr const char* kLockFile = "lock";
inline constexpr const char* kIdentityFile = "shim.json";
inline constexpr const char* kDiagnosticsFile = "shim.log";  // the shim's stderr

// Descriptors of `<executable> shim`; locks follow from kReadyFd + 1.
inline constexpr int kSpecFd = 3;   // the PodSpec as JSON, at offset 0
inline constexpr int kReadyFd = 4;  // kReadyAnswer once it is in charge, otherwise why not
inline constexpr std::string_view kReadyAnswer = "ready";

// SIGTERM asks the shim to end its programs, with a grace in seconds as its value. The kernel keeps
// one of it: a second one, of no grace, is lost while the first is pending. So that one says it
// too; older shims ignore it.
inline constexpr int kAtOnceSignal = SIGQUIT;

struct ShimIdentity {
  pid_t pid = 0;
  uint64_t start_ticks = 0;
  std::string boot_id;
};

// Of this process, into the current directory.
base::Status WriteIdentity();
base::Result<ShimIdentity> ReadIdentity(const std::string& directory);

}  // namespace local::node
