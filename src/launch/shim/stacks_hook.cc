#include "launch/shim/stacks_hook.h"

#include <fmt/format.h>

#include "base/file.h"
#include "launch/shim/python_shim.h"

namespace launch {

base::Status WriteStacksHook(const std::string& folder) {
  TRY(base::MakeDirs(folder + "/python", 0700));
  return base::WriteFileAtomic(folder + "/python/sitecustomize.py", StacksHookText(), 0600,
                               base::Durability::kNone);
}

std::string StacksPythonPath(const std::string& folder, const base::Environment& environment) {
  const std::string others = environment.GetOr("PYTHONPATH", "");
  return fmt::format("{}/python{}{}", folder, others.empty() ? "" : ":", others);
}

}  // namespace launch
