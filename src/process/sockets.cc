#include "process/sockets.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "base/folder.h"
#include "base/strings.h"

namespace process {
namespace {

// A row of /proc/net/tcp: "sl local_address rem_address st tx:rx tr:tm retrnsmt uid timeout inode".
std::optional<TcpSocket> ParseTcpRow(const std::string& row) {
  std::array<char, 80> local{};
  unsigned state = 0;
  unsigned long inode = 0;
  if (std::sscanf(row.c_str(), " %*[0-9]: %79s %*s %x %*s %*s %*s %*s %*s %lu", local.data(),
                  &state, &inode) != 3) {
    return std::nullopt;
  }
  const std::string_view address(local.data());
  const size_t colon = address.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  TcpSocket socket{0, state == 0x0A, inode};
  const std::string_view port = address.substr(colon + 1);
  std::from_chars(port.data(), port.data() + port.size(), socket.port, 16);
  return socket;
}

}  // namespace

std::vector<std::string> OpenFilesOf(pid_t pid) {
  const std::string folder = fmt::format("/proc/{}/fd", pid);
  std::vector<std::string> files;
  for (const std::string& fd : base::EntriesOf(folder)) {
    std::error_code error;
    files.push_back(std::filesystem::read_symlink(fmt::format("{}/{}", folder, fd), error));
  }
  return files;
}

std::optional<uint64_t> SocketInode(std::string_view file) {
  constexpr std::string_view kBegin = "socket:[";
  if (!file.starts_with(kBegin) || !file.ends_with(']')) return std::nullopt;
  const auto inode = base::ParseInt(file.substr(kBegin.size(), file.size() - kBegin.size() - 1));
  return inode ? std::optional(static_cast<uint64_t>(*inode)) : std::nullopt;
}

std::vector<TcpSocket> TcpSocketsAround(pid_t pid) {
  std::vector<TcpSocket> sockets;
  for (const char* const table : {"tcp", "tcp6"}) {
    std::ifstream rows(fmt::format("/proc/{}/net/{}", pid, table));
    for (std::string row; std::getline(rows, row);) {
      if (const auto socket = ParseTcpRow(row)) sockets.push_back(*socket);
    }
  }
  return sockets;
}

std::vector<uint64_t> ListeningUnixSocketsAround(pid_t pid) {
  constexpr unsigned kAccepts = 0x10000;  // __SO_ACCEPTCON
  std::vector<uint64_t> inodes;
  std::ifstream rows(fmt::format("/proc/{}/net/unix", pid));
  for (std::string row; std::getline(rows, row);) {
    unsigned flags = 0;
    unsigned long inode = 0;
    // "Num RefCount Protocol Flags Type St Inode Path"
    const int read = std::sscanf(row.c_str(), "%*s %*s %*s %x %*s %*s %lu", &flags, &inode);
    if (read == 2 && flags == kAccepts) inodes.push_back(inode);
  }
  return inodes;
}

}  // namespace process
