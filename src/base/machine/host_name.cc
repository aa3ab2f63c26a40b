#include "base/machine/host_name.h"

#include <sys/utsname.h>

namespace base {

std::string HostName() {
  utsname names{};
  return ::uname(&names) == 0 && names.nodename[0] != '\0' ? names.nodename : "localhost";
}

}  // namespace base
