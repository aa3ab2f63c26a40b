#include "ads/oci/checksum.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/digest/crc32c.h"
#include "base/strings.h"

namespace ads::oci {
namespace {

constexpr size_t kReadBytes = 256 << 10;

}  // namespace

base::Result<std::string> Crc32cOfFile(const net::FileRange& range, const std::string& path) {
  std::vector<char> buffer(std::min<uint64_t>(range.size, kReadBytes));
  uint32_t crc = 0;
  for (uint64_t used = 0; used < range.size;) {
    const ssize_t count =
        ::pread(range.fd, buffer.data(), std::min<uint64_t>(buffer.size(), range.size - used),
                static_cast<off_t>(range.offset + used));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return base::Fail(base::Errno(errno, fmt::format("read \"{}\"", path)));
    if (count == 0) {
      return base::Fail(base::Code::kConflict,
                        fmt::format("\"{}\" became shorter while it was read", path));
    }
    crc = base::Crc32c(crc, {buffer.data(), static_cast<size_t>(count)});
    used += static_cast<uint64_t>(count);
  }
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(crc >> shift & 0xff);
  return base::Base64Encode(bytes);
}

}  // namespace ads::oci
