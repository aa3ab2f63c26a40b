#include "answers/signal_words.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <string>

#include "base/strings.h"

namespace answers {
namespace {

struct SignalWords {
  int number;
  std::string_view name, description;
};
constexpr auto kSignals = std::to_array<SignalWords>({
    {SIGKILL, "SIGKILL", "Killed"},
    {SIGSEGV, "SIGSEGV", "Segmentation fault"},
    {SIGABRT, "SIGABRT", "Aborted"},
    {SIGBUS, "SIGBUS", "Bus error"},
    {SIGTERM, "SIGTERM", "Terminated"},
    {SIGILL, "SIGILL", "Illegal instruction"},
    {SIGFPE, "SIGFPE", "Floating point exception"},
    {SIGTRAP, "SIGTRAP", "Trace/breakpoint trap"},
    {SIGSYS, "SIGSYS", "Bad system call"},
    {SIGXCPU, "SIGXCPU", "CPU time limit exceeded"},
    {SIGXFSZ, "SIGXFSZ", "File size limit exceeded"},
    {SIGHUP, "SIGHUP", "Hangup"},
    {SIGUSR1, "SIGUSR1", "User defined signal 1"},
    {SIGUSR2, "SIGUSR2", "User defined signal 2"},
});

constexpr std::string_view kCore = "(core dumped)";

std::string_view WithoutNumber(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of("0123456789"), text.size()));
  return text;
}

// Returns what bash prints behind "run.sh: line 3: " and the PID, including the program's command
// line.
std::optional<std::string_view> OfScript(std::string_view line) {
  constexpr std::string_view kLine = ": line ";
  const size_t at = line.find(kLine);
  if (at == std::string_view::npos) return std::nullopt;
  line = WithoutNumber(line.substr(at + kLine.size()));
  if (!line.starts_with(": ")) return std::nullopt;
  line = base::Trim(line.substr(2));
  const std::string_view rest = WithoutNumber(line);
  return rest.size() < line.size() && rest.starts_with(' ') ? std::optional(base::Trim(rest))
                                                            : std::nullopt;
}

}  // namespace

std::optional<int> SignalIn(std::string_view words) {
  for (const SignalWords& signal : kSignals) {
    for (const std::string_view each : {signal.name, signal.description}) {
      if (words.find(each) != std::string_view::npos) return signal.number;
    }
  }
  return std::nullopt;
}

bool IsOfScript(std::string_view line) { return OfScript(base::Trim(line)).has_value(); }

std::optional<int> SignalOfShell(std::string_view line) {
  line = base::Trim(line);
  const auto script = OfScript(line);
  std::string_view words = script.value_or(line);
  constexpr std::string_view kZsh = "zsh: ";  // it prints lower case, and the command line
  const bool is_zsh = words.starts_with(kZsh);
  if (is_zsh) words.remove_prefix(kZsh.size());
  for (const SignalWords& signal : kSignals) {
    const std::string_view description = signal.description;
    const bool begins =
        is_zsh ? words.starts_with(base::ToLower(description)) : words.starts_with(description);
    if (!begins) continue;
    const std::string_view rest = base::Trim(words.substr(description.size()));
    if (rest.empty() || rest == kCore || script || is_zsh) return signal.number;
  }
  return std::nullopt;
}

}  // namespace answers
