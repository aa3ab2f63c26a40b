#include "ads/train_schema.h"

#include <fmt/format.h>

#include <string_view>

#include "ads/job_spec.h"
#include "base/strings.h"

namespace ads {
namespace {

// A map of the schema: its keys, each with the map that its value is, if it is one.
struct KeyRule {
  std::string_view key;
  const std::vector<KeyRule>* below = nullptr;
  bool is_list = false;  // of such maps
};
using KeyRules = std::vector<KeyRule>;

const KeyRules& RootRules() {
  static const KeyRules env = {{"name"}, {"value"}};
  static const KeyRules config = {{"env", &env, true}, {"startOptions"}};
  static const KeyRules role = {{"name"}, {"replicas"}, {"image"}, {"config", &config}};
  static const KeyRules ca = {{"id"}, {"downloadLocation"}};
  static const KeyRules cert = {{"id"}, {"certDownloadLocation"}, {"keyDownloadLocation"}};
  static const KeyRules certificate = {{"caCert", &ca}, {"cert", &cert}};
  static const KeyRules cluster_spec = {
      {"image"},         {"workDir"},         {"name"},
      {"ephemeral"},     {"config", &config}, {"main", &role},
      {"worker", &role}, {"ps", &role},       {"certificate", &certificate}};
  static const KeyRules cluster = {{"kind"}, {"type"}, {"apiVersion"}, {"spec", &cluster_spec}};
  static const KeyRules runtime_spec = {
      {"entryPoint"}, {"args"},   {"kwargs"},      {"env", &env, true}, {"uri"},
      {"branch"},     {"commit"}, {"gitSecretId"}, {"codeDir"},         {"pythonPath"}};
  static const KeyRules runtime = {{"kind"}, {"type"}, {"apiVersion"}, {"spec", &runtime_spec}};
  static const KeyRules shape = {{"ocpus"}, {"memoryInGBs"}, {"memory_in_gbs"}};
  static const KeyRules mount = {{"src"}, {"dest"}};
  static const KeyRules infrastructure_spec = [] {
    KeyRules rules;
    for (const InfrastructureKey& key : InfrastructureKeyTable()) {
      const KeyRules* below = key.camel == "shapeConfigDetails" ? &shape
                              : key.camel == "storageMount"     ? &mount
                                                                : nullptr;
      rules.push_back({key.camel, below, key.camel == "storageMount"});
      if (!key.snake.empty()) rules.push_back({key.snake, below, key.camel == "storageMount"});
    }
    return rules;
  }();
  static const KeyRules infrastructure = {
      {"kind"}, {"type"}, {"apiVersion"}, {"spec", &infrastructure_spec}};
  static const KeyRules spec = {
      {"infrastructure", &infrastructure}, {"cluster", &cluster}, {"runtime", &runtime}};
  static const KeyRules root = {{"kind"}, {"apiVersion"}, {"spec", &spec}};
  return root;
}

// The nearest key; "" when none is near. What the documentation has misspelt is near too.
std::string Nearest(std::string_view key, const KeyRules& rules) {
  std::string best;
  size_t best_distance = std::max<size_t>(2, key.size() / 3) + 1;
  for (const KeyRule& rule : rules) {
    size_t distance = base::EditDistance(base::ToLower(key), base::ToLower(rule.key));
    if (rule.key.size() >= 4 && key.starts_with(rule.key)) distance = std::min<size_t>(distance, 1);
    if (distance < best_distance) {
      best_distance = distance;
      best = rule.key;
    }
  }
  return best;
}

std::string WithoutDot(const std::string& where) {
  return where.empty() ? "the file" : where.substr(0, where.size() - 1);
}

base::Status CheckMap(const PyValue& map, const KeyRules& rules, const std::string& where,
                      const std::string& path) {
  for (const PyValue::Member& member : map.members) {
    if (member.first_line != 0) {
      return base::Fail(
          base::Code::kInvalidArgument,
          fmt::format("{} line {}: the key \"{}{}\" stands already in line {}; take one out", path,
                      member.line, where, member.key, member.first_line));
    }
    const KeyRule* found = nullptr;
    for (const KeyRule& rule : rules) {
      if (rule.key == member.key) found = &rule;
    }
    if (found == nullptr) {
      const std::string nearest = Nearest(member.key, rules);
      return base::Fail(
          base::Code::kInvalidArgument,
          fmt::format("{} line {}: unknown key \"{}\" in {}{}; --no-strict ignores it", path,
                      member.line, member.key, WithoutDot(where),
                      nearest.empty() ? "" : fmt::format(": did you mean \"{}\"?", nearest)));
    }
    if (found->below == nullptr) continue;
    const std::string below = where + member.key;
    if (!found->is_list) {
      TRY(CheckMap(member.value, *found->below, below + ".", path));
      continue;
    }
    for (size_t i = 0; i < member.value.items.size(); ++i) {
      TRY(CheckMap(member.value.items[i], *found->below, fmt::format("{}[{}].", below, i), path));
    }
  }
  return {};
}

}  // namespace

base::Status CheckKeys(const PyValue& document, const std::string& path) {
  return CheckMap(document, RootRules(), "", path);
}

}  // namespace ads
