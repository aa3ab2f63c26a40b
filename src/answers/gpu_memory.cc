#include "answers/gpu_memory.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/strings.h"

namespace answers {
namespace {

// Reads "20.00 GiB" as MiB; returns 0 for other text.
double MebibytesOf(std::string_view text) {
  const std::string number(text.substr(0, 24));
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end);
  const std::string_view unit = std::string_view(end).substr(0, 4);
  return unit == " GiB" ? value * 1024 : unit == " MiB" ? value : 0;
}

double SizeBehind(std::string_view text, std::string_view words) {
  const size_t found = text.find(words);
  return found == std::string_view::npos ? 0 : MebibytesOf(text.substr(found + words.size()));
}

double SizeBefore(std::string_view text, std::string_view words) {
  const size_t found = text.find(words);
  if (found == std::string_view::npos) return 0;
  const size_t begin = text.substr(0, found).find_last_of(";,(");
  return begin == std::string_view::npos ? 0 : MebibytesOf(base::Trim(text.substr(begin + 1)));
}

// Reads the size that directly stands before `words`: "is free. 4.19 GiB allowed; ".
double SizeJustBefore(std::string_view text, std::string_view words) {
  const size_t found = text.find(words);
  if (found == std::string_view::npos) return 0;
  const size_t unit = text.substr(0, found).rfind(' ');
  if (unit == std::string_view::npos || unit == 0) return 0;
  const size_t number = text.rfind(' ', unit - 1);
  return MebibytesOf(text.substr(number == std::string_view::npos ? 0 : number + 1));
}

struct Process {
  int64_t pid;
  double size;
};

// Reads "Process 7 has 20.00 GiB memory in use." of the message since torch 2.1.
std::vector<Process> ProcessesIn(std::string_view text) {
  constexpr std::string_view kProcess = "Process ";
  std::vector<Process> processes;
  for (size_t at = text.find(kProcess); at != std::string_view::npos;
       at = text.find(kProcess, at + 1)) {
    const std::string_view pid = text.substr(at + kProcess.size(), 20);
    const double size = SizeBehind(text.substr(at, 64), " has ");
    if (size > 0) {
      processes.push_back({base::ParseInt(pid.substr(0, pid.find(' '))).value_or(0), size});
    }
  }
  return processes;
}

// A launcher starts a job's processes one directly after another.
bool AreStartedTogether(const std::vector<Process>& processes) {
  constexpr int64_t kFarthest = 100;
  const auto [first, last] =
      std::minmax_element(processes.begin(), processes.end(),
                          [](const Process& a, const Process& b) { return a.pid < b.pid; });
  return processes.size() > 1 && first->pid > 0 && last->pid - first->pid <= kFarthest;
}

// Whether it would not fit even if no other program used the GPU, because it is larger than the GPU
// or than what the process allowed itself (set_per_process_memory_fraction).
bool IsTooMuchAlone(std::string_view text, double own, double total) {
  const double asked = SizeBehind(text, "Tried to allocate ");
  const double allowed = SizeJustBefore(text, " allowed; ");
  const double free = SizeJustBefore(text, " is free. ");
  if (total > 0 && own + asked > total) return true;
  return allowed > 0 && (own + asked > allowed || free > asked);
}

// The message before torch 2.1: "(GPU 0; 7.79 GiB total capacity; 5 GiB already allocated; 10 MiB
// free; 5.7 GiB reserved in total by PyTorch)"
GpuHolder HolderInOldMessage(std::string_view text) {
  constexpr double kContext = 1024;  // the CUDA context of this process
  const double total = SizeBefore(text, " total capacity");
  const double reserved = SizeBefore(text, " reserved in total");
  const bool is_others = total > 0 && reserved > 0 &&
                         total - SizeBefore(text, " free") - reserved - kContext > reserved &&
                         !IsTooMuchAlone(text, reserved, total);
  return is_others ? GpuHolder::kOthers : GpuHolder::kOwn;
}

}  // namespace

GpuHolder HolderIn(std::string_view text) {
  const std::vector<Process> processes = ProcessesIn(text);
  const double own = SizeBehind(text, "this process has ");
  if (own == 0 && processes.empty()) return HolderInOldMessage(text);
  double others = 0;
  for (const Process& process : processes) others += process.size;
  const double total = SizeBehind(text, "total capacity of ");
  if (total > 0) others = std::min(others, total);
  // In a PID namespace, the message contains the process under a number that is not its own; then
  // PyTorch's memory shows which part is its own.
  const double held = SizeBehind(text, "Of the allocated memory ");
  if (IsTooMuchAlone(text, own > 0 ? own : held, total)) {
    return GpuHolder::kOwn;
  }
  if (own > 0) return others > own ? GpuHolder::kOthers : GpuHolder::kOwn;
  if (held > others / 2) return GpuHolder::kOwn;
  // One process, and a message that was cut before it says how much is its own.
  if (held == 0 && processes.size() == 1) return GpuHolder::kOwn;
  const bool is_own_among_them =
      std::any_of(processes.begin(), processes.end(),
                  [held](const Process& process) { return held > 0 && process.size >= held; });
  return is_own_among_them && AreStartedTogether(processes) ? GpuHolder::kJob : GpuHolder::kOthers;
}

}  // namespace answers
