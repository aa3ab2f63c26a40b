#include <fmt/format.h>

#include <algorithm>

#include "api/schema/schema.h"
#include "api/selector.h"
#include "base/strings.h"

namespace api {
namespace {

struct KnownField {
  std::string_view name;
  const Resource* kind = nullptr;  // null: every kind
};
const KnownField kKnown[] = {
    {"metadata.name"},
    {"metadata.namespace"},
    {"spec.nodeName", &kPods},
    {"spec.restartPolicy", &kPods},
    {"spec.schedulerName", &kPods},
    {"spec.serviceAccountName", &kPods},
    {"spec.hostNetwork", &kPods},
    {"status.phase", &kPods},
    {"status.podIP", &kPods},
    {"status.podIPs", &kPods},
    {"status.nominatedNodeName", &kPods},
    {"spec.clusterIP", &kServices},
    {"spec.type", &kServices},
    {"type", &kSecrets},
    {"spec.unschedulable", &kNodes},
    {"status.phase", &kNamespaces},
    {"involvedObject.apiVersion", &kEvents},
    {"involvedObject.fieldPath", &kEvents},
    {"involvedObject.kind", &kEvents},
    {"involvedObject.name", &kEvents},
    {"involvedObject.namespace", &kEvents},
    {"involvedObject.resourceVersion", &kEvents},
    {"involvedObject.uid", &kEvents},
    {"reason", &kEvents},
    {"reportingComponent", &kEvents},
    {"source", &kEvents},
    {"type", &kEvents},
};

bool HasField(const Resource& resource, std::string_view field) {
  return std::any_of(std::begin(kKnown), std::end(kKnown), [&](const KnownField& known) {
    return known.name == field && (known.kind == nullptr || known.kind == &resource);
  });
}

// Kubernetes' own kinds that have no fields of their own are refused in other words.
bool HasOwnFields(const Resource& resource) {
  return IsCustom(resource) ||
         std::any_of(std::begin(kKnown), std::end(kKnown),
                     [&](const KnownField& known) { return known.kind == &resource; });
}

std::string ValueOf(const text::Json& object, std::string_view field) {
  if (field == "source") return std::string(text::GetString(object, {"source", "component"}));
  const bool is_flag = field == "spec.unschedulable" || field == "spec.hostNetwork";
  const text::Json* at = &object;
  while (true) {
    const size_t dot = field.find('.');
    at = text::Find(*at, {field.substr(0, dot)});
    if (at == nullptr || dot == std::string_view::npos) break;
    field.remove_prefix(dot + 1);
  }
  if (is_flag) return at != nullptr && text::GetBool(*at, {}).value_or(false) ? "true" : "false";
  return std::string(at != nullptr ? text::GetString(*at, {}) : std::string_view{});
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
    selector.requirements_.push_back(std::move(requirement));
  }
  return selector;
}

base::Status FieldSelector::CheckFor(const Resource& resource) const {
  for (const Requirement& requirement : requirements_) {
    if (HasField(resource, requirement.field)) continue;
    return base::Fail(base::Code::kInvalidArgument,
                      HasOwnFields(resource)
                          ? fmt::format("field label not supported: {}", requirement.field)
                          : fmt::format("\"{}\" is not a known field selector: only "
                                        "\"metadata.name\", \"metadata.namespace\"",
                                        requirement.field));
  }
  return {};
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
