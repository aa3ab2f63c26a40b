// Which mounts form a pod's view of the machine. Pure: queries a HostTree, changes nothing.
//
// The view is a tmpfs root into which every top-level entry of the host is bound. A mount point
// that the host does not have makes its deepest existing ancestor "synthetic": a tmpfs directory
// with each entry of the host's directory bound one by one, and the mount point beside them. So
// `/root/code` can exist without a trace on the host, and /root/.venv stays where it is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "local/node/pod/pod_spec.h"

namespace local::node {

enum class HostKind { kAbsent, kDirectory, kFile, kSymlink, kForbidden };

struct HostEntry {
  std::string name;
  HostKind kind = HostKind::kFile;  // kFile includes devices, sockets and pipes
  std::string link_target;
};

// The machine as the pod's user sees it.
class HostTree {
 public:
  virtual ~HostTree() = default;
  // The kind of the path's last component itself, without following links. kForbidden: it cannot be
  // looked up.
  virtual HostKind Kind(const std::string& path) const = 0;
  virtual std::string LinkTarget(const std::string& path) const = 0;
  // Whether entries of the directory can be looked up (search permission).
  virtual bool CanSearch(const std::string& path) const = 0;
  // Empty when it cannot be read.
  virtual std::vector<HostEntry> List(const std::string& path) const = 0;
};

struct ViewStep {
  enum class Kind {
    kTmpfs,      // mount a tmpfs on `target`, which exists
    kDirectory,  // make `target`
    kFile,       // make `target`, empty
    kSymlink,    // make `target` a link to `source`
    kBind,       // bind the host's `source` with its submounts on `target`
    kMemory,     // mount a tmpfs that every user may write to on `target`, which exists
  };
  Kind kind;
  std::string target;
  std::string source;
  bool read_only = false;
  bool is_optional = false;  // an entry of the host that may be left out if it cannot be bound
  int64_t memory = 0;        // kMemory: bytes; 0: the kernel's default

  bool operator==(const ViewStep&) const = default;
};

// A directory with more entries than this cannot become synthetic: the plan is refused.
inline constexpr size_t kMaxSyntheticEntries = 4096;

// The steps in order, beginning with an empty tmpfs root. `directories` must exist and be
// accessible in the view (working directories); the ones that the host lacks are created. Missing
// mount points inside a writable mount are created in its source, as are those inside
// `own_directory`, which is the pod's. kInvalidArgument has a message for the user.
base::Result<std::vector<ViewStep>> PlanView(const std::vector<Mount>& mounts,
                                             const std::vector<std::string>& directories,
                                             const std::string& own_directory,
                                             const HostTree& host);

}  // namespace local::node
