#include "witness/unanswered.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace witness {
namespace {

// The kernel waits twice as long each time: after a second to connect, after a fifth of one and
// the round trip to send. So both have waited for some seconds.
constexpr int kMostTries = 2;
constexpr int kMostSends = 4;

}  // namespace

std::string SayUnanswered(const std::vector<process::TcpSocket>& sockets,
                          const std::set<uint64_t>& inodes) {
  for (const process::TcpSocket& socket : sockets) {
    if (!inodes.contains(socket.inode)) continue;
    if (socket.is_connecting && socket.unanswered >= kMostTries) {
      return fmt::format("connects to {} and gets no answer: is there a firewall?", socket.peer);
    }
    if (!socket.is_connecting && socket.unanswered >= kMostSends) {
      return fmt::format(
          "sends to {} and gets no answer: is the network cut, or does it lose large packets "
          "(MTU)?",
          socket.peer);
    }
  }
  return "";
}

std::map<pid_t, std::string> UnansweredOf(const std::vector<pid_t>& pids) {
  std::map<pid_t, std::string> said;
  if (pids.empty()) return said;
  const std::vector<process::TcpSocket> sockets = process::TcpSocketsAround(pids[0]);
  for (const pid_t pid : pids) {
    std::set<uint64_t> inodes;
    for (const std::string& file : process::OpenFilesOf(pid)) {
      if (const auto inode = process::SocketInode(file)) inodes.insert(*inode);
    }
    std::string unanswered = SayUnanswered(sockets, inodes);
    if (!unanswered.empty()) said[pid] = std::move(unanswered);
  }
  return said;
}

}  // namespace witness
