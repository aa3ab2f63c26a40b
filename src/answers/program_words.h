// What lines of a program say apart from its errors: that it works, warns, continues, or has ended.
// Pure.
#pragma once

#include <string>
#include <string_view>

namespace answers {

// "step 10 loss 1.2", "Epoch 3/10", "it/s", or that it is done: the program worked after whatever
// came before. A bar that has not moved yet does not count.
bool IsProgress(std::string_view line);

// "Successfully loaded 862 motions": a rank that begins something has not ended by what it reported
// before. In a log of several ranks it may be another's.
bool BeginsWork(std::string_view line);

// The event that torchrun's agent records for each of its workers after all of them succeeded
// (torch/distributed/elastic/agent/server/api.py); its "raw_error" is null.
bool IsElasticsSuccess(std::string_view line);

// "Training finished", "worker group successfully finished".
bool ReportsSuccess(std::string_view line);

// Whether torchrun says that it starts several processes: it warns then of OMP_NUM_THREADS
// (torch/distributed/run.py), and its agent lists their local ranks.
bool StartsSeveral(std::string_view line);

// "12/400" of tqdm's "Epoch 1:   3%|x   | 12/400 [00:05<02:21,  2.7it/s]"; "" for another line.
std::string_view CounterOfBar(std::string_view line);

// A program that prints such a line continues: a warning, a record of a logger's lower levels, what
// a library prints of a call that its caller may survive.
bool IsWarning(std::string_view line);

// The line before the traceback of an exception that was caught.
bool IsHandled(std::string_view before);

// "step 3: skipped" and "step 4: skipped".
bool IsSameButNumbers(std::string_view one, std::string_view other);

// Whether the line itself says that what failed is tried again: no program ends by it.
bool SaysItRetries(std::string_view line);

// Whether a line with words of trouble also says how the program goes on: "..., using the CPU".
bool GoesOnAnyway(std::string_view text);

// A logger's warning; the traceback below it may or may not belong to it.
bool IsDoubtful(std::string_view before);

// The text of an exception in C++ that nothing caught, or that a program reported in a line of its
// own; "" for another line.
std::string_view CarriedException(std::string_view line);

// "RuntimeError: boom" of a text with `RuntimeError('boom')`, as Python shows an exception that
// somebody prints; "" for another text.
std::string ShownException(std::string_view text);

// A note, a hint, or a logger's information.
bool IsAside(std::string_view line);

// The line without its quotation of an error, because a program that quotes an error does not have
// it. The value of a key in JSON or in a dictionary stays. "" for a note, a hint, or a logger's
// information.
std::string WithoutQuotedErrors(std::string_view line);

}  // namespace answers
