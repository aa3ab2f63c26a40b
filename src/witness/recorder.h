// Asks ranks for PyTorch's flight recorder, where the start-up hook has begun torch's own worker
// server (warm/python/recorder.py): each listens at a Unix socket in the folder that MUSTER_STACKS
// names. The server answers in C++, also while the interpreter hangs.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "base/fd.h"

namespace witness {

// One round: all are asked at once. One thread.
class RecorderQuestion {
 public:
  // Asks who listens, without blocking. Others, and those that do not take it, give no answer.
  RecorderQuestion(const std::string& folder, const std::vector<pid_t>& pids);

  // The JSON that has come whole, by pid. Blocks until all have answered, at most for `limit`; may
  // be called again. An answer beyond 8 MiB, or one that is no answer, is dropped.
  std::map<pid_t, std::string> Await(std::chrono::milliseconds limit);

 private:
  struct Asked {
    base::Fd fd;
    std::string text;  // as it comes, with HTTP's head
    bool is_over = false;
  };
  void Read(Asked& asked);

  std::map<pid_t, Asked> asked_;
};

}  // namespace witness
