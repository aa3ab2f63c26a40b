// What lines of a program tell beside its errors: that it works, warns, goes on, or has ended.
// Pure.
#pragma once

#include <string>
#include <string_view>

namespace answers {

// "step 10 loss 1.2", "Epoch 3/10", "it/s", or that it is done: the program was at work after
// whatever came before. A bar that has not moved yet is none.
bool IsProgress(std::string_view line);

// "Training finished", "worker group successfully finished".
bool TellsOfSuccess(std::string_view line);

// "12/400" of tqdm's "Epoch 1:   3%|x   | 12/400 [00:05<02:21,  2.7it/s]"; "" of another line.
std::string_view CounterOfBar(std::string_view line);

// Who prints such a line goes on.
bool IsWarning(std::string_view line);

// What stands before the traceback of an exception that was caught.
bool IsHandled(std::string_view before);

// A logger's warning, whose the traceback below may be, or may not.
bool IsDoubtful(std::string_view before);

// Of an exception in C++, which nothing caught, or that a program has told in a line of its own:
// its text; "" of another line.
std::string_view CarriedException(std::string_view line);

// A note, a hint, or a logger's information.
bool IsAside(std::string_view line);

// The line without what it quotes of an error: who quotes one has none. The value of a key in JSON
// or in a dictionary stays. "" of a note, a hint, or a logger's information.
std::string WithoutQuotedErrors(std::string_view line);

}  // namespace answers
