// What every object has: metadata, read without copying, and the parts of it that we write.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "api/resources.h"
#include "base/clock.h"
#include "text/json.h"

namespace api {

// Views live as long as the object; "" when absent.
std::string_view Name(const text::Json& object);
std::string_view Namespace(const text::Json& object);
std::string_view Uid(const text::Json& object);
std::string_view ResourceVersion(const text::Json& object);
std::string_view Label(const text::Json& object, std::string_view key);
std::string_view Annotation(const text::Json& object, std::string_view key);
// A copy; values that are not strings are left out.
std::map<std::string, std::string> Labels(const text::Json& object);
std::map<std::string, std::string> Annotations(const text::Json& object);
// deletionTimestamp is set.
bool IsDeleting(const text::Json& object);
std::optional<base::Time> CreationTime(const text::Json& object);
// RFC 3339 at `path`; nullopt when absent or malformed.
std::optional<base::Time> GetTime(const text::Json& object, text::Path path);

// The one ownerReference with controller: true, else nullptr.
const text::Json* ControllerReference(const text::Json& object);
std::string_view ControllerUid(const text::Json& object);  // "" without a controller

// {apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true}
text::Json MakeControllerReference(const Resource& resource, const text::Json& owner);
text::Json MakeControllerReference(const Resource& resource, std::string_view name,
                                   std::string_view uid);
// {name, namespace, labels}; empty ones are left out.
text::Json MakeMetadata(std::string_view name, std::string_view namespace_name,
                        const std::map<std::string, std::string>& labels = {});
// metadata.labels[key] = value, likewise annotations.
void SetLabel(text::Json& object, std::string_view key, std::string_view value);
void SetAnnotation(text::Json& object, std::string_view key, std::string_view value);

}  // namespace api
