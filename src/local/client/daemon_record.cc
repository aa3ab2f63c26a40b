#include "local/client/daemon_record.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <sstream>

#include "base/file.h"
#include "base/strings.h"
#include "process/procfs.h"
#include "text/json.h"

namespace local::daemon {
namespace {

constexpr size_t kMaxRecordBytes = 64 << 10;

// Nullopt for a process that has ended, reaped or not.
std::optional<std::string> StartOf(pid_t pid) {
  const auto stat = process::ReadStat(pid);
  const auto boot = process::BootId();
  if (!stat || !boot || stat->state == 'Z' || stat->state == 'X') return std::nullopt;
  return fmt::format("{}:{}", *boot, stat->start_ticks);
}

}  // namespace

base::Result<DaemonRecord> OwnRecord(const BuildId& build, const std::string& socket) {
  const auto started = StartOf(::getpid());
  if (!started) return base::Fail(base::Code::kInternal, "/proc does not show this process");
  return DaemonRecord{::getpid(), *started, build, socket};
}

base::Status WriteRecord(int lock, const DaemonRecord& record) {
  const std::string line = text::ToJson(text::Object{{"pid", record.pid},
                                                     {"started", record.started},
                                                     {"version", record.build.version},
                                                     {"commit", record.build.commit},
                                                     {"date", record.build.date},
                                                     {"socket", record.socket}}) +
                           "\n";
  // Writes in one call, then truncates the rest of a longer record: readers take the first line.
  if (::pwrite(lock, line.data(), line.size(), 0) != static_cast<ssize_t>(line.size()) ||
      ::ftruncate(lock, static_cast<off_t>(line.size())) != 0) {
    return base::Fail(base::Errno(errno, "write daemon.lock"));
  }
  return {};
}

base::Result<std::optional<DaemonRecord>> ReadRecord(const std::string& lock_path) {
  const auto text = base::ReadFile(lock_path, kMaxRecordBytes);
  if (!text) {
    if (text.error().code == base::Code::kNotFound) return std::optional<DaemonRecord>();
    return base::Fail(text.error());
  }
  const auto json = text::ParseJson(std::string_view(*text).substr(0, text->find('\n')));
  if (!json) return std::optional<DaemonRecord>();
  DaemonRecord record;
  record.pid = static_cast<pid_t>(text::GetInt(*json, {"pid"}).value_or(0));
  record.started = text::GetString(*json, {"started"});
  record.build.version = text::GetString(*json, {"version"});
  record.build.commit = text::GetString(*json, {"commit"});
  record.build.date = text::GetString(*json, {"date"});
  record.socket = text::GetString(*json, {"socket"});
  if (record.pid <= 0) return std::optional<DaemonRecord>();
  return std::optional(std::move(record));
}

bool IsAlive(const DaemonRecord& record) { return StartOf(record.pid) == record.started; }

// 12: FLOCK  ADVISORY  WRITE 4711 08:02:131 0 EOF
std::optional<pid_t> LockHolder(const std::string& lock_path) {
  struct stat file{};
  const auto locks = base::ReadFile("/proc/locks");
  if (!locks || ::stat(lock_path.c_str(), &file) != 0) return std::nullopt;
  // On some file systems the device numbers differ from those of stat.
  const std::string inode = fmt::format(":{}", file.st_ino);
  for (const std::string& line : base::Split(*locks, '\n')) {
    std::istringstream words(line);
    std::string number, kind, mode, access, place;
    pid_t pid = 0;
    words >> number >> kind >> mode >> access >> pid >> place;
    struct stat holder{};
    if (!words || kind != "FLOCK" || access != "WRITE" || !place.ends_with(inode)) continue;
    if (pid <= 0 || ::stat(fmt::format("/proc/{}", pid).c_str(), &holder) != 0) continue;
    if (holder.st_uid == ::geteuid()) return pid;
  }
  return std::nullopt;
}

}  // namespace local::daemon
