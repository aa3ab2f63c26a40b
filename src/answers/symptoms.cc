#include "answers/symptoms.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <vector>

#include "answers/has_any.h"
#include "answers/program_words.h"
#include "answers/signal_words.h"
#include "base/launcher_report.h"
#include "base/strings.h"

namespace answers {
namespace {

// Matches "Last State:     Terminated" of kubectl describe, and "terminated:" of -o yaml: the
// container may have succeeded. Its reason and exit code are the next lines.
bool IsContainersEnd(std::string_view text) {
  text = base::Trim(text);
  const bool is_state = text.starts_with("State: ") || text.starts_with("Last State: ");
  return (is_state && text.ends_with(" Terminated")) || text == "terminated:" ||
         text == "\"terminated\": {";
}

// Matches "Exit Code:    137" of kubectl describe, and "exitCode: 137" of -o yaml.
bool IsContainersFailure(std::string_view text) {
  text = base::Trim(text);
  if (text.ends_with(',')) text.remove_suffix(1);
  for (const std::string_view key : {"Exit Code:", "exitCode:", "\"exitCode\":"}) {
    if (!text.starts_with(key)) continue;
    return base::ParseInt(base::Trim(text.substr(key.size()))).value_or(0) != 0;
  }
  return false;
}

// Whether it comes from a library that compiles what it needs.
bool IsOfCompiler(std::string_view text) {
  static constexpr auto kCompilers =
      std::to_array<std::string_view>({"cc", "gcc", "g++", "c++", "clang", "clang++", "nvcc",
                                       "hipcc", "ptxas", "ld", "ninja", "make", "cmake"});
  const std::string_view program = ProgramOfCommand(text);
  return std::any_of(kCompilers.begin(), kCompilers.end(), [program](std::string_view each) {
    return program == each || (program.ends_with(each) &&
                               program.substr(0, program.size() - each.size()).ends_with('-'));
  });
}

// Whether the program was a launcher, as libraries and programs start it for several GPUs: its
// exit code is its ranks'.
bool IsOfLaunch(std::string_view text) {
  static constexpr auto kLaunchers = std::to_array<std::string_view>(
      {"torchrun", "accelerate", "deepspeed", "horovodrun", "mpirun", "mpiexec", "srun"});
  static constexpr auto kModules = std::to_array<std::string_view>(
      {"torch.distributed.run", "torch.distributed.launch", "accelerate.commands.launch"});
  const std::string_view program = ProgramOfCommand(text);
  return std::find(kLaunchers.begin(), kLaunchers.end(), program) != kLaunchers.end() ||
         (program == "python" && HasAny(text, kModules));
}

bool IsOfWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Whether a line has the level ERROR; a variable's name that contains the word does not count.
bool IsError(std::string_view text) {
  constexpr std::string_view kError = "ERROR";
  for (size_t at = text.find(kError); at != text.npos; at = text.find(kError, at + 1)) {
    const size_t end = at + kError.size();
    const bool begins = at == 0 || !IsOfWord(text[at - 1]);
    if (begins && (end == text.size() || !IsOfWord(text[end]))) return !GoesOnAnyway(text);
  }
  return false;
}

// Whether it begins with a number that is no code: " = 0", ": 0.12", " 5%", " 1e-3".
bool BeginsWithMeasure(std::string_view text) {
  text = text.substr(std::min(text.find_first_not_of(":= "), text.size()));
  text = text.substr(0, std::min(text.find_first_not_of("0123456789.e-%"), text.size()));
  return !text.empty() && base::IsDigit(text[0]) &&
         (text == "0" || text.find_first_of(".%") != text.npos || text.find("e-") != text.npos);
}

// Whether it is the rest of a measure's name, in small letters, and its number: " to download:
// 0.950 - ", " requests: 0"; not " to reach: 10.0.0.1", " to start rank: 0" or " with code: 1."
bool EndsNameOfMeasure(std::string_view text) {
  const size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_ ");
  if (end == text.npos || text[end] != ':' || !BeginsWithMeasure(text.substr(end))) return false;
  const bool is_plural = base::Trim(text.substr(0, end)).ends_with('s');
  text = text.substr(text.find_first_of("0123456789"));
  text = text.substr(0, text.find_first_of(" ,;"));
  return text.find_first_not_of("0123456789.%") == text.npos && !text.ends_with('.') &&
         std::count(text.begin(), text.end(), '.') < 2 && (text != "0" || is_plural);
}

// Whether the machine says that it has corrected the error: the kernel's AER
// (drivers/pci/pcie/aer.c, whose second line names a register), EDAC's CE, and machine checks.
bool IsCorrected(std::string_view lower) {
  static constexpr auto kWords = std::to_array<std::string_view>(
      {" corrected error", "severity=correct", "severity: corrected",
       " error status/mask=", "corrected by h/w", " ce memory "});
  return HasAny(lower, kWords);
}

// Whether the word about a failure at [begin, end) of this text in small letters says of nothing
// that it failed.
bool IsTopic(std::string_view lower, size_t begin, size_t end) {
  static constexpr auto kTopics = std::to_array<std::string_view>(
      {"rate", "estimate", "handling", "handler", "analysis", "case", "mode", "bar", "margin",
       "term", "correction", "feedback", "tolerance", "probability", "detection", "resolved",
       "ignored in", "with asterisks", "that have exceeded"});
  static constexpr auto kNone =
      std::to_array<std::string_view>({"no", "0", "zero", "without", "any", "busbw"});
  static constexpr auto kPossible = std::to_array<std::string_view>(
      {"in case of ", "if ", "to debug ", "to avoid ", "to prevent ", "may ", "might ",
       "will result in ", "can result in ", "will lead to ", "can lead to ", "can cause "});
  std::string_view before = lower.substr(0, begin);
  if (const size_t stop = before.rfind(". "); stop != before.npos) before.remove_prefix(stop + 2);
  const std::string_view after = base::Trim(lower.substr(end));
  const std::string_view word = lower.substr(begin, end - begin);
  const bool is_noun = !word.starts_with("fail") || word.starts_with("failure");
  const bool is_topic =
      is_noun && std::any_of(kTopics.begin(), kTopics.end(),
                             [after](std::string_view topic) { return after.starts_with(topic); });
  const bool is_of_measure = word == "failed" && EndsNameOfMeasure(after);
  // "no errors", "0 tests failed"
  const std::vector<std::string> words = base::Split(base::Trim(before), ' ');
  const auto is_none = [&words](size_t from_end) {
    return words.size() >= from_end &&
           std::find(kNone.begin(), kNone.end(), words[words.size() - from_end]) != kNone.end();
  };
  return is_topic || BeginsWithMeasure(after) || is_of_measure || HasAny(before, kPossible) ||
         is_none(1) || (is_none(2) && words.back().ends_with('s'));
}

// Whether a word in small letters has the letters of a word about failures and is another one:
// "detailed", "mirror", "filled", "studied".
bool IsOtherWord(std::string_view word) {
  const auto has = [word](std::string_view part) { return word.find(part) != word.npos; };
  return (has("ailed") && !word.ends_with("failed")) || (has("rror") && !has("error")) ||
         (has("illed") && !word.ends_with("killed")) || (has("died") && word != "died");
}

// Whether a launcher says in this line how the job ended.
bool ReportsEnd(std::string_view line) {
  static constexpr auto kWords = std::to_array<std::string_view>({"srun: ",
                                                                  "slurmstepd: ",
                                                                  "sigkill_handler]",
                                                                  "torch/distributed/elastic/",
                                                                  "torch.distributed.elastic.",
                                                                  "composer.cli.launcher",
                                                                  "torch/multiprocessing/spawn.py",
                                                                  "] Child process with PID ",
                                                                  "[launch.py:",
                                                                  "distributed/launch.py:",
                                                                  " died from signal ",
                                                                  "MPI process (rank: ",
                                                                  base::kReportHeading,
                                                                  "what to do: ",
                                                                  "ended     : ",
                                                                  "others    : ",
                                                                  "restarts  : ",
                                                                  "stderr    : ",
                                                                  "report    : ",
                                                                  "why       : exit code "});
  // Open MPI (help-mpi-api.txt, help-prun.txt) and Horovod, which repeats its words.
  static constexpr auto kOfOpenMpi = std::to_array<std::string_view>(
      {" noticed that process rank ", " noticed that the job aborted",
       " has exited due to process rank ", "MPI_ABORT was invoked on rank ", "with errorcode ",
       "Errorcode: ", "NOTE: invoking MPI_ABORT causes ",
       "You may or may not see output from other processes", "exactly when Open MPI kills them",
       "Primary job  terminated normally, but ",
       "a non-zero exit code. Per user-direction, the job has been aborted",
       " detected that one or more processes exited with non-zero status",
       "the job to be terminated. The first process to do so was:", "Process name: ",
       "Exit code:    "});
  // MPICH and Intel MPI (src/pm/hydra)
  static constexpr auto kOfHydra = std::to_array<std::string_view>(
      {"application called MPI_Abort(", "BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES",
       "=   RANK ", "=   PID ",
       "EXIT CODE: ", "KILLED BY SIGNAL: ", "CLEANING UP REMAINING PROCESSES",
       "YOU CAN IGNORE THE BELOW CLEANUP MESSAGES", "TERMINATED WITH THE EXIT STRING: ",
       "This typically refers to a problem with your application", "assert (!closed) failed",
       "callback returned error status", "error waiting for event",
       "process manager error waiting for completion",
       "Please see the FAQ page for debugging suggestions"});
  return HasAny(line, kWords) || HasAny(line, kOfOpenMpi) || HasAny(line, kOfHydra);
}

}  // namespace

bool OnlySpeaksOfFailure(std::string_view text) {
  static constexpr auto kFailures = std::to_array<std::string_view>({"error", "fail", "exception"});
  // Open MPI's words about the help texts that it has left out (show_help.c)
  static constexpr auto kLeftOut =
      std::to_array<std::string_view>({" sent help message ", " to see all help / error messages"});
  const std::string lower = base::ToLower(text);
  if (IsCorrected(lower) || HasAny(lower, kLeftOut)) return true;
  std::string rest(text);  // without the words that say of nothing that it failed
  for (size_t begin = 0, end = 0; begin < lower.size(); begin = end + 1) {
    for (end = begin; end < lower.size() && IsOfWord(lower[end]);) ++end;
    const std::string_view word = std::string_view(lower).substr(begin, end - begin);
    if (IsOtherWord(word) || (HasAny(word, kFailures) && IsTopic(lower, begin, end))) {
      rest.replace(begin, word.size(), word.size(), ' ');
    }
  }
  return !MentionsFailure(rest);
}

bool IsOfLauncher(std::string_view line) {
  static constexpr auto kGroups =
      std::to_array<std::string_view>({"ProcessGroupNCCL.cpp", "[c10d]"});
  return ReportsEnd(line) || HasAny(line, kGroups);
}

bool SaysNothing(std::string_view line) {
  line = base::Trim(line);
  return line.find_first_not_of(line.starts_with('=') ? '=' : '-') == line.npos || ReportsEnd(line);
}

bool ReportsExit(std::string_view text) {
  static constexpr auto kWords = std::to_array<std::string_view>(
      {"(exitcode: 1)", "exitcode  : 1 ", "Exited with exit code 1", "exits with return code = 1",
       "returned non-zero exit status 1", "terminated with code 1", "exited with code 1"});
  return HasAny(text, kWords);
}

bool IsMissingOfShell(std::string_view text) {
  constexpr std::string_view kMissing = ": No such file or directory";
  static constexpr auto kShells = std::to_array<std::string_view>({"sh: ", ": line "});
  const size_t at = text.rfind(kMissing);
  return text.find("zsh: no such file or directory: ") != std::string_view::npos ||
         (at != std::string_view::npos && HasAny(text.substr(0, at), kShells));
}

bool IsMissingOfDash(std::string_view text) {
  constexpr std::string_view kMissing = ": not found";
  if (!text.ends_with(kMissing)) return false;
  text.remove_suffix(kMissing.size());
  const size_t name = text.rfind(": ");
  const size_t number = text.substr(0, name).rfind(": ");
  if (number == std::string_view::npos) return false;
  std::string_view script = text.substr(0, number);
  if (const size_t prefix = script.rfind(": "); prefix != std::string_view::npos) {
    script.remove_prefix(prefix + 2);
  }
  const auto is_word = [](std::string_view part) {
    return !part.empty() && part.find(' ') == std::string_view::npos;
  };
  return is_word(script) && is_word(text.substr(name + 2)) &&
         base::ParseInt(text.substr(number + 2, name - number - 2)).has_value();
}

bool NamesMissingTool(std::string_view text) {
  static constexpr auto kTools = std::to_array<std::string_view>(
      {"nvidia-smi", "rocm-smi", "amd-smi",     "npu-smi", "gpustat", "nvtop",       "nvcc",
       "ibstat",     "ibstatus", "ibv_devinfo", "lspci",   "lscpu",   "lsb_release", "ifconfig",
       "free",       "hostname", "figlet",      "tput",    "clear",   "module"});
  constexpr std::string_view kZsh = "command not found: ";
  text = base::Trim(text);
  const size_t zsh = text.find(kZsh);
  std::string_view name;
  if (zsh != std::string_view::npos) {
    name = text.substr(zsh + kZsh.size());
  } else {
    for (const std::string_view end : {": command not found", ": not found"}) {
      if (name.empty() && text.ends_with(end)) name = text.substr(0, text.size() - end.size());
    }
    name = name.substr(name.find_last_of(" /:") + 1);  // 0 if there is none
  }
  return std::find(kTools.begin(), kTools.end(), name) != kTools.end();
}

bool ReportsMissingProgram(std::string_view text) {
  static constexpr auto kWords = std::to_array<std::string_view>(
      {"xit code 127", "xit code: 127", "xitcode: 127", "xitcode  : 127", "xit status 127",
       "xit status: 127", "status of 127", "return code = 127", "exited with code 127",
       "exited with 127", "terminated with code 127"});
  return HasAny(text, kWords);
}

bool IsEndOfStep(std::string_view text) {
  return text.find("*** STEP ") != std::string_view::npos &&
         text.find(" CANCELLED AT ") != std::string_view::npos &&
         text.find(" DUE TO ") == std::string_view::npos;
}

bool IsEndForTask(std::string_view text) {
  return text.find(" CANCELLED AT ") != std::string_view::npos &&
         text.find(" DUE TO TASK FAILURE") != std::string_view::npos;
}

bool IsOfScheduler(std::string_view text) {
  static constexpr auto kWords = std::to_array<std::string_view>(
      {"slurmstepd: error: ", "srun: error: ", "PBS: job killed", ": job killed after reaching LSF",
       "The node was low on resource: ", "The node had condition: [",
       "ephemeral local storage usage exceeds"});
  return HasAny(text, kWords);
}

bool IsAboutWholeJob(std::string_view text) {
  static constexpr auto kWords = std::to_array<std::string_view>(
      {"error: *** JOB ", "error: *** STEP ", "PBS: job killed", ": job killed after reaching LSF",
       " exceeded its time limit"});
  return IsOfScheduler(text) && HasAny(text, kWords);
}

bool IsBeforeAside(std::string_view text) {
  return text.starts_with("Exception ignored in") ||
         text.find("Error waiting on exit barrier") != std::string_view::npos;
}

bool EndsStep(std::string_view text) {
  return text.find("srun: Terminating ") != std::string_view::npos ||
         (text.find("srun: error: ") != std::string_view::npos &&
          text.find(": Exited with exit code ") != std::string_view::npos);
}

bool IsShellsWordOfASignal(std::string_view text) {
  return SignalOfShell(text).has_value() || base::Trim(text).starts_with("^C");
}

bool IsLastWord(std::string_view text) {
  static constexpr auto kWords = std::to_array<std::string_view>({"xit code",
                                                                  "xitcode",
                                                                  "return code = ",
                                                                  "xit status",
                                                                  "exited with",
                                                                  "xited unexpectedly",
                                                                  "terminated with",
                                                                  "terminated by",
                                                                  "SIGKILL",
                                                                  "SIGABRT",
                                                                  "SIGTERM",
                                                                  "SIGINT",
                                                                  "SIGHUP",
                                                                  "SIGBUS",
                                                                  "SIGSEGV",
                                                                  "ChildFailedError",
                                                                  "died unexpectedly",
                                                                  "has died",
                                                                  "srun: error: ",
                                                                  "slurmstepd: error: ",
                                                                  "srun: Job step aborted",
                                                                  "has been revoked",
                                                                  "terminate called",
                                                                  "  what():  ",
                                                                  "death signal",
                                                                  "exited on signal",
                                                                  "signal: ",
                                                                  "has been aborted",
                                                                  "BackoffLimitExceeded",
                                                                  "is failed because",
                                                                  "  Error  ",
                                                                  "CrashLoopBackOff",
                                                                  "JobStatus.FAILED"});
  if (IsEndOfStep(text)) return false;  // whatever ended the step has said why
  if (IsContainersEnd(text)) return false;
  if (IsContainersFailure(text) || IsShellsWordOfASignal(text)) return true;
  const std::string_view type = text.substr(0, text.find(": "));
  const bool is_exception = type.size() < text.size() && type.find(' ') == std::string_view::npos &&
                            (type.ends_with("Error") || type.ends_with("Exception"));
  return (is_exception || HasAny(text, kWords)) && !IsWarning(text);
}

bool MentionsFailure(std::string_view text) {
  static constexpr auto kWords = std::to_array<std::string_view>(
      {"illed",    "xit code",      "xitcode",     "return code", "xit status", "SIG",
       "ignal",    "raceback",      "rror",        "ailed",       "FAILED",     "ailure",
       "died",     "borted",        "erminated",   "core dumped", "exited",     "xception",
       "hut down", "shutting down", "panicked at "});
  return (HasAny(text, kWords) || IsError(text) || IsContainersFailure(text)) && !IsWarning(text) &&
         !IsContainersEnd(text) && !IsElasticsSuccess(text);
}

bool MentionsTrouble(std::string_view text) {
  static constexpr auto kWords = std::to_array<std::string_view>(
      {" must ",  "must be", "xpected", "annot ",   "can't ",   "ould not", " not ",      "n't ",
       "ismatch", "nvalid",  "nable",   "ailed",    "nsupport", "should",   "equire",     "rror",
       "lready",  "ut of ",  "oo many", "imed out", "imeout",   "efused",   "enied",      "issing",
       "wrong",   "ncompat", "o such ", "No ",      "xceed",    "nterrupt", "o longer",   "removed",
       "orrupt",  "illegal", "eprecat", "rrno",     "unknown",  "nauthor",  "orbidden",   "losed",
       "nfinite", "NaN",     "runcat",  "uplicate", "is too ",  "Too ",     "larger than"});
  return HasAny(text, kWords);
}

std::string_view ProgramOfCommand(std::string_view text) {
  constexpr std::string_view kCommand = "Command ";
  const size_t at = text.find(kCommand);
  if (at == std::string_view::npos) return "";
  const size_t begin = text.find_first_not_of("'[\"", at + kCommand.size());
  if (begin == std::string_view::npos) return "";
  std::string_view program = text.substr(begin);
  program = program.substr(0, program.find_first_of(" '\""));
  program = program.substr(program.rfind('/') + 1);  // 0 if there is none
  const size_t version = program.find_last_not_of("0123456789.-");
  return program.substr(0, version == std::string_view::npos ? 0 : version + 1);
}

bool IsErrorLine(std::string_view text) {
  static constexpr auto kBegins = std::to_array<std::string_view>(
      {"Error: ", "ERROR: ", "error: ", "fatal: ", "Fatal: ", "FATAL: ", "Fatal error: "});
  return std::any_of(kBegins.begin(), kBegins.end(),
                     [text](std::string_view begin) { return text.starts_with(begin); }) ||
         text.substr(0, 60).find(": error: ") != std::string_view::npos ||
         text.find(": fatal error: ") != std::string_view::npos ||
         text.find("ld: cannot find ") != std::string_view::npos;
}

bool IsOfFabricsLog(std::string_view text) {
  static constexpr auto kWords =
      std::to_array<std::string_view>({" UCX  ERROR ", " UCX  WARN ", " UCX  INFO "});
  return HasAny(text, kWords);
}

bool NamesBuildError(std::string_view text) {
  static constexpr auto kWords = std::to_array<std::string_view>(
      {": error: ", ": fatal error: ", " fatal error C", ": error C", "#error -- ", ": error   : ",
       "ld: cannot find ", "ld: error: ", "undefined reference to ", "ptxas error", "nvcc fatal "});
  return HasAny(text, kWords);
}

bool IsOfDestructor(const Chain& chain) {
  const std::vector<Frame>& frames = chain.raised.front().frames;
  return !frames.empty() && frames.front().function == "__del__";
}

bool IsOfFeeder(const Frame& outermost) {
  return outermost.function == "_feed" &&
         outermost.file.find("multiprocessing/queues.py") != std::string::npos;
}

bool WasCaught(const Chain& chain) {
  static constexpr auto kOutermost =
      std::to_array<std::string_view>({"", "<module>", "_bootstrap", "_bootstrap_inner", "_wrap",
                                       "_run_module_as_main", "_run_code", "spawn_main"});
  const std::vector<Frame>& frames = chain.raised.back().frames;
  return !frames.empty() && std::find(kOutermost.begin(), kOutermost.end(),
                                      frames.front().function) == kOutermost.end();
}

bool IsReport(const Chain& chain) {
  const Raised& last = chain.raised.back();
  const std::string_view type = last.Type();
  if (type == "ChildFailedError" || type == "ProcessExitedException") return true;
  if (last.text.starts_with(kOfSpawned) && HasAny(last.text, kEndsOfSpawned)) return true;
  if (type == "CalledProcessError" && IsOfLaunch(last.text)) return true;
  // A program's own subprocess.run raises it, too, and so does a library that compiles. In
  // `accelerate` and `deepspeed` it is raised by an installed program.
  return type == "CalledProcessError" && !IsOfCompiler(last.text) &&
         std::none_of(last.frames.begin(), last.frames.end(), [](const Frame& frame) {
           static constexpr auto kInstalled =
               std::to_array<std::string_view>({"/bin/", "\\Scripts\\"});
           return frame.IsUsers() && !HasAny(frame.file, kInstalled);
         });
}

bool IsAboutAnother(const Raised& raised) {
  static constexpr auto kTypes = std::to_array<std::string_view>(
      {"TrainingFailedError", "UncompletedJobError", "FailedJobError", "PapermillExecutionError",
       "DeadKernelError"});
  static constexpr auto kWords = std::to_array<std::string_view>(
      {"Horovod detected that one or more processes exited with non-zero status",
       "HorovodInternalError: Horovod has been shut down", "TuneError: ('Trials did not complete'",
       // YARN's client about the application that it has submitted
       "SparkException: Application application_",
       // vLLM's about its engine's process
       "Engine core initialization failed. See root cause above",
       "Engine process failed to start. See stack trace for the root cause",
       "EngineCore encountered an issue. See stack trace (above) for the root cause"});
  constexpr std::string_view kCarried = "ErrorMessage \"";
  const std::string_view text = raised.text;
  const std::string_view type = raised.Type();
  if (type == "UnexpectedStatusException" && text.find("InternalServerError: ") != text.npos) {
    return true;
  }
  if (type == "UnexpectedStatusException" && text.find("AlgorithmError: ") != text.npos) {
    const size_t carried = text.find(kCarried);
    return carried == text.npos || text.substr(carried + kCarried.size()).starts_with('"');
  }
  return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end() || HasAny(text, kWords);
}

}  // namespace answers
