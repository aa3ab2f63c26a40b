// Names and numbers that a shim shares with the programs that look for it.
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
// Why a program that is about to be killed for a stall is killed, in the words of its note.
inline constexpr const char* kStallKillFile = "stall-kill";
// What is to be added to the log of the training container (AddToLog).
inline constexpr const char* kLogNoteFile = "log-note";
inline constexpr const char* kDiagnosticsFile = "shim.log";  // the shim's stderr

// Descriptors of `<executable> shim`; locks follow from kReadyFd + 1.
inline constexpr int kSpecFd = 3;   // the PodSpec as JSON, at offset 0
inline constexpr int kReadyFd = 4;  // kReadyAnswer once it has taken over, otherwise an error
inline constexpr std::string_view kReadyAnswer = "ready";

// SIGTERM asks the shim to end its programs; its value is the grace period in seconds. The kernel
// queues only one SIGTERM, so a second one without grace is lost while the first is pending. This
// signal means the same as the second; older shims ignore it.
inline constexpr int kAtOnceSignal = SIGQUIT;

// Tells the shim that there is a kLogNoteFile; older shims ignore it.
inline constexpr int kLogNoteSignal = SIGHUP;

struct ShimIdentity {
  pid_t pid = 0;
  uint64_t start_ticks = 0;
  std::string boot_id;
};

// Writes the identity of this process into the current directory, and waits until it is on the
// disk.
base::Status WriteIdentity();
base::Result<ShimIdentity> ReadIdentity(const std::string& directory);

}  // namespace local::node
