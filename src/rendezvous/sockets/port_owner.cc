#include "rendezvous/sockets/port_owner.h"

#include <dirent.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string_view>

#include "base/defer.h"
#include "process/procfs.h"

namespace rendezvous {
namespace {

struct TcpRow {
  uint16_t port = 0;
  bool is_listening = false;
  uint64_t inode = 0;
};

// A row of /proc/net/tcp: "sl local_address rem_address st tx:rx tr:tm retrnsmt uid timeout inode".
std::optional<TcpRow> ParseTcpRow(const std::string& line) {
  std::array<char, 80> local{};
  unsigned state = 0;
  unsigned long inode = 0;
  if (std::sscanf(line.c_str(), " %*[0-9]: %79s %*s %x %*s %*s %*s %*s %*s %lu", local.data(),
                  &state, &inode) != 3) {
    return std::nullopt;
  }
  const std::string_view address(local.data());
  const size_t colon = address.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  TcpRow row{0, state == 0x0A, inode};
  const std::string_view port = address.substr(colon + 1);
  std::from_chars(port.data(), port.data() + port.size(), row.port, 16);
  return row;
}

template <typename Function>
void ForEachTcpRow(Function function) {
  for (const char* const path : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream file(path);
    std::string line;
    while (std::getline(file, line)) {
      if (const auto row = ParseTcpRow(line)) function(*row);
    }
  }
}

template <typename Function>
void ForEachSocketOf(pid_t pid, Function function) {
  const std::string folder = "/proc/" + std::to_string(pid) + "/fd/";
  DIR* const directory = ::opendir(folder.c_str());
  if (directory == nullptr) return;
  const base::Defer close([&] { ::closedir(directory); });
  while (const dirent* const entry = ::readdir(directory)) {
    std::array<char, 64> target{};
    const std::string link = folder + entry->d_name;
    if (::readlink(link.c_str(), target.data(), target.size() - 1) <= 0) continue;
    unsigned long inode = 0;
    if (std::sscanf(target.data(), "socket:[%lu]", &inode) == 1) function(uint64_t{inode});
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
  ForEachTcpRow([&](const TcpRow& row) {
    if (!row.is_listening && row.inode != 0 && inodes.contains(row.port)) {
      wanted[row.inode] = row.port;
    }
  });
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
  ForEachTcpRow([&](const TcpRow& row) {
    if (row.is_listening && row.port == port) wanted = row.inode;
  });
  if (wanted == 0) return {};
  for (const pid_t pid : process::AllPids()) {
    bool has_it = false;
    ForEachSocketOf(pid, [&](uint64_t inode) { has_it = has_it || inode == wanted; });
    if (has_it) return "process " + std::to_string(pid) + " (" + NameOf(pid) + ")";
  }
  return {};
}

}  // namespace rendezvous
