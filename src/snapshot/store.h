// Snapshots of folders, each file kept once however many snapshots hold it.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "snapshot/folder.h"

namespace snapshot {

struct File {
  std::string path;
  enum class Kind { kPlain, kExecutable, kLink } kind = Kind::kPlain;
  std::string hash;  // SHA-256 of what it holds, or of where the link leads to, in hexadecimal
  int64_t size = 0;
};

struct Snapshot {
  std::string hash;  // of the list of files; equal for equal trees
  std::vector<File> files;
  int64_t bytes = 0;
};

// In a directory of its own (formats/snapshots.md). Several processes may use it at once.
class Store {
 public:
  explicit Store(std::string directory) : directory_(std::move(directory)) {}

  // Keeps what the entries hold now. What has not changed since the last time (by size, times and
  // inode) is not read again. kExhausted when the disk is full: then no snapshot is kept.
  base::Result<Snapshot> Take(const std::string& root, const std::vector<Entry>& entries);
  // kNotFound when there is none of that hash.
  base::Result<Snapshot> Read(const std::string& hash) const;
  // What a file holds, or where a link leads to.
  base::Result<std::string> ContentOf(const File& file) const;
  // Makes the folder `target`, with the caller's umask. What was made is taken away on an error.
  base::Status WriteTo(const Snapshot& snapshot, const std::string& target) const;
  // A tar archive of it, compressed by gzip, made by this machine's `tar`: root's, and the same
  // bytes for the same snapshot. kNotFound, naming the program, where there is none.
  base::Result<std::string> Pack(const Snapshot& snapshot,
                                 const base::Environment& environment) const;
  // Removes the snapshots whose hash is not in `kept`, and the files that only they held; what was
  // made within `grace` stays, for it may be another process's that is not yet done.
  void Prune(const std::set<std::string>& kept, base::Duration grace) const;

 private:
  std::string ObjectPath(const std::string& hash) const;
  base::Status Keep(const std::string& hash, std::string_view content) const;
  base::Status WriteSome(std::span<const File> files, const std::string& target) const;
  base::Status WriteFiles(const Snapshot& snapshot, const std::string& target) const;

  const std::string directory_;
};

}  // namespace snapshot
