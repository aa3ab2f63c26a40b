// What launcher and keeper say to each other over a Unix stream socket: a length (4 bytes, little
// endian), then fields between NUL bytes; descriptors travel with the first byte.
//
//   launcher: start, umask, number of words, words..., environment...  + working directory, 0, 1, 2
//   keeper:   ready, its pid | stale | refused, why     at first
//             started, pid | refused, why               to each start
//             ended, pid, exit code or minus the signal
//             reaped                                    an orphan of a rank has ended
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace launch {

using Message = std::vector<std::string>;

// Blocks while the other side does not read. kUnavailable when it has gone.
base::Status SendMessage(int socket, const Message& message, const std::vector<int>& fds);

// Cuts a stream into messages.
class MessageReader {
 public:
  // Reads what is there without blocking. kUnavailable at the end of the stream or when it makes no
  // sense.
  base::Status Read(int socket);
  // The next whole message that was read; its fields are at least one.
  std::optional<Message> Next();
  // Blocks for the next one; kTimeout, kUnavailable.
  base::Result<Message> Await(int socket, std::chrono::milliseconds timeout);

 private:
  std::string held_;
};

}  // namespace launch
