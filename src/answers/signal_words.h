// The signals that end programs, in the words of shells and launchers. Pure.
#pragma once

#include <optional>
#include <string_view>

namespace answers {

// The number of a signal whose description (strsignal(3)) or name is in `words`: "task 5: Killed",
// "exited on SIGKILL". nullopt if there is none.
std::optional<int> SignalIn(std::string_view words);

// Whether a script's shell reports it, with the command line of the program that ended.
bool IsOfScript(std::string_view line);

// The signal of a whole line in which a shell reports that a signal ended a program: "Killed",
// "Aborted (core dumped)", "run.sh: line 3: 4711 Aborted (core dumped) python train.py".
std::optional<int> SignalOfShell(std::string_view line);

}  // namespace answers
