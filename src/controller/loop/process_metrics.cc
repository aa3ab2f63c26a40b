#include "controller/loop/process_metrics.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/file.h"
#include "base/strings.h"
#include "controller/loop/metrics_text.h"

namespace controller {
namespace {

// Index in /proc/self/stat, counted from the state, the first field after the program's name
// (proc(5)).
constexpr size_t kStartTicksField = 19;

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

// /proc/self/statm counts in pages.
int64_t Bytes(const std::vector<std::string>& statm, size_t field) {
  const auto pages = field < statm.size() ? base::ParseInt(statm[field]) : std::nullopt;
  return pages ? *pages * ::sysconf(_SC_PAGESIZE) : 0;
}

// Seconds since 1970; nullopt when /proc does not show it.
std::optional<double> StartTime() {
  const auto stat = base::ReadFile("/proc/self/stat", 4096);
  const auto boot = base::ReadFile("/proc/stat");
  if (!stat || !boot) return std::nullopt;
  // The name in parentheses may contain anything.
  const auto fields = base::Split(stat->substr(stat->rfind(')') + 2), ' ');
  constexpr std::string_view kBootTime = "\nbtime ";
  const size_t at = boot->find(kBootTime);
  if (fields.size() <= kStartTicksField || at == std::string::npos) return std::nullopt;
  const std::string_view rest = std::string_view(*boot).substr(at + kBootTime.size());
  const auto booted = base::ParseInt(rest.substr(0, rest.find('\n')));
  const auto ticks = base::ParseInt(fields[kStartTicksField]);
  if (!booted || !ticks) return std::nullopt;
  return static_cast<double>(*booted) +
         static_cast<double>(*ticks) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

// Without a limit, the largest number, as Prometheus' libraries print it.
double Limit(int resource) {
  rlimit limit{};
  ::getrlimit(static_cast<__rlimit_resource_t>(resource), &limit);
  return limit.rlim_cur == RLIM_INFINITY ? static_cast<double>(std::numeric_limits<uint64_t>::max())
                                         : static_cast<double>(limit.rlim_cur);
}

int64_t OpenFiles() {
  std::error_code error;
  const std::filesystem::directory_iterator files("/proc/self/fd", error);
  // The descriptor that reads the folder is not counted.
  return error ? 0 : std::distance(begin(files), end(files)) - 1;
}

}  // namespace

std::string ProcessMetrics() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto text = base::ReadFile("/proc/self/statm", 4096);
  const auto statm = text ? base::Split(*text, ' ') : std::vector<std::string>();
  std::string out = One("process_cpu_seconds_total", "counter", "CPU time spent.",
                        Seconds(usage.ru_utime) + Seconds(usage.ru_stime));
  out += One("process_resident_memory_bytes", "gauge", "Resident memory.", Bytes(statm, 1));
  out += One("process_virtual_memory_bytes", "gauge", "Address space.", Bytes(statm, 0));
  out += One("process_virtual_memory_max_bytes", "gauge", "Limit of the address space.",
             Limit(RLIMIT_AS));
  out += One("process_open_fds", "gauge", "Open files.", OpenFiles());
  out += One("process_max_fds", "gauge", "Limit of open files.", Limit(RLIMIT_NOFILE));
  if (const auto start = StartTime()) {
    out += Head("process_start_time_seconds", "gauge", "Start time in seconds since 1970.") +
           fmt::format("process_start_time_seconds {:.2f}\n", *start);
  }
  return out;
}

}  // namespace controller
