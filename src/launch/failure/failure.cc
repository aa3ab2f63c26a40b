#include "launch/failure/failure.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/strings.h"
#include "text/lenient_json.h"

namespace launch {
namespace {

constexpr std::string_view kTracebackStart = "Traceback (most recent call last):";
// Python prints this before the traceback of a destructor or an exit handler, which ends nothing.
constexpr std::string_view kIgnored = "Exception ignored ";
// The C++ library's words before an abort.
constexpr std::string_view kAborts = "terminate called ";

int64_t WholeSeconds(const Failure& failure) {
  return std::chrono::floor<std::chrono::seconds>(failure.ReportedTime())
      .time_since_epoch()
      .count();
}

// What gloo, NCCL and the store's clients print when another rank has gone: never the cause.
constexpr std::array kWordsOfPeersEnd =
    std::to_array<std::string_view>({"Connection closed by peer", "Connection reset by peer",
                                     "Connection was likely closed", "ncclRemoteError"});

// Messages of gloo, the store's clients and NCCL's watchdog after their time-outs.
constexpr std::array kWordsOfWaits = std::to_array<std::string_view>(
    {"Timed out waiting", "Socket Timeout", "wait timeout", "Connection closed", "Broken pipe"});

// Checked in its exception only, because warnings of the same kind come before other exceptions,
// too.
bool ExceptionHas(std::span<const std::string_view> any_of, const Failure& failure) {
  const std::string text = failure.report ? failure.report->message + failure.report->call_stack
                                          : FindTraceback(failure.stderr_tail);
  return std::any_of(any_of.begin(), any_of.end(),
                     [&](std::string_view words) { return text.find(words) != std::string::npos; });
}

// Python draws a tree around the exceptions of a group. Returns the traceback of the group itself,
// without the tree, if it is the last one; "" otherwise.
std::string GroupTraceback(std::string_view text) {
  constexpr std::string_view kGroup = "  + Exception Group Traceback (most recent call last):\n";
  size_t begin = text.rfind("\n  + Exception Group ");
  begin = begin == std::string_view::npos ? 0 : begin + 1;
  if (!text.substr(begin).starts_with(kGroup)) return "";
  std::string traceback = std::string(kTracebackStart) + "\n";
  bool is_whole = false;
  size_t at = begin + kGroup.size();
  for (; at < text.size() && text.substr(at).starts_with("  "); at = text.find('\n', at) + 1) {
    std::string_view line = text.substr(at, text.find('\n', at) - at);
    is_whole = is_whole || !line.starts_with("  | ");
    if (!is_whole) traceback.append(line.substr(4)).append("\n");
    if (text.find('\n', at) == std::string_view::npos) break;
  }
  return text.find(kTracebackStart, std::min(at, text.size())) == std::string_view::npos ? traceback
                                                                                         : "";
}

// Returns where the last traceback begins whose exception was not ignored; npos if there is none.
size_t LastTraceback(std::string_view text) {
  size_t begin = text.rfind(kTracebackStart);
  while (begin != std::string_view::npos) {
    const size_t line_end = text.rfind('\n', begin);
    if (line_end == std::string_view::npos) break;
    text = text.substr(0, line_end);
    if (text.find(kIgnored, text.rfind('\n') + 1) == std::string_view::npos) break;
    begin = text.rfind(kTracebackStart);
  }
  return begin;
}

// Whether its last exception ended one of its threads: a rank that another has waited for in vain.
bool LostThread(const Failure& failure) {
  const std::string_view text = failure.stderr_tail;
  const size_t header = LastTraceback(text);
  if (header == std::string_view::npos || header == 0) return false;
  return text.find("Exception in thread ", text.rfind('\n', header - 2) + 1) < header;
}

bool HasDatedReport(const Failure& failure) { return failure.report && failure.report->timestamp; }

enum class Guilt { kOwnEnd, kOwnException, kPeersEnd, kStopped };

Guilt GuiltOf(const Failure& failure) {
  // An exception that it recorded before is its own, however late its process ended.
  if (!failure.was_stopped_by_us || !failure.standstill.empty() || HasDatedReport(failure)) {
    return ExceptionHas(kWordsOfPeersEnd, failure) ? Guilt::kPeersEnd : Guilt::kOwnEnd;
  }
  return WasEndingByException(failure) && !ExceptionHas(kWordsOfPeersEnd, failure)
             ? Guilt::kOwnException
             : Guilt::kStopped;
}

}  // namespace

bool WaitedForPeers(const Failure& failure) {
  return ExceptionHas(kWordsOfPeersEnd, failure) || ExceptionHas(kWordsOfWaits, failure);
}

bool WasEndingByException(const Failure& failure) {
  if (!failure.was_stopped_by_us || !failure.IsSignal()) return false;
  return HasDatedReport(failure) ||
         (failure.exit_code == -SIGTERM && !FindTraceback(failure.stderr_tail).empty());
}

bool WasAbortedByException(const Failure& failure) {
  const std::string traceback = FindTraceback(failure.stderr_tail);
  if (failure.exit_code != -SIGABRT || traceback.empty()) return false;
  // With lines between them, the program may have handled the exception long before.
  const std::vector<std::string> lines = LastLines(traceback, 2);
  return lines.size() == 2 && lines[0].starts_with(' ') && !lines[1].starts_with(' ') &&
         failure.stderr_tail.find(fmt::format("{}{}", traceback, kAborts)) != std::string::npos;
}

base::Result<std::string> WithErrorCode(std::string_view text, int exit_code) {
  TRY_ASSIGN(text::Json file, text::ParseJsonLeniently(text));
  text::Json* const message = text::Find(file, {"message"});
  if (message == nullptr) {
    return base::Fail(base::Code::kInvalidArgument, "it has no \"message\"");
  }
  if (!message->is_object()) *message = text::Object{{"message", *message}};
  text::Set(*message, {"errorCode"}, exit_code);
  return text::ToJson(file);
}

base::Time Failure::ReportedTime() const {
  if (!report || !report->timestamp) return time;
  return base::Time(std::chrono::seconds(*report->timestamp));
}

size_t FindRootCause(const std::vector<Failure>& failures) {
  size_t root = 0;
  for (size_t i = 1; i < failures.size(); ++i) {
    const auto key = [&](size_t at) {
      return std::pair(GuiltOf(failures[at]), WholeSeconds(failures[at]));
    };
    if (key(i) < key(root)) root = i;
  }
  if (!ExceptionHas(kWordsOfWaits, failures[root])) return root;
  const auto lost = std::find_if(failures.begin(), failures.end(), [](const Failure& failure) {
    return GuiltOf(failure) == Guilt::kOwnException && LostThread(failure);
  });
  return lost == failures.end() ? root : static_cast<size_t>(lost - failures.begin());
}

std::string FindTraceback(std::string_view stderr_text) {
  if (std::string group = GroupTraceback(stderr_text); !group.empty()) return group;
  const size_t begin = LastTraceback(stderr_text);
  if (begin == std::string_view::npos) return "";
  // Lines of the stack are indented; the first that is not names the exception, and what follows
  // of its message is part of it up to the end of the text.
  const size_t line_begin = stderr_text.rfind('\n', begin) + 1;
  const std::string_view indent = stderr_text.substr(line_begin, begin - line_begin);
  std::string traceback;
  bool has_exception = false;
  for (const std::string& line : base::Split(stderr_text.substr(line_begin), '\n')) {
    std::string_view rest = line;
    if (rest.starts_with(indent)) rest.remove_prefix(indent.size());
    const bool is_other = rest.starts_with(kIgnored) || rest.starts_with(kAborts);
    if (has_exception && (rest.empty() || is_other)) break;
    const bool is_stack = rest.empty() || rest[0] == ' ' || rest == kTracebackStart;
    has_exception = has_exception || !is_stack;
    traceback += rest;
    traceback += '\n';
  }
  return traceback;
}

std::string LastLine(std::string_view text) {
  const auto lines = LastLines(text, 1);
  return lines.empty() ? "" : lines[0];
}

std::vector<std::string> LastLines(std::string_view text, size_t count) {
  std::vector<std::string> lines;
  for (std::string& line : base::Split(text, '\n')) {
    if (!base::Trim(line).empty()) lines.push_back(std::move(line));
  }
  if (lines.size() > count) lines.erase(lines.begin(), lines.end() - static_cast<ptrdiff_t>(count));
  return lines;
}

int ExitCodeOf(const Failure& failure) {
  if (WasEndingByException(failure)) return 1;
  return failure.IsSignal() ? 128 - failure.exit_code : failure.exit_code;
}

}  // namespace launch
