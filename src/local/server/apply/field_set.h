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
  // Reads as much as possible of text that is not fieldsV1.
  static FieldSet FromJson(const text::Json& fields);
  text::Json ToJson() const;

  bool IsEmpty() const { return !is_member_ && children_.empty(); }
  // Whether the field at which this set is rooted is itself a member.
  bool is_member() const { return is_member_; }
  void AddSelf() { is_member_ = true; }
  void RemoveSelf() { is_member_ = false; }
  // The subset at an element: Child creates an absent one, Find returns nullptr.
  FieldSet& Child(std::string_view element);
  const FieldSet* Find(std::string_view element) const;
  const std::map<std::string, FieldSet, std::less<>>& children() const { return children_; }
  void Erase(std::string_view element);
  // Drops empty children.
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
