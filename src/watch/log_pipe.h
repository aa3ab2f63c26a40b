// The merged log of a job, line by line, from a child process `logs JOB --all -f`, because a
// process can be ended at any time, whatever it waits for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace watch {

// One thread.
class LogPipe {
 public:
  // `argv`: this program with `logs` and its flags; `path`: its executable.
  static base::Result<LogPipe> Start(const std::string& path, std::vector<std::string> argv,
                                     const std::vector<std::string>& environment);
  ~LogPipe();  // ends the process
  LogPipe(LogPipe&& other) noexcept;
  LogPipe& operator=(LogPipe&& other) noexcept;

  // -1 once it has ended.
  int fd() const { return fd_.get(); }
  // The whole lines that have come, at most a few hundred kilobytes. Does not block.
  std::vector<std::string> Read();

 private:
  LogPipe() = default;
  void End();

  base::Fd fd_;
  pid_t pid_ = 0;
  std::string rest_;
};

}  // namespace watch
