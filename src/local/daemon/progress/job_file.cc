#include "local/daemon/progress/job_file.h"

#include <fcntl.h>

#include <cerrno>

#include "base/fd.h"
#include "base/file.h"

namespace local::daemon {
namespace {

constexpr size_t kLongestUid = 64;

}  // namespace

bool IsUid(std::string_view uid) {
  return !uid.empty() && uid.size() <= kLongestUid &&
         uid.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-") ==
             std::string_view::npos;
}

base::Status AppendToFile(const std::string& path, std::string_view text) {
  const base::Fd file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
  if (!file) return base::Fail(base::Errno(errno, "open \"" + path + "\""));
  return base::WriteAll(file.get(), text, path);
}

}  // namespace local::daemon
