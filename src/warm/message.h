// The messages between launcher and keeper over a Unix stream socket: a length (4 bytes, little
// endian), then fields separated by NUL bytes; descriptors come with the first byte.
//
//   launcher: enter, place inside its namespaces          + namespaces: user, mnt, uts
//             start, umask, ignored signals, number of words, words..., environment...
//                                                   + working directory, 0, 1, 2
//   keeper:   ready, its pid | stale | refused, why     at first
//             entered | refused, why                    to enter
//             started, pid | refused, why               to each start
//             ended, pid, exit code or minus the signal
//             reaped                                    an orphan of a rank has ended
//
// and between a launcher in a pod and the broker outside (broker.h):
//
//   launcher: wish, python, option or "", preload, idle seconds, kept, place outside,
//             environment...
//   broker:   resident                                  + connection to it, for the messages above
//             refused, why
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace warm {

using Message = std::vector<std::string>;

// Blocks while the other side does not read. kUnavailable when it has gone.
base::Status SendMessage(int socket, const Message& message, const std::vector<int>& fds);

// Splits a stream into messages, and keeps the descriptors that came with it.
class MessageReader {
 public:
  // Reads what has arrived, without blocking. kUnavailable at the end of the stream or when it is
  // malformed.
  base::Status Read(int socket);
  // The next complete message; it has at least one field.
  std::optional<Message> Next();
  // Blocks until the next message; kTimeout, kUnavailable.
  base::Result<Message> Await(int socket, std::chrono::milliseconds timeout);
  // The last descriptor received, which is closed unless it is taken. An empty Fd when none was.
  base::Fd TakeFd() { return std::move(fd_); }

 private:
  std::string held_;
  base::Fd fd_;
};

}  // namespace warm
