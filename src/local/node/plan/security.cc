#include "local/node/plan/security.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "base/strings.h"

namespace local::node {
namespace {

// By number: linux/capability.h.
constexpr std::array<std::string_view, 41> kCapabilities = {"CHOWN",
                                                            "DAC_OVERRIDE",
                                                            "DAC_READ_SEARCH",
                                                            "FOWNER",
                                                            "FSETID",
                                                            "KILL",
                                                            "SETGID",
                                                            "SETUID",
                                                            "SETPCAP",
                                                            "LINUX_IMMUTABLE",
                                                            "NET_BIND_SERVICE",
                                                            "NET_BROADCAST",
                                                            "NET_ADMIN",
                                                            "NET_RAW",
                                                            "IPC_LOCK",
                                                            "IPC_OWNER",
                                                            "SYS_MODULE",
                                                            "SYS_RAWIO",
                                                            "SYS_CHROOT",
                                                            "SYS_PTRACE",
                                                            "SYS_PACCT",
                                                            "SYS_ADMIN",
                                                            "SYS_BOOT",
                                                            "SYS_NICE",
                                                            "SYS_RESOURCE",
                                                            "SYS_TIME",
                                                            "SYS_TTY_CONFIG",
                                                            "MKNOD",
                                                            "LEASE",
                                                            "AUDIT_WRITE",
                                                            "AUDIT_CONTROL",
                                                            "SETFCAP",
                                                            "MAC_OVERRIDE",
                                                            "MAC_ADMIN",
                                                            "SYSLOG",
                                                            "WAKE_ALARM",
                                                            "BLOCK_SUSPEND",
                                                            "AUDIT_READ",
                                                            "PERFMON",
                                                            "BPF",
                                                            "CHECKPOINT_RESTORE"};

tl::unexpected<NotReady> Refuse(const text::Json& container, std::string_view why) {
  return tl::unexpected<NotReady>(NotReady{
      "CreateContainerConfigError",
      fmt::format("container {}: securityContext: {}", text::GetString(container, {"name"}), why),
      {},
      NotReady::Retry::kNever});
}

// The container's setting, otherwise the pod's.
const text::Json* SettingOf(const text::Json& pod, const text::Json& container,
                            std::string_view name) {
  const text::Json* setting = text::Find(container, {"securityContext", name});
  if (setting == nullptr || setting->is_null()) {
    setting = text::Find(pod, {"spec", "securityContext", name});
  }
  return setting != nullptr && setting->is_null() ? nullptr : setting;
}

bool IsSet(const text::Json* setting) {
  return setting != nullptr && setting->is_bool() && setting->get_bool();
}

OrNotReady<std::optional<uint32_t>> IdOf(const text::Json& pod, const text::Json& container,
                                         std::string_view name) {
  const text::Json* const setting = SettingOf(pod, container, name);
  if (setting == nullptr) return std::optional<uint32_t>();
  const int64_t id = setting->is_int64() ? setting->get_int64() : -1;
  if (id < 0 || id > std::numeric_limits<int32_t>::max()) {
    return Refuse(container, fmt::format("bad {} {}", name, text::ToJson(*setting)));
  }
  return std::optional(static_cast<uint32_t>(id));
}

// The bits of the listed capabilities; ALL stands for all of them.
OrNotReady<uint64_t> CapabilitiesIn(const text::Json& container, std::string_view list) {
  uint64_t named = 0;
  for (const text::Json& item : text::Items(container, {"securityContext", "capabilities", list})) {
    const std::string upper =
        base::ToUpper(item.is_string() ? std::string_view(item.get_string()) : std::string_view());
    const std::string_view name = std::string_view(upper).substr(upper.starts_with("CAP_") ? 4 : 0);
    if (name == "ALL") {
      named = std::numeric_limits<uint64_t>::max();
      continue;
    }
    const auto found = std::find(kCapabilities.begin(), kCapabilities.end(), name);
    if (found == kCapabilities.end()) {
      return Refuse(container, fmt::format("unknown capability {} in capabilities.{}",
                                           text::ToJson(item), list));
    }
    named |= uint64_t{1} << (found - kCapabilities.begin());
  }
  return named;
}

}  // namespace

OrNotReady<Security> SecurityOf(const text::Json& pod, const text::Json& container, uid_t own_user,
                                bool is_in_image) {
  Security security;
  auto user = IdOf(pod, container, "runAsUser");
  auto group = IdOf(pod, container, "runAsGroup");
  auto dropped = CapabilitiesIn(container, "drop");
  auto added = CapabilitiesIn(container, "add");
  if (!user) return tl::unexpected<NotReady>(std::move(user.error()));
  if (!group) return tl::unexpected<NotReady>(std::move(group.error()));
  if (!dropped) return tl::unexpected<NotReady>(std::move(dropped.error()));
  if (!added) return tl::unexpected<NotReady>(std::move(added.error()));
  if (IsSet(SettingOf(pod, container, "runAsNonRoot"))) {
    if (!*user && is_in_image) {
      return Refuse(container,
                    "runAsNonRoot, but the user of the image is not known here: set "
                    "runAsUser");
    }
    if (user->value_or(own_user) == 0) {
      return Refuse(container,
                    "runAsNonRoot, but it would run as root: set runAsUser to another user");
    }
  }
  security.rights.user = *user;
  security.rights.group = *group;
  security.rights.dropped_capabilities = *dropped & ~*added;
  const text::Json* const escalation =
      text::Find(container, {"securityContext", "allowPrivilegeEscalation"});
  security.rights.has_no_new_privileges =
      escalation != nullptr && escalation->is_bool() && !escalation->get_bool();
  security.has_read_only_root =
      text::GetBool(container, {"securityContext", "readOnlyRootFilesystem"}).value_or(false);
  for (const text::Json& one :
       text::Items(pod, {"spec", "securityContext", "supplementalGroups"})) {
    if (one.is_int64()) security.rights.groups.push_back(static_cast<gid_t>(one.get_int64()));
  }
  if (const auto fs_group = text::GetInt(pod, {"spec", "securityContext", "fsGroup"})) {
    security.rights.groups.push_back(static_cast<gid_t>(*fs_group));
  }
  return security;
}

OrNotReady<bool> IsRootReadOnly(const std::vector<SecuredProgram>& programs, uid_t own_user) {
  if (programs.empty()) return false;
  const SecuredProgram& first = programs.front();
  for (const SecuredProgram& other : programs) {
    const bool is_same_user =
        other.rights.user == first.rights.user && other.rights.group == first.rights.group;
    std::string_view what;
    if (other.has_read_only_root != first.has_read_only_root) what = "readOnlyRootFilesystem";
    if (own_user != 0 && !is_same_user) what = "runAsUser and runAsGroup";
    if (what.empty()) continue;
    return tl::unexpected<NotReady>(
        NotReady{"CreateContainerConfigError",
                 fmt::format("the containers {} and {} differ in {}: here they share one view of "
                             "the machine",
                             first.container, other.container, what),
                 {},
                 NotReady::Retry::kNever});
  }
  return first.has_read_only_root;
}

}  // namespace local::node
