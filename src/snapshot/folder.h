// Which files of the caller's folder a job gets: those of git, or everything except generated
// files.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/environment.h"
#include "base/result.h"

namespace snapshot {

// The folder from which a job is run, and the tree that is copied with it.
struct Folder {
  std::string root;    // absolute: the git work tree's, otherwise the folder itself
  std::string inside;  // the folder, relative to `root`; "": `root`
  bool is_git = false;
};

// What git says of a work tree.
struct GitState {
  std::string commit;   // "" before the first
  int64_t changes = 0;  // files that differ from it, including new ones
  std::string diff;     // of the files that git tracks, as `git diff` prints it; cut at kMaxDiff
};
inline constexpr size_t kMaxDiff = 256 << 10;

// Follows links in `path`. kNotFound when it is not a folder; kInvalidArgument, with git's message
// and what to do, when it is in a work tree that git refuses to read.
base::Result<Folder> FindFolder(const std::string& path, const base::Environment& environment);

// A file, or a symbolic link.
struct Entry {
  std::string path;  // relative to the root
  struct stat info{};
  // The target of a link, for a copy of the tree: relative if it is within the tree, and absolute
  // if it is not.
  std::string link;
};

// Why ListFolder leaves out what is at `path`, relative to the root, whatever .gitignore and
// .musterignore say: "venv is a virtual environment"; "" without such a reason.
std::string ReasonLeftOut(const Folder& folder, const std::string& path);

// The file whose patterns leave files out of what a job gets.
constexpr const char* IgnoreFile(bool is_git) { return is_git ? ".gitignore" : ".musterignore"; }

// An empty state for a folder without git. Blocks as long as git looks through the tree; may be
// called beside ListFolder.
base::Result<GitState> ReadGitState(const Folder& folder, const base::Environment& environment);

struct Listing {
  std::vector<Entry> entries;          // sorted by path
  std::vector<std::string> unfetched;  // submodules whose files git has not fetched yet
  std::vector<std::string> pointers;   // files whose contents git LFS has not fetched yet
  std::vector<std::string> outside;    // "data -> /mnt/data": links that leave the tree
};

struct ListLimits {
  int64_t bytes = 100 << 20;
  int64_t files = 20'000;
};

// In a git work tree: files that git tracks or does not ignore, including those of submodules and
// of other repositories in it. Elsewhere: everything except for the patterns of .musterignore,
// .git,
// __pycache__, virtual and conda environments and muster's own state. kExhausted when it exceeds
// `limits`, naming the largest files.
base::Result<Listing> ListFolder(const Folder& folder, const ListLimits& limits,
                                 const base::Environment& environment);

}  // namespace snapshot
