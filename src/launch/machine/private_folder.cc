#include "launch/machine/private_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/file.h"

namespace launch {

base::Result<std::unique_ptr<PrivateFolder>> PrivateFolder::Make(
    const base::Environment& environment) {
  std::string path = environment.GetOr("TMPDIR", "/tmp") + "/muster-launch-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) {
    return base::Fail(base::Errno(errno, fmt::format("make a folder \"{}\"", path)));
  }
  return std::unique_ptr<PrivateFolder>(new PrivateFolder(std::move(path)));
}

PrivateFolder::~PrivateFolder() { (void)base::RemoveTree(path_); }

}  // namespace launch
