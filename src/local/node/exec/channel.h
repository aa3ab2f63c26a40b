// The messages between the daemon and a pod's shim about a command that runs beside the pod's own
// (kubectl exec). One connection (SOCK_SEQPACKET) for each command, one JSON message per packet:
//
//   daemon -> shim   ExecRequest, with the descriptors that become the command's
//   shim -> daemon   {"started":true} | {"error":"..."}    once
//   shim -> daemon   {"exitCode":0}                        once, after it started
//
// Either side may end it by closing: without the daemon, the shim hangs the command up.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace local::node {

inline constexpr const char* kExecSocket = "exec.sock";  // in the pod's directory
// A command line arrives in the head of an HTTP request; its JSON form may be six times as long.
inline constexpr size_t kMaxExecMessage = 512 << 10;

struct ExecRequest {
  std::string container;
  std::vector<std::string> argv;
  // With a terminal its single descriptor, otherwise stdin, stdout and stderr.
  bool has_terminal = false;
  std::vector<base::Fd> fds{};
};

struct ExecReply {
  enum class Kind { kStarted, kRefused, kEnded };
  Kind kind = Kind::kStarted;
  std::string error{};  // kRefused: a message for the user
  int exit_code = 0;    // kEnded: 128 + n after signal n
};

// Listens in the current directory, which is the pod's, because an absolute path may be too long
// for an address.
base::Result<base::Fd> ListenForExecs();
// kUnavailable when no shim listens in `directory`. Never blocks.
base::Result<base::Fd> ConnectToExecs(const std::string& directory);
// Whether the process at the other end belongs to this user or root.
bool IsOwnPeer(int socket);

// None of them blocks. The receivers return nullopt when the other end has closed, and kUnavailable
// when there is no message yet.
base::Status SendRequest(int socket, const ExecRequest& request);
base::Result<std::optional<ExecRequest>> ReceiveRequest(int socket);
base::Status SendReply(int socket, const ExecReply& reply);
base::Result<std::optional<ExecReply>> ReceiveReply(int socket);

}  // namespace local::node
