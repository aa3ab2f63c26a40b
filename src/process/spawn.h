// Starting programs: exec with everything set that a supervised process needs.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "process/rights.h"

namespace process {

struct FdMapping {
  int from;  // ours
  int to;    // the program's
};

struct SpawnOptions {
  std::string path;               // no search; see FindProgram
  std::vector<std::string> argv;  // argv[0] included
  std::vector<std::string> env;   // "NAME=value", complete
  std::string cwd;                // "" keeps ours
  std::vector<FdMapping> fds;     // everything else is closed in the program
  enum class Group { kInherit, kProcessGroup, kSession };
  Group group = Group::kInherit;
  bool has_terminal = false;      // with kSession: fd 0 becomes the controlling terminal
  bool dies_with_parent = false;  // SIGKILL when the calling thread's process ends
  std::optional<mode_t> umask{};  // nothing keeps ours
  Rights rights{};
  std::string cgroup;        // the directory of one (v2) that it is to be in; "" is ours
  bool is_detached = false;  // a child of init (or of a subreaper above us), never a zombie
};

// Starts the program, with default signal dispositions and an empty signal mask. Returns its pid
// once exec has succeeded; otherwise the failing step and path: `exec "x": No such file or
// directory`. A program that is not detached must be reaped by the caller.
base::Result<pid_t> Spawn(const SpawnOptions& options);
// The same with nothing on its stdin, its stdout to nobody, and this process's stderr.
base::Result<pid_t> SpawnQuietly(SpawnOptions options);

// Of this process, which nobody can ask for without setting it: not while other threads make files.
mode_t CurrentUmask();

// `name` itself when it holds a slash, else the first executable file of that name in `path_list`
// ("/usr/bin:/bin"). kNotFound: `exec: "name": executable file not found in $PATH`.
base::Result<std::string> FindProgram(const std::string& name, std::string_view path_list);

}  // namespace process
