#include "process/rights.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "process/unsanitized.h"

namespace process {
namespace {

constexpr int kMostCapabilities = 64;

// Removes them from the bounding set, which limits a program that root runs, and from the
// inheritable set. A process that may not do this (of a user other than root) has no capabilities
// to pass on.
MUSTER_UNSANITIZED int DropCapabilities(uint64_t dropped) {
  if (dropped == 0) return 0;
  for (int capability = 0; capability < kMostCapabilities; ++capability) {
    if ((dropped >> capability & 1) == 0) continue;
    const bool is_gone = ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0;
    // EINVAL: this kernel does not have the capability.
    if (!is_gone && errno != EINVAL && ::geteuid() == 0) return errno;
  }
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
  if (::syscall(SYS_capget, &header, data) != 0) return errno;
  data[0].inheritable &= ~static_cast<uint32_t>(dropped);
  data[1].inheritable &= ~static_cast<uint32_t>(dropped >> 32);
  return ::syscall(SYS_capset, &header, data) == 0 ? 0 : errno;
}

}  // namespace

MUSTER_UNSANITIZED int TakeRights(const Rights& rights) {
  if (const int failed = DropCapabilities(rights.dropped_capabilities); failed != 0) return failed;
  if (rights.user && ::syscall(SYS_setgroups, rights.groups.size(), rights.groups.data()) != 0) {
    return errno;
  }
  if (rights.group && ::syscall(SYS_setresgid, *rights.group, *rights.group, *rights.group) != 0) {
    return errno;
  }
  if (rights.user && ::syscall(SYS_setresuid, *rights.user, *rights.user, *rights.user) != 0) {
    return errno;
  }
  if (rights.has_no_new_privileges && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  return 0;
}

}  // namespace process
