#include <fmt/format.h>

#include <algorithm>

#include "api/selector.h"
#include "base/strings.h"

namespace api {
namespace {

constexpr std::string_view kInvolvedObject = "involvedObject.";
constexpr std::string_view kKnown[] = {
    "metadata.name",
    "metadata.namespace",
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "status.phase",
    "status.podIP",
    "type",
    "reason",
    "reportingComponent",
    "source",
};

bool IsKnown(std::string_view field) {
  return (field.starts_with(kInvolvedObject) && field.size() > kInvolvedObject.size()) ||
         std::find(std::begin(kKnown), std::end(kKnown), field) != std::end(kKnown);
}

std::string_view ValueOf(const text::Json& object, std::string_view field) {
  if (field == "source") return text::GetString(object, {"source", "component"});
  const text::Json* at = &object;
  while (true) {
    const size_t dot = field.find('.');
    at = text::Find(*at, {field.substr(0, dot)});
    if (at == nullptr || dot == std::string_view::npos) break;
    field.remove_prefix(dot + 1);
  }
  return at != nullptr ? text::GetString(*at, {}) : std::string_view{};
}

// `\,`, `\=` and `\\` stand for the second character.
std::vector<std::string> SplitTerms(std::string_view text) {
  std::vector<std::string> terms(1);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      terms.back().append(text.substr(i++, 2));
    } else if (text[i] == ',') {
      terms.emplace_back();
    } else {
      terms.back() += text[i];
    }
  }
  return terms;
}

base::Result<std::string> Unescape(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    ++i;
    if (i == text.size() || std::string_view(",=\\").find(text[i]) == std::string_view::npos) {
      return base::Fail(
          base::Code::kInvalidArgument,
          fmt::format("invalid field selector: invalid escape sequence in \"{}\"", text));
    }
    out += text[i];
  }
  return out;
}

}  // namespace

base::Result<FieldSelector> FieldSelector::Parse(std::string_view text) {
  FieldSelector selector;
  for (const std::string& term : SplitTerms(text)) {
    if (term.empty()) continue;
    const size_t at = term.find_first_of("=!");
    const bool is_negated = at != std::string::npos && term.compare(at, 2, "!=") == 0;
    if (at == std::string::npos || (term[at] == '!' && !is_negated)) {
      return base::Fail(base::Code::kInvalidArgument,
                        fmt::format("invalid selector: '{}'; can't understand '{}'", text, term));
    }
    const bool is_long = is_negated || term.compare(at, 2, "==") == 0;
    Requirement requirement;
    requirement.field = term.substr(0, at);
    TRY_ASSIGN(requirement.value, Unescape(std::string_view(term).substr(at + (is_long ? 2 : 1))));
    requirement.is_equal = !is_negated;
    if (!IsKnown(requirement.field)) {
      return base::Fail(base::Code::kInvalidArgument,
                        fmt::format("field label not supported: {}", requirement.field));
    }
    selector.requirements_.push_back(std::move(requirement));
  }
  return selector;
}

bool FieldSelector::Matches(const text::Json& object) const {
  return std::all_of(
      requirements_.begin(), requirements_.end(), [&object](const Requirement& requirement) {
        return (ValueOf(object, requirement.field) == requirement.value) == requirement.is_equal;
      });
}

std::optional<std::string_view> FieldSelector::ExactValue(std::string_view field) const {
  for (const Requirement& requirement : requirements_) {
    if (requirement.field == field && requirement.is_equal) return requirement.value;
  }
  return std::nullopt;
}

}  // namespace api
