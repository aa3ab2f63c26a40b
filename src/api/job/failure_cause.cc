#include "api/job/failure_cause.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <iterator>
#include <optional>
#include <tuple>

#include "api/job/replica.h"
#include "api/job/wait_for.h"
#include "api/names.h"
#include "api/pod.h"
#include "base/launcher_report.h"
#include "base/machine/signal_name.h"
#include "base/strings.h"

namespace api {
namespace {

constexpr size_t kMaxLineBytes = 400;
constexpr std::string_view kPod = "pod ";  // before its name, where no rank is known
constexpr int kSignalBase = 128;  // for shells and runtimes, the exit code of signal n is 128 + n
constexpr int kMaxSignal = 64;

// The peers of a dead process notice at once, or when their watchdogs do: NCCL's take ten minutes.
// A container that was restarted longer ago has recovered.
constexpr std::chrono::minutes kLongestSilence{15};

struct Failure {
  base::Time at = base::Time::max();
  int weight = 0;  // smaller: likelier the cause, among failures of the same second
  int rank = 0;
  std::string text;
  std::string_view log;
  const text::Json* pod = nullptr;
  bool is_last = false;  // it has been restarted since
  bool is_code_alone = false;
  std::optional<base::Time> started;
};

int SignalOf(const Terminated& terminated) {
  if (terminated.signal != 0) return terminated.signal;
  const int signal = terminated.exit_code - kSignalBase;
  return signal > 0 && signal <= kMaxSignal ? signal : 0;
}

bool HasFailed(const Terminated& terminated) {
  return terminated.exit_code != 0 || terminated.signal != 0;
}

std::string NameOfSignal(int signal) {
  std::string name = base::SignalName(signal);
  return name.empty() ? fmt::format("signal {}", signal) : name;
}

// The reason of a container of which the kubelet knows no more.
constexpr std::string_view kStatusUnknown = "ContainerStatusUnknown";

constexpr std::string_view kCodeSyncFailed = "code sync failed in ";
constexpr std::string_view kInitContainer = "init container ";

// How git and rsync begin the line that says why they failed.
constexpr std::string_view kVerdicts[] = {"fatal:", "error:", "@ERROR:", "rsync: "};
// What git prints last when its transport has failed; the line before says why.
constexpr std::string_view kTransportFailed = "fatal: Could not read from remote repository.";

// What a process prints when its peer has died: gloo, NCCL's sockets, the store, and our agent.
constexpr std::string_view kPeerHasGone[] = {
    "Connection closed by peer", "Connection reset by peer", "Broken pipe", "he node of rank "};

// How muster-launch begins the lines below the one that says why, at the end of its log; further
// evidence continues with only a colon.
constexpr std::string_view kLaunchers[] = {
    "evidence  : ", "what to do: ", "others    : ", "ended     : ",
    "restarts  : ", "stderr    : ", "report    : "};

// Tracks where the lines of a log are within what Python prints of an exception: a header, indented
// frames, the line that names the exception, and, indented, what belongs to its message.
class Traceback {
 public:
  // Takes the lines in order. Whether the line belongs to the message of an exception that an
  // earlier line named.
  bool IsOfMessage(std::string_view line) {
    const bool is_indented = line.starts_with(' ') || line.starts_with('\t');
    if (is_indented) return place_ == Place::kMessage;
    if (line.starts_with("Traceback (most recent call last):")) {
      place_ = Place::kFrames;
    } else {
      place_ = place_ == Place::kFrames ? Place::kMessage : Place::kOutside;
    }
    return false;
  }
  // Whether the line before names an exception.
  bool HasNamed() const { return place_ == Place::kMessage; }

 private:
  enum class Place { kOutside, kFrames, kMessage };
  Place place_ = Place::kOutside;
};

// Whether a line may say why a program ended: sys.exit("no checkpoint found").
bool MayBeReason(std::string_view line) {
  static constexpr std::string_view kWords[] = {"rror",  "RROR",   "ail",    "AIL",    "xcept",
                                                "atal",  "bort",   "illed",  "issing", "nvalid",
                                                "enied", "efused", "nknown", "nable",  "annot ",
                                                "an't ", "not ",   "No ",    "no ",    "iving up"};
  return std::any_of(std::begin(kWords), std::end(kWords), [line](std::string_view words) {
    return line.find(words) != std::string_view::npos;
  });
}

// The line of a log's tail that says why: the launcher's; for a code sync the first error line,
// because general advice follows it; otherwise the last line, or, for an exception whose message
// has several lines, the one that names it. What the program raised is preferred to what
// `accelerate launch` and others raise about it, which says less, and if it `ended_by_exception`
// also to what it had printed before, which Python writes only when it ends.
std::string TellingLine(std::string_view message, bool is_code_sync, bool ended_by_exception) {
  constexpr std::string_view kOfRun = "subprocess.CalledProcessError: ";
  std::string last, raised;
  Traceback traceback;
  const size_t program_end = message.find(fmt::format("\n{}", kProgramFailed));
  const std::string_view of_program = message.substr(0, program_end);
  const bool is_of_entry = program_end != std::string_view::npos;
  for (const std::string& line : base::Split(of_program, '\n')) {
    const std::string_view trimmed = base::Trim(line);
    if (trimmed.empty() || traceback.IsOfMessage(line)) continue;
    if (trimmed.starts_with(base::kReportWhy))
      return OneLine(trimmed.substr(base::kReportWhy.size()));
    const bool is_verdict =
        std::any_of(std::begin(kVerdicts), std::end(kVerdicts),
                    [&](std::string_view verdict) { return trimmed.starts_with(verdict); });
    if (is_code_sync && is_verdict) {
      return OneLine(trimmed == kTransportFailed && !last.empty() ? last : trimmed);
    }
    const bool is_launchers =
        std::any_of(std::begin(kLaunchers), std::end(kLaunchers),
                    [&](std::string_view label) { return trimmed.starts_with(label); });
    if (traceback.HasNamed() && !trimmed.starts_with(kOfRun)) raised = trimmed;
    const bool is_start = is_of_entry && trimmed.starts_with(kProgramStarted) &&
                          base::ParseInt(trimmed.substr(kProgramStarted.size()));
    if (is_start) last.clear();
    if (!is_launchers && !is_start) last = trimmed.starts_with(": ") ? trimmed.substr(2) : trimmed;
  }
  const bool is_less = last.starts_with(kOfRun) || (ended_by_exception && !MayBeReason(last));
  return OneLine(is_less && !raised.empty() ? raised : last);
}

// "was killed by SIGKILL (exit code 137)"
std::string DescribeSignal(int signal, const Terminated& terminated) {
  const std::string code =
      terminated.exit_code != 0 ? fmt::format("exit code {}", terminated.exit_code) : "";
  const std::string_view comma = code.empty() ? "" : ", ";
  switch (signal) {
    case SIGSEGV:
      return fmt::format("segfaulted (SIGSEGV{}{})", comma, code);
    case SIGABRT:
      return fmt::format("aborted (SIGABRT{}{})", comma, code);
    case SIGBUS:
      return fmt::format("was killed by SIGBUS (a full /dev/shm does that{}{})", comma, code);
    default:
      return fmt::format("was killed by {}{}", NameOfSignal(signal),
                         code.empty() ? "" : fmt::format(" ({})", code));
  }
}

std::string DescribeExit(const Terminated& terminated, bool is_git) {
  constexpr int kByException = 1;  // Python's
  const std::string line =
      TellingLine(terminated.message, is_git, terminated.exit_code == kByException);
  const std::string_view colon = line.empty() ? "" : ": ";
  if (terminated.reason == kOomKilled) {
    return fmt::format("was killed by SIGKILL (OOMKilled: out of memory){}{}", colon, line);
  }
  // The kubelet makes the code up.
  if (terminated.reason == kStatusUnknown) {
    return fmt::format("was lost by its node ({}){}{}", kStatusUnknown, colon, line);
  }
  if (const int signal = SignalOf(terminated); signal != 0) {
    return DescribeSignal(signal, terminated).append(colon).append(line);
  }
  std::string text = fmt::format("exited with code {}", terminated.exit_code);
  // Where the launcher knows no more, its line begins with the exit code, which is not repeated.
  const std::string code = fmt::format("exit code {}", terminated.exit_code);
  if (line == code) return text;
  if (!line.empty()) {
    const bool has_more = line.starts_with(code + ", ");
    text += fmt::format(": {}", has_more ? line.substr(code.size() + 2) : line);
  } else if (!terminated.reason.empty() && terminated.reason != "Error") {
    text += fmt::format(": {}", OneLine(terminated.reason));
  }
  return text;
}

// "Error" is the kubelet's reason for every exit code but 0.
bool IsCodeAlone(const Terminated& terminated) {
  return base::Trim(terminated.message).empty() && terminated.signal == 0 &&
         (terminated.reason.empty() || terminated.reason == "Error");
}

bool MentionsPeer(std::string_view message) {
  return std::any_of(std::begin(kPeerHasGone), std::end(kPeerHasGone), [&](std::string_view words) {
    return message.find(words) != std::string_view::npos;
  });
}

// The peers of a dead process fail within a second: by an exception, an abort or the agent's
// SIGTERM.
int WeightOf(const Terminated& terminated) {
  if (terminated.reason == kOomKilled) return 0;
  switch (SignalOf(terminated)) {
    case SIGKILL:
    case SIGSEGV:
    case SIGBUS:
    case SIGILL:
    case SIGFPE:
      return 0;
    case 0:
      return MentionsPeer(terminated.message) ? 2 : 1;
    case SIGABRT:
      return 2;
    default:
      return 3;
  }
}

std::string DescribeInit(const text::Json& pod, std::string_view container,
                         const Terminated& terminated) {
  if (container != kArenaCodeContainer) {
    return fmt::format("{}{} of {} {}", kInitContainer, container, Name(pod),
                       DescribeExit(terminated, false));
  }
  const std::string line = TellingLine(terminated.message, true, false);
  return fmt::format("{}{}: {}", kCodeSyncFailed, Name(pod),
                     line.empty() ? DescribeExit(terminated, true) : line);
}

// A failure of the pod as a whole: evicted, node lost, ...
std::optional<std::string> DescribePod(const text::Json& pod) {
  const std::string_view reason = text::GetString(pod, {"status", "reason"});
  const std::string_view message = text::GetString(pod, {"status", "message"});
  // A disk that was too full for the log did not end the program.
  const bool is_of_log = message.find("log truncated: ") != std::string_view::npos;
  if (Phase(pod) != "Failed" || (reason.empty() && (message.empty() || is_of_log))) {
    const auto disruption = DisruptionOf(pod);
    return disruption ? std::optional(OneLine(DescribeDisruption(*disruption))) : std::nullopt;
  }
  if (reason == kJobEndedReason) return std::nullopt;
  if (reason.empty() || message.empty()) {
    return fmt::format("failed: {}", OneLine(reason.empty() ? message : reason));
  }
  return fmt::format("failed: {}: {}", reason, OneLine(message));
}

// How the container ended: for good, or, while it waits for a restart, the last time. With
// `is_last`: how it ended before a restart that has happened.
const std::optional<Terminated>& ExitOf(const ContainerStatus& status, bool is_last) {
  const bool is_waiting = !status.terminated && !status.waiting_reason.empty();
  return is_last || is_waiting ? status.last_terminated : status.terminated;
}

struct SaidRank {
  int rank = 0;
  std::string_view host;
};

// The rank that a launcher in the container reports as the first to fail (LauncherReport), of its
// own node or of another; nullopt where it reports none. The pod's own rank is that of its first
// process.
std::optional<SaidRank> ReadSaidRank(std::string_view log) {
  const size_t end = log.rfind(base::kReportHeading);
  const size_t begin = end == std::string_view::npos ? end : log.rfind(": rank ", end);
  if (begin == std::string_view::npos) return std::nullopt;
  const std::string_view said = log.substr(begin + 7, end - begin - 7);  // "1 of 2"
  const auto rank = base::ParseInt(said.substr(0, said.find(' ')));
  if (!rank) return std::nullopt;
  constexpr std::string_view kHost = ", host ";
  const std::string_view line = log.substr(end, log.find('\n', end) - end);
  const size_t host = line.find(kHost);
  return SaidRank{
      static_cast<int>(*rank),
      host == std::string_view::npos
          ? ""
          : line.substr(host + kHost.size(), line.find(')', host) - host - kHost.size())};
}

// Whether its launcher is told to start several ranks. "auto" does not say so: it is also the
// default of jobs without a launcher.
bool HasSeveralRanks(const text::Json& pod) {
  const text::Json* const container = MainContainer(pod);
  const text::Json* const variable =
      container != nullptr ? text::ItemNamed(*container, {"env"}, "PET_NPROC_PER_NODE") : nullptr;
  if (variable == nullptr) return false;
  return base::ParseInt(text::GetString(*variable, {"value"})).value_or(1) > 1;
}

// Names the pod's only rank, or the rank that its launcher names. Names only the pod when several
// ranks ended together, as by one kill, because none was the first.
std::string WhoFailed(const text::Json& pod, int node_rank, const std::optional<SaidRank>& said) {
  if (!said && HasSeveralRanks(pod)) return fmt::format("{}{}", kPod, Name(pod));
  return fmt::format("rank {} ({})", said ? said->rank : node_rank, Name(pod));
}

// Adds the end of one container, if the program or an init container failed.
void AddExit(const text::Json& pod, const ContainerStatus& status, bool is_init, bool is_last,
             const Failure& common, std::vector<Failure>& out) {
  // A container that waits for its restart is described by its present state.
  if (is_last && !status.terminated && !status.waiting_reason.empty()) return;
  const std::optional<Terminated>& exit = ExitOf(status, is_last);
  if (!exit || !HasFailed(*exit)) return;
  Failure failure = common;
  failure.at = exit->finished.value_or(base::Time::max());
  failure.started = exit->started;
  failure.weight = WeightOf(*exit);
  if (exit->reason != kStatusUnknown) failure.log = exit->message;
  if (is_init) {
    failure.text = DescribeInit(pod, status.name, *exit);
  } else {
    const std::string container =
        status.name == kContainerName ? "" : fmt::format(" container {}", status.name);
    const std::string who = WhoFailed(pod, common.rank, ReadSaidRank(exit->message));
    failure.text = fmt::format("{}{} {}", who, container, DescribeExit(*exit, false));
    failure.is_code_alone = container.empty() && IsCodeAlone(*exit);
  }
  out.push_back(std::move(failure));
}

void CollectFailures(const text::Json& pod, bool has_master, bool is_last,
                     std::vector<Failure>& out) {
  Failure common;
  common.rank = NodeRank(pod, has_master);
  common.text = WhoFailed(pod, common.rank, std::nullopt);
  common.pod = &pod;
  common.is_last = is_last;
  const size_t before = out.size();
  for (const ContainerStatus& status : InitContainerStatuses(pod)) {
    AddExit(pod, status, true, is_last, common, out);
  }
  if (!is_last) {
    if (const auto text = DescribePod(pod)) {
      Failure whole = common;
      whole.text = fmt::format("{} {}", common.text, *text);
      if (const auto disruption = DisruptionOf(pod); disruption && disruption->at) {
        whole.at = *disruption->at;
      }
      out.push_back(std::move(whole));
    }
  }
  for (const ContainerStatus& status : ContainerStatuses(pod)) {
    AddExit(pod, status, false, is_last, common, out);
  }
  // The event that ended the pod as a whole explains the ends of its containers, so it gets the
  // time of the first.
  if (!is_last && out.size() > before + 1) {
    base::Time first = base::Time::max();
    for (size_t i = before; i < out.size(); ++i) first = std::min(first, out[i].at);
    for (size_t i = before; i < out.size(); ++i) {
      if (out[i].at == base::Time::max()) out[i].at = first;
    }
  }
}

const Failure* FirstOf(const std::vector<Failure>& failures, bool is_last) {
  const Failure* first = nullptr;
  for (const Failure& failure : failures) {
    if (failure.is_last != is_last) continue;
    const auto key = [](const Failure& of) { return std::tie(of.at, of.weight, of.rank); };
    if (first == nullptr || key(failure) < key(*first)) first = &failure;
  }
  return first;
}

// Whether a failure that was followed by a restart in place may have caused `later`.
bool MayBeTheCause(const Failure& earlier, const Failure& later) {
  return later.at != base::Time::max() &&
         std::tie(earlier.at, earlier.weight, earlier.rank) <
             std::tie(later.at, later.weight, later.rank) &&
         later.at - earlier.at <= kLongestSilence &&
         (!later.started || earlier.at >= *later.started);
}

// The pod on which, according to the launcher of `first`, the rank that it names has failed; the
// pod of `first` if it names none. The launchers of all nodes end within a second.
const text::Json* PodOfSaidRank(const std::vector<const text::Json*>& pods, const Failure& first) {
  const auto said = ReadSaidRank(first.log);
  const auto found = std::find_if(pods.begin(), pods.end(), [&said](const text::Json* pod) {
    return said && Name(*pod) == said->host;  // a pod's host name is its own name
  });
  return found == pods.end() ? first.pod : *found;
}

// The text that follows `words` in `text`; nullopt without them.
std::optional<std::string_view> After(std::string_view text, std::string_view words) {
  const size_t at = text.find(words);
  if (at == std::string_view::npos) return std::nullopt;
  return text.substr(at + words.size());
}

// The end of a log's tail, in whole lines if possible.
std::string LastLines(std::string_view log) {
  while (!log.empty() && (log.back() == '\n' || log.back() == '\r')) log.remove_suffix(1);
  if (log.size() > kMaxLastLineBytes) {
    log.remove_prefix(log.size() - kMaxLastLineBytes);
    const size_t newline = log.find('\n');
    while (newline == std::string_view::npos && !log.empty() &&
           (static_cast<unsigned char>(log[0]) & 0xC0U) == 0x80U) {
      log.remove_prefix(1);  // UTF-8
    }
    if (newline != std::string_view::npos) log.remove_prefix(newline + 1);
  }
  size_t begin = log.size();
  for (size_t lines = 0; lines < kMaxLastLines && begin != std::string_view::npos; ++lines) {
    begin = begin == 0 ? std::string_view::npos : log.rfind('\n', begin - 1);
  }
  if (begin != std::string_view::npos) log.remove_prefix(begin + 1);
  // The launcher's explanation says all that is in the table above it.
  const size_t explains = log.find(base::kReportHeading);
  const size_t line = explains == std::string_view::npos ? explains : log.rfind('\n', explains);
  if (line != std::string_view::npos) log.remove_prefix(line + 1);
  return std::string(log);
}

}  // namespace

std::string OneLine(std::string_view text) { return base::OneLine(text, kMaxLineBytes); }

FirstFailure FindFirstFailure(const std::vector<const text::Json*>& pods, bool has_master) {
  std::vector<Failure> failures;
  for (const text::Json* const pod : pods) {
    if (IsDeleting(*pod) && !DisruptionOf(*pod)) continue;
    CollectFailures(*pod, has_master, false, failures);
    CollectFailures(*pod, has_master, true, failures);
  }
  const Failure* first = FirstOf(failures, false);
  if (first != nullptr) {
    std::erase_if(failures, [last = *first](const Failure& failure) {
      return failure.is_last && !MayBeTheCause(failure, last);
    });
    first = FirstOf(failures, false);
  }
  const Failure* const restarted = FirstOf(failures, true);
  if (restarted != nullptr) first = restarted;
  if (first == nullptr) return {};
  const text::Json* const pod = PodOfSaidRank(pods, *first);
  const std::string text =
      pod == first->pod ? first->text
                        : base::ReplaceAll(first->text, fmt::format("({})", Name(*first->pod)),
                                           fmt::format("({})", Name(*pod)));
  return {text, LastLines(first->log), first->is_code_alone, pod};
}

FailedReplica ReadFailure(std::string_view line) {
  FailedReplica read;
  // The rest of the line is about another job.
  if (line.find(kAwaitedMark) != std::string_view::npos) return read;
  if (const auto in = After(line, kCodeSyncFailed)) {
    read.instance = in->substr(0, in->find(':'));
    return read;
  }
  std::string_view end;
  if (const auto init = After(line, kInitContainer)) {
    const std::string_view behind_name = After(*init, " of ").value_or("");
    const size_t space = std::min(behind_name.find(' '), behind_name.size());
    read.instance = behind_name.substr(0, space);
    end = behind_name.substr(space);
  } else if (line.starts_with(kPod)) {
    line.remove_prefix(kPod.size());
    read.instance = line.substr(0, line.find(' '));
    end = line.substr(read.instance.size());
  } else if (const auto behind_rank = After(line, "rank ")) {
    const size_t open = behind_rank->find(" (");
    const size_t close = behind_rank->find(')');
    if (open > close || close == std::string_view::npos) return read;
    const auto rank = base::ParseInt(behind_rank->substr(0, open));
    if (!rank) return read;
    read.rank = static_cast<int>(*rank);
    read.instance = behind_rank->substr(open + 2, close - open - 2);
    end = behind_rank->substr(close + 1);
  }
  // The program's output follows the first colon, except for the colon of OOMKilled.
  if (end.find("(OOMKilled: ") != std::string_view::npos) read.exit_code = kSignalBase + SIGKILL;
  const std::string_view verdict = end.substr(0, end.find(": "));
  for (const std::string_view words : {"exited with code ", "exit code "}) {
    const auto code = After(verdict, words);
    if (!code) continue;
    const auto number = base::ParseInt(code->substr(0, code->find_first_not_of("0123456789")));
    if (number) read.exit_code = static_cast<int>(*number);
    break;
  }
  return read;
}

std::string InitFailure(const text::Json& pod) {
  for (const ContainerStatus& status : InitContainerStatuses(pod)) {
    if (status.is_running && IsSidecar(pod, status.name)) continue;
    for (const bool is_last : {false, true}) {
      const std::optional<Terminated>& exit = ExitOf(status, is_last);
      if (!exit) continue;
      if (HasFailed(*exit)) return DescribeInit(pod, status.name, *exit);
      break;
    }
  }
  return "";
}

}  // namespace api
