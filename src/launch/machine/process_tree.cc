#include "launch/machine/process_tree.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "base/clock.h"
#include "base/file.h"
#include "base/strings.h"
#include "process/procfs.h"

namespace launch {
namespace {

constexpr base::Duration kLongestKill = std::chrono::seconds(10);
constexpr int kKillRoundMillis = 5;

bool Contains(const std::vector<pid_t>& pids, pid_t pid) {
  return std::find(pids.begin(), pids.end(), pid) != pids.end();
}

// Children of all our threads. Kernels without such lists are asked the slow way.
std::vector<pid_t> Children() {
  std::vector<pid_t> children;
  std::error_code failed;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", failed)) {
    const auto text = base::ReadFile(task.path().string() + "/children");
    if (!text) continue;
    for (const std::string& word : base::Split(*text, ' ')) {
      if (const auto pid = base::ParseInt(word)) children.push_back(static_cast<pid_t>(*pid));
    }
  }
  if (!children.empty()) return children;
  for (const process::ProcessStat& stat : process::Descendants(::getpid())) {
    if (stat.parent == ::getpid()) children.push_back(stat.pid);
  }
  return children;
}

}  // namespace

void AdoptOrphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

std::vector<pid_t> RunningDescendants(const std::vector<pid_t>& except) {
  return RunningDescendantsOf(::getpid(), except);
}

std::vector<pid_t> RunningDescendantsOf(pid_t root, const std::vector<pid_t>& except) {
  std::vector<pid_t> running;
  std::vector<pid_t> skipped = except;
  // Parents come before their children.
  for (const process::ProcessStat& stat : process::Descendants(root)) {
    if (Contains(skipped, stat.pid) || Contains(skipped, stat.parent)) {
      skipped.push_back(stat.pid);
    } else if (stat.state != 'Z' && stat.state != 'X') {
      running.push_back(stat.pid);
    }
  }
  return running;
}

void SignalAll(const std::vector<pid_t>& pids, int signal) {
  for (const pid_t pid : pids) ::kill(pid, signal);
}

EndedBySignal WouldEnd(std::string_view status, int signal) {
  bool is_held = false;
  for (const std::string& line : base::Split(status, '\n')) {
    if (line.starts_with("State:\tZ") || line.starts_with("State:\tX")) {
      return EndedBySignal::kHasEnded;
    }
    for (const std::string_view mask : {"SigBlk:\t", "SigIgn:\t", "SigCgt:\t"}) {
      if (!line.starts_with(mask)) continue;
      is_held |= (std::strtoull(line.c_str() + mask.size(), nullptr, 16) >> (signal - 1) & 1) != 0;
    }
  }
  return is_held ? EndedBySignal::kNo : EndedBySignal::kYes;
}

EndedBySignal WouldEnd(pid_t pid, int signal) {
  // A process with much memory takes time to end; its handlers no longer run.
  if (const auto stat = process::ReadStat(pid); stat && stat->is_exiting) {
    return EndedBySignal::kHasEnded;
  }
  const auto status = base::ReadFile(fmt::format("/proc/{}/status", pid));
  return status ? WouldEnd(*status, signal) : EndedBySignal::kHasEnded;
}

void ReapOrphans(const std::vector<pid_t>& kept) {
  for (const pid_t child : Children()) {
    if (!Contains(kept, child)) ::waitpid(child, nullptr, WNOHANG);
  }
}

void KillTree(const std::vector<pid_t>& kept) {
  const auto give_up = base::SystemClock().Steady() + kLongestKill;
  while (base::SystemClock().Steady() < give_up) {
    const std::vector<pid_t> running = RunningDescendants(kept);
    SignalAll(running, SIGKILL);
    pid_t reaped = 0;
    do {
      reaped = ::waitpid(-1, nullptr, WNOHANG);
    } while (reaped > 0);
    if (reaped < 0 && errno == ECHILD) return;
    if (running.empty() && !kept.empty()) return;
    // A killed process needs a moment to end, and its children one to become ours.
    ::poll(nullptr, 0, kKillRoundMillis);
  }
}

uint64_t OutOfMemoryKills() {
  return process::OwnCgroupOomKills().value_or(process::OomKillCount());
}

}  // namespace launch
