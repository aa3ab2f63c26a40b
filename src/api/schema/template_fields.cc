#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "api/schema/unknown_fields.h"
#include "base/nearest.h"
#include "base/strings.h"

namespace api {
namespace {

// Added in Kubernetes 1.34 and 1.35; schema.h has the fields of 1.33.
struct Newer {
  std::string_view type;
  std::string_view field;
};
constexpr Newer kNewer[] = {{"PodSpec", "hostnameOverride"},
                            {"PodSpec", "workloadRef"},
                            {"Container", "restartPolicyRules"},
                            {"EnvVarSource", "fileKeyRef"}};

bool IsNewer(const UnknownField& field) {
  return std::any_of(std::begin(kNewer), std::end(kNewer), [&](const Newer& newer) {
    return newer.type == field.type->name && newer.field == field.name;
  });
}

void AddNames(const ObjectType& type, std::vector<std::string_view>& names) {
  for (const TypeField& field : type.fields) {
    if (field.name == "~") {
      AddNames(*field.shape.type, names);
    } else {
      names.push_back(field.name);
    }
  }
}

// Suggests what was meant; "" when no name is similar.
std::string Advice(const UnknownField& field) {
  std::vector<std::string_view> names;
  AddNames(*field.type, names);
  // A third of a name's letters may be wrong, but no more than two.
  const size_t most = std::clamp<size_t>(field.name.size() / 3, 1, 2);
  const std::string_view nearest = base::Nearest(field.name, names, most);
  if (!nearest.empty()) return fmt::format(": did you mean \"{}\"?", nearest);
  // Indented too far, or too little.
  if (FindType("PodSpec")->Find(field.name) != nullptr) return ": it belongs in template.spec";
  if (FindType("Container")->Find(field.name) != nullptr) return ": it belongs in a container";
  return " (--validate=warn accepts it)";
}

std::vector<UnknownField> FieldsOf(const text::Json& job) {
  std::vector<UnknownField> found;
  Shape shape;
  shape.kind = Shape::Kind::kObject;
  shape.type = FindType("PodTemplateSpec");
  for (const auto& [type, replica] : text::Members(job, {"spec", "pytorchReplicaSpecs"})) {
    const text::Json* const pod_template = text::Find(replica, {"template"});
    if (pod_template == nullptr) continue;
    text::Json copy = *pod_template;
    auto fields = TakeUnknownFields(
        copy, shape, PathStyle::kJson,
        fmt::format("spec.pytorchReplicaSpecs.{}.template", std::string_view(type)));
    std::move(fields.begin(), fields.end(), std::back_inserter(found));
  }
  std::erase_if(found, IsNewer);
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.path < b.path; });
  return found;
}

}  // namespace

std::vector<std::string> UnknownTemplateFields(const text::Json& job, const text::Json* old) {
  std::vector<UnknownField> found = FieldsOf(job);
  if (!found.empty() && old != nullptr) {
    const std::vector<UnknownField> before = FieldsOf(*old);
    std::erase_if(found, [&](const UnknownField& field) {
      return std::any_of(before.begin(), before.end(),
                         [&](const UnknownField& other) { return other.path == field.path; });
    });
  }
  std::vector<std::string> messages;
  messages.reserve(found.size());
  for (const UnknownField& field : found) {
    messages.push_back(fmt::format("unknown field \"{}\"{}", field.path, Advice(field)));
  }
  return messages;
}

}  // namespace api
