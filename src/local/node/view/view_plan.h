// Which mounts make a pod's view of the machine. Pure: asks a HostTree, touches nothing.
//
// The view is a tmpfs root into which every top-level entry of the host is bound. A mount point
// that the host lacks makes its deepest existing ancestor "synthetic": a tmpfs directory with each
// of the host directory's entries bound one by one, and the mount point beside them. So
// `/root/code` can exist without a trace on the host, and /root/.venv stays where it is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "local/node/plan/pod_spec.h"

namespace local::node {

enum class HostKind { kAbsent, kDirectory, kFile, kSymlink, kForbidden };

struct HostEntry {
  std::string name;
  HostKind kind = HostKind::kFile;  // kFile stands for devices, sockets and pipes too
  std::string link_target;
};

// The machine as the pod's user sees it.
class HostTree {
 public:
  virtual ~HostTree() = default;
  // Of the last component itself. kForbidden: cannot be looked up.
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
    kBind,       // bind host path `source`, and what is mounted below it, on `target`
    kMemory,     // mount a tmpfs that every user may write to on `target`, which exists
  };
  Kind kind;
  std::string target;
  std::string source;
  bool read_only = false;
  bool is_optional = false;  // an entry of the host that may be left out when it cannot be bound
  int64_t memory = 0;        // of kMemory: bytes; 0 is the kernel's default

  bool operator==(const ViewStep&) const = default;
};

// More entries than this in a directory that would have to be synthetic are refused.
inline constexpr size_t kMaxSyntheticEntries = 4096;

// Steps in order, from an empty tmpfs root. `directories` are the ones that must exist and be
// accessible in the view (working directories); what the host lacks of them is made. Missing mount
// points inside a mount that may be written to are made in its source, as are those inside
// `own_directory`: it is the pod's.
// kInvalidArgument with a message for people.
base::Result<std::vector<ViewStep>> PlanView(const std::vector<Mount>& mounts,
                                             const std::vector<std::string>& directories,
                                             const std::string& own_directory,
                                             const HostTree& host);

}  // namespace local::node
