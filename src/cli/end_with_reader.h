// For commands that may have nothing to write for long.
#pragma once

#include <thread>

#include "base/fd.h"

namespace cli {

// While it lives, ends the program by SIGPIPE, as a write would, once nobody reads any more what is
// written to `fd`. Does nothing for -1, for what is no pipe or socket, and where SIGPIPE is ignored
// (then the next write fails).
class EndWithReader {
 public:
  explicit EndWithReader(int fd);
  ~EndWithReader();
  EndWithReader(const EndWithReader&) = delete;
  EndWithReader& operator=(const EndWithReader&) = delete;

 private:
  base::Fd stop_;
  std::thread thread_;
};

}  // namespace cli
