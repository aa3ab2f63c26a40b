// LocalNodes: the nodes of a job on this machine: their starts, ends and deaths.
//
//   <folder>/nodes/<rank>        FIFO that the node holds open for writing while it lives
//   <folder>/nodes/<rank>.ended  its exit code, written before it ends
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/fd.h"
#include "base/result.h"
#include "process/inotify.h"

namespace ads {

// The kernel closes the FIFO of a dead node whatever killed it, so there is no polling and no pid
// is stored. One thread at a time; does not block.
class LocalNodes {
 public:
  // `folder` is the job's, on a file system of this machine. Makes this node visible to the others.
  static base::Result<std::unique_ptr<LocalNodes>> Open(const std::string& folder, int64_t rank);
  LocalNodes(const LocalNodes&) = delete;
  LocalNodes& operator=(const LocalNodes&) = delete;
  // Removes the FIFO if ReportExit was called.
  ~LocalNodes();

  // Readable when a node has started, ended or died since the last Look.
  int fd() const { return poll_.get(); }
  // Makes fd() readable also when `other` is, which the caller has to read.
  base::Status AlsoWatch(int other);

  struct State {
    std::map<int64_t, int> ended;  // rank -> exit code, including this node's own
    std::set<int64_t> living;      // without this one
    std::set<int64_t> lost;        // died without writing an exit code
  };
  base::Result<State> Look();
  // Reports the exit code of this node to the others.
  base::Status ReportExit(int exit_code);

 private:
  LocalNodes(std::string folder, int64_t rank, base::Fd poll, process::Inotify changes)
      : folder_(std::move(folder)),
        rank_(rank),
        poll_(std::move(poll)),
        changes_(std::move(changes)) {}
  base::Status MakeOwn();
  base::Status OpenOthers();
  bool HasDied(int64_t rank);
  std::optional<int> ExitCodeOf(int64_t rank) const;
  std::string PathOfOwn() const;

  const std::string folder_;
  const int64_t rank_;
  const base::Fd poll_;
  process::Inotify changes_;
  base::Fd own_;
  bool has_reported_ = false;
  std::set<int64_t> ended_;             // nodes that have written their exit codes
  std::map<int64_t, base::Fd> others_;  // alive at the last look
  std::set<int64_t> dead_;
};

}  // namespace ads
