// The merged log of a job, line by line, from `logs JOB --all -f`: a program of its own can be
// ended at any time, whatever it waits for.
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
  // `argv`: this program's, with `logs` and its flags; `path` its file.
  static base::Result<LogPipe> Start(const std::string& path, std::vector<std::string> argv,
                                     const std::vector<std::string>& environment);
  ~LogPipe();  // ends the program
  LogPipe(LogPipe&& other) noexcept;
  LogPipe& operator=(LogPipe&& other) noexcept;

  // -1 once it has ended.
  int fd() const { return fd_.get(); }
  // Whole lines that are there, at most some hundred kilobytes of them; does not block.
  std::vector<std::string> Read();

 private:
  LogPipe() = default;
  void End();

  base::Fd fd_;
  pid_t pid_ = 0;
  std::string rest_;
};

}  // namespace watch
