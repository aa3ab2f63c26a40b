#include "local/daemon/progress/event_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/strings.h"
#include "local/daemon/progress/event_files.h"

namespace local::daemon {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEventFile = "events.out.tfevents.";
constexpr size_t kHeadBytes = 64;  // an event file begins with its version and the time
// How far the clocks of those who write may be from this one's: files may be on a server.
constexpr runs::Millis kClockSlack = 60'000;

struct Listed {
  std::vector<std::string> names;  // paths below the folder, by the time of their last change
  bool is_whole = false;           // there are no others
};

Listed EventFilesBelow(const std::string& folder, runs::Millis since) {
  std::vector<std::pair<runs::Millis, std::string>> found;
  std::error_code failure;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied,
                                      failure);
  size_t entries = 0;
  for (const fs::recursive_directory_iterator end; !failure && at != end; at.increment(failure)) {
    if (++entries > kMostEntries) break;
    if (at.depth() >= kMostDepth) at.disable_recursion_pending();
    if (!at->path().filename().string().starts_with(kEventFile)) continue;
    struct stat status{};
    if (::lstat(at->path().c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    const runs::Millis changed =
        runs::Millis{status.st_mtim.tv_sec} * 1000 + status.st_mtim.tv_nsec / 1'000'000;
    if (changed < since) continue;
    found.emplace_back(changed, at->path().string().substr(folder.size() + 1));
  }
  std::sort(found.begin(), found.end());
  Listed listed;
  for (auto& [changed, name] : found) listed.names.push_back(std::move(name));
  listed.is_whole = !failure && entries <= kMostEntries;
  return listed;
}

// When the file was made, as TensorBoard names it: events.out.tfevents.1764000000.host...
runs::Millis TimeInName(const std::string& path) {
  std::string_view name = path;
  name.remove_prefix(name.rfind(kEventFile) + kEventFile.size());
  const auto seconds = base::ParseInt(name.substr(0, name.find('.')));
  return seconds && *seconds > 0 && *seconds < runs::kLatest / 1000 ? *seconds * 1000 : INT64_MAX;
}

}  // namespace

void EventFolder::Look(runs::Millis now, const Visit& visit) {
  const Listed listed = EventFilesBelow(folder_, since_ - kClockSlack);
  const std::vector<std::string>& names = listed.names;
  for (size_t i = names.size() - std::min(names.size(), kMostEventFiles); i < names.size(); ++i) {
    Read(folder_ + "/" + names[i], names[i], now, visit);
  }
  has_looked_ = true;
  // Those that are listed are kept though others are newer, or they would be read again.
  if (files_.size() <= (listed.is_whole ? kMostEventFiles : kMostEntries)) return;
  const std::set<std::string> is_listed(names.begin(), names.end());
  std::erase_if(files_, [&](const auto& one) { return !is_listed.contains(one.first); });
}

EventFolder::File& EventFolder::Known(const std::string& name, int fd, ino_t inode, uint64_t size) {
  std::string head(kHeadBytes, '\0');
  const ssize_t count = ::pread(fd, head.data(), head.size(), 0);
  head.resize(count > 0 ? static_cast<size_t>(count) : 0);
  const auto [known, is_first] = files_.try_emplace(name);
  File& file = known->second;
  if (is_first && (!has_looked_ || TimeInName(name) < since_ - kClockSlack)) {
    file.old_size = size;
    file.newer = since_;
  }
  const bool is_another = size < file.offset || file.inode != inode || !head.starts_with(file.head);
  if (!is_first && is_another) {
    const runs::Millis newest = file.newest;
    file = File();
    file.old_size = UINT64_MAX;
    file.newer = newest + 1;
    file.newest = newest;
  }
  file.inode = inode;
  file.head = std::move(head);
  return file;
}

void EventFolder::Read(const std::string& path, const std::string& name, runs::Millis now,
                       const Visit& visit) {
  const base::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status{};
  if (!fd || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  File& file = Known(name, fd.get(), status.st_ino, static_cast<uint64_t>(status.st_size));
  const runs::Millis earliest = std::min(since_, now) - kClockSlack;
  std::string buffer(256 << 10, '\0');
  for (size_t read = 0; read < kMostEventBytes && !file.reader.is_damaged();) {
    const ssize_t count =
        ::pread(fd.get(), buffer.data(), buffer.size(), static_cast<off_t>(file.offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    read += static_cast<size_t>(count);
    const bool is_old = file.offset < file.old_size;
    file.offset += static_cast<uint64_t>(count);
    file.reader.Feed(std::string_view(buffer).substr(0, static_cast<size_t>(count)),
                     [&](std::string_view record) {
                       const auto event = runs::ReadEvent(record);
                       if (!event || (is_old && event->at < file.newer)) return;
                       file.newest = std::max(file.newest, event->at);
                       const bool is_possible =
                           event->at >= earliest && event->at <= now + kClockSlack;
                       visit(name, is_possible ? event->at : now, *event);
                     });
  }
}

}  // namespace local::daemon
