// What says that something has failed, and not why: words of those who saw a program end or have
// ended it, and of who ran it. What programs say themselves of what others did to them has a rule
// with a level (rule.h). Pure.
#pragma once

#include <string_view>

#include "answers/traceback.h"

namespace answers {

// A line of a launcher, an agent or a process group about the job's end: no work of the program.
bool IsOfLauncher(std::string_view line);

// A launcher's last words of a process that has ended by itself, and not by a signal.
bool TellsOfExit(std::string_view line);

// "x.sh: line 3: /opt/x: No such file or directory", of a shell: a program, or a file that it
// should read.
bool IsMissingOfShell(std::string_view line);

// A status of 127, by which a shell says that it has not found a program.
bool TellsOfNoProgram(std::string_view line);

// "slurmstepd: error: *** STEP 7.0 ON n1 CANCELLED AT ...": by somebody, or by srun, when a task
// had ended badly.
bool IsEndOfStep(std::string_view line);

// The word of a scheduler, or of a kubelet, that ends a job or a task of it: what the program
// prints behind it was on its way already, or is what the time to save allows.
bool IsOfScheduler(std::string_view line);

// Of srun, which then ends the step: a task has ended badly.
bool EndsStep(std::string_view line);

// The last word of a program that did not end well, or of who saw it end; not a heading of them.
bool IsLastWord(std::string_view line);

// Anybody's words of something that did not go well.
bool TellsOfFailure(std::string_view line);

// What stands before the traceback of what went wrong when the end was known already, or is
// nobody's concern: in a destructor, or when an agent's peers were gone.
bool IsBeforeAside(std::string_view line);

// "Error: boom", "fatal: boom", "x: error: boom": a program's last word, of which it may be any.
bool IsErrorLine(std::string_view line);

// Of a launcher, which says again what a rank has said.
bool IsReport(const Chain& chain);

// Of who ran the program, elsewhere or as a child: it has failed. Some carry its words.
bool TellsOfAnother(const Raised& raised);

}  // namespace answers
