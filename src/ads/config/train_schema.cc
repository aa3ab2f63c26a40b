#include "ads/config/train_schema.h"

#include <fmt/format.h>

#include <string_view>

#include "ads/config/infrastructure_keys.h"
#include "base/nearest.h"
#include "base/strings.h"

namespace ads {
namespace {

enum class Shape { kAny, kScalar, kMap, kList };

// A map of the schema: its keys, each with the form of its value and, if that is a map, its schema.
// Null is permitted everywhere.
struct KeyRule {
  std::string_view key;
  Shape shape = Shape::kScalar;
  const std::vector<KeyRule>* below = nullptr;  // kMap: its keys; kList: the keys of its maps
  bool is_any_case = false;                     // upper case is accepted too
  bool is_open = false;                         // kMap: it may have other keys
};
using KeyRules = std::vector<KeyRule>;

KeyRules InfrastructureRules() {
  static const KeyRules shape = {{"ocpus"}, {"memoryInGBs"}, {"memory_in_gbs"}, {"cpuBaseline"}};
  static const KeyRules mount = {{"src"}, {"dest"}};
  // As in parts of the documentation.
  KeyRules rules = {{"blockStorageSizeGB"}};
  for (const InfrastructureKey& key : InfrastructureKeys()) {
    KeyRule rule{key.camel};
    if (key.camel == "shapeConfigDetails") {
      rule = {key.camel, Shape::kMap, &shape};
    } else if (key.camel == "storageMount") {
      rule = {key.camel, Shape::kList, &mount};
    } else if (key.camel.ends_with("Tags")) {
      rule.shape = Shape::kMap;
    }
    rules.push_back(rule);
    rule.key = key.snake;
    rule.is_any_case = true;
    rules.push_back(rule);
  }
  return rules;
}

const KeyRules& RootRules() {
  constexpr Shape kMap = Shape::kMap, kList = Shape::kList, kAny = Shape::kAny;
  static const KeyRules env = {{"name"}, {"value", kAny}};
  static const KeyRules config = {{"env", kList, &env}, {"startOptions", kList}};
  static const KeyRules role = {{"name"}, {"replicas"}, {"image"}, {"config", kMap, &config}};
  static const KeyRules cert = {{"id"}, {"certDownloadLocation"}, {"keyDownloadLocation"}};
  // A docstring of the original has cert below caCert, where it is ignored.
  static const KeyRules ca = {{"id"}, {"downloadLocation"}, {"cert", kMap, &cert}};
  static const KeyRules certificate = {{"caCert", kMap, &ca}, {"cert", kMap, &cert}};
  static const KeyRules cluster_spec = {{"image"},
                                        {"workDir"},
                                        {"name"},
                                        {"ephemeral"},
                                        {"config", kMap, &config},
                                        {"main", kMap, &role},
                                        {"worker", kMap, &role},
                                        {"ps", kMap, &role},
                                        {"certificate", kMap, &certificate}};
  static const KeyRules cluster = {
      {"kind"}, {"type"}, {"apiVersion"}, {"spec", kMap, &cluster_spec}};
  static const KeyRules runtime_spec = {{"entryPoint"},   {"entryFunction"},    {"args", kAny},
                                        {"kwargs", kAny}, {"env", kList, &env}, {"uri"},
                                        {"branch"},       {"commit"},           {"gitSecretId"},
                                        {"codeDir"},      {"pythonPath"}};
  static const KeyRules runtime = {
      {"kind"}, {"type"}, {"apiVersion"}, {"spec", kMap, &runtime_spec}};
  static const KeyRules infrastructure_spec = InfrastructureRules();
  static const KeyRules infrastructure = {{"kind"},
                                          {"type"},
                                          {"apiVersion"},
                                          {"displayName"},
                                          {"spec", kMap, &infrastructure_spec, false, true}};
  static const KeyRules spec = {{"infrastructure", kMap, &infrastructure},
                                {"cluster", kMap, &cluster},
                                {"runtime", kMap, &runtime}};
  static const KeyRules root = {{"kind"}, {"apiVersion"}, {"spec", kMap, &spec}};
  return root;
}

// Misspellings in the documentation count as similar.
std::string_view NearestKey(std::string_view key, const KeyRules& rules) {
  std::vector<std::string_view> names;
  for (const KeyRule& rule : rules) names.push_back(rule.key);
  return base::Nearest(key, names, std::max<size_t>(2, key.size() / 3));
}

std::string WithoutDot(const std::string& where) {
  return where.empty() ? "the file" : where.substr(0, where.size() - 1);
}

// What is wrong with the value; "" when it is valid.
std::string_view Misfit(const PyValue& value, Shape shape) {
  if (value.is_none()) return "";
  if (shape == Shape::kMap && !value.is_map()) return "a map, its keys below it";
  if (shape == Shape::kList && !value.is_list()) return "a list, each entry after a \"- \"";
  if (shape == Shape::kScalar && (value.is_map() || value.is_list())) return "one text or number";
  return "";
}

class KeyCheck {
 public:
  KeyCheck(const std::string& path, std::vector<std::string>& warnings)
      : path_(path), warnings_(warnings) {}

  base::Status Map(const PyValue& map, const KeyRules& rules, const std::string& where,
                   bool is_open = false);

 private:
  base::Status Value(const PyValue& value, const KeyRule& rule, const std::string& where);
  base::Status Entry(const PyValue& value, const KeyRule& rule, const std::string& where);
  base::Status Unknown(const PyValue::Member& member, const KeyRules& rules,
                       const std::string& where, bool is_open);
  base::Status Fits(const PyValue& value, Shape shape, const std::string& where) const;
  tl::unexpected<base::Error> FailAt(size_t line, std::string_view why) const {
    return base::Fail(base::Code::kInvalidArgument,
                      fmt::format("{} line {}: {}", path_, line, why));
  }

  const std::string& path_;
  std::vector<std::string>& warnings_;
};

base::Status KeyCheck::Fits(const PyValue& value, Shape shape, const std::string& where) const {
  const std::string_view wanted = Misfit(value, shape);
  if (wanted.empty()) return {};
  return FailAt(value.line, fmt::format("{} must be {}, not {}", where, wanted, ShortRepr(value)));
}

base::Status KeyCheck::Entry(const PyValue& value, const KeyRule& rule, const std::string& where) {
  if (rule.below == nullptr) return Fits(value, Shape::kScalar, where);
  if (!value.is_map()) {
    return FailAt(value.line,
                  fmt::format("{} must be a map of {} and {}, not {}", where, rule.below->at(0).key,
                              rule.below->at(1).key, ShortRepr(value)));
  }
  return Map(value, *rule.below, where + ".");
}

base::Status KeyCheck::Value(const PyValue& value, const KeyRule& rule, const std::string& where) {
  TRY(Fits(value, rule.shape, where));
  if (rule.shape == Shape::kMap && rule.below != nullptr) {
    return Map(value, *rule.below, where + ".", rule.is_open);
  }
  if (rule.shape != Shape::kList) return {};
  for (size_t i = 0; i < value.items.size(); ++i) {
    TRY(Entry(value.items[i], rule, fmt::format("{}[{}]", where, i)));
  }
  return {};
}

base::Status KeyCheck::Unknown(const PyValue::Member& member, const KeyRules& rules,
                               const std::string& where, bool is_open) {
  const std::string_view nearest = NearestKey(member.key, rules);
  if (is_open && nearest.empty()) {
    warnings_.push_back(fmt::format("{} line {}: the unknown key \"{}\" in {} is not sent", path_,
                                    member.line, member.key, WithoutDot(where)));
    return {};
  }
  return FailAt(member.line,
                fmt::format("unknown key \"{}\" in {}{}; --no-strict ignores it", member.key,
                            WithoutDot(where),
                            nearest.empty() ? "" : fmt::format(": did you mean \"{}\"?", nearest)));
}

base::Status KeyCheck::Map(const PyValue& map, const KeyRules& rules, const std::string& where,
                           bool is_open) {
  for (const PyValue::Member& member : map.members) {
    if (member.first_line != 0) {
      return FailAt(member.line,
                    fmt::format("the key \"{}{}\" stands already in line {}; take one out", where,
                                member.key, member.first_line));
    }
    const KeyRule* found = nullptr;
    for (const KeyRule& rule : rules) {
      const bool is_it =
          rule.is_any_case ? rule.key == base::ToLower(member.key) : rule.key == member.key;
      if (is_it) found = &rule;
    }
    TRY(found == nullptr ? Unknown(member, rules, where, is_open)
                         : Value(member.value, *found, where + member.key));
  }
  return {};
}

}  // namespace

base::Status CheckKeys(const PyValue& document, const std::string& path,
                       std::vector<std::string>& warnings) {
  return KeyCheck(path, warnings).Map(document, RootRules(), "");
}

}  // namespace ads
