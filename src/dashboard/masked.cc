#include "dashboard/masked.h"

#include <string>
#include <string_view>

#include "arena/history/mask.h"

namespace dashboard {
namespace {

constexpr std::string_view kStars = "***";

void MaskIn(const arena::Mask& mask, text::Json& value);

bool IsSecretMember(std::string_view key) {
  return (key.starts_with("env ") || key.starts_with("variable ")) && arena::IsSecretName(key);
}

void MaskAll(text::Json& value) {
  if (value.is_string()) value = kStars;
  if (text::Array* array = value.if_array()) {
    for (text::Json& each : *array) MaskAll(each);
  }
}

void MaskIn(const arena::Mask& mask, text::Json& value) {
  if (value.is_string()) {
    value = mask.Of(std::string_view(value.get_string()));
  } else if (text::Array* array = value.if_array()) {
    for (text::Json& each : *array) MaskIn(mask, each);
  } else if (text::Object* object = value.if_object()) {
    for (auto& member : *object) {
      if (IsSecretMember(member.key())) {
        MaskAll(member.value());
      } else {
        MaskIn(mask, member.value());
      }
    }
  }
}

}  // namespace

void MaskSecrets(const text::Json& job, text::Json& document) {
  arena::Mask mask;
  mask.Learn(job);
  MaskIn(mask, document);
}

}  // namespace dashboard
