#include "rendezvous/sockets/port_owner.h"

#include <unistd.h>

#include <fstream>

#include "process/procfs.h"
#include "process/sockets.h"

namespace rendezvous {
namespace {

template <typename Function>
void ForEachSocketOf(pid_t pid, Function function) {
  for (const std::string& file : process::OpenFilesOf(pid)) {
    if (const auto inode = process::SocketInode(file)) function(*inode);
  }
}

std::string NameOf(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

}  // namespace

std::map<uint16_t, pid_t> FindPortOwners(const std::vector<uint16_t>& ports,
                                         const std::vector<pid_t>& among) {
  std::map<uint16_t, uint64_t> inodes;
  for (const uint16_t port : ports) inodes[port] = 0;
  std::map<uint64_t, uint16_t> wanted;
  for (const process::TcpSocket& socket : process::TcpSocketsAround(::getpid())) {
    if (!socket.is_listening && socket.inode != 0 && inodes.contains(socket.port)) {
      wanted[socket.inode] = socket.port;
    }
  }
  std::map<uint16_t, pid_t> found;
  for (const pid_t pid : among) {
    ForEachSocketOf(pid, [&](uint64_t inode) {
      const auto port = wanted.find(inode);
      if (port != wanted.end()) found[port->second] = pid;
    });
  }
  return found;
}

std::string DescribePortOwner(uint16_t port) {
  uint64_t wanted = 0;
  for (const process::TcpSocket& socket : process::TcpSocketsAround(::getpid())) {
    if (socket.is_listening && socket.port == port) wanted = socket.inode;
  }
  if (wanted == 0) return {};
  for (const pid_t pid : process::AllPids()) {
    bool has_it = false;
    ForEachSocketOf(pid, [&](uint64_t inode) { has_it = has_it || inode == wanted; });
    if (has_it) return "process " + std::to_string(pid) + " (" + NameOf(pid) + ")";
  }
  return {};
}

}  // namespace rendezvous
