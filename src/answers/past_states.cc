#include "answers/past_states.h"

#include <algorithm>
#include <optional>

#include "base/strings.h"

namespace answers {
namespace {

using KubectlLines = std::span<const std::string_view>;

constexpr size_t kMostOfContainer = 200;

struct Field {
  size_t indent = 0;
  std::string_view key, value;
};

std::string_view WithoutQuotes(std::string_view text) {
  if (text.starts_with('"')) text.remove_prefix(1);
  if (text.ends_with(',')) text.remove_suffix(1);
  if (text.ends_with('"')) text.remove_suffix(1);
  return text;
}

// Reads "    Last State:     Terminated", "    lastState:" and "    \"lastState\": {".
std::optional<Field> ReadField(std::string_view line) {
  const size_t indent = line.find_first_not_of(' ');
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || indent > colon) return std::nullopt;
  return Field{indent, WithoutQuotes(line.substr(indent, colon - indent)),
               WithoutQuotes(base::Trim(line.substr(colon + 1)))};
}

bool IsState(const Field& field) { return field.key == "State" || field.key == "state"; }
bool IsLastState(const Field& field) {
  return field.key == "Last State" || field.key == "lastState";
}

bool IsBelow(std::string_view line, size_t indent) {
  const size_t begin = line.find_first_not_of(' ');
  return begin != std::string_view::npos && begin > indent;
}

// The line after the last one that belongs to the field in this line.
size_t EndOfField(KubectlLines lines, size_t field, size_t indent) {
  const size_t limit = std::min(field + kMostOfContainer, lines.size());
  size_t end = field + 1;
  while (end < limit && IsBelow(lines[end], indent)) ++end;
  return end;
}

bool HasReasonCompleted(KubectlLines lines, size_t state, size_t indent) {
  const size_t end = EndOfField(lines, state, indent);
  for (size_t i = state + 1; i < end; ++i) {
    const auto field = ReadField(lines[i]);
    if (field && base::EqualsIgnoreCase(field->key, "reason")) return field->value == "Completed";
  }
  return false;
}

// Whether the container whose last state is in this line has completed since: `describe` prints its
// state above, the other forms below.
bool HasCompletedSince(KubectlLines lines, size_t last_state, size_t indent) {
  const auto is_others = [&](size_t line) {
    return indent > 0 && !IsBelow(lines[line], indent - 1);
  };
  const auto is_state = [&](size_t line) {
    const auto field = ReadField(lines[line]);
    return field && field->indent == indent && IsState(*field);
  };
  const size_t begin = last_state - std::min(last_state, kMostOfContainer);
  for (size_t i = last_state; i-- > begin && !is_others(i);) {
    if (is_state(i)) return HasReasonCompleted(lines, i, indent);
  }
  const size_t end = std::min(last_state + kMostOfContainer, lines.size());
  for (size_t i = last_state + 1; i < end && !is_others(i); ++i) {
    if (is_state(i)) return HasReasonCompleted(lines, i, indent);
  }
  return false;
}

}  // namespace

std::vector<size_t> LinesOfPastStates(KubectlLines lines) {
  std::vector<size_t> past, restarts;
  bool is_at_work = false;  // a container of the pod, or not known to have completed
  const auto end_pod = [&] {
    if (!past.empty() && !is_at_work) past.insert(past.end(), restarts.begin(), restarts.end());
    restarts.clear();
    is_at_work = false;
  };
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].find("Back-off restarting failed container") != std::string_view::npos) {
      restarts.push_back(i);
    }
    const auto field = ReadField(lines[i]);
    if (!field) continue;
    if (field->indent == 0 && field->key == "Name") end_pod();
    if (IsState(*field) && !HasReasonCompleted(lines, i, field->indent)) is_at_work = true;
    if (!IsLastState(*field)) continue;
    if (!HasCompletedSince(lines, i, field->indent)) continue;
    const size_t end = EndOfField(lines, i, field->indent);
    for (size_t of = i; of < end; ++of) past.push_back(of);
  }
  end_pod();
  return past;
}

}  // namespace answers
