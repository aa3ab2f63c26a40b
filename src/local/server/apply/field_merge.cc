#include "local/server/apply/field_merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

namespace local::server {
namespace {

using ShapeKind = api::Shape::Kind;

// How a value merges; where the schema has no type, the value's own type decides.
enum class ShapeForm { kLeaf, kFields, kItems };

ShapeForm ShapeFormOf(const text::Json& value, const api::Shape& shape) {
  switch (shape.kind) {
    case ShapeKind::kScalar:
      return ShapeForm::kLeaf;
    case ShapeKind::kObject:
      return value.is_object() && !shape.is_atomic && !shape.type->is_atomic ? ShapeForm::kFields
                                                                             : ShapeForm::kLeaf;
    case ShapeKind::kMap:
      return value.is_object() && !shape.is_atomic ? ShapeForm::kFields : ShapeForm::kLeaf;
    case ShapeKind::kList:
      return value.is_array() && !shape.is_atomic ? ShapeForm::kItems : ShapeForm::kLeaf;
    case ShapeKind::kAny:
      break;
  }
  return value.is_object() ? ShapeForm::kFields : ShapeForm::kLeaf;
}

// Whether the type names this field; a field that it does not name is recorded itself, too.
bool IsNamed(const api::Shape& shape, std::string_view field) {
  return shape.kind == ShapeKind::kObject && shape.type->Find(field) != nullptr;
}

api::Shape FieldShape(const api::Shape& shape, std::string_view field) {
  if (shape.kind == ShapeKind::kMap) return shape.Element();
  if (shape.kind == ShapeKind::kObject) {
    if (const api::Shape* found = shape.type->Find(field)) return *found;
  }
  return {};
}

std::string FieldElement(std::string_view name) { return fmt::format("f:{}", name); }

// "" when the item lacks a key.
std::string ItemElement(const text::Json& item, const api::Shape& shape) {
  if (shape.is_set) return "v:" + text::ToJson(item);
  const text::Object* object = item.if_object();
  if (object == nullptr) return "";
  std::map<std::string_view, text::Json> sorted;
  for (const std::string_view key : shape.keys) {
    if (const text::Json* value = object->if_contains(key)) {
      sorted[key] = *value;
    } else if (key == "protocol") {
      sorted[key] = "TCP";  // the only key with a default
    }
  }
  if (sorted.empty()) return "";
  text::Object keys;
  for (auto& [key, value] : sorted) keys[key] = std::move(value);
  return "k:" + text::ToJson(keys);
}

// The items of a list in order, and the first item of each element.
struct Items {
  std::vector<std::pair<std::string, const text::Json*>> all;
  std::unordered_map<std::string_view, const text::Json*> by_element = {};

  const text::Json* Find(std::string_view element) const {
    const auto found = by_element.find(element);
    return found == by_element.end() ? nullptr : found->second;
  }
};

Items ItemsOf(const text::Json& list, const api::Shape& shape) {
  Items items;
  if (!list.is_array()) return items;
  items.all.reserve(list.get_array().size());  // by_element borrows the strings
  for (const text::Json& item : list.get_array()) {
    std::string element = ItemElement(item, shape);
    if (element.empty()) continue;
    items.all.emplace_back(std::move(element), &item);
    items.by_element.emplace(items.all.back().first, &item);
  }
  return items;
}

bool IsEmptyContainer(const text::Json& value) {
  return (value.is_object() && value.get_object().empty()) ||
         (value.is_array() && value.get_array().empty());
}

void AddFields(const text::Json& value, const api::Shape& shape, FieldSet& set) {
  const ShapeForm form = ShapeFormOf(value, shape);
  if (form == ShapeForm::kLeaf) {
    set.AddSelf();
  } else if (form == ShapeForm::kFields) {
    for (const auto& [key, field] : value.get_object()) {
      FieldSet& child = set.Child(FieldElement(key));
      if (!field.is_null()) AddFields(field, FieldShape(shape, key), child);
      if (field.is_null() || (field.is_object() && field.get_object().empty()) ||
          !IsNamed(shape, key)) {
        child.AddSelf();
      }
    }
  } else {
    const Items items = ItemsOf(value, shape);
    for (const auto& [element, item] : items.all) {
      FieldSet& child = set.Child(element);
      AddFields(*item, shape.Element(), child);
      child.AddSelf();
    }
  }
}

// Compares two values recursively; either may be absent (nullptr).
class Comparer {
 public:
  explicit Comparer(Comparison& out) : out_(out) {}

  void Run(const text::Json* before, const text::Json* after, const api::Shape& shape) {
    const text::Json& one = after != nullptr ? *after : *before;
    const bool are_both_empty = (before == nullptr || IsEmptyContainer(*before)) &&
                                (after == nullptr || IsEmptyContainer(*after));
    const ShapeForm form = ShapeFormOf(one, shape);
    const bool fits = before == nullptr || after == nullptr || ShapeFormOf(*before, shape) == form;
    if (form == ShapeForm::kLeaf || !fits || are_both_empty) return Leaf(before, after);
    if (form == ShapeForm::kFields) {
      Fields(before, after, shape);
    } else {
      ListItems(before, after, shape);
    }
  }

 private:
  void Leaf(const text::Json* before, const text::Json* after) {
    if (before == nullptr) {
      At(out_.added).AddSelf();
    } else if (after == nullptr) {
      At(out_.removed).AddSelf();
    } else if (*before != *after) {
      At(out_.modified).AddSelf();
    }
  }

  void Step(const std::string& element, const text::Json* before, const text::Json* after,
            const api::Shape& shape) {
    path_.push_back(element);
    Run(before, after, shape);
    if (before == nullptr) At(out_.added).AddSelf();
    if (after == nullptr) At(out_.removed).AddSelf();
    path_.pop_back();
  }

  void Fields(const text::Json* before, const text::Json* after, const api::Shape& shape) {
    static const text::Object kNone;
    const text::Object& old_fields = before != nullptr ? before->get_object() : kNone;
    const text::Object& new_fields = after != nullptr ? after->get_object() : kNone;
    for (const auto& [key, field] : new_fields) {
      const text::Json* old_field = old_fields.if_contains(key);
      // Equal values need no comparison.
      if (old_field != nullptr && *old_field == field) continue;
      Step(FieldElement(key), old_field, &field, FieldShape(shape, key));
    }
    for (const auto& [key, field] : old_fields) {
      if (!new_fields.contains(key)) {
        Step(FieldElement(key), &field, nullptr, FieldShape(shape, key));
      }
    }
  }

  void ListItems(const text::Json* before, const text::Json* after, const api::Shape& shape) {
    const Items old_items = before != nullptr ? ItemsOf(*before, shape) : Items{};
    const Items new_items = after != nullptr ? ItemsOf(*after, shape) : Items{};
    for (const auto& [element, item] : new_items.all) {
      const text::Json* old_item = old_items.Find(element);
      if (old_item == nullptr || *old_item != *item) Step(element, old_item, item, shape.Element());
    }
    for (const auto& [element, item] : old_items.all) {
      if (new_items.Find(element) == nullptr) Step(element, item, nullptr, shape.Element());
    }
  }

  FieldSet& At(FieldSet& root) {
    FieldSet* at = &root;
    for (const std::string& element : path_) at = &at->Child(element);
    return *at;
  }

  Comparison& out_;
  std::vector<std::string> path_;
};

text::Json MergedItems(const text::Json& live, const text::Json& applied, const api::Shape& shape) {
  const Items old_items = ItemsOf(live, shape);
  const Items new_items = ItemsOf(applied, shape);
  text::Array merged;
  std::set<std::string_view> done;
  size_t at = 0;
  const auto pass_live = [&] {
    while (at < old_items.all.size()) {
      const auto& [element, item] = old_items.all[at];
      if (new_items.Find(element) == nullptr) {
        merged.push_back(*item);
      } else if (!done.contains(element)) {
        return;
      }
      ++at;
    }
  };
  for (const auto& [element, item] : new_items.all) {
    pass_live();
    const text::Json* old_item = old_items.Find(element);
    merged.push_back(old_item == nullptr ? *item : Merged(*old_item, *item, shape.Element()));
    done.insert(element);
  }
  pass_live();
  return merged;
}

void RemoveItems(text::Json& value, const FieldSet& gone, const api::Shape& shape) {
  text::Array left;
  for (text::Json& item : value.get_array()) {
    const FieldSet* below = gone.Find(ItemElement(item, shape));
    if (below != nullptr && below->is_member()) continue;
    if (below != nullptr) RemoveFields(item, *below, shape.Element());
    left.push_back(std::move(item));
  }
  value = std::move(left);
}

}  // namespace

FieldSet FieldsOf(const text::Json& value, const api::Shape& shape) {
  FieldSet set;
  AddFields(value, shape, set);
  return set;
}

Comparison Compare(const text::Json& before, const text::Json& after, const api::Shape& shape) {
  Comparison comparison;
  Comparer(comparison).Run(&before, &after, shape);
  return comparison;
}

text::Json Merged(const text::Json& live, const text::Json& applied, const api::Shape& shape) {
  const ShapeForm form = ShapeFormOf(applied, shape);
  if (form == ShapeForm::kLeaf || ShapeFormOf(live, shape) != form) return applied;
  if (form == ShapeForm::kItems) return MergedItems(live, applied, shape);
  text::Object merged = live.get_object();
  for (const auto& [key, field] : applied.get_object()) {
    const text::Json* old_field = merged.if_contains(key);
    merged[key] = old_field == nullptr ? field : Merged(*old_field, field, FieldShape(shape, key));
  }
  return merged;
}

void RemoveFields(text::Json& value, const FieldSet& gone, const api::Shape& shape) {
  const ShapeForm form = ShapeFormOf(value, shape);
  if (form == ShapeForm::kItems) return RemoveItems(value, gone, shape);
  if (form == ShapeForm::kLeaf) return;
  text::Object& object = value.get_object();
  std::vector<std::string> emptied;
  for (const auto& [element, below] : gone.children()) {
    if (!element.starts_with("f:")) continue;
    const std::string_view key = std::string_view(element).substr(2);
    auto* const found = object.find(key);
    if (found == object.end()) continue;
    bool is_gone = below.is_member();
    if (!is_gone) {
      const bool was_empty = IsEmptyContainer(found->value());
      RemoveFields(found->value(), below, FieldShape(shape, key));
      // A container that has lost its last field is removed, too.
      is_gone = !was_empty && IsEmptyContainer(found->value());
    }
    if (is_gone) emptied.emplace_back(key);
  }
  text::EraseKeys(object, emptied);
}

std::string CheckLists(const text::Json& value, const api::Shape& shape, const std::string& path) {
  const ShapeForm form = ShapeFormOf(value, shape);
  if (form == ShapeForm::kFields) {
    for (const auto& [key, field] : value.get_object()) {
      std::string why = CheckLists(field, FieldShape(shape, key),
                                   fmt::format("{}.{}", path, std::string_view(key)));
      if (!why.empty()) return why;
    }
  } else if (form == ShapeForm::kItems) {
    std::set<std::string> seen;
    for (const text::Json& item : value.get_array()) {
      const std::string element = ItemElement(item, shape);
      if (element.empty()) {
        return fmt::format(
            "{}: element 0: associative list with keys has an element that omits "
            "key field \"{}\" (and doesn't have default value)",
            path, shape.keys.front());
      }
      if (!seen.insert(element).second) {
        return fmt::format("{}: duplicate entries for key {}", path, element.substr(2));
      }
      std::string why = CheckLists(item, shape.Element(), path);
      if (!why.empty()) return why;
    }
  }
  return "";
}

}  // namespace local::server
