#include "local/node/pod/report_file.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/file.h"
#include "text/json.h"

namespace local::node {
namespace {

constexpr const char* kReserveFile = "status.reserve";
// Enough for a report of a few containers with their messages, and a block for the directory.
constexpr off_t kReserveBytes = 64 << 10;

}  // namespace

void ReportFile::Reserve() {
  if (is_reserved_) return;
  const base::Fd fd(::open(kReserveFile, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  is_reserved_ = fd && ::posix_fallocate(fd.get(), 0, kReserveBytes) == 0;
  if (!is_reserved_) ::unlink(kReserveFile);
}

base::Status ReportFile::Write(const PodReport& report, bool is_synced) {
  const std::string content = text::ToJson(ToJson(report)) + "\n";
  const auto durability = is_synced ? base::Durability::kSync : base::Durability::kNone;
  const auto write = [&] {
    return base::WriteFileAtomic(std::string(kReportFile), content, 0600, durability);
  };
  base::Status written = write();
  if (!written && written.error().code == base::Code::kExhausted && is_reserved_) {
    Release();
    written = write();
    Reserve();
  }
  return written;
}

void ReportFile::Release() {
  if (is_reserved_) ::unlink(kReserveFile);
  is_reserved_ = false;
}

}  // namespace local::node
