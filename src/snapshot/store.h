// Snapshots of folders, which store each file once however many snapshots contain it.
#pragma once

#include <cstdint>
#include <map>
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
  std::string hash;  // SHA-256 of its contents, or of the link's target, in hexadecimal
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

  // Stores the present contents of the entries, on disk when it returns. Files that are unchanged
  // since the last time (by size, times and inode) are not read again. kExhausted when the disk is
  // full. Nothing of what it has written remains after an error.
  base::Result<Snapshot> Take(const std::string& root, const std::vector<Entry>& entries);
  // kNotFound when there is none with that hash.
  base::Result<Snapshot> Read(const std::string& hash) const;
  // The contents of a file, or the target of a link.
  base::Result<std::string> ContentOf(const File& file) const;
  // Creates the folder `target`, with the caller's umask; on disk when it returns. Removes it again
  // on an error. After kNotFound, because somebody has removed a file from the store, the next Take
  // stores the file again.
  base::Status WriteTo(const Snapshot& snapshot, const std::string& target) const;
  // A gzip-compressed tar archive of it, created by this machine's `tar`: owned by root, and with
  // the same bytes for the same files. `more` adds contents by path. kNotFound names the program
  // when it is missing.
  base::Result<std::string> Pack(const Snapshot& snapshot,
                                 const std::map<std::string, std::string>& more,
                                 const base::Environment& environment) const;
  // Removes the snapshots whose hash is not in `kept`, and the files that only they contain. Keeps
  // what was created within `grace`, because another process may be using it.
  void Prune(const std::set<std::string>& kept, base::Duration grace) const;

 private:
  std::string ListPath(const std::string& hash) const;
  std::string ObjectPath(const std::string& hash) const;
  // Keeps the contents of the file at `path`, and sets the hash and the size of `file`.
  base::Status KeepFile(const std::string& path, off_t size, File& file,
                        std::vector<std::string>& made) const;
  // The same for a file of any size, which is not held in memory.
  base::Status KeepInParts(const std::string& path, File& file,
                           std::vector<std::string>& made) const;
  // Whether it is kept already. Renews its time then, so that Prune leaves it.
  bool Renew(const std::string& hash, int64_t size) const;
  // Adds the file to `made` if it was not there.
  base::Status Keep(const std::string& hash, std::string_view content,
                    std::vector<std::string>& made) const;
  base::Result<Snapshot> TakeAll(const std::string& root, const std::vector<Entry>& entries,
                                 std::vector<std::string>& made);
  base::Status WriteSome(std::span<const File> files, const std::string& target) const;
  base::Status WriteFiles(const Snapshot& snapshot, const std::string& target) const;

  const std::string directory_;
};

}  // namespace snapshot
