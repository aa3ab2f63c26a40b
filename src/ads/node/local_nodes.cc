#include "ads/node/local_nodes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include "base/file.h"
#include "base/strings.h"

namespace ads {
namespace {

constexpr size_t kMaxExitCodeBytes = 16;
constexpr std::string_view kEnded = ".ended";

base::Status AddToPoll(int poll, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  if (::epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event) == 0) return {};
  return base::Fail(base::Errno(errno, "watch the job's nodes"));
}

}  // namespace

base::Result<std::unique_ptr<LocalNodes>> LocalNodes::Open(const std::string& folder,
                                                           int64_t rank) {
  std::string nodes = folder + "/nodes";
  TRY(base::MakeDirs(nodes));
  base::Fd poll(::epoll_create1(EPOLL_CLOEXEC));
  if (!poll) return base::Fail(base::Errno(errno, "epoll"));
  TRY_ASSIGN(process::Inotify changes, process::Inotify::Create());
  TRY(changes.Watch(nodes, IN_MOVED_TO));
  TRY(AddToPoll(poll.get(), changes.fd()));
  std::unique_ptr<LocalNodes> made(
      new LocalNodes(std::move(nodes), rank, std::move(poll), std::move(changes)));
  TRY(made->MakeOwn());
  return made;
}

LocalNodes::~LocalNodes() {
  if (has_reported_) ::unlink(PathOfOwn().c_str());
}

std::string LocalNodes::PathOfOwn() const { return fmt::format("{}/{}", folder_, rank_); }

// It is renamed to its final name once it is held, so that a visible one means a living node.
base::Status LocalNodes::MakeOwn() {
  const std::string path = PathOfOwn();
  const std::string fresh = path + ".new";
  if (::unlink(fresh.c_str()) != 0 && errno != ENOENT) {
    return base::Fail(base::Errno(errno, fmt::format("remove \"{}\"", fresh)));
  }
  if (::mkfifo(fresh.c_str(), 0600) != 0) {
    return base::Fail(base::Errno(errno, fmt::format("make \"{}\"", fresh)));
  }
  own_ = base::Fd(::open(fresh.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!own_) return base::Fail(base::Errno(errno, fmt::format("open \"{}\"", fresh)));
  if (::rename(fresh.c_str(), path.c_str()) != 0) {
    return base::Fail(base::Errno(errno, fmt::format("rename \"{}\"", fresh)));
  }
  return {};
}

base::Status LocalNodes::AlsoWatch(int other) { return AddToPoll(poll_.get(), other); }

base::Status LocalNodes::OpenOthers() {
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder_, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.ends_with(kEnded)) {
      const auto ended = base::ParseInt(name.substr(0, name.size() - kEnded.size()));
      if (ended) ended_.insert(*ended);
      continue;
    }
    const auto rank = base::ParseInt(name);
    if (!rank || *rank == rank_ || others_.contains(*rank) || dead_.contains(*rank)) continue;
    base::Fd fifo(::open(at->path().c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (!fifo && errno == ENOENT) continue;  // it has ended meanwhile
    if (!fifo) return base::Fail(base::Errno(errno, at->path().string()));
    TRY(AddToPoll(poll_.get(), fifo.get()));
    others_.emplace(*rank, std::move(fifo));
  }
  if (error) return base::Fail(base::Errno(error.value(), folder_));
  return {};
}

// A FIFO without a writer is at end of file.
bool LocalNodes::HasDied(int64_t rank) {
  char byte = 0;
  return ::read(others_.at(rank).get(), &byte, 1) == 0;
}

std::optional<int> LocalNodes::ExitCodeOf(int64_t rank) const {
  const auto text =
      base::ReadFile(fmt::format("{}/{}{}", folder_, rank, kEnded), kMaxExitCodeBytes);
  const auto code = text ? base::ParseInt(*text) : std::nullopt;
  if (!code) return std::nullopt;
  return static_cast<int>(*code);
}

base::Result<LocalNodes::State> LocalNodes::Look() {
  (void)changes_.Read();
  TRY(OpenOthers());
  for (auto at = others_.begin(); at != others_.end();) {
    if (HasDied(at->first)) {
      dead_.insert(at->first);
      ::epoll_ctl(poll_.get(), EPOLL_CTL_DEL, at->second.get(), nullptr);
      at = others_.erase(at);
    } else {
      ++at;
    }
  }
  State state;
  for (const auto& [rank, fifo] : others_) state.living.insert(rank);
  // It wrote its exit code before it ended.
  for (const int64_t rank : dead_) {
    if (!ExitCodeOf(rank)) {
      state.lost.insert(rank);
    } else {
      ended_.insert(rank);
    }
  }
  for (const int64_t rank : ended_) {
    if (const auto code = ExitCodeOf(rank)) state.ended[rank] = *code;
  }
  return state;
}

base::Status LocalNodes::ReportExit(int exit_code) {
  TRY(base::WriteFileAtomic(fmt::format("{}/{}{}", folder_, rank_, kEnded),
                            std::to_string(exit_code), 0600, base::Durability::kNone));
  has_reported_ = true;
  return {};
}

}  // namespace ads
