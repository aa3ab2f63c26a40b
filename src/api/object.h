// Metadata of any object: read without copying, and written where muster writes it.
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
// A copy, without values that are not strings.
std::map<std::string, std::string> Labels(const text::Json& object);
std::map<std::string, std::string> Annotations(const text::Json& object);
// Whether deletionTimestamp is set.
bool IsDeleting(const text::Json& object);
// metadata.creationTimestamp, in whole seconds; for a job of the embedded cluster, the exact time
// (kCreatedAnnotation).
std::optional<base::Time> CreationTime(const text::Json& object);
// The RFC 3339 time at `path`; nullopt when absent or malformed.
std::optional<base::Time> GetTime(const text::Json& object, text::Path path);

// The first entry of status.conditions with that type; nullptr if there is none. Controllers of
// other kinds may write several entries of one type.
const text::Json* FindCondition(const text::Json& object, std::string_view type);
// The first such entry whose status is True.
const text::Json* TrueCondition(const text::Json& object, std::string_view type);

// The ownerReference with controller: true; nullptr when there is none.
const text::Json* ControllerReference(const text::Json& object);
std::string_view ControllerUid(const text::Json& object);  // "" without a controller

// {apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true}
text::Json MakeControllerReference(const Resource& resource, const text::Json& owner);
text::Json MakeControllerReference(const Resource& resource, std::string_view name,
                                   std::string_view uid);
// metadata.labels[key] = value; likewise for annotations.
void SetLabel(text::Json& object, std::string_view key, std::string_view value);
void SetAnnotation(text::Json& object, std::string_view key, std::string_view value);

}  // namespace api
