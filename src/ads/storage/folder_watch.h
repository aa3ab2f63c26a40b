// FolderWatch: reports which files below a folder are written to, at any depth (inotify).
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "process/inotify.h"

namespace ads {

// Names are valid until the next Read: the file may be gone by then. One thread.
class FolderWatch {
 public:
  // kNotFound without such a folder; kUnavailable if the kernel does not see all writers (a network
  // file system) or has no watches left.
  static base::Result<std::unique_ptr<FolderWatch>> Open(const std::string& folder);

  // Readable while there is something to Read.
  int fd() const { return inotify_.fd(); }

  struct Changes {
    // By names relative to the folder: whether the writer has closed it.
    std::map<std::string, bool> files;
    // Events were lost: any file may have changed.
    bool has_gaps = false;
    // The folder is gone, or can no longer be watched: open a new watch.
    bool has_ended = false;
  };
  Changes Read();

 private:
  FolderWatch(std::string folder, process::Inotify inotify)
      : folder_(std::move(folder)), inotify_(std::move(inotify)) {}
  // `name` is "" or ends with a slash; the files found in it are reported as not closed.
  base::Status AddTree(const std::string& name, Changes& changes);
  void RemoveTree(const std::string& name);
  void Take(const process::Inotify::Event& event, Changes& changes);
  void TakeFolder(const process::Inotify::Event& event, const std::string& path, Changes& changes);

  const std::string folder_;
  process::Inotify inotify_;
  std::map<int, std::string> names_;  // of the watched folders
};

}  // namespace ads
