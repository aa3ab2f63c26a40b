#include "local/node/plan/code_container.h"

#include <algorithm>

#include "api/names.h"
#include "local/node/plan/volumes.h"

namespace local::node {
namespace {

using text::GetString;

bool IsRsync(const text::Json& container) {
  const text::Array& command = text::Items(container, {"command"});
  const std::string_view program = command.empty() ? "" : GetString(command[0], {});
  return program == "rsync" || program.ends_with("/rsync");
}

ContainerSpec::Kind KindOf(const text::Json& container) {
  const bool has_command = !text::Items(container, {"command"}).empty();
  if (!has_command && text::ItemNamed(container, {"env"}, "GIT_SYNC_REPO") != nullptr) {
    return ContainerSpec::Kind::kGitSync;
  }
  if (GetString(container, {"name"}) == api::kArenaCodeContainer && IsRsync(container)) {
    return ContainerSpec::Kind::kRsync;
  }
  return ContainerSpec::Kind::kProgram;
}

}  // namespace

CodeSync FindCodeSync(const text::Json& pod) {
  CodeSync sync;
  for (const text::Json& container : text::Items(pod, {"spec", "initContainers"})) {
    const ContainerSpec::Kind kind = KindOf(container);
    if (kind == ContainerSpec::Kind::kProgram) continue;
    sync.container = GetString(container, {"name"});
    sync.kind = kind;
    const text::Array& mounts = text::Items(container, {"volumeMounts"});
    if (!mounts.empty()) sync.volume = GetString(mounts[0], {"name"});
    for (const text::Json& mount : mounts) {
      if (CleanPath(GetString(mount, {"mountPath"})) == "/code") {
        sync.volume = GetString(mount, {"name"});
      }
    }
    return sync;
  }
  return sync;
}

}  // namespace local::node
