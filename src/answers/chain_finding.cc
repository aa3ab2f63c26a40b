#include "answers/chain_finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "answers/gpu_memory.h"
#include "answers/program_words.h"
#include "answers/symptoms.h"
#include "base/strings.h"

namespace answers {
namespace {

// Whether programs often raise this type and catch it in normal operation.
bool IsEveryday(std::string_view type) {
  static constexpr auto kTypes = std::to_array<std::string_view>(
      {"StopIteration", "KeyError", "AttributeError", "IndexError", "FileNotFoundError",
       "ImportError", "ModuleNotFoundError", "Empty", "TypeError"});
  return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
}

// Whether the message of this type is a name or a command rather than words.
bool IsAboutNames(std::string_view type) {
  static constexpr auto kTypes = std::to_array<std::string_view>(
      {"KeyError", "AttributeError", "NameError", "IndexError", "CalledProcessError"});
  return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
}

// Whether a later exception of a chain names the cause better than the one raised first, whose rule
// is `first`. It does if its rule says more. If no rule knows the first one, an exception that was
// raised from it (`is_translated`) explains it, while one that was raised while it was handled is a
// failure of its own and needs a deciding rule.
bool SaysMore(const Rule* later, const Rule* first, bool is_translated) {
  if (later == nullptr) return false;
  if (first == nullptr) return is_translated || later->level == Level::kDeciding;
  return later->level < first->level || Overrules(later->kind, first->kind);
}

// Returns the line of an exception's text that names its cause. Usually that is the first line. In
// NCCL's report it is the line under "Last error:", and after a heading it is the next line. If the
// first line is only a type, or is unknown to the rule, it is the first line below that the rule
// knows.
std::string DecidingLine(std::string_view text, const Rule* rule) {
  constexpr std::string_view kLast = "\nLast error:\n";
  const std::string_view first = text.substr(0, text.find('\n'));
  const size_t last = text.find(kLast);
  std::string_view below;
  if (last != std::string_view::npos) {
    below = text.substr(last + kLast.size());
  } else if (first.ends_with("look up to see its traceback):")) {
    below = text.substr(std::min(first.size() + 1, text.size()));
  }
  if (first.find(kBuildError) != std::string_view::npos) {
    for (const std::string& line : base::Split(text.substr(first.size()), '\n')) {
      if (NamesBuildError(line)) return std::string(base::Trim(line).substr(0, 400));
    }
  }
  below = base::Trim(below.substr(0, below.find('\n')));
  const std::string_view type = base::Trim(first);
  const bool is_type = type.ends_with(':') && type.find(' ') == std::string_view::npos;
  const bool is_known = rule == nullptr || MatchesAny(first, rule->exceptions);
  if (rule == nullptr && is_type) {
    const std::string_view rest = base::Trim(text.substr(first.size()));
    const std::string_view message = rest.substr(0, rest.find('\n'));
    if (!message.empty()) return fmt::format("{} {}", type, message);
  }
  if (rule != nullptr && (is_type || (below.empty() && !is_known))) {
    for (const std::string& line : base::Split(text.substr(first.size()), '\n')) {
      if (MatchesAny(line, rule->exceptions)) return std::string(base::Trim(line));
    }
  }
  return std::string(below.empty() ? first : below);
}

// Whether the traceback shows that the user's own code raised it. If a library did, or the
// traceback is missing, the cause may be one that no rule knows. The same holds for types by which
// compiled code, which has no frames, reports whatever has failed.
bool IsOfUsersCode(const Raised& raised) {
  static constexpr auto kOfAnything = std::to_array<std::string_view>(
      {"RuntimeError", "OSError", "SystemError", "TimeoutError", "CalledProcessError",
       "InternalError", "ResourceExhaustedError"});
  const std::string_view type = raised.Type();
  return !raised.frames.empty() && raised.frames.back().IsUsers() &&
         std::none_of(kOfAnything.begin(), kOfAnything.end(),
                      [type](std::string_view each) { return type.ends_with(each); });
}

Frame UsersFrame(const Raised& raised) {
  const auto found = std::find_if(raised.frames.rbegin(), raised.frames.rend(),
                                  [](const Frame& frame) { return frame.IsUsers(); });
  return found == raised.frames.rend() ? Frame{} : *found;
}

}  // namespace

Finding OwnException() {
  Finding finding;
  finding.kind = "exception";
  finding.title = "the program ended by an exception";
  finding.advice = Advice::kFixFirst;
  finding.advice_text = "Fix what the line says; the same input fails again.";
  return finding;
}

const Rule* RuleFor(const Raised& raised) {
  if (!raised.frames.empty()) {
    const Frame& frame = raised.frames.back();
    const std::string place = fmt::format("{} {} {}", frame.file, frame.function, frame.code);
    if (const Rule* const rule = RuleForRaisedIn(raised.text, place)) return rule;
  }
  return RuleForException(raised.text);
}

std::optional<ChainFinding> FindInChain(const Chain& chain) {
  const Rule* rule = nullptr;
  const Raised* deciding = nullptr;
  bool is_translated = true;  // each exception since `deciding` was raised from the one before it
  for (size_t i = 0; i < chain.raised.size(); ++i) {
    const Raised& raised = chain.raised[i];
    const bool is_last = i + 1 == chain.raised.size();
    if (!is_last && chain.raised[i + 1].is_aside && IsEveryday(raised.Type())) continue;
    const Rule* const found = RuleFor(raised);
    const bool says_less = found == nullptr || IsConsequence(found->level);
    if (says_less && IsAboutAnother(raised)) continue;
    is_translated = is_translated && !raised.is_aside;
    if (deciding != nullptr && !SaysMore(found, rule, is_translated)) continue;
    deciding = &raised;
    rule = found;
    is_translated = true;
  }
  if (deciding == nullptr) return std::nullopt;
  Finding finding;
  const Rule* const by_words =
      rule != nullptr || IsAboutNames(deciding->Type()) ? nullptr : RuleForOwnWords(deciding->text);
  if (by_words != nullptr) {
    finding.Take(*by_words);
    finding.confidence = std::min(finding.confidence, Confidence::kMedium);
  } else if (rule != nullptr) {
    finding.Take(*rule);
    if (rule->kind == "cuda-out-of-memory") {
      const GpuHolder holder = HolderIn(deciding->text);
      if (holder == GpuHolder::kOthers) finding.Take(RuleNamed("cuda-out-of-memory-others"));
      if (holder == GpuHolder::kJob) finding.Take(RuleNamed("cuda-out-of-memory-one-gpu"));
    }
  } else {
    finding = OwnException();
    finding.confidence = IsOfUsersCode(*deciding) ? Confidence::kHigh : Confidence::kMedium;
  }
  finding.line = DecidingLine(deciding->text, rule);
  finding.frame = UsersFrame(*deciding);
  for (const Raised& raised : chain.raised) {
    if (finding.frame.file.empty()) finding.frame = UsersFrame(raised);
  }
  return ChainFinding{std::move(finding), deciding, by_words != nullptr};
}

std::string WrappedMessage(std::span<const Line> lines, size_t first, std::string_view between) {
  constexpr size_t kNarrowest = 60;
  constexpr size_t kFewest = 3;
  constexpr size_t kLineOfTerminal = 72;
  constexpr size_t kMost = 12;
  size_t end = first;
  size_t width = 0;
  for (; end < std::min(lines.size(), first + kMost); ++end) {
    const std::string_view text = lines[end].text;
    if (text.empty() || text.starts_with(' ') || IsProgress(text)) break;
    width = std::max(width, text.size());
  }
  if (width < kNarrowest) return "";
  std::string message = end > first ? lines[first].text : "";
  size_t count = 1;
  for (size_t i = first + 1; i < end; ++i, ++count) {
    const std::string_view text = lines[i].text;
    const size_t word = std::min(text.find(' '), text.size());
    if (lines[i - 1].text.size() + 1 + word <= width) break;
    message.append(between).append(text);
  }
  // A line that goes on in small letters is hardly another message.
  const bool goes_on = first + 1 < end && lines[first].text.size() >= kLineOfTerminal &&
                       std::islower(static_cast<unsigned char>(lines[first + 1].text[0])) != 0;
  return count < (goes_on ? kFewest - 1 : kFewest) ? "" : message;
}

}  // namespace answers
