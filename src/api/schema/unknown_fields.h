// Finds fields that no type of schema.h has, in an object or in the pod templates of a job. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/schema/schema.h"
#include "text/json.h"

namespace api {

// The request's `fieldValidation`: what happens to unknown fields.
enum class FieldValidation { kIgnore, kWarn, kStrict };
// "" is Warn, as in the API server; nullopt for a value that is not one of its three.
std::optional<FieldValidation> ParseFieldValidation(std::string_view word);

struct UnknownField {
  std::string path;
  std::string name;                  // the last part of its path
  const ObjectType* type = nullptr;  // the type that has no such field
};

// kJson: spec.containers[0].imag; kTyped: .spec.containers[name="pytorch"].imag
enum class PathStyle { kJson, kTyped };

// Removes unknown fields from `value`, which is at `path` of its object ("": the object itself,
// which may have an apiVersion and kind), and returns them in the order in which they are written.
std::vector<UnknownField> TakeUnknownFields(text::Json& value, const Shape& shape, PathStyle style,
                                            std::string path = "");

// Unknown fields in the pod templates of a PyTorchJob, which its CRD keeps nevertheless: `unknown
// field "spec....containers[0].comand": did you mean "command"?`, sorted by path. Fields that
// `old`, the previous job or nullptr, had as well are not reported again.
std::vector<std::string> UnknownTemplateFields(const text::Json& job, const text::Json* old);

}  // namespace api
