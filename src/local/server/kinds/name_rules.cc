#include "local/server/kinds/name_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/names.h"
#include "base/strings.h"

namespace local::server {
namespace {

// Texts of k8s.io/apimachinery/pkg/util/validation.
constexpr std::string_view kSubdomainRule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', "
    "and must start and end with an alphanumeric character (e.g. 'example.com', regex used for "
    "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr std::string_view kLabelRule =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must "
    "start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for "
    "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view kDns1035Rule =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

}  // namespace

std::string InvalidValue(std::string_view field, std::string_view value, std::string_view why) {
  return fmt::format("{}: Invalid value: {}: {}", field, text::ToJson(text::Json(value)), why);
}

void CheckChoice(std::string_view field, std::string_view value,
                 std::initializer_list<std::string_view> supported,
                 std::vector<std::string>& causes) {
  if (std::find(supported.begin(), supported.end(), value) != supported.end()) return;
  causes.push_back(fmt::format("{}: Unsupported value: {}: supported values: \"{}\"", field,
                               text::ToJson(text::Json(value)), fmt::join(supported, "\", \"")));
}

std::vector<std::string> NameCauses(NameRule rule, std::string_view name) {
  std::vector<std::string> causes;
  const auto check = [&](bool is_fine, std::string_view why) {
    if (!is_fine) causes.push_back(InvalidValue("metadata.name", name, why));
  };
  const size_t limit =
      rule == NameRule::kSubdomain ? api::kMaxSubdomainLength : api::kMaxLabelLength;
  check(name.size() <= limit, fmt::format("must be no more than {} characters", limit));
  switch (rule) {
    case NameRule::kSubdomain:
      check(api::IsDnsSubdomain(name), kSubdomainRule);
      break;
    case NameRule::kLabel:
      check(api::IsDnsLabel(name), kLabelRule);
      break;
    case NameRule::kDns1035Label:
      check(api::IsDns1035Label(name), kDns1035Rule);
      break;
  }
  return causes;
}

void CheckLabel(std::string_view field, std::string_view name, std::vector<std::string>& causes) {
  if (api::IsDnsLabel(name) && name.size() <= api::kMaxLabelLength) return;
  causes.push_back(InvalidValue(field, name, kLabelRule));
}

void CheckUniqueLabel(const std::string& field, std::string_view name,
                      std::set<std::string_view>& names, std::vector<std::string>& causes) {
  const size_t before = causes.size();
  CheckLabel(field, name, causes);
  if (causes.size() == before && !names.insert(name).second) {
    causes.push_back(fmt::format("{}: Duplicate value: \"{}\"", field, name));
  }
}

namespace {

// Of all annotations of an object but those that muster writes itself.
constexpr size_t kMaxAnnotationBytes = 256 << 10;

void CheckAnnotationBytes(const text::Object& annotations, std::vector<std::string>& causes) {
  size_t bytes = 0;
  for (const auto& [name, value] : annotations) {
    if (name.starts_with("muster.dev/") || !value.is_string()) continue;
    bytes += name.size() + value.get_string().size();
  }
  if (bytes <= kMaxAnnotationBytes) return;
  causes.push_back(fmt::format("metadata.annotations: Too long: may not be more than {} bytes",
                               kMaxAnnotationBytes));
}

}  // namespace

void CheckStrings(const text::Json& object, StringMap which, std::vector<std::string>& causes) {
  const bool are_labels = which == StringMap::kLabels;
  const std::string_view key = are_labels ? "labels" : "annotations";
  const text::Json* map = text::Find(object, {"metadata", key});
  if (map == nullptr || map->is_null()) return;
  const std::string field = fmt::format("metadata.{}", key);
  if (!map->is_object()) {
    causes.push_back(InvalidValue(field, text::ToJson(*map), "must be an object of strings"));
    return;
  }
  if (!are_labels) CheckAnnotationBytes(map->get_object(), causes);
  for (const auto& [name, value] : map->get_object()) {
    if (!value.is_string()) {
      causes.push_back(InvalidValue(fmt::format("{}.{}", field, std::string_view(name)),
                                    text::ToJson(value), "must be a string"));
      continue;
    }
    const std::string_view text = value.get_string();
    const bool is_fine = api::IsQualifiedName(base::ToLower(name)) || api::IsQualifiedName(name);
    if (!is_fine) {
      causes.push_back(InvalidValue(
          field, name,
          "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and "
          "end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex "
          "used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"));
    }
    if (are_labels && !api::IsLabelValue(text)) {
      causes.push_back(InvalidValue(
          field, text,
          text.size() > api::kMaxLabelLength
              ? "must be no more than 63 characters"
              : "a valid label must be an empty string or consist of alphanumeric characters, '-', "
                "'_' or '.', and must start and end with an alphanumeric character (e.g. "
                "'MyValue',  or 'my_value',  or '12345', regex used for validation is "
                "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"));
    }
  }
}

}  // namespace local::server
