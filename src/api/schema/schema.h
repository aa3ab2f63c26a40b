// What is known of the fields of the kinds that we serve: their types for OpenAPI, how their lists
// merge for server-side apply, their numbers for protobuf. Immutable, read at first use.
//
// Types are written one a line, `Name: NUMBER field SHAPE; ...`, further lines indented. NUMBER is
// protobuf's, 0 for none. `Name!` is atomic: set as a whole by one manager. `Name+` keeps fields
// that it does not name. `~` for a field's name means that the fields of its type stand in its
// place. SHAPE is
//   s i l b y q t m x F   string, int32, int64, bool, bytes, quantity, time, time in microseconds,
//                         integer or string, FieldsV1
//   Name, any             an object of that type, anything
//   [X] [X=] [X/a,b]      a list: atomic, a set, a map by the fields a and b
//   {X} {X}!              a map of names to X; atomic
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/resources.h"

namespace api {

struct ObjectType;

struct Shape {
  enum class Kind { kScalar, kObject, kList, kMap, kAny };
  Kind kind = Kind::kAny;
  char scalar = 0;                   // of a scalar, or of the elements
  const ObjectType* type = nullptr;  // of the object, or of the elements; null: a scalar or any
  bool is_atomic = false;
  bool is_set = false;                 // kList
  std::vector<std::string_view> keys;  // kList that is merged by them

  // Of a list or map.
  Shape Element() const;
};

struct TypeField {
  int number = 0;
  std::string_view name;  // "~": inlined
  Shape shape;
};

struct ObjectType {
  std::string_view name;
  bool is_atomic = false;
  bool keeps_unknown = false;
  std::vector<TypeField> fields;

  // The field of that JSON name, also of what is inlined; nullptr when unknown.
  const Shape* Find(std::string_view field) const;
};

// nullptr when unknown.
const ObjectType* FindType(std::string_view name);
const ObjectType* TypeOf(const Resource& resource);
// An object of that type; anything when it is unknown.
Shape ShapeOf(const Resource& resource);
// Whether on Kubernetes a CRD defines the kind.
bool IsCustom(const Resource& resource);
// What the type, or one of its fields, is for; "" when we have no words.
std::string_view Describe(std::string_view type, std::string_view field);

}  // namespace api
