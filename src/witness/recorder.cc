#include "witness/recorder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/file.h"
#include "base/folder.h"
#include "base/strings.h"

namespace witness {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kLargest = 8 << 20;
constexpr std::string_view kRequest =
    "POST /handler/fr_trace_json HTTP/1.1\r\nHost: rank\r\nContent-Length: 0\r\n"
    "Connection: close\r\n\r\n";

constexpr std::string_view kPing =
    "POST /handler/ping HTTP/1.1\r\nHost: rank\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
constexpr suseconds_t kPingTime = 5000;  // microseconds
// A server with more threads was created without the start-up hook, and so many pings would cost
// too much.
constexpr int kMostThreads = 16;
constexpr std::string_view kServersThread = "pt_workerserver";

// Connects through the folder's descriptor, because a path may be longer than a socket's address.
// With SOCK_NONBLOCK in `flags` it does not wait; otherwise it waits at most kPingTime for the
// server to accept.
base::Fd Connect(const base::Fd& folder, pid_t pid, std::string_view request, int flags) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = fmt::format("/proc/self/fd/{}/{}.recorder", folder.get(), pid);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  base::Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
  const timeval patience{0, kPingTime};
  if (!fd || ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) != 0 ||
      ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL) !=
          static_cast<ssize_t>(request.size())) {
    return {};
  }
  return fd;
}

bool HasRecorder(const base::Fd& folder, pid_t pid) {
  struct stat info{};
  const std::string name = fmt::format("{}.recorder", pid);
  return ::fstatat(folder.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISSOCK(info.st_mode);
}

// Returns the body of a complete answer with status 200; "" for any other.
std::string BodyOf(std::string_view text) {
  const size_t end = text.find("\r\n\r\n");
  if (end == std::string_view::npos || !text.starts_with("HTTP/1.1 200")) return "";
  return std::string(text.substr(end + 4));
}

// Decides by Content-Length, because the server need not close the connection.
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

RecorderQuestion::RecorderQuestion(const PidsByFolder& asked) {
  for (const auto& [folder, pids] : asked) {
    const base::Fd place(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!place) continue;
    for (const pid_t pid : pids) {
      if (base::Fd fd = Connect(place, pid, kRequest, SOCK_NONBLOCK)) {
        asked_[pid].fd = std::move(fd);
      } else if (HasRecorder(place, pid)) {
        refused_.push_back(pid);
      }
    }
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

bool RecorderQuestion::LacksAnswers() const {
  return !refused_.empty() || std::any_of(asked_.begin(), asked_.end(),
                                          [](const auto& asked) { return !asked.second.is_over; });
}

std::vector<pid_t> RecorderQuestion::Mute() const {
  std::vector<pid_t> mute = refused_;
  for (const auto& [pid, asked] : asked_) {
    if (!asked.is_over || BodyOf(asked.text).empty()) mute.push_back(pid);
  }
  return mute;
}

int AnsweringThreads(pid_t pid) {
  const std::string tasks = fmt::format("/proc/{}/task", pid);
  const auto is_servers = [&tasks](const std::string& thread) {
    const auto name = base::ReadFile(fmt::format("{}/{}/comm", tasks, thread), 64);
    return name && base::Trim(*name) == kServersThread;
  };
  const std::vector<std::string> threads = base::EntriesOf(tasks);
  // One of the threads only accepts connections.
  return std::max(0,
                  static_cast<int>(std::count_if(threads.begin(), threads.end(), is_servers)) - 1);
}

RecorderTurns::RecorderTurns(ThreadsOf threads_of) : threads_of_(std::move(threads_of)) {}

void RecorderTurns::PassOn(const std::string& folder, const std::vector<pid_t>& pids) {
  pings_.clear();
  owed_.clear();
  for (const pid_t pid : pids) {
    auto known = threads_.find(pid);
    if (known == threads_.end()) known = threads_.emplace(pid, threads_of_(pid)).first;
    if (known->second <= kMostThreads) owed_[pid] = known->second - 1;
  }
  Ping(folder);
}

void RecorderTurns::Finish(const std::string& folder) {
  Ping(folder);
  owed_.clear();
}

void RecorderTurns::Ping(const std::string& folder) {
  const base::Fd place(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!place) return;
  for (auto& [pid, owed] : owed_) {
    for (; owed > 0; --owed) {
      base::Fd fd = Connect(place, pid, kPing, 0);
      if (!fd) break;
      pings_.push_back(std::move(fd));
    }
  }
}

}  // namespace witness
