#include "base/machine/standard_descriptors.h"

#include <fcntl.h>
#include <unistd.h>

namespace base {

void HoldStandardDescriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    // The lowest free number is this one. Programs that this one executes find it closed, as
    // before.
    if (::fcntl(fd, F_GETFD) < 0) (void)::open("/dev/null", O_RDONLY | O_CLOEXEC);
  }
}

}  // namespace base
