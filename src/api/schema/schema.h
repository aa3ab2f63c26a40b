// The fields of the kinds that we serve: their types for OpenAPI, how their lists merge in
// server-side apply, and their protobuf numbers. Immutable, parsed at first use. Those of a
// PyTorchJob are derived from deploy/crd.yaml (definition.h), those of Kubernetes are in
// schema_text.cc: types are written one per line, `Name: NUMBER field SHAPE; ...`, with further
// lines indented. NUMBER is protobuf's, 0 for none. `Name!` is atomic: one manager sets it as a
// whole. `Name+` keeps fields that it does not name. `~` as a field's name inlines the fields of
// its type. SHAPE is
//   s i l b y q t m x F   string, int32, int64, bool, bytes, quantity, time, time in microseconds,
//                         integer or string, FieldsV1
//   Name, any             an object of that type, any value
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
  char scalar = 0;                   // the scalar type, or that of the elements
  const ObjectType* type = nullptr;  // of the object, or of the elements; null: a scalar or any
                                     // value
  bool is_atomic = false;
  bool is_set = false;                 // kList
  std::vector<std::string_view> keys;  // kList: the keys by which it is merged

  // The shape of the elements of a list or map.
  Shape Element() const;
};

struct TypeField {
  int number = 0;
  std::string_view name;  // "~": inlined
  Shape shape;
  std::string_view description = {};  // may be empty
  bool is_required = false;           // only known of a PyTorchJob's fields
};

struct ObjectType {
  std::string_view name;
  bool is_atomic = false;
  bool keeps_unknown = false;
  std::vector<TypeField> fields;
  std::string_view description = {};  // may be empty

  // The field of that JSON name, including inlined ones; nullptr when unknown.
  const TypeField* FindField(std::string_view field) const;
  const Shape* Find(std::string_view field) const;
};

// nullptr when unknown.
const ObjectType* FindType(std::string_view name);
const ObjectType* TypeOf(const Resource& resource);
// The shape of an object of that kind; any value when the kind is unknown.
Shape ShapeOf(const Resource& resource);
// Whether a CRD defines the kind on Kubernetes.
bool IsCustom(const Resource& resource);

}  // namespace api
