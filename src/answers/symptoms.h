// Messages that say that something has failed, but not why: from observers that saw a program end
// or ended it, and from its launchers. If a program itself reports what others did to it, that has
// a rule with a level (rule.h). Pure.
#pragma once

#include <string_view>

#include "answers/traceback.h"

namespace answers {

// A line of a launcher, an agent or a process group about the job's end: not work of the program.
bool IsOfLauncher(std::string_view line);

// An empty line, a ruler, or a launcher's line about the end: what stands above it says more.
bool SaysNothing(std::string_view line);

// A launcher's last message about a process that ended by itself, and not by a signal.
bool ReportsExit(std::string_view line);

// A shell's "x.sh: line 3: /opt/x: No such file or directory": a program, or a file that it should
// read.
bool IsMissingOfShell(std::string_view line);

// dash's "run: 3: deepspeed: not found", with the number of the script's line. Only a status of 127
// shows that it is not another program's word.
bool IsMissingOfDash(std::string_view line);

// A shell's word that it has not found a tool that only shows what a machine is like, such as
// "bash: nvidia-smi: command not found": scripts call it for their log's beginning.
bool NamesMissingTool(std::string_view line);

// A status of 127, by which a shell reports that it has not found a program.
bool ReportsMissingProgram(std::string_view line);

// "slurmstepd: error: *** STEP 7.0 ON n1 CANCELLED AT ...": cancelled by somebody, or by srun after
// a task had failed.
bool IsEndOfStep(std::string_view line);
// The same with "... DUE TO TASK FAILURE": certainly after a task had failed.
bool IsEndForTask(std::string_view line);

// The message of a scheduler, or of a kubelet, that ends a job or one of its tasks. Output of the
// program after it was already on its way, or comes from the time that the program has for saving.
bool IsOfScheduler(std::string_view line);

// The same about a whole job or step, such as its time limit: its line names no rank, even if it
// stands between a rank's.
bool IsAboutWholeJob(std::string_view line);

// srun's message that a task has failed, after which it ends the step.
bool EndsStep(std::string_view line);

// "Killed", "Aborted (core dumped)": what a shell says of a program that a signal ended.
bool IsShellsWordOfASignal(std::string_view text);

// The last message of a program that failed, or of an observer; not its heading.
bool IsLastWord(std::string_view line);

// Any message about something that went wrong.
bool MentionsFailure(std::string_view line);

// Whether its words about failures are a topic, a measure or a possibility: "failure rate", "mean
// squared error: 0.12", "no errors", "in case of failure".
bool OnlySpeaksOfFailure(std::string_view line);

// Whether it speaks of what cannot or must not be, as the message of an exception does.
bool MentionsTrouble(std::string_view line);

// The line before the traceback of an error that occurred after the end was certain, or that does
// not matter: in a destructor, or after an agent's peers were gone.
bool IsBeforeAside(std::string_view line);

// Whether it is the traceback of a destructor alone, which Python ignores: its outermost frame is
// in `__del__`. Python's heading, "Exception ignored in: ...", may be missing.
bool IsOfDestructor(const Chain& chain);

// Whether the outermost frame is that of the thread that feeds a queue of Python's multiprocessing:
// it prints what it raises, and goes on (multiprocessing/queues.py, Queue._feed).
bool IsOfFeeder(const Frame& outermost);

// Whether the program caught the exception and printed it: its outermost frame is that of the
// function that caught it, while an uncaught one goes up to the program's or the thread's first
// frame. It may have ended by it nevertheless.
bool WasCaught(const Chain& chain);

// "Error: boom", "fatal: boom", "x: error: boom": the last message of any program.
bool IsErrorLine(std::string_view line);

// The name of the program in "Command '['/usr/bin/gcc-12', ...": "gcc". "" for another text.
std::string_view ProgramOfCommand(std::string_view text);

// A line that UCX' logger has written.
bool IsOfFabricsLog(std::string_view line);

// torch.utils.cpp_extension says so of what it could not compile.
inline constexpr std::string_view kBuildError = "Error building extension '";
// A line in which a compiler or a linker says what is wrong.
bool NamesBuildError(std::string_view line);

// A launcher's repetition of a rank's message.
bool IsReport(const Chain& chain);

// A message from what ran the program, elsewhere or as a child, that it has failed. Some contain
// its message.
bool IsAboutAnother(const Raised& raised);

}  // namespace answers
