#include "launch/workers/file_timer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>

#include "launch/python/numbers.h"
#include "text/json.h"

namespace launch {
namespace {

constexpr mode_t kPipeMode = 0600;
constexpr size_t kMostTimers = 10'000;
// The longest wait, so that a change of the clock is noticed.
constexpr double kLongestWait = 60;

double NumberAt(const text::Json& request, std::string_view name) {
  const text::Json* const value = text::Find(request, {name});
  return value != nullptr && value->is_number() ? value->to_number<double>() : 0;
}

}  // namespace

base::Result<std::unique_ptr<FileTimer>> FileTimer::Open(process::EventLoop& loop,
                                                         base::Clock& clock, std::string path,
                                                         OnLate on_late) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) == 0 && S_ISFIFO(info.st_mode)) ::unlink(path.c_str());
  if (::mkfifo(path.c_str(), kPipeMode) != 0) {
    return base::Fail(base::Errno(errno, fmt::format("make the pipe \"{}\"", path)));
  }
  std::unique_ptr<FileTimer> timer(new FileTimer(loop, clock, std::move(path), std::move(on_late)));
  // Opened for writing as well, so that it never ends.
  timer->pipe_ = base::Fd(::open(timer->path_.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!timer->pipe_) return base::Fail(base::Errno(errno, "open the pipe"));
  TRY(loop.Watch(timer->pipe_.get(), EPOLLIN,
                 [raw = timer.get()](uint32_t) { raw->OnReadable(); }));
  return timer;
}

FileTimer::~FileTimer() {
  if (pipe_) loop_.Unwatch(pipe_.get());
  loop_.Cancel(next_);
  ::unlink(path_.c_str());
}

void FileTimer::OnReadable() {
  std::array<char, PIPE_BUF> bytes;
  const ssize_t count = ::read(pipe_.get(), bytes.data(), bytes.size());
  if (count <= 0) return;
  unfinished_.append(bytes.data(), static_cast<size_t>(count));
  for (size_t end = 0; (end = unfinished_.find('\n')) != std::string::npos;) {
    Take(std::string_view(unfinished_).substr(0, end));
    unfinished_.erase(0, end + 1);
  }
  // A request is written as a whole, with at most PIPE_BUF bytes.
  if (unfinished_.size() > PIPE_BUF) unfinished_.clear();
  Arm();
}

void FileTimer::Take(std::string_view line) {
  const auto request = text::ParseJson(line);
  if (!request) return;
  const double pid = NumberAt(*request, "pid");
  const double signal = NumberAt(*request, "signal");
  const text::Json* const scope = text::Find(*request, {"scope_id"});
  if (scope == nullptr || !(pid >= 1 && pid <= INT_MAX) || !(signal <= INT_MAX)) return;
  const std::pair key(static_cast<pid_t>(pid), std::string(text::GetString(*scope, {})));
  const double expiration = NumberAt(*request, "expiration_time");
  if (expiration < 0) {
    timers_.erase(key);
  } else if (timers_.size() < kMostTimers || timers_.contains(key)) {
    timers_[key] = {expiration, static_cast<int>(std::max(signal, 0.0))};
  }
}

double FileTimer::Now() const {
  return std::chrono::duration<double>(clock_.Now().time_since_epoch()).count();
}

void FileTimer::Arm() {
  loop_.Cancel(std::exchange(next_, 0));
  if (timers_.empty()) return;
  const auto first = std::min_element(
      timers_.begin(), timers_.end(),
      [](const auto& a, const auto& b) { return a.second.expiration < b.second.expiration; });
  const double wait = std::clamp(first->second.expiration - Now(), 0.0, kLongestWait);
  next_ =
      loop_.After(std::chrono::ceil<base::Duration>(std::chrono::duration<double>(wait)), [this] {
        next_ = 0;
        ReportLate();
        Arm();
      });
}

void FileTimer::ReportLate() {
  // The earliest timer with a signal counts for each process.
  std::map<pid_t, std::pair<std::string, Timer>> late;
  const double now = Now();
  for (const auto& [key, timer] : timers_) {
    if (timer.expiration > now) continue;
    auto& known = late[key.first];
    const bool is_first = known.second.signal == 0 || timer.expiration < known.second.expiration;
    if (timer.signal > 0 && is_first) known = {key.second, timer};
  }
  std::erase_if(timers_, [&](const auto& entry) { return late.contains(entry.first.first); });
  for (const auto& [pid, named] : late) {
    if (named.second.signal > 0) on_late_(pid, named.first, named.second.signal);
  }
}

}  // namespace launch
