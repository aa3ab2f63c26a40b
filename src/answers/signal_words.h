// The signals that end programs, in the words of shells and launchers. Pure.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace answers {

// How torch.multiprocessing.spawn says that one of its processes has ended: before its number, and
// before its exit code or signal. The exception is ProcessExitedException, before torch 1.5
// Exception.
inline constexpr std::string_view kOfSpawned = "Exception: process ";
inline constexpr auto kEndsOfSpawned =
    std::to_array<std::string_view>({"terminated with exit code ", "terminated with signal "});

// The number of a signal whose description (strsignal(3)) or name is in `words`: "task 5: Killed",
// "exited on SIGKILL". nullopt if there is none.
std::optional<int> SignalIn(std::string_view words);

// Whether a script's shell reports it, with the command line of the program that ended.
bool IsOfScript(std::string_view line);

// The signal of a whole line in which a shell reports that a signal ended a program: "Killed",
// "Aborted (core dumped)", "run.sh: line 3: 4711 Aborted (core dumped) python train.py".
std::optional<int> SignalOfShell(std::string_view line);

}  // namespace answers
