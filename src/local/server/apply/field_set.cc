#include "local/server/apply/field_set.h"

#include <fmt/format.h>

namespace local::server {
namespace {

// An element as structured-merge-diff prints it in a path.
std::string PathOf(std::string_view element) {
  const std::string_view rest = element.substr(std::min<size_t>(2, element.size()));
  if (element.starts_with("f:")) return fmt::format(".{}", rest);
  if (element.starts_with("k:")) {
    const auto keys = text::ParseJson(rest);
    if (!keys || !keys->is_object()) return fmt::format("[{}]", rest);
    std::string path = "[";
    for (const auto& [key, value] : keys->get_object()) {
      if (path.size() > 1) path += ',';
      path += fmt::format("{}={}", std::string_view(key), text::ToJson(value));
    }
    return path + "]";
  }
  return fmt::format("[={}]", rest);
}

}  // namespace

FieldSet FieldSet::FromJson(const text::Json& fields) {
  FieldSet set;
  const text::Object* object = fields.if_object();
  if (object == nullptr) return set;
  for (const auto& [key, value] : *object) {
    const std::string_view element = key;
    if (element == ".") {
      set.is_member_ = true;
      continue;
    }
    FieldSet& child = set.Child(element);
    child = FromJson(value);
    if (child.children_.empty()) child.is_member_ = true;
  }
  return set;
}

text::Json FieldSet::ToJson() const {
  text::Object fields;
  if (is_member_ && !children_.empty()) fields["."] = text::Object{};
  for (const auto& [element, child] : children_) fields[element] = child.ToJson();
  return fields;
}

FieldSet& FieldSet::Child(std::string_view element) {
  const auto found = children_.find(element);
  if (found != children_.end()) return found->second;
  return children_.emplace(std::string(element), FieldSet{}).first->second;
}

const FieldSet* FieldSet::Find(std::string_view element) const {
  const auto found = children_.find(element);
  return found == children_.end() ? nullptr : &found->second;
}

void FieldSet::Erase(std::string_view element) {
  if (const auto found = children_.find(element); found != children_.end()) children_.erase(found);
}

void FieldSet::Prune() {
  for (auto& [element, child] : children_) child.Prune();
  std::erase_if(children_, [](const auto& child) { return child.second.IsEmpty(); });
}

void FieldSet::Add(const FieldSet& other) {
  is_member_ = is_member_ || other.is_member_;
  for (const auto& [element, child] : other.children_) Child(element).Add(child);
}

void FieldSet::Subtract(const FieldSet& other) {
  if (other.is_member_) is_member_ = false;
  for (auto& [element, child] : children_) {
    if (const FieldSet* gone = other.Find(element)) child.Subtract(*gone);
  }
  std::erase_if(children_, [](const auto& child) { return child.second.IsEmpty(); });
}

FieldSet FieldSet::Intersection(const FieldSet& other) const {
  FieldSet both;
  both.is_member_ = is_member_ && other.is_member_;
  for (const auto& [element, child] : children_) {
    const FieldSet* theirs = other.Find(element);
    if (theirs == nullptr) continue;
    FieldSet common = child.Intersection(*theirs);
    if (!common.IsEmpty()) both.children_.emplace(element, std::move(common));
  }
  return both;
}

std::vector<std::string> FieldSet::Paths() const {
  std::vector<std::string> paths;
  AddPaths("", paths);
  return paths;
}

void FieldSet::AddPaths(const std::string& prefix, std::vector<std::string>& out) const {
  for (const auto& [element, child] : children_) {
    if (child.is_member_) out.push_back(prefix + PathOf(element));
  }
  for (const auto& [element, child] : children_) child.AddPaths(prefix + PathOf(element), out);
}

}  // namespace local::server
