// Starts programs: exec with all the settings that a supervised process needs.
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
  int to;    // the program's descriptor
};

struct SpawnOptions {
  std::string path;               // not searched; see FindProgram
  std::vector<std::string> argv;  // including argv[0]
  std::vector<std::string> env;   // "NAME=value", complete
  std::string cwd;                // "": ours
  std::vector<FdMapping> fds;     // all other descriptors are closed in the program
  enum class Group { kInherit, kProcessGroup, kSession };
  Group group = Group::kInherit;
  bool has_terminal = false;      // with kSession: fd 0 becomes the controlling terminal
  bool dies_with_parent = false;  // SIGKILL when the calling thread's process ends
  std::optional<mode_t> umask{};  // nullopt: ours
  Rights rights{};
  std::string cgroup;        // directory of the cgroup (v2) to run in; "": ours
  bool is_detached = false;  // a child of init (or of a subreaper above us), never a zombie
};

// Starts the program, with default signal dispositions and an empty signal mask. Returns its pid
// once exec has succeeded; otherwise the error has the failing step and the path: `exec "x": No
// such file or directory`. The caller must reap a program that is not detached.
base::Result<pid_t> Spawn(const SpawnOptions& options);
// The same with empty stdin, discarded stdout, and this process's stderr.
base::Result<pid_t> SpawnQuietly(SpawnOptions options);

// The umask of this process. Reading it requires setting it, so it must not be called while other
// threads create files.
mode_t CurrentUmask();

// The value of PATH in "NAME=value" entries, the last one's, or a default.
std::string PathOf(const std::vector<std::string>& env);

// `name` itself when it contains a slash, otherwise the first executable file of that name in
// `path_list` ("/usr/bin:/bin"). kNotFound: `exec: "name": executable file not found in $PATH`.
base::Result<std::string> FindProgram(const std::string& name, std::string_view path_list);

}  // namespace process
