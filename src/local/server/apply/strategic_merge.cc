#include "local/server/apply/strategic_merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace local::server {
namespace {

constexpr std::string_view kDirective = "$patch";
constexpr std::string_view kDeletePrefix = "$deleteFromPrimitiveList/";

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
  if (merge == nullptr) return AddToPrimitives(to.get_array(), value.get_array());
  return MergeList(to.get_array(), value.get_array(), *merge);
}

base::Status Merger::MergeObject(text::Object& target, const text::Object& patch) {
  if (const text::Json* directive = patch.if_contains(kDirective)) {
    if (*directive == "delete" || *directive == "replace") target.clear();
    if (*directive == "delete") return {};
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
