// What /proc says about the sockets of processes.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace process {

// What the process's descriptors are: paths, "socket:[4711]", "pipe:[4712]". Empty if it is gone or
// another user's.
std::vector<std::string> OpenFilesOf(pid_t pid);

// The inode of "socket:[4711]"; nullopt for another file.
std::optional<uint64_t> SocketInode(std::string_view file);

struct TcpSocket {
  uint16_t port = 0;  // the local one
  bool is_listening = false;
  uint64_t inode = 0;  // 0: no process has it open any more
  std::string peer{};  // that has not answered: "10.0.0.2:37421", "[fd00::2]:37421"
  bool is_connecting = false;
  int unanswered = 0;  // how often in a row what it sent had to be sent again
};

// The TCP sockets of the network in which the process is.
std::vector<TcpSocket> TcpSocketsAround(pid_t pid);

// The inodes of the Unix sockets there that wait for connections.
std::vector<uint64_t> ListeningUnixSocketsAround(pid_t pid);

}  // namespace process
