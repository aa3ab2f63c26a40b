#include "answers/log/mpi_words.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <string>

#include "base/strings.h"

namespace answers {
namespace {

constexpr int kMpiSignals = 128;
constexpr std::string_view kMpiWorld = "MPI_COMM_WORLD";

std::optional<int> CountBehind(std::string_view line, std::string_view words) {
  const size_t at = line.find(words);
  if (at == std::string_view::npos) return std::nullopt;
  line = line.substr(at + words.size());
  const auto number = base::ParseInt(line.substr(0, line.find_first_not_of("0123456789")));
  return number && *number <= INT32_MAX ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

// The code of MPI_Abort as a process' exit code, of which the system takes the last 8 bits. What
// would then be 0 or a signal is only known to be a failure's. Nullopt for 0 itself, which some
// programs give when all is well, and others after an error.
std::optional<int> AbortsCode(std::optional<int> code, bool is_negative) {
  if (code == 0) return std::nullopt;
  const int last = code.value_or(1) & 0xff;
  const int taken = is_negative && last != 0 ? 256 - last : last;
  constexpr int kMostSignals = 64;
  const bool is_plain = taken > 0 && (taken <= kMpiSignals || taken > kMpiSignals + kMostSignals);
  return is_plain ? taken : 1;
}

std::optional<int> AbortsCodeBehind(std::string_view line, std::string_view words) {
  const std::string negative = std::string(words) + "-";
  const auto code = CountBehind(line, negative);
  return code ? AbortsCode(code, true) : AbortsCode(CountBehind(line, words), false);
}

// Reads Open MPI's "MPI_ABORT was invoked on rank 2 in communicator MPI_COMM_WORLD", whose next
// lines have "with errorcode 1." or, since version 5, "Errorcode: 1".
std::optional<LauncherRow> ReadOpenMpi(const std::vector<std::string_view>& lines, size_t at) {
  const std::string_view line = lines[at];
  LauncherRow row;
  row.rank = CountBehind(line, "MPI_ABORT was invoked on rank ");
  if (!row.rank || line.find(kMpiWorld) == std::string_view::npos) return std::nullopt;
  row.exit_code = 1;
  for (size_t below = at + 1; below < std::min(at + 3, lines.size()); ++below) {
    for (const std::string_view words : {"with errorcode ", "Errorcode: "}) {
      if (lines[below].find(words) == std::string_view::npos) continue;
      row.exit_code = AbortsCodeBehind(lines[below], words);
    }
  }
  return row;
}

// Reads "application called MPI_Abort(MPI_COMM_WORLD, 1) - process 3".
std::optional<LauncherRow> ReadMpich(std::string_view line) {
  constexpr std::string_view kCalled = "application called MPI_Abort(MPI_COMM_WORLD, ";
  const size_t called = line.find(kCalled);
  if (called == std::string_view::npos) return std::nullopt;
  LauncherRow row;
  row.rank = CountBehind(line.substr(called), ") - process ");
  row.exit_code = AbortsCodeBehind(line, kCalled);
  return row.rank ? std::optional(std::move(row)) : std::nullopt;
}

// Reads Open MPI's "*** reported by process [1512308737,3]", of a function's fatal error. Before
// the job has its number, both are meaningless.
std::optional<LauncherRow> ReadMpisFatal(std::string_view line) {
  constexpr std::string_view kBy = "*** reported by process [";
  const size_t by = line.find(kBy);
  const size_t comma = by == std::string_view::npos ? by : line.find(',', by);
  if (comma == std::string_view::npos) return std::nullopt;
  const std::string_view job = line.substr(by + kBy.size(), comma - by - kBy.size());
  const auto number = base::ParseInt(job);
  if (!number || *number >= UINT32_MAX || line.find(']', comma) == line.npos) return std::nullopt;
  LauncherRow row;
  row.rank = CountBehind(line.substr(comma), ",");
  row.exit_code = 1;  // or another, but not 0: MPI_SUCCESS is no error
  return row.rank ? std::optional(std::move(row)) : std::nullopt;
}

// Reads Open MPI's "mpirun has exited due to process rank 1 with PID 6032 on", of a process that
// ended without MPI_Finalize.
std::optional<LauncherRow> ReadExitedDueTo(std::string_view line) {
  LauncherRow row;
  row.rank = CountBehind(line, " has exited due to process rank ");
  row.pid = CountBehind(line, " with PID ");
  return row.rank && row.pid ? std::optional(std::move(row)) : std::nullopt;
}

// Whether Hydra's code is a signal's number: it prints the status of a process that was killed as
// it is, and then "EXIT STRING: Killed (signal 9)", of the statuses of all processes together.
bool IsSignal(int code, std::optional<int> of_all) {
  static constexpr auto kKillers =
      std::to_array({SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGKILL, SIGSEGV});
  return of_all && (code | *of_all) == *of_all &&
         std::find(kKillers.begin(), kKillers.end(), code) != kKillers.end();
}

// The signal in the words about all processes, below their blocks.
std::optional<int> SignalOfAll(const std::vector<std::string_view>& lines, size_t block) {
  constexpr size_t kFarthest = 1000;
  const size_t end = std::min(block + kFarthest, lines.size());
  for (size_t i = block; i < end; ++i) {
    if (lines[i].find("TERMINATED WITH THE EXIT STRING: ") != std::string_view::npos) {
      return CountBehind(lines[i], "(signal ");
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<LauncherRow> ReadMpiAbort(const std::vector<std::string_view>& lines, size_t at) {
  auto row = ReadOpenMpi(lines, at);
  if (!row) row = ReadMpich(lines[at]);
  if (!row) row = ReadMpisFatal(lines[at]);
  if (!row) row = ReadExitedDueTo(lines[at]);
  if (row) row->words = base::Trim(lines[at]);
  return row;
}

// Reads "=   RANK 1 PID 27494 RUNNING AT n1" or, from MPICH, "=   PID 27494 RUNNING AT n1", and
// "=   KILLED BY SIGNAL: 9 (Killed)", "=   EXIT CODE: 9" or "=   EXIT STATUS: 1".
std::optional<LauncherRow> ReadHydra(const std::vector<std::string_view>& lines, size_t at) {
  constexpr std::string_view kBegin = "BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES";
  constexpr std::string_view kHost = "RUNNING AT ";
  if (lines[at].find(kBegin) == std::string_view::npos) return std::nullopt;
  LauncherRow row;
  row.ended = Ended::kUnordered;
  row.words = lines[at];
  for (size_t below = at + 1; below < std::min(at + 4, lines.size()); ++below) {
    const std::string_view line = lines[below];
    if (!line.starts_with("= ")) break;
    if (line.find(" CLEANING UP REMAINING PROCESSES") != line.npos) row.is_others_cleaned_up = true;
    if (!row.rank) row.rank = CountBehind(line, " RANK ");
    if (!row.pid) row.pid = CountBehind(line, " PID ");
    const auto signal = CountBehind(line, " KILLED BY SIGNAL: ");
    auto code = CountBehind(line, " EXIT CODE: ");
    if (!code) code = CountBehind(line, " EXIT STATUS: ");
    if (signal) row.exit_code = kMpiSignals + *signal;
    if (code)
      row.exit_code = IsSignal(*code, SignalOfAll(lines, below)) ? kMpiSignals + *code : *code;
    if (signal || code) row.words = base::Trim(line.substr(1));
    const size_t host = line.find(kHost);
    if (host != std::string_view::npos) row.host = base::Trim(line.substr(host + kHost.size()));
  }
  return row;
}

}  // namespace answers
