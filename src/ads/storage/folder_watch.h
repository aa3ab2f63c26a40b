// FolderWatch: which files below a folder are written to, however deep (inotify).
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "process/inotify.h"

namespace ads {

// What it has said of a file holds until the next Read: the file may be gone by then. One thread.
class FolderWatch {
 public:
  // kNotFound without such a folder; kUnavailable where the kernel does not see every writer (a
  // file system of the network) or has no watches left.
  static base::Result<std::unique_ptr<FolderWatch>> Open(const std::string& folder);

  // Readable while there is something to Read.
  int fd() const { return inotify_.fd(); }

  struct Changes {
    // By their names below the folder: whether the writer has closed it.
    std::map<std::string, bool> files;
    // Events were lost: any file may have changed.
    bool has_gaps = false;
    // The folder has gone, or it can no longer be watched: open anew.
    bool has_ended = false;
  };
  Changes Read();

 private:
  FolderWatch(std::string folder, process::Inotify inotify)
      : folder_(std::move(folder)), inotify_(std::move(inotify)) {}
  // `name` is "" or ends with a slash; the files found in it are told as not closed.
  base::Status AddTree(const std::string& name, Changes& changes);
  void RemoveTree(const std::string& name);
  void Take(const process::Inotify::Event& event, Changes& changes);
  void TakeFolder(const process::Inotify::Event& event, const std::string& path, Changes& changes);

  const std::string folder_;
  process::Inotify inotify_;
  std::map<int, std::string> names_;  // of the watched folders
};

}  // namespace ads
