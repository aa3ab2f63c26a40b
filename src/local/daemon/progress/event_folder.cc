#include "local/daemon/progress/event_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <vector>

#include "base/fd.h"
#include "local/daemon/progress/event_files.h"

namespace local::daemon {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEventFile = "events.out.tfevents.";

// Paths below the folder.
std::vector<std::string> EventFilesBelow(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code failure;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied,
                                      failure);
  size_t entries = 0;
  for (const fs::recursive_directory_iterator end; !failure && at != end; at.increment(failure)) {
    if (++entries > kMostEntries || found.size() >= kMostEventFiles) break;
    if (at.depth() >= kMostDepth) at.disable_recursion_pending();
    std::error_code unknown;
    if (!at->is_regular_file(unknown) || at->is_symlink(unknown)) continue;
    if (!at->path().filename().string().starts_with(kEventFile)) continue;
    found.push_back(at->path().string().substr(folder.size() + 1));
  }
  return found;
}

}  // namespace

void EventFolder::Look(const Visit& visit) {
  for (const std::string& name : EventFilesBelow(folder_)) Read(folder_ + "/" + name, name, visit);
}

void EventFolder::Read(const std::string& path, const std::string& name, const Visit& visit) {
  const base::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status{};
  if (!fd || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  if (!files_.contains(name) && files_.size() >= kMostEventFiles) return;
  File& file = files_[name];
  if (static_cast<uint64_t>(status.st_size) < file.offset) file = File();
  std::string buffer(256 << 10, '\0');
  for (size_t read = 0; read < kMostEventBytes && !file.reader.is_damaged();) {
    const ssize_t count =
        ::pread(fd.get(), buffer.data(), buffer.size(), static_cast<off_t>(file.offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    read += static_cast<size_t>(count);
    file.offset += static_cast<uint64_t>(count);
    file.reader.Feed(std::string_view(buffer).substr(0, static_cast<size_t>(count)),
                     [&](std::string_view record) {
                       if (const auto event = runs::ReadEvent(record)) visit(name, *event);
                     });
  }
}

}  // namespace local::daemon
