#include <fmt/format.h>

#include <algorithm>

#include "api/names.h"
#include "api/selector.h"
#include "base/strings.h"

namespace api {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

}  // namespace

// Recursive descent; each method leaves `at_` after what it read.
class LabelSelector::Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  base::Result<LabelSelector> Run() {
    LabelSelector selector;
    SkipSpace();
    while (!AtEnd()) {
      TRY_ASSIGN(Requirement requirement, ReadRequirement());
      selector.requirements_.push_back(std::move(requirement));
      SkipSpace();
      if (AtEnd()) break;
      if (!Take(",")) return Bad("expected ','");
      SkipSpace();
      if (AtEnd()) return Bad("expected a requirement after ','");
    }
    return selector;
  }

 private:
  base::Result<Requirement> ReadRequirement() {
    Requirement requirement;
    const bool is_negated = Take("!");
    SkipSpace();
    requirement.key = ReadWord();
    if (!IsQualifiedName(requirement.key)) {
      return Bad(fmt::format("\"{}\" is not a label key", requirement.key));
    }
    SkipSpace();
    if (is_negated || AtEnd() || Peek() == ',') {
      requirement.op = is_negated ? Operator::kDoesNotExist : Operator::kExists;
      return requirement;
    }
    TRY(ReadOperator(requirement));
    return requirement;
  }

  base::Status ReadOperator(Requirement& requirement) {
    if (Take("!=")) return ReadValue(Operator::kNotIn, requirement);
    if (Take("==") || Take("=")) return ReadValue(Operator::kIn, requirement);
    if (Take(">")) return ReadNumber(Operator::kGreater, requirement);
    if (Take("<")) return ReadNumber(Operator::kLess, requirement);
    const std::string word = ReadWord();
    if (word != "in" && word != "notin") {
      return Bad(fmt::format("found '{}', expected: in, notin, =, ==, !=, gt, lt", word));
    }
    requirement.op = word == "in" ? Operator::kIn : Operator::kNotIn;
    return ReadValues(requirement);
  }

  base::Status ReadValue(Operator op, Requirement& requirement) {
    SkipSpace();
    requirement.op = op;
    requirement.values.push_back(ReadWord());
    return CheckValues(requirement);
  }

  base::Status ReadNumber(Operator op, Requirement& requirement) {
    TRY(ReadValue(op, requirement));
    if (!base::ParseInt(requirement.values.front())) {
      return Bad("for '>' and '<' the value must be an integer");
    }
    return {};
  }

  base::Status ReadValues(Requirement& requirement) {
    SkipSpace();
    if (!Take("(")) return Bad("expected '('");
    do {
      SkipSpace();
      requirement.values.push_back(ReadWord());
      SkipSpace();
    } while (Take(","));
    if (!Take(")")) return Bad("expected ',' or ')'");
    return CheckValues(requirement);
  }

  base::Status CheckValues(const Requirement& requirement) const {
    for (const std::string& value : requirement.values) {
      if (!IsLabelValue(value)) {
        return Bad(fmt::format("\"{}\" is not a label value", value));
      }
    }
    return {};
  }

  std::string ReadWord() {
    const size_t start = at_;
    while (!AtEnd() && !IsSpace(Peek()) &&
           std::string_view(",()=!<>").find(Peek()) == std::string_view::npos) {
      ++at_;
    }
    return std::string(text_.substr(start, at_ - start));
  }

  bool AtEnd() const { return at_ == text_.size(); }
  char Peek() const { return text_[at_]; }
  void SkipSpace() {
    while (!AtEnd() && IsSpace(Peek())) ++at_;
  }
  bool Take(std::string_view token) {
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  tl::unexpected<base::Error> Bad(std::string_view why) const {
    return base::Fail(base::Code::kInvalidArgument,
                      fmt::format("unable to parse label selector \"{}\": {}", text_, why));
  }

  std::string_view text_;
  size_t at_ = 0;
};

base::Result<LabelSelector> LabelSelector::Parse(std::string_view text) {
  return Parser(text).Run();
}

base::Result<LabelSelector> LabelSelector::FromJson(const text::Json& selector) {
  LabelSelector out;
  for (const auto& [key, value] : text::Members(selector, {"matchLabels"})) {
    out.requirements_.push_back(
        {std::string(key), Operator::kIn, {std::string(text::GetString(value, {}))}});
  }
  const text::Array& expressions = text::Items(selector, {"matchExpressions"});
  for (size_t i = 0; i < expressions.size(); ++i) {
    const text::Json& expression = expressions[i];
    Requirement requirement;
    requirement.key = text::GetString(expression, {"key"});
    const std::string_view op = text::GetString(expression, {"operator"});
    if (op == "In") {
      requirement.op = Operator::kIn;
    } else if (op == "NotIn") {
      requirement.op = Operator::kNotIn;
    } else if (op == "Exists") {
      requirement.op = Operator::kExists;
    } else if (op == "DoesNotExist") {
      requirement.op = Operator::kDoesNotExist;
    } else {
      return base::Fail(base::Code::kInvalidArgument,
                        fmt::format("matchExpressions[{}].operator: \"{}\" is not a valid label "
                                    "selector operator",
                                    i, op));
    }
    for (const text::Json& value : text::Items(expression, {"values"})) {
      requirement.values.emplace_back(text::GetString(value, {}));
    }
    out.requirements_.push_back(std::move(requirement));
  }
  return out;
}

bool LabelSelector::Matches(const Requirement& requirement, const text::Object* labels) {
  const text::Json* const found =
      labels != nullptr ? labels->if_contains(requirement.key) : nullptr;
  const std::string_view value = found != nullptr ? text::GetString(*found, {}) : "";
  const auto is_listed = [&] {
    return std::find(requirement.values.begin(), requirement.values.end(), value) !=
           requirement.values.end();
  };
  switch (requirement.op) {
    case Operator::kIn:
      return found != nullptr && is_listed();
    case Operator::kNotIn:
      return found == nullptr || !is_listed();
    case Operator::kExists:
      return found != nullptr;
    case Operator::kDoesNotExist:
      return found == nullptr;
    case Operator::kGreater:
    case Operator::kLess: {
      if (found == nullptr) return false;
      const auto number = base::ParseInt(value);
      const auto bound = base::ParseInt(requirement.values.front());
      if (!number || !bound) return false;
      return requirement.op == Operator::kGreater ? *number > *bound : *number < *bound;
    }
  }
  return false;
}

bool LabelSelector::Matches(const text::Json& object) const {
  return requirements_.empty() || MatchesLabels(text::FindObject(object, {"metadata", "labels"}));
}

bool LabelSelector::MatchesLabels(const text::Object* labels) const {
  return std::all_of(
      requirements_.begin(), requirements_.end(),
      [labels](const Requirement& requirement) { return Matches(requirement, labels); });
}

std::optional<std::string_view> LabelSelector::ExactValue(std::string_view key) const {
  for (const Requirement& requirement : requirements_) {
    if (requirement.key == key && requirement.op == Operator::kIn &&
        requirement.values.size() == 1) {
      return requirement.values.front();
    }
  }
  return std::nullopt;
}

}  // namespace api
