#include "process/stream_ends.h"

#include <fcntl.h>
#include <stdlib.h>

#include <cerrno>

namespace process {

base::Result<StreamEnds> OpenPipe(bool is_input) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return base::Fail(base::Errno(errno, "pipe"));
  StreamEnds pipe{base::Fd(ends[is_input ? 1 : 0]), base::Fd(ends[is_input ? 0 : 1])};
  const int fd = pipe.ours.get();
  if (::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK) != 0) {
    return base::Fail(base::Errno(errno, "pipe"));
  }
  return pipe;
}

base::Result<StreamEnds> OpenTerminal() {
  StreamEnds terminal;
  terminal.ours.Reset(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
  char name[64];
  if (!terminal.ours || ::grantpt(terminal.ours.get()) != 0 ||
      ::unlockpt(terminal.ours.get()) != 0 ||
      ::ptsname_r(terminal.ours.get(), name, sizeof name) != 0) {
    return base::Fail(base::Errno(errno, "open a terminal"));
  }
  terminal.theirs.Reset(::open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!terminal.theirs) return base::Fail(base::Errno(errno, "open a terminal"));
  return terminal;
}

}  // namespace process
