// What the daemon and a pod's shim say to each other about a command that runs beside the pod's own
// (kubectl exec). One connection (SOCK_SEQPACKET) a command, JSON a message:
//
//   daemon -> shim   ExecRequest, with the descriptors that become the command's
//   shim -> daemon   {"started":true} | {"error":"..."}    once
//   shim -> daemon   {"exitCode":0}                        once, after it started
//
// Whoever closes first ends it: without the daemon the shim hangs the command up.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace local::node {

inline constexpr const char* kExecSocket = "exec.sock";  // in the pod's directory
// A command line comes in the head of an HTTP request; escaped as JSON it may grow sixfold.
inline constexpr size_t kMaxExecMessage = 512 << 10;

struct ExecRequest {
  std::string container;
  std::vector<std::string> argv;
  // With a terminal its one descriptor; else stdin, stdout and stderr.
  bool has_terminal = false;
  std::vector<base::Fd> fds{};
};

struct ExecReply {
  enum class Kind { kStarted, kRefused, kEnded };
  Kind kind = Kind::kStarted;
  std::string error{};  // kRefused: in words for people
  int exit_code = 0;    // kEnded: 128 + n after signal n
};

// Listens in the current directory, which is the pod's: a path may be too long for an address.
base::Result<base::Fd> ListenForExecs();
// kUnavailable when no shim listens in `directory`. Never blocks.
base::Result<base::Fd> ConnectToExecs(const std::string& directory);
// Whether this user, or root, is at the other end.
bool IsOwnPeer(int socket);

// None of them blocks. Of the receivers: nothing when the other end has closed, kUnavailable when
// there is no message yet.
base::Status SendRequest(int socket, const ExecRequest& request);
base::Result<std::optional<ExecRequest>> ReceiveRequest(int socket);
base::Status SendReply(int socket, const ExecReply& reply);
base::Result<std::optional<ExecReply>> ReceiveReply(int socket);

}  // namespace local::node
