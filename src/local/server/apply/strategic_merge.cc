#include "local/server/apply/strategic_merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace local::server {
namespace {

constexpr std::string_view kDirective = "$patch";
constexpr std::string_view kDeletePrefix = "$deleteFromPrimitiveList/";
constexpr std::string_view kRetainKeys = "$retainKeys";
constexpr std::string_view kOrderPrefix = "$setElementOrder/";

// For one patch; well under a second. Merging a list of 1,000 into one of 1,000 takes 1,000,000.
constexpr size_t kMaxMergeComparisons = 4'000'000;

struct MergeKey {
  std::string_view list;
  std::string_view key;
  std::string_view otherwise = {};  // the key of elements of another kind whose list has the same
                                    // name
};

// patchMergeKey of the core/v1 and apps/v1 types that we serve.
constexpr MergeKey kMergeKeys[] = {
    {"containers", "name"},
    {"initContainers", "name"},
    {"ephemeralContainers", "name"},
    {"volumes", "name"},
    {"env", "name"},
    {"imagePullSecrets", "name"},
    {"secrets", "name"},
    {"ports", "containerPort", "port"},
    {"volumeMounts", "mountPath"},
    {"volumeDevices", "devicePath"},
    {"conditions", "type"},
    {"addresses", "type"},
    {"ownerReferences", "uid"},
    {"hostAliases", "ip"},
    {"taints", "key"},
    {"topologySpreadConstraints", "topologyKey"},
};

const MergeKey* MergeKeyOf(std::string_view list) {
  for (const MergeKey& key : kMergeKeys) {
    if (key.list == list) return &key;
  }
  return nullptr;
}

base::Result<std::string_view> KeyOf(const MergeKey& merge, const text::Object& element) {
  if (element.contains(merge.key)) return merge.key;
  if (!merge.otherwise.empty() && element.contains(merge.otherwise)) return merge.otherwise;
  return base::Fail(base::Code::kInvalidArgument,
                    fmt::format("map: an element of {} does not contain declared merge key: {}",
                                merge.list, merge.key));
}

// What tells an element of a list from the others: itself where the list has no merge key.
text::Json IdentityOf(const MergeKey* merge, const text::Json& element) {
  if (merge == nullptr) return element;
  const text::Json* value = text::Find(element, {merge->key});
  if (value == nullptr && !merge->otherwise.empty()) {
    value = text::Find(element, {merge->otherwise});
  }
  return value == nullptr ? text::Json() : *value;
}

text::Array IdentitiesOf(const MergeKey* merge, const text::Array& list) {
  text::Array identities;
  for (const text::Json& element : list) {
    if (text::GetString(element, {kDirective}).empty()) {
      identities.push_back(IdentityOf(merge, element));
    }
  }
  return identities;
}

// The order of the identities; of equal ones, the first counts.
std::unordered_map<text::Json, std::ptrdiff_t> PlacesOf(const text::Array& identities) {
  std::unordered_map<text::Json, std::ptrdiff_t> places;
  for (const text::Json& identity : identities) {
    places.try_emplace(identity, static_cast<std::ptrdiff_t>(places.size()));
  }
  return places;
}

// Puts the elements named in `order` into that order. Each of the others stays before those that
// it stood before, as far as the order allows that.
void Arrange(text::Array& list, const text::Array& order, const text::Array& before,
             const MergeKey* merge) {
  struct Element {
    text::Json value;
    std::ptrdiff_t wanted = 0;
    std::ptrdiff_t was = 0;
  };
  const auto ordered_places = PlacesOf(order);
  const auto former_places = PlacesOf(before);
  const auto place = [](const auto& places, const text::Json& identity) {
    const auto found = places.find(identity);
    return found == places.end() ? -1 : found->second;
  };
  std::vector<Element> ordered;
  std::vector<Element> others;
  for (text::Json& value : list) {
    const text::Json identity = IdentityOf(merge, value);
    Element element{std::move(value), place(ordered_places, identity),
                    place(former_places, identity)};
    (element.wanted < 0 ? others : ordered).push_back(std::move(element));
  }
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const Element& a, const Element& b) { return a.wanted < b.wanted; });
  list.clear();
  auto next = ordered.begin();
  for (Element& other : others) {
    while (next != ordered.end() && (next->was < 0 || other.was < 0 || other.was > next->was)) {
      list.push_back(std::move((next++)->value));
    }
    list.push_back(std::move(other.value));
  }
  for (; next != ordered.end(); ++next) list.push_back(std::move(next->value));
}

void RetainKeys(text::Object& target, const text::Array& names) {
  std::set<std::string_view> kept;
  for (const text::Json& name : names) kept.insert(text::GetString(name, {}));
  text::Object left;
  for (auto& member : target) {
    if (kept.contains(member.key())) left[member.key()] = std::move(member.value());
  }
  target = std::move(left);
}

class Merger {
 public:
  base::Status MergeObject(text::Object& target, const text::Object& patch);

 private:
  base::Status RemoveFromPrimitives(text::Json& list, const text::Json& gone);
  base::Status AddToPrimitives(text::Array& target, const text::Array& patch);
  base::Status MergeList(text::Array& target, const text::Array& patch, const MergeKey& merge);
  base::Status MergeValue(text::Object& target, std::string_view name, const text::Json& value);
  // Each element of a patch may be compared with each existing one, and each null moves the members
  // after it.
  base::Status CountComparisons(size_t count);

  size_t comparisons_ = 0;
};

base::Status Merger::CountComparisons(size_t count) {
  comparisons_ += count;
  if (comparisons_ <= kMaxMergeComparisons) return {};
  return base::Fail(base::Code::kExhausted,
                    "the patch's lists are too long: patch in smaller parts, or put the object");
}

base::Status Merger::RemoveFromPrimitives(text::Json& list, const text::Json& gone) {
  if (!list.is_array() || !gone.is_array()) return {};
  const auto& array = gone.get_array();
  TRY(CountComparisons(array.size() * list.get_array().size()));
  text::Array left;
  for (text::Json& value : list.get_array()) {
    if (std::find(array.begin(), array.end(), value) == array.end()) left.push_back(value);
  }
  list = std::move(left);
  return {};
}

base::Status Merger::AddToPrimitives(text::Array& target, const text::Array& patch) {
  for (const text::Json& value : patch) {
    TRY(CountComparisons(target.size()));
    if (std::find(target.begin(), target.end(), value) == target.end()) target.push_back(value);
  }
  return {};
}

base::Status Merger::MergeList(text::Array& target, const text::Array& patch,
                               const MergeKey& merge) {
  const bool is_replaced = std::any_of(patch.begin(), patch.end(), [](const text::Json& element) {
    return text::GetString(element, {kDirective}) == "replace";
  });
  if (is_replaced) target.clear();
  for (const text::Json& element : patch) {
    const text::Object* object = element.if_object();
    if (object == nullptr) {
      target.push_back(element);
      continue;
    }
    const std::string_view directive = text::GetString(element, {kDirective});
    if (directive == "replace") continue;
    TRY_ASSIGN(const std::string_view key, KeyOf(merge, *object));
    TRY(CountComparisons(target.size()));
    const auto found = std::find_if(target.begin(), target.end(), [&](const text::Json& candidate) {
      const text::Json* value = text::Find(candidate, {key});
      return value != nullptr && *value == object->at(key);
    });
    if (directive == "delete") {
      if (found != target.end()) target.erase(found);
    } else if (found != target.end()) {
      TRY(MergeObject(found->get_object(), *object));
    } else {
      text::Object added;
      TRY(MergeObject(added, *object));
      target.push_back(std::move(added));
    }
  }
  return {};
}

base::Status Merger::MergeValue(text::Object& target, std::string_view name,
                                const text::Json& value) {
  if (value.is_null()) {
    TRY(CountComparisons(target.size()));
    if (auto* const found = target.find(name); found != target.end()) target.stable_erase(found);
    return {};
  }
  if (const text::Object* object = value.if_object()) {
    text::Json& to = target[name];
    if (!to.is_object()) to = text::Object{};
    return MergeObject(to.get_object(), *object);
  }
  const MergeKey* merge = MergeKeyOf(name);
  if (!value.is_array() || (merge == nullptr && name != "finalizers")) {
    target[name] = value;
    return {};
  }
  text::Json& to = target[name];
  if (!to.is_array()) to = text::Array{};
  const text::Array before = IdentitiesOf(merge, to.get_array());
  if (merge == nullptr) {
    TRY(AddToPrimitives(to.get_array(), value.get_array()));
  } else {
    TRY(MergeList(to.get_array(), value.get_array(), *merge));
  }
  Arrange(to.get_array(), IdentitiesOf(merge, value.get_array()), before, merge);
  return {};
}

base::Status Merger::MergeObject(text::Object& target, const text::Object& patch) {
  if (const text::Json* directive = patch.if_contains(kDirective)) {
    if (*directive == "delete" || *directive == "replace") target.clear();
    if (*directive == "delete") return {};
  }
  if (const text::Json* kept = patch.if_contains(kRetainKeys); kept && kept->is_array()) {
    RetainKeys(target, kept->get_array());
  }
  std::vector<std::tuple<std::string_view, const text::Array*, text::Array>> orders;
  for (const auto& [key, value] : patch) {
    const std::string_view name = key;
    if (!name.starts_with(kOrderPrefix) || !value.is_array()) continue;
    const std::string_view list = name.substr(kOrderPrefix.size());
    const text::Json* const found = target.if_contains(list);
    if (found != nullptr && !found->is_array()) continue;
    orders.emplace_back(
        list, &value.get_array(),
        found == nullptr ? text::Array() : IdentitiesOf(MergeKeyOf(list), found->get_array()));
  }
  for (const auto& [key, value] : patch) {
    const std::string_view name = key;
    if (name.starts_with(kDeletePrefix)) {
      const std::string_view list = name.substr(kDeletePrefix.size());
      if (auto* const found = target.find(list); found != target.end()) {
        TRY(RemoveFromPrimitives(found->value(), value));
      }
    } else if (!name.starts_with('$')) {
      TRY(MergeValue(target, name, value));
    }
  }
  for (const auto& [list, order, before] : orders) {
    text::Json* const found = target.if_contains(list);
    if (found == nullptr || !found->is_array()) continue;
    const MergeKey* const merge = MergeKeyOf(list);
    Arrange(found->get_array(), IdentitiesOf(merge, *order), before, merge);
  }
  return {};
}

}  // namespace

base::Status StrategicMerge(text::Json& target, const text::Json& patch) {
  if (!target.is_object() || !patch.is_object()) {
    return base::Fail(base::Code::kInvalidArgument, "a strategic merge patch must be an object");
  }
  return Merger().MergeObject(target.get_object(), patch.get_object());
}

}  // namespace local::server
