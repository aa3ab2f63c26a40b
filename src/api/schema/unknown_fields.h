// Fields that no type of schema.h names, in an object or in the pod templates of a job. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/schema/schema.h"
#include "text/json.h"

namespace api {

// What a request wants to become of fields that an object should not have: its `fieldValidation`.
enum class FieldValidation { kIgnore, kWarn, kStrict };
// "" is Warn, as for the API server; nullopt for other words than its three.
std::optional<FieldValidation> ParseFieldValidation(std::string_view word);

struct UnknownField {
  std::string path;
  std::string name;                  // its last part
  const ObjectType* type = nullptr;  // which has no such field
};

// kJson: spec.containers[0].imag; kTyped: .spec.containers[name="pytorch"].imag
enum class PathStyle { kJson, kTyped };

// Takes them out of `value`, which is at `path` of its object ("" is the object itself, which may
// say its apiVersion and kind), in the order in which they are written.
std::vector<UnknownField> TakeUnknownFields(text::Json& value, const Shape& shape, PathStyle style,
                                            std::string path = "");

// Fields in the pod templates of a PyTorchJob that no pod has, which the definition keeps all the
// same: `unknown field "spec....containers[0].comand": did you mean "command"?`, sorted by path.
// What `old`, the job as it was or nullptr, had as well is not told again.
std::vector<std::string> UnknownTemplateFields(const text::Json& job, const text::Json* old);

}  // namespace api
