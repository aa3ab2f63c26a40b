#pragma once

#include <map>
#include <string>
#include <string_view>

#include "text/json.h"

namespace api {

// {name, namespace, labels}, without empty ones.
inline text::Json MakeMetadata(std::string_view name, std::string_view namespace_name,
                               const std::map<std::string, std::string>& labels = {}) {
  text::Object metadata;
  if (!name.empty()) metadata["name"] = name;
  if (!namespace_name.empty()) metadata["namespace"] = namespace_name;
  if (!labels.empty()) {
    text::Object& written = metadata["labels"].emplace_object();
    for (const auto& [key, value] : labels) written[key] = value;
  }
  return metadata;
}

}  // namespace api
