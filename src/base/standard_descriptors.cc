#include "base/standard_descriptors.h"

#include <fcntl.h>
#include <unistd.h>

namespace base {

void HoldStandardDescriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    // The lowest free number is this one. It stays open in programs that this one executes.
    if (::fcntl(fd, F_GETFD) < 0) ::open("/dev/null", O_RDONLY);
  }
}

}  // namespace base
