// A set of an object's fields, as metadata.managedFields records it (fieldsV1).
//
// A path's elements are spelled as fieldsV1 spells them: `f:spec`, `k:{"name":"x"}` for the item of
// a list that is merged by keys, `v:"x"` for a value of a set.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "text/json.h"

namespace local::server {

class FieldSet {
 public:
  // Of text that is not fieldsV1, as much as can be read.
  static FieldSet FromJson(const text::Json& fields);
  text::Json ToJson() const;

  bool IsEmpty() const { return !is_member_ && children_.empty(); }
  // Whether the place where this set hangs is itself in it.
  bool is_member() const { return is_member_; }
  void AddSelf() { is_member_ = true; }
  void RemoveSelf() { is_member_ = false; }
  // The sets below, made when absent; nullptr when absent.
  FieldSet& Child(std::string_view element);
  const FieldSet* Find(std::string_view element) const;
  const std::map<std::string, FieldSet, std::less<>>& children() const { return children_; }
  void Erase(std::string_view element);
  // Drops children that hold nothing.
  void Prune();

  void Add(const FieldSet& other);
  void Subtract(const FieldSet& other);
  FieldSet Intersection(const FieldSet& other) const;
  bool operator==(const FieldSet&) const = default;

  // `.spec.containers[name="x"].image` of each member.
  std::vector<std::string> Paths() const;

 private:
  void AddPaths(const std::string& prefix, std::vector<std::string>& out) const;

  bool is_member_ = false;
  std::map<std::string, FieldSet, std::less<>> children_;
};

}  // namespace local::server
