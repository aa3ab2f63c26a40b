#include "ads/oci/secret.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/fd.h"

namespace ads::oci {
namespace {

constexpr off_t kMaxSecretBytes = 1 << 20;

}  // namespace

void Wipe(std::string& text) {
  text.resize(text.capacity());
  ::OPENSSL_cleanse(text.data(), text.size());
  text.clear();
}

base::Result<Secret> ReadSecretFile(const std::string& path) {
  const std::string context = fmt::format("read \"{}\"", path);
  const base::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat about{};
  if (!fd || ::fstat(fd.get(), &about) != 0) return base::Fail(base::Errno(errno, context));
  if (S_ISDIR(about.st_mode)) return base::Fail(base::Errno(EISDIR, context));
  if (about.st_size > kMaxSecretBytes) {
    return base::Fail(base::Code::kExhausted,
                      fmt::format("{}: it is larger than {} MiB", context, kMaxSecretBytes >> 20));
  }
  // One byte more than the file has, so that its end is found without another allocation.
  std::string text(static_cast<size_t>(about.st_size) + 1, '\0');
  size_t used = 0;
  while (used < text.size()) {
    const ssize_t count = ::read(fd.get(), text.data() + used, text.size() - used);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const int why = errno;
      Wipe(text);
      return base::Fail(base::Errno(why, context));
    }
    if (count == 0) break;
    used += static_cast<size_t>(count);
  }
  text.resize(used);
  return Secret(std::move(text));
}

void ForbidDumps() { ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

}  // namespace ads::oci
