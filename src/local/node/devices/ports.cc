#include "local/node/devices/ports.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/file.h"
#include "base/strings.h"
#include "local/node/devices/machine_lock.h"
#include "process/procfs.h"
#include "process/sockets.h"

namespace local::node {

namespace {

constexpr const char* kKernelRange = "/proc/sys/net/ipv4/ip_local_port_range";
constexpr std::pair<int, int> kDefaultKernelRange{32768, 60999};
constexpr int kFirst = 23456;  // api::kDefaultPort
constexpr int kLowest = 10000;
constexpr int kLowestWanted = 1024;  // users may not listen on lower ones
constexpr int kHighest = 65535;

bool Binds(int family, const sockaddr* address, socklen_t length) {
  const base::Fd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return true;  // the machine lacks the family
  const int on = 1;
  // As servers do: connections of an earlier job in TIME_WAIT do not matter.
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (family == AF_INET6) ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  return ::bind(fd.get(), address, length) == 0 || errno != EADDRINUSE;
}

bool BindsV4(in_addr_t host, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(host);
  address.sin_port = htons(static_cast<uint16_t>(port));
  return Binds(AF_INET, reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

bool BindsV6(int port) {
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_any;
  address.sin6_port = htons(static_cast<uint16_t>(port));
  return Binds(AF_INET6, reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

// Whether a process of another pod of the job listens on the port (compat/torchrun.md 2.3).
bool IsServedByPeer(int port, std::string_view job_uid, std::string_view pod_name) {
  std::set<uint64_t> inodes;
  for (const process::TcpSocket& socket : process::TcpSocketsAround(::getpid())) {
    if (socket.is_listening && socket.port == port) inodes.insert(socket.inode);
  }
  if (inodes.empty()) return false;
  const std::string own_host = fmt::format("HOSTNAME={}", pod_name);
  for (const pid_t pid : process::FindByEnvironment(fmt::format("MUSTER_RDZV_TOKEN={}", job_uid))) {
    if (process::HasInEnvironment(pid, own_host)) continue;
    for (const std::string& file : process::OpenFilesOf(pid)) {
      const auto inode = process::SocketInode(file);
      if (inode && inodes.contains(*inode)) return true;
    }
  }
  return false;
}

}  // namespace

base::Result<std::pair<int, int>> ParsePortRange(std::string_view text) {
  const std::string_view trimmed = base::Trim(text);
  const size_t gap = trimmed.find_first_of(" \t");
  if (gap != std::string_view::npos) {
    const auto low = base::ParseInt(trimmed.substr(0, gap));
    const auto high = base::ParseInt(base::Trim(trimmed.substr(gap)));
    if (low && high && *low >= 0 && *low <= *high && *high <= kHighest) {
      return std::pair(static_cast<int>(*low), static_cast<int>(*high));
    }
  }
  return base::Fail(base::Code::kInvalidArgument,
                    fmt::format("malformed port range \"{}\"", trimmed));
}

std::vector<std::pair<int, int>> CandidatePorts(std::pair<int, int> kernel_range) {
  const auto [low, high] = kernel_range;
  std::vector<std::pair<int, int>> ranges;
  const auto add = [&ranges](int first, int last) {
    if (first <= last) ranges.emplace_back(first, last);
  };
  add(kFirst, low - 1);
  add(std::max(kFirst, high + 1), kHighest);
  add(kLowest, std::min(low, kFirst) - 1);
  add(std::max(kLowest, high + 1), kFirst - 1);
  return ranges;
}

bool IsPortFree(int port) {
  return BindsV4(INADDR_LOOPBACK, port) && BindsV4(INADDR_ANY, port) && BindsV6(port);
}

PortAllocator PortAllocator::OfMachine() {
  std::pair<int, int> range = kDefaultKernelRange;
  if (auto text = base::ReadFile(kKernelRange)) {
    if (auto parsed = ParsePortRange(*text)) range = *parsed;
  }
  return PortAllocator(CandidatePorts(range), "muster/port/");
}

PortAllocator::PortAllocator(std::vector<std::pair<int, int>> candidates, std::string lock_prefix)
    : candidates_(std::move(candidates)), lock_prefix_(std::move(lock_prefix)) {}

std::string PortAllocator::LockName(int port) const { return lock_prefix_ + std::to_string(port); }

base::Fd PortAllocator::State::LockIfFree(const std::string& lock_name, int port) const {
  if (ports.contains(port)) return {};
  auto lock = LockMachineWide(lock_name);
  if (!lock || !IsPortFree(port)) return {};
  return std::move(*lock);
}

base::Result<int> PortAllocator::Assign(const std::string& job_uid, std::optional<int> existing,
                                        std::optional<int> wanted) {
  auto state = state_.Lock();
  if (const auto it = state->by_job.find(job_uid); it != state->by_job.end()) {
    if (!it->second.is_given_up || existing == it->second.port) return it->second.port;
    state->Remove(it);
  }
  if (existing) {
    // The job's own shim may have the lock: its holder matters at the next start only.
    base::Fd held = state->TakeOver(*existing);
    if (!held && state->held < kMaxHeldLocks) {
      if (auto lock = LockMachineWide(LockName(*existing))) held = std::move(*lock);
    }
    return state->Add(job_uid, *existing, std::move(held));
  }
  if (wanted && *wanted >= kLowestWanted && *wanted <= kHighest) {
    if (base::Fd lock = state->LockIfFree(LockName(*wanted), *wanted)) {
      return state->Add(job_uid, *wanted, std::move(lock));
    }
  }
  size_t total = 0;
  for (const auto& [first, last] : candidates_) total += static_cast<size_t>(last - first + 1);
  for (size_t tried = 0; tried < total; ++tried) {
    size_t offset = state->next++ % total;
    int port = 0;
    for (const auto& [first, last] : candidates_) {
      const auto length = static_cast<size_t>(last - first + 1);
      if (offset < length) {
        port = first + static_cast<int>(offset);
        break;
      }
      offset -= length;
    }
    if (base::Fd lock = state->LockIfFree(LockName(port), port)) {
      return state->Add(job_uid, port, std::move(lock));
    }
  }
  return base::Fail(base::Code::kExhausted,
                    "no TCP port is free outside the kernel's range (ip_local_port_range)");
}

int PortAllocator::State::Add(const std::string& job_uid, int port, base::Fd lock) {
  if (held >= kMaxHeldLocks) lock.Reset();
  if (lock) ++held;
  ports.insert(port);
  by_job.emplace(job_uid, Assigned{port, std::move(lock)});
  return port;
}

void PortAllocator::State::Remove(std::map<std::string, Assigned>::iterator job) {
  if (job->second.lock) --held;
  ports.erase(ports.find(job->second.port));
  by_job.erase(job);
}

base::Fd PortAllocator::State::TakeOver(int port) {
  if (!ports.contains(port)) return {};
  for (auto& [uid, assigned] : by_job) {
    if (assigned.port != port || assigned.is_started || assigned.is_given_up) continue;
    assigned.is_given_up = true;
    if (assigned.lock) --held;
    return std::exchange(assigned.lock, {});
  }
  return {};
}

void PortAllocator::Release(const std::string& job_uid) {
  auto state = state_.Lock();
  if (const auto it = state->by_job.find(job_uid); it != state->by_job.end()) state->Remove(it);
}

std::optional<int> PortAllocator::Find(const std::string& job_uid) const {
  auto state = state_.Lock();
  const auto it = state->by_job.find(job_uid);
  if (it == state->by_job.end()) return std::nullopt;
  return it->second.port;
}

base::Result<base::Fd> PortAllocator::LockForStart(const std::string& job_uid,
                                                   std::string_view pod_name) {
  auto state = state_.Lock();
  const auto it = state->by_job.find(job_uid);
  if (it == state->by_job.end()) {
    return base::Fail(base::Code::kNotFound, "the job has no port of this machine");
  }
  Assigned& assigned = it->second;
  if (assigned.is_given_up && !assigned.lock) {
    // Stored pods of both have the port: whoever starts first has it.
    assigned.lock = state->TakeOver(assigned.port);
    if (assigned.lock) ++state->held;
  }
  if (!assigned.lock) {
    TRY_ASSIGN(assigned.lock, LockMachineWide(LockName(assigned.port)));
    ++state->held;
  }
  assigned.is_given_up = false;
  if (!IsPortFree(assigned.port) && !IsServedByPeer(assigned.port, job_uid, pod_name)) {
    return base::Fail(
        base::Code::kUnavailable,
        fmt::format("port {} of the job is in use by another program", assigned.port));
  }
  base::Fd copy(::fcntl(assigned.lock.get(), F_DUPFD_CLOEXEC, 0));
  if (!copy) return base::Fail(base::Errno(errno, "copy the port's lock"));
  assigned.is_started = true;
  return copy;
}

}  // namespace local::node
