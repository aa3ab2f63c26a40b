#include "ads/storage/folder_watch.h"

#include <fmt/format.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include <filesystem>
#include <vector>

#include "ads/storage/shared_file_system.h"

namespace ads {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kWatchedEvents = IN_CREATE | IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_FROM |
                                    IN_MOVED_TO | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF |
                                    IN_ONLYDIR | IN_EXCL_UNLINK;

bool IsFolder(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

}  // namespace

base::Result<std::unique_ptr<FolderWatch>> FolderWatch::Open(const std::string& folder) {
  if (!IsFolder(folder)) {
    return base::Fail(base::Code::kNotFound, fmt::format("there is no folder \"{}\"", folder));
  }
  if (IsOnSharedFileSystem(folder)) {
    return base::Fail(base::Code::kUnavailable,
                      fmt::format("\"{}\" is on a file system of the network", folder));
  }
  auto inotify = process::Inotify::Create();
  if (!inotify) return base::Fail(base::Code::kUnavailable, inotify.error().message);
  std::unique_ptr<FolderWatch> watch(new FolderWatch(folder, std::move(*inotify)));
  Changes found;
  if (base::Status status = watch->AddTree("", found); !status) {
    return base::Fail(base::Code::kUnavailable, status.error().message);
  }
  return watch;
}

base::Status FolderWatch::AddTree(const std::string& name, Changes& changes) {
  std::vector<std::string> left{name};
  while (!left.empty()) {
    const std::string below = std::move(left.back());
    left.pop_back();
    const std::string path = folder_ + "/" + below;
    // Before it is read, so that later changes cause events.
    const auto watch = inotify_.Watch(path, kWatchedEvents);
    if (!watch) {
      if (!IsFolder(path)) continue;  // deleted meanwhile
      return base::Fail(watch.error());
    }
    names_[*watch] = below;
    std::error_code error;
    for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
      const std::string entry = below + at->path().filename().string();
      std::error_code ignored;
      if (at->symlink_status(ignored).type() == fs::file_type::directory) {
        left.push_back(entry + "/");
      } else {
        changes.files.emplace(entry, false);
      }
    }
  }
  return {};
}

void FolderWatch::RemoveTree(const std::string& name) {
  std::erase_if(names_, [&](const auto& watched) {
    if (!watched.second.starts_with(name)) return false;
    inotify_.Unwatch(watched.first);
    return true;
  });
  // Its events, including pending ones, are ignored from now on.
}

void FolderWatch::TakeFolder(const process::Inotify::Event& event, const std::string& path,
                             Changes& changes) {
  const std::string name = path + "/";
  if ((event.mask & IN_MOVED_FROM) != 0) RemoveTree(name);
  if ((event.mask & (IN_CREATE | IN_MOVED_TO)) != 0 && !AddTree(name, changes)) {
    changes.has_ended = true;
  }
}

void FolderWatch::Take(const process::Inotify::Event& event, Changes& changes) {
  if ((event.mask & IN_Q_OVERFLOW) != 0) {
    changes.has_gaps = true;
    return;
  }
  const auto watched = names_.find(event.watch);
  if (watched == names_.end()) return;
  const std::string& below = watched->second;
  if ((event.mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED)) != 0) {
    if (below.empty()) {
      changes.has_ended = true;
    } else if ((event.mask & IN_IGNORED) != 0) {
      names_.erase(watched);
    }
    return;
  }
  const std::string path = below + event.name;
  if ((event.mask & IN_ISDIR) != 0) {
    TakeFolder(event, path, changes);
  } else if ((event.mask & (IN_DELETE | IN_MOVED_FROM)) != 0) {
    changes.files.erase(path);
  } else {
    changes.files[path] = (event.mask & (IN_CLOSE_WRITE | IN_MOVED_TO)) != 0;
  }
}

FolderWatch::Changes FolderWatch::Read() {
  Changes changes;
  for (const process::Inotify::Event& event : inotify_.Read()) Take(event, changes);
  // Folders may have been created without an event.
  if (changes.has_gaps && !AddTree("", changes)) changes.has_ended = true;
  return changes;
}

}  // namespace ads
