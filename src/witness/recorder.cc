#include "witness/recorder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/strings.h"

namespace witness {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kLargest = 8 << 20;
constexpr std::string_view kRequest =
    "POST /handler/fr_trace_json HTTP/1.1\r\nHost: rank\r\nContent-Length: 0\r\n"
    "Connection: close\r\n\r\n";

// By the folder's descriptor: a path may be longer than a socket's address holds.
base::Fd Connect(const base::Fd& folder, pid_t pid) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = fmt::format("/proc/self/fd/{}/{}.recorder", folder.get(), pid);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  base::Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd ||
      ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::send(fd.get(), kRequest.data(), kRequest.size(), MSG_NOSIGNAL) !=
          static_cast<ssize_t>(kRequest.size())) {
    return {};
  }
  return fd;
}

// The body of a whole answer of 200; "" of any other.
std::string BodyOf(std::string_view text) {
  const size_t end = text.find("\r\n\r\n");
  if (end == std::string_view::npos || !text.starts_with("HTTP/1.1 200")) return "";
  return std::string(text.substr(end + 4));
}

// As the head says. The server need not close the connection.
bool IsWhole(std::string_view text) {
  const size_t end = text.find("\r\n\r\n");
  if (end == std::string_view::npos) return false;
  const std::string head = base::ToLower(text.substr(0, end + 2));
  constexpr std::string_view kLength = "\r\ncontent-length: ";
  const size_t at = head.find(kLength);
  if (at == std::string::npos) return false;
  const size_t begin = at + kLength.size();
  const auto length =
      base::ParseInt(std::string_view(head).substr(begin, head.find('\r', begin) - begin));
  return length && *length >= 0 && text.size() - end - 4 >= static_cast<size_t>(*length);
}

}  // namespace

RecorderQuestion::RecorderQuestion(const std::string& folder, const std::vector<pid_t>& pids) {
  const base::Fd place(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!place) return;
  for (const pid_t pid : pids) {
    if (base::Fd fd = Connect(place, pid)) asked_[pid].fd = std::move(fd);
  }
}

void RecorderQuestion::Read(Asked& asked) {
  std::array<char, 1 << 16> buffer;
  while (!asked.is_over) {
    const ssize_t count = ::recv(asked.fd.get(), buffer.data(), buffer.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (count > 0) asked.text.append(buffer.data(), static_cast<size_t>(count));
    if (asked.text.size() > kLargest) asked.text.clear();
    asked.is_over = count <= 0 || asked.text.empty() || IsWhole(asked.text);
  }
  asked.fd.Reset();
}

std::map<pid_t, std::string> RecorderQuestion::Await(std::chrono::milliseconds limit) {
  const Clock::time_point end = Clock::now() + limit;
  while (true) {
    std::vector<pollfd> open;
    for (auto& [pid, asked] : asked_) {
      if (!asked.is_over) Read(asked);
      if (!asked.is_over) open.push_back({asked.fd.get(), POLLIN, 0});
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    if (open.empty() || left.count() <= 0) break;
    if (::poll(open.data(), open.size(), static_cast<int>(left.count())) < 0 && errno != EINTR)
      break;
  }
  std::map<pid_t, std::string> answers;
  for (const auto& [pid, asked] : asked_) {
    std::string body = asked.is_over ? BodyOf(asked.text) : "";
    if (!body.empty()) answers[pid] = std::move(body);
  }
  return answers;
}

}  // namespace witness
