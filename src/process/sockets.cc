#include "process/sockets.h"

#include <arpa/inet.h>
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

uint16_t PortOf(std::string_view address) {
  const std::string_view text = address.substr(address.rfind(':') + 1);
  uint16_t port = 0;
  std::from_chars(text.data(), text.data() + text.size(), port, 16);
  return port;
}

// Of "0100007F:1F90", or of an IPv6 address of four such words. IPv4 mapped into IPv6 is IPv4.
std::string EndpointOf(std::string_view address) {
  std::string_view text = address.substr(0, address.rfind(':'));
  std::array<uint32_t, 4> words{};
  size_t count = 0;
  for (; text.size() >= 8 && count < words.size(); text.remove_prefix(8)) {
    std::from_chars(text.data(), text.data() + 8, words[count++], 16);
  }
  const bool is_mapped = count == 4 && words[0] == 0 && words[1] == 0 && words[2] == htonl(0xFFFF);
  const bool is_v4 = count == 1 || is_mapped;
  std::array<char, INET6_ADDRSTRLEN> name{};
  ::inet_ntop(is_v4 ? AF_INET : AF_INET6, is_mapped ? &words[3] : &words[0], name.data(),
              name.size());
  const uint16_t port = PortOf(address);
  return is_v4 ? fmt::format("{}:{}", name.data(), port)
               : fmt::format("[{}]:{}", name.data(), port);
}

// A row of /proc/net/tcp: "sl local_address rem_address st tx:rx tr:tm retrnsmt uid timeout inode".
std::optional<TcpSocket> ParseTcpRow(const std::string& row) {
  constexpr unsigned kSynSent = 2;
  constexpr unsigned kListens = 10;
  std::array<char, 80> local{};
  std::array<char, 80> remote{};
  unsigned state = 0;
  unsigned again = 0;
  unsigned long inode = 0;
  if (std::sscanf(row.c_str(), " %*[0-9]: %79s %79s %x %*s %*s %x %*s %*s %lu", local.data(),
                  remote.data(), &state, &again, &inode) != 5) {
    return std::nullopt;
  }
  const std::string_view address(local.data());
  if (address.rfind(':') == std::string_view::npos) return std::nullopt;
  return TcpSocket{
      PortOf(address),   state == kListens,      inode, again > 0 ? EndpointOf(remote.data()) : "",
      state == kSynSent, static_cast<int>(again)};
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
