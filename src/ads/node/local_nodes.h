// LocalNodes: the nodes of a job on this machine, as they begin, end and die.
//
//   <folder>/nodes/<rank>        FIFO that the node holds open for writing as long as it lives
//   <folder>/nodes/<rank>.ended  its exit code, before it ends
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

// The kernel closes a dead node's FIFO whatever killed it, so nobody is asked and no pid is kept.
// One thread at a time; does not block.
class LocalNodes {
 public:
  // `folder` is the job's, on a file system of this machine. Shows this node to the others.
  static base::Result<std::unique_ptr<LocalNodes>> Open(const std::string& folder, int64_t rank);
  LocalNodes(const LocalNodes&) = delete;
  LocalNodes& operator=(const LocalNodes&) = delete;
  // Takes the FIFO away after Tell.
  ~LocalNodes();

  // Readable when a node has begun, ended or died since the last Look.
  int fd() const { return poll_.get(); }
  // Makes fd() readable with `other` too, which is the caller's to read.
  base::Status AlsoWatch(int other);

  struct State {
    std::map<int64_t, int> ended;  // rank to exit code, this node's own with them
    std::set<int64_t> living;      // but this one
    std::set<int64_t> lost;        // dead without a word
  };
  base::Result<State> Look();
  // Tells the others how this node has ended.
  base::Status Tell(int exit_code);

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
  bool has_told_ = false;
  std::set<int64_t> told_;              // who has said how it ended
  std::map<int64_t, base::Fd> others_;  // living when last looked at
  std::set<int64_t> dead_;
};

}  // namespace ads
