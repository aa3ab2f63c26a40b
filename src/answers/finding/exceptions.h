// What the exceptions in a rank's log say about why it failed.
#pragma once

#include <optional>

#include "answers/finding.h"
#include "answers/finding/rank_log.h"

namespace answers {

// If all ranks write to one log, muster-launch knows the exception that ended the rank that failed
// first: others may be of a thread, or of a rank that went on. Null if it names none.
const Chain* LaunchersChain(const RankLog& log);

// Whether other words of the log are to be asked before this exception: it may be a warning's, a
// tool's or a child's, or is not the one that the launcher names.
bool IsDoubtful(const RankLog& log, const Chain& chain, const Chain* launchers);

// Nullopt if the program went on after it, or if it is a consequence that says nothing.
std::optional<Finding> FindInException(const RankLog& log, const Chain& chain);

// The same of a doubtful one; of a parent's exception about its child, what the child said.
std::optional<Finding> FindInDoubtful(const RankLog& log, const Chain& chain,
                                      const Chain* launchers);

// If all ranks write to one file, the others may work on for a while after an exception; the
// launcher then reports that the exception ended its program.
std::optional<Finding> FindBeforeOthersWork(const RankLog& log);

}  // namespace answers
