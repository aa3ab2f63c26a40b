#include "launch/shim/stacks_place.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/file.h"
#include "launch/shim/python_shim.h"

namespace launch {

base::Result<std::unique_ptr<StacksPlace>> StacksPlace::Make(const base::Environment& environment) {
  std::string folder = environment.GetOr("TMPDIR", "/tmp") + "/muster-launch-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) {
    return base::Fail(base::Errno(errno, fmt::format("make a folder \"{}\"", folder)));
  }
  std::unique_ptr<StacksPlace> place(new StacksPlace(folder));
  TRY(base::MakeDirs(folder + "/python", 0700));
  TRY(base::WriteFileAtomic(folder + "/python/sitecustomize.py", StacksHookText(), 0600,
                            base::Durability::kNone));
  return place;
}

StacksPlace::~StacksPlace() { (void)base::RemoveTree(folder_); }

std::string StacksPlace::PythonPath(const base::Environment& environment) const {
  const std::string others = environment.GetOr("PYTHONPATH", "");
  return fmt::format("{}/python{}{}", folder_, others.empty() ? "" : ":", others);
}

}  // namespace launch
