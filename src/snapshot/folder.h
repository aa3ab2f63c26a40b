// What of the caller's folder a job gets: git's idea of it, or all but what is made from it.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/environment.h"
#include "base/result.h"

namespace snapshot {

// The folder that a job is run from, and the tree that goes with it.
struct Folder {
  std::string root;    // absolute: of the git work tree, else the folder itself
  std::string inside;  // the folder, relative to `root`; "" is `root`
  bool is_git = false;
  std::string commit;   // "" before the first one, and where there is no git
  int64_t changes = 0;  // files that differ from `commit`, new ones among them
};

// Follows links in `path`. kNotFound when it is not a folder; kInvalidArgument, in git's own words,
// when it is in a work tree that git refuses to read.
base::Result<Folder> FindFolder(const std::string& path, const base::Environment& environment);

// A file, or a symbolic link that stays in the tree.
struct Entry {
  std::string path;  // relative to the root
  struct stat info{};
  std::string link;  // where a link leads to, as it is written
};

struct ListLimits {
  int64_t bytes = 100 << 20;
  int64_t files = 20'000;
};

// Sorted by path. In a git work tree: files that git tracks or does not ignore,
// submodules' too. Elsewhere: all but what .musterignore names, .git, __pycache__, virtual
// environments and muster's own state. kExhausted when there is more than `limits` allow, with the
// largest files; kInvalidArgument for a link that leaves the tree.
base::Result<std::vector<Entry>> ListFolder(const Folder& folder, const ListLimits& limits,
                                            const base::Environment& environment);

}  // namespace snapshot
