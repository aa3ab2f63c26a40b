#include "answers/log/launcher_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <numeric>
#include <set>
#include <utility>

#include "answers/log/mpi_words.h"
#include "answers/log/own_stamp.h"
#include "answers/log/ray_words.h"
#include "answers/program_words.h"
#include "answers/signal_words.h"
#include "base/launcher_report.h"
#include "base/strings.h"

namespace answers {
namespace {

using Lines = std::vector<std::string_view>;

constexpr int kShellSignals = 128;

std::optional<std::string_view> TableValue(std::string_view line, std::string_view key) {
  line = base::Trim(line);
  if (!line.starts_with(key)) return std::nullopt;
  line = base::Trim(line.substr(key.size()));
  if (!line.starts_with(':')) return std::nullopt;
  return base::Trim(line.substr(1));
}

// Reads the number at the beginning, with its sign.
std::optional<int> NumberOf(std::string_view value) {
  const size_t sign = value.starts_with('-') ? 1 : 0;
  const auto number = base::ParseInt(value.substr(0, value.find_first_not_of("0123456789", sign)));
  return number && *number > -1000 && *number < 10'000'000
             ? std::optional(static_cast<int>(*number))
             : std::nullopt;
}

std::optional<int> NumberBehind(std::string_view line, std::string_view words) {
  const size_t at = line.find(words);
  return at == std::string_view::npos ? std::nullopt : NumberOf(line.substr(at + words.size()));
}

// Reads "0, 1, 2]" behind the words.
std::optional<std::vector<int>> ListBehind(std::string_view line, std::string_view words) {
  const size_t at = base::Trim(line).starts_with(words) ? line.find(words) : std::string_view::npos;
  const size_t end = line.find(']', at);
  if (end == std::string_view::npos) return std::nullopt;
  std::vector<int> numbers;
  for (const std::string& part :
       base::Split(line.substr(at + words.size(), end - at - words.size()), ',')) {
    const auto number = NumberOf(base::Trim(part));
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

// Turns Python's -9 into the shell's 137.
std::optional<int> ExitCode(std::optional<int> code) {
  return code && *code < 0 ? std::optional(kShellSignals - *code) : code;
}

std::optional<int> ExitOfSignal(std::string_view words) {
  const auto signal = SignalIn(words);
  if (signal) return kShellSignals + *signal;
  // Slurm's daemon ended the step because of its memory.
  return words.find("Out Of Memory") == words.npos ? std::nullopt
                                                   : std::optional(kShellSignals + 9);
}

// Reads "muster-launch: node 1 of 2: ranks 2 to 3 of 4, start 1". Returns nullopt if the lines are
// from several nodes, because lines of the others cannot be distinguished.
std::optional<NodeRanks> ReadNodeRanks(const Lines& lines) {
  constexpr std::string_view kBegin = "muster-launch: node ";
  std::optional<NodeRanks> ranks;
  std::optional<int> node;
  for (const std::string_view line : lines) {
    if (!line.starts_with(kBegin)) continue;
    const auto first = NumberBehind(line, ": ranks ");
    const auto last = NumberBehind(line, " to ");
    if (!first || !last || *last < *first) continue;
    const auto number = NumberBehind(line, kBegin);
    if (node && node != number) return std::nullopt;
    node = number;
    ranks = NodeRanks{*first, *last};
  }
  return ranks;
}

void ReadTableLine(std::string_view text, LauncherRow& row) {
  if (const auto rank = TableValue(text, "rank")) {
    row.rank = NumberOf(*rank);
    row.local_rank = NumberBehind(*rank, "local_rank: ");
  }
  if (const auto host = TableValue(text, "host")) row.host = *host;
  if (const auto code = TableValue(text, "exitcode")) {
    row.exit_code = ExitCode(NumberOf(*code));
    row.pid = NumberBehind(*code, "(pid: ");
    row.words = text;
  }
  if (const auto value = TableValue(text, "traceback"); value && value->starts_with("Signal ")) {
    row.words = text;
    if (!row.pid) row.pid = NumberBehind(*value, " received by PID ");
    const auto number = NumberBehind(*value, "Signal ");
    if (number && !row.exit_code) row.exit_code = kShellSignals + *number;
  }
  if (const auto file = TableValue(text, "error_file"); file && file->starts_with('/')) {
    row.error_file = *file;
  }
  if (const auto time = TableValue(text, "time")) {
    if (const auto stamp = ReadOwnStamp(*time)) row.time = stamp->time;
  }
}

// Whether this is a row of a table whose beginning is missing in the log.
bool IsOfTableWithoutHead(std::string_view text) {
  const auto has = [text](std::string_view begin, std::string_view words) {
    return text.starts_with(begin) && text.find(words) != std::string_view::npos;
  };
  return has("traceback : Signal ", " received by PID ") || has("rank      : ", "(local_rank: ") ||
         has("exitcode  : ", "(pid: ");
}

bool IsRow(std::string_view text) {
  static constexpr auto kRows =
      std::to_array<std::string_view>({"time      : ", "host      : ", "rank      : ",
                                       "exitcode  : ", "error_file: ", "traceback : "});
  return std::any_of(kRows.begin(), kRows.end(),
                     [text](std::string_view row) { return text.starts_with(row); });
}

// If the log ends within the root cause's row, how that rank ended is lost, but not who it was.
void TakeCutRoot(std::string_view text, LauncherRow& row) {
  const bool is_cut = row.ended == Ended::kFirst && row.rank && !row.exit_code && row.words.empty();
  if (is_cut) row.words = text;
}

// Reads the tables of all nodes' agents.
void ReadTables(const Lines& lines, std::vector<LauncherRow>& rows) {
  enum class Part { kNone, kFailures, kRoot } part = Part::kNone;
  bool is_cut = false;
  const auto add = [&rows, &part] {
    rows.emplace_back().ended = part == Part::kRoot ? Ended::kFirst : Ended::kLater;
  };
  for (const std::string_view line : lines) {
    const std::string_view text = base::Trim(line);
    if (is_cut && !IsRow(text)) {
      is_cut = false;
      part = Part::kNone;
    }
    if (text == "Failures:") part = Part::kFailures;
    if (text.starts_with("Root Cause (first observed failure)")) part = Part::kRoot;
    if (part == Part::kNone && IsOfTableWithoutHead(text)) {
      part = Part::kRoot;  // the root cause is the last part of a table
      is_cut = true;
      add();
    }
    if (part == Part::kNone) continue;
    if (text.starts_with('[') && text.ends_with("]:")) add();
    if (rows.empty()) continue;
    ReadTableLine(text, rows.back());
    if (TableValue(text, "rank")) TakeCutRoot(text, rows.back());
  }
}

// Adds what muster-launch says, below its table, about the rank that failed first.
void ReadExplanation(const Lines& lines, std::vector<LauncherRow>& rows) {
  constexpr std::string_view kSaid = ", its last line: ";
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].find(base::kReportHeading) == std::string_view::npos) continue;
    const auto rank = NumberBehind(lines[i], ": rank ");
    const auto row = std::find_if(rows.rbegin(), rows.rend(),
                                  [&rank](const LauncherRow& each) { return each.rank == rank; });
    if (!rank || row == rows.rend()) continue;
    for (size_t below = i + 1; below < lines.size() && lines[below].starts_with("  "); ++below) {
      if (const auto why = TableValue(lines[below], "why")) {
        const size_t said = why->find(kSaid);
        row->words = said == std::string_view::npos ? *why : why->substr(said + kSaid.size());
      }
      if (const auto where = TableValue(lines[below], "where")) row->crash = *where;
    }
  }
}

// Returns what srun wrote in a line: it may stand behind a progress bar, which ends in no newline.
std::string_view SrunsError(std::string_view line) {
  const size_t at = line.find("srun: error: ");
  const std::string_view before = line.substr(0, at);
  const bool is_bar =
      base::Trim(before).ends_with(']') && before.find("%|") != std::string_view::npos;
  if (at == std::string_view::npos || (at > 0 && !is_bar)) return {};
  return line.substr(at);
}

// Reads "srun: error: gpu-03: task 5: Exited with exit code 1". If there are several tasks, it is
// unknown which was first.
std::optional<LauncherRow> ReadSrun(const Lines& lines, size_t at) {
  const std::string_view line = SrunsError(lines[at]);
  if (line.empty()) return std::nullopt;
  const auto task = NumberBehind(line, ": task ");
  if (!task) return std::nullopt;
  LauncherRow row;
  row.rank = task;
  const std::string_view host = line.substr(13);
  row.host = host.substr(0, host.find(':'));
  row.words = line;
  row.exit_code = NumberBehind(line, "exit code ");
  if (!row.exit_code) row.exit_code = ExitOfSignal(line);
  return row;
}

// Reads mpirun's "Process name: [[29973,1],3]", PRRTE's "[prterun-HOST-81012@1,3]" and Horovod's
// "Process name: 3", with the exit code in the next line.
std::optional<LauncherRow> ReadProcessName(const Lines& lines, size_t at) {
  const auto name = TableValue(lines[at], "Process name");
  if (!name || at + 1 == lines.size()) return std::nullopt;
  const auto code = TableValue(lines[at + 1], "Exit code");
  if (!code || !NumberOf(*code)) return std::nullopt;
  LauncherRow row;
  const size_t job = name->starts_with('[') ? name->rfind(',') : std::string_view::npos;
  row.rank = NumberOf(job == std::string_view::npos ? *name : name->substr(job + 1));
  row.exit_code = ExitCode(NumberOf(*code));
  row.words = base::Trim(lines[at]);
  return row.rank ? std::optional(std::move(row)) : std::nullopt;
}

// The words in one line that stand before the rank and before the exit code.
struct Phrase {
  std::string_view rank, code;
  // Whether the code must follow the rank directly: otherwise the line may be a rank's own, about a
  // process that it started.
  bool is_code_next = false;
};
constexpr auto kPhrases = std::to_array<Phrase>({
    {"[rank: ", "terminated with code "},                     // Lightning
    {"-- Process ", "terminated with the following error:"},  // torch.multiprocessing
    {kOfSpawned, kEndsOfSpawned[0]},
    {kOfSpawned, kEndsOfSpawned[1]},
    {"Global rank ", "exited with code "},  // Composer
    {"ank ", " exited with code ", true},
    {"ank ", " exited with exit code ", true},
    {"ank ", " exited with status ", true},
    {"composer.cli.launcher:Rank ", "crashed with exit code "},
    {"noticed that process rank ", "exited on signal "},  // mpirun
    {"(first noticed rank ", "terminated with signal "},  // jsrun
    {": rank ", " died from signal ", true},              // PALS, Cray's mpiexec
    {"MPI process (rank: ", ") exited with status "},     // MVAPICH2 (mpispawn.c)
    {"MPI process (rank: ", ") terminated with signal "},
});

std::optional<LauncherRow> ReadIn(std::string_view line, const Phrase& phrase) {
  const auto rank = NumberBehind(line, phrase.rank);
  const size_t at = line.find(phrase.code);
  if (!rank || at == std::string_view::npos) return std::nullopt;
  const std::string_view between = phrase.code.starts_with(' ') ? "" : " ";
  const std::string together = fmt::format("{}{}{}{}", phrase.rank, *rank, between, phrase.code);
  if (phrase.is_code_next && line.find(together) == line.npos) return std::nullopt;
  LauncherRow row;
  row.rank = rank;
  row.pid = NumberBehind(line, "PID ");
  if (!row.pid) row.pid = NumberBehind(line, ", pid: ");
  row.words = line;
  const std::string_view end = line.substr(at + phrase.code.size());
  const auto number = NumberOf(end);
  if (phrase.code.ends_with("signal ")) {
    row.exit_code = number ? std::optional(kShellSignals + *number) : ExitOfSignal(end);
  } else {
    row.exit_code = number ? ExitCode(number) : std::optional(1);
  }
  return row;
}

std::optional<LauncherRow> ReadPhraseIn(std::string_view line) {
  for (const Phrase& phrase : kPhrases) {
    if (auto row = ReadIn(line, phrase)) return row;
  }
  return std::nullopt;
}

std::optional<LauncherRow> ReadPhrase(const Lines& lines, size_t at) {
  return ReadPhraseIn(lines[at]);
}

// mpirun's message is longer than a terminal's line, so that mails and pastes break it.
std::optional<LauncherRow> ReadMpirunsWrapped(const Lines& lines, size_t at) {
  constexpr std::string_view kEnds = " exited on signal ";
  const std::string_view line = lines[at];
  if (at + 1 == lines.size() || line.find("noticed that process rank ") == line.npos ||
      line.find(kEnds) != line.npos) {
    return std::nullopt;
  }
  return ReadPhraseIn(fmt::format("{} {}", base::Trim(line), base::Trim(lines[at + 1])));
}

// Reads the message of mp.spawn's exception without its type: a program may have caught and printed
// it. Many programs say the same of any process of theirs.
std::optional<LauncherRow> ReadSpawned(std::string_view line) {
  constexpr std::string_view kSpawned = kOfSpawned.substr(kOfSpawned.find("process "));
  constexpr int kMostSpawned = 1023;  // a larger number is a process' own
  if (IsWarning(line)) return std::nullopt;
  for (const std::string_view end : kEndsOfSpawned) {
    auto row = ReadIn(line, {kSpawned, end, true});
    if (row && *row->rank <= kMostSpawned) return row;
  }
  return std::nullopt;
}

// Reads "['python', '-u', 'train.py', '--local_rank=1'] exits with return code = -11". The command
// is that of the process that DeepSpeed's launcher started last, and not of the one that ended
// (deepspeed/launcher/launch.py), so that it names no rank.
std::optional<LauncherRow> ReadDeepSpeed(const Lines& lines, size_t at) {
  const std::string_view line = lines[at];
  const auto code = NumberBehind(line, "] exits with return code = ");
  if (!code) return std::nullopt;
  LauncherRow row;
  row.exit_code = ExitCode(code);
  row.words = line;
  return row;
}

// Reads "Command '['python', 'train.py']' died with <Signals.SIGSEGV: 11>." (subprocess.py), which
// names no rank.
std::optional<LauncherRow> ReadDied(const Lines& lines, size_t at) {
  constexpr std::string_view kDied = "' died with <Signals.";
  const std::string_view line = lines[at];
  const size_t died = line.find(kDied);
  const auto signal =
      died == std::string_view::npos ? std::nullopt : NumberBehind(line.substr(died), ": ");
  if (!signal) return std::nullopt;
  LauncherRow row;
  row.exit_code = kShellSignals + *signal;
  row.words = line;
  return row;
}

// Reads torch_xla's "Exception in device=TPU:3: boom" (xla_multiprocessing.py), which a process
// prints about itself: a device's number is the process's on its host.
std::optional<LauncherRow> ReadXla(const Lines& lines, size_t at) {
  constexpr std::string_view kBegin = "Exception in device=";
  constexpr int kExitCode = 17;
  const size_t begin = lines[at].find(kBegin);
  if (begin == std::string_view::npos) return std::nullopt;
  LauncherRow row;
  row.rank = NumberBehind(lines[at].substr(begin + kBegin.size()), ":");
  row.exit_code = kExitCode;
  row.words = lines[at];
  return row.rank ? std::optional(std::move(row)) : std::nullopt;
}

// Reads Open MPI's "This error was first reported for process rank 0; it may have occurred for
// other processes as well." of a program that it could not start, broken at any word, and "while
// attempting to start process rank 0."
std::optional<LauncherRow> ReadNotStarted(const Lines& lines, size_t at) {
  for (const std::string_view words :
       {"error was first reported for process ", "attempting to start process "}) {
    if (lines[at].find(base::Trim(words)) == std::string_view::npos) continue;
    const std::string_view below = at + 1 < lines.size() ? lines[at + 1] : "";
    const std::string whole = fmt::format("{} {}", base::Trim(lines[at]), base::Trim(below));
    LauncherRow row;
    row.rank = NumberBehind(whole, fmt::format("{}rank ", words));
    row.words = base::Trim(lines[at]);
    if (row.rank) return row;
  }
  return std::nullopt;
}

// Those that find the process that a launcher's message in line `at` is about.
using MessageReader = std::optional<LauncherRow> (*)(const Lines& lines, size_t at);
constexpr auto kReaders =
    std::to_array<MessageReader>({ReadSrun, ReadPhrase, ReadMpirunsWrapped, ReadDeepSpeed, ReadDied,
                                  ReadProcessName, ReadNotStarted, ReadMpiAbort, ReadHydra});

std::optional<LauncherRow> ReadMessage(const Lines& lines, size_t at) {
  for (const MessageReader reader : kReaders) {
    if (auto row = reader(lines, at)) return row;
  }
  return std::nullopt;
}

void ReadMessages(const Lines& lines, std::vector<LauncherRow>& rows) {
  size_t worked_until = lines.size();
  while (worked_until > 0 && !IsProgress(lines[worked_until - 1])) --worked_until;
  for (size_t i = 0; i < lines.size(); ++i) {
    auto row = ReadMessage(lines, i);
    // Where work follows, the program has handled it, or has started its process again.
    if (!row && i >= worked_until) row = ReadSpawned(lines[i]);
    if (!row && i >= worked_until) row = ReadXla(lines, i);
    if (!row) continue;
    // Hydra may print the same block twice.
    const bool is_repeated =
        row->ended == Ended::kUnordered && std::find(rows.begin(), rows.end(), *row) != rows.end();
    if (!is_repeated) rows.push_back(std::move(*row));
  }
}

// Reads "failed (exitcode: -9) local_rank: 1 (pid: 42) of binary: /usr/bin/python3" of torchrun's
// agent. The local rank is the rank on one node; if other rows name ranks, it only says what the
// log has lost of the table that follows.
void ReadAgent(const Lines& lines, const RanksOfLocals& ranks_of_locals,
               std::vector<LauncherRow>& rows) {
  static constexpr std::string_view kFailed = "failed (exitcode: ";
  const auto line = std::find_if(lines.begin(), lines.end(), [](std::string_view each) {
    return each.find(kFailed) != std::string_view::npos;
  });
  if (line == lines.end()) return;
  LauncherRow agents;
  agents.words = *line;
  agents.local_rank = NumberBehind(*line, "local_rank: ");
  const auto global = ranks_of_locals.find(agents.local_rank.value_or(-1));
  agents.is_local = global == ranks_of_locals.end();
  agents.rank = agents.is_local ? agents.local_rank : global->second;
  agents.pid = NumberBehind(*line, "(pid: ");
  agents.exit_code = ExitCode(NumberBehind(*line, "(exitcode: "));
  agents.ended = Ended::kFirst;
  const bool is_named = std::any_of(rows.begin(), rows.end(),
                                    [](const LauncherRow& row) { return row.rank.has_value(); });
  if (!is_named) {
    // A row of a table that the log has cut is about the same process.
    std::erase_if(rows, [](const LauncherRow& row) { return row.ended == Ended::kFirst; });
    rows.push_back(std::move(agents));
    return;
  }
  LauncherRow& last = rows.back();
  if (!last.rank || last.local_rank != agents.local_rank || last.exit_code) return;
  last.exit_code = agents.exit_code;
  last.pid = agents.pid;
  last.words = agents.words;
}

// Whether the process may have ended because of another one's end: launchers ask the others to end,
// and Hydra kills them.
bool MayFollowAnother(const LauncherRow& row) {
  const bool is_killed = row.exit_code == kShellSignals + SIGKILL;
  return row.ended == Ended::kLater || row.exit_code == 0 ||
         row.exit_code == kShellSignals + SIGTERM || (row.ended == Ended::kUnordered && is_killed);
}

// Of the rows without an order leaves the only one that has not followed another. If there are
// several, one is left without its rank. If there is none, the one that is left says nothing: Intel
// MPI, which names ranks, does not list a process that ended by an exit code, and even a single one
// may have followed that; it keeps its rank if Hydra says that it ends the others because of it.
void KeepOneOfUnordered(std::vector<LauncherRow>& rows) {
  const auto unordered =
      std::stable_partition(rows.begin(), rows.end(),
                            [](const LauncherRow& row) { return row.ended != Ended::kUnordered; });
  if (unordered == rows.end()) return;
  const auto followers = std::stable_partition(
      unordered, rows.end(), [](const LauncherRow& row) { return !MayFollowAnother(row); });
  if (followers == unordered && unordered->rank) unordered->exit_code.reset();
  const bool is_only = rows.end() - unordered == 1 && unordered->is_others_cleaned_up;
  if (followers - unordered != 1 && !is_only) unordered->rank.reset();
  rows.erase(unordered + 1, rows.end());
}

// Returns ": Exited with exit code 1" of "srun: error: n0: tasks 2-7: Exited with exit code 1". If
// a single task ended in the same way, it is unknown which was first.
std::set<std::string_view> EndsOfMany(const Lines& lines) {
  std::set<std::string_view> ends;
  for (const std::string_view line : lines) {
    if (SrunsError(line).empty()) continue;
    const size_t tasks = line.find(": tasks ");
    const size_t end = tasks == std::string_view::npos ? tasks : line.find(": ", tasks + 2);
    if (end != std::string_view::npos) ends.insert(line.substr(end));
  }
  return ends;
}

// The row of the rank that failed first; null if no launcher says which one it was.
const LauncherRow* FirstOf(const std::vector<LauncherRow>& rows,
                           const std::set<std::string_view>& ends_of_many) {
  // The root cause of the job is the earliest one of all nodes' tables or, if they have no times,
  // the last one.
  const LauncherRow* root = nullptr;
  for (const LauncherRow& row : rows) {
    if (row.ended != Ended::kFirst) continue;
    const bool is_later = root != nullptr && root->time && row.time && *root->time <= *row.time;
    if (!is_later) root = &row;
  }
  if (root != nullptr && root->rank) return root;
  const auto ended_as_many = [&ends_of_many](std::string_view words) {
    return std::any_of(ends_of_many.begin(), ends_of_many.end(),
                       [words](std::string_view end) { return words.ends_with(end); });
  };
  const auto first = std::find_if(rows.begin(), rows.end(), [&](const LauncherRow& row) {
    return row.rank && !MayFollowAnother(row) && !ended_as_many(row.words);
  });
  return first == rows.end() ? nullptr : &*first;
}

// Reads DeepSpeed's "[launch.py:152:main] nnodes=1, num_local_procs=8, node_rank=0": the number of
// processes, if there is only one node; else 0.
int ReadProcessesOfDeepSpeed(const Lines& lines) {
  const auto line = std::find_if(lines.begin(), lines.end(), [](std::string_view each) {
    return each.find("[launch.py:") != each.npos && NumberBehind(each, " nnodes=");
  });
  if (line == lines.end() || NumberBehind(*line, " nnodes=") != 1) return 0;
  return NumberBehind(*line, " num_local_procs=").value_or(0);
}

// Reads "process 73670 spawned with command: [..., '--local_rank=2', ...]" of DeepSpeed's launcher,
// if it has only one node.
void ReadSpawnedOfDeepSpeed(const Lines& lines, RanksOfPids& ranks) {
  constexpr std::string_view kSpawned = " spawned with command: [";
  const bool is_one_node = ReadProcessesOfDeepSpeed(lines) > 0;
  for (const std::string_view line : lines) {
    if (!is_one_node || line.find(kSpawned) == line.npos) continue;
    const auto pid = NumberBehind(line, "] process ");
    const auto rank = NumberBehind(line, "'--local_rank=");
    if (pid && rank) AddRankOfPid(ranks, *pid, rank);
  }
}

}  // namespace

void AddRankOfPid(RanksOfPids& ranks, int pid, std::optional<int> rank) {
  const auto [known, is_new] = ranks.try_emplace(pid, rank);
  if (!is_new && known->second != rank) known->second.reset();
}

RanksOfLocals ReadRanksOfLocals(const std::vector<std::string_view>& lines) {
  RanksOfLocals ranks;
  std::vector<int> locals;
  for (const std::string_view line : lines) {
    if (auto numbers = ListBehind(line, "local_ranks=[")) locals = std::move(*numbers);
    const auto globals = ListBehind(line, "global_ranks=[");
    if (!globals || globals->size() != locals.size()) continue;
    for (size_t i = 0; i < locals.size(); ++i) {
      const auto [known, is_new] = ranks.try_emplace(locals[i], (*globals)[i]);
      if (!is_new && known->second != (*globals)[i]) known->second.reset();
    }
    locals.clear();
  }
  return ranks;
}

std::optional<int> ReadLoneRank(const Lines& lines, bool is_of_one_agent) {
  std::optional<int> rank;
  for (const std::string_view line : lines) {
    const auto globals = ListBehind(line, "global_ranks=[");
    if (!globals) continue;
    const bool is_another = rank && rank != globals->front();
    if (globals->size() != 1 || (is_another && !is_of_one_agent)) return std::nullopt;
    rank = globals->front();
  }
  return rank;
}

std::vector<int> ReadRanksOfDeepSpeed(const Lines& lines, std::string_view host) {
  constexpr std::string_view kMapping = "global_rank_mapping=";
  std::set<std::string_view> mappings;
  std::set<int> nodes;
  for (const std::string_view line : lines) {
    if (const auto node = NumberBehind(line, " node_rank=")) nodes.insert(*node);
    const size_t at = line.find(kMapping);
    if (at != line.npos) mappings.insert(line.substr(at));
  }
  if (mappings.empty()) {
    std::vector<int> ranks(static_cast<size_t>(std::clamp(ReadProcessesOfDeepSpeed(lines), 0, 64)));
    std::iota(ranks.begin(), ranks.end(), 0);
    return ranks;
  }
  if (mappings.size() != 1 || (host.empty() && nodes.size() != 1)) return {};
  std::string_view rest = *mappings.begin();
  rest = rest.substr(std::min(rest.find('{'), rest.size()));
  for (int node = 0; !rest.empty(); ++node) {
    const size_t name = std::min(rest.find('\''), rest.size());
    const size_t end = rest.find("': [", name);
    if (end == rest.npos) return {};
    const std::string_view of = rest.substr(name + 1, end - name - 1);
    rest.remove_prefix(end + 1);
    auto ranks = ListBehind(rest, ": [");
    if (!ranks) return {};
    const bool is_it = host.empty() ? nodes.contains(node) : of == host;
    if (is_it) return std::move(*ranks);
    rest.remove_prefix(rest.find(']'));
  }
  return {};
}

LauncherWords ReadLauncherWords(const std::vector<std::string_view>& lines) {
  LauncherWords words;
  ReadTables(lines, words.rows);
  ReadExplanation(lines, words.rows);
  ReadMessages(lines, words.rows);
  ReadAgent(lines, ReadRanksOfLocals(lines), words.rows);
  if (auto row = ReadRay(lines)) words.rows.push_back(std::move(*row));
  for (const LauncherRow& row : words.rows) {
    if (row.rank && row.pid) AddRankOfPid(words.ranks_of_pids, *row.pid, row.rank);
  }
  ReadSpawnedOfDeepSpeed(lines, words.ranks_of_pids);
  KeepOneOfUnordered(words.rows);
  if (const LauncherRow* const first = FirstOf(words.rows, EndsOfMany(lines))) {
    words.first_rank = first->rank;
    words.first_time = first->time;
    words.is_first_local = first->is_local;
  }
  words.ranks = ReadNodeRanks(lines);
  return words;
}

bool IsOfCutTable(std::string_view words) { return TableValue(words, "rank").has_value(); }

std::optional<int> ReadSection(std::string_view line) {
  if (line.find("----------End global rank ") != std::string_view::npos) return -1;
  return NumberBehind(line, "----------Begin global rank ");
}

}  // namespace answers
