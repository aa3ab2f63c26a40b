#include "local/node/plan/code_container.h"

#include <algorithm>

#include "api/names.h"
#include "local/node/plan/volumes.h"

namespace local::node {
namespace {

using text::GetString;

bool IsRsync(const text::Json& container) {
  const text::Array* command = text::FindArray(container, {"command"});
  if (command == nullptr || command->empty() || !command->front().is_string()) return false;
  const std::string_view program = command->front().get_string();
  return program == "rsync" || program.ends_with("/rsync");
}

bool NamesVariable(const text::Json& container, std::string_view name) {
  const text::Array* variables = text::FindArray(container, {"env"});
  return variables != nullptr &&
         std::any_of(variables->begin(), variables->end(), [name](const text::Json& variable) {
           return GetString(variable, {"name"}) == name;
         });
}

ContainerSpec::Kind KindOf(const text::Json& container) {
  const text::Array* command = text::FindArray(container, {"command"});
  const bool has_command = command != nullptr && !command->empty();
  if (!has_command && NamesVariable(container, "GIT_SYNC_REPO")) {
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
  const text::Array* containers = text::FindArray(pod, {"spec", "initContainers"});
  if (containers == nullptr) return sync;
  for (const text::Json& container : *containers) {
    const ContainerSpec::Kind kind = KindOf(container);
    if (kind == ContainerSpec::Kind::kProgram) continue;
    sync.container = GetString(container, {"name"});
    sync.kind = kind;
    const text::Array* mounts = text::FindArray(container, {"volumeMounts"});
    if (mounts == nullptr || mounts->empty()) return sync;
    sync.volume = GetString(mounts->front(), {"name"});
    for (const text::Json& mount : *mounts) {
      if (CleanPath(GetString(mount, {"mountPath"})) == "/code") {
        sync.volume = GetString(mount, {"name"});
      }
    }
    return sync;
  }
  return sync;
}

}  // namespace local::node
