#include "local/server/kinds/scheduling_rules.h"

#include <fmt/format.h>

#include <string>

#include "local/server/kinds/name_rules.h"

namespace local::server {
namespace {

void CheckToleration(const std::string& field, const text::Json& toleration, Causes& causes) {
  const std::string_view op = text::GetString(toleration, {"operator"});
  const std::string_view effect = text::GetString(toleration, {"effect"});
  if (text::GetString(toleration, {"key"}).empty() && op != "Exists") {
    causes.push_back(InvalidValue(field + ".operator", op,
                                  "operator must be Exists when `key` is empty, which means "
                                  "\"match all values and all keys\""));
  }
  if (text::GetInt(toleration, {"tolerationSeconds"}) && effect != "NoExecute") {
    causes.push_back(InvalidValue(field + ".effect", effect,
                                  "effect must be 'NoExecute' when `tolerationSeconds` is set"));
  }
  if (!op.empty()) CheckChoice(field + ".operator", op, {"Equal", "Exists"}, causes);
  if (!effect.empty()) {
    CheckChoice(field + ".effect", effect, {"NoSchedule", "PreferNoSchedule", "NoExecute"}, causes);
  }
}

void CheckExpressions(const std::string& of_term, const text::Json& term, Causes& causes) {
  const text::Array& expressions = text::Items(term, {"matchExpressions"});
  for (size_t i = 0; i < expressions.size(); ++i) {
    const std::string field = fmt::format("{}.matchExpressions[{}]", of_term, i);
    const std::string_view op = text::GetString(expressions[i], {"operator"});
    const size_t values = text::Items(expressions[i], {"values"}).size();
    if (op == "In" || op == "NotIn") {
      if (values > 0) continue;
      causes.push_back(field +
                       ".values: Required value: must be specified when `operator` is "
                       "'In' or 'NotIn'");
    } else if (op == "Exists" || op == "DoesNotExist") {
      if (values == 0) continue;
      causes.push_back(field +
                       ".values: Forbidden: may not be specified when `operator` is "
                       "'Exists' or 'DoesNotExist'");
    } else if (op == "Gt" || op == "Lt") {
      if (values == 1) continue;
      causes.push_back(field +
                       ".values: Required value: must be specified single value when "
                       "`operator` is 'Lt' or 'Gt'");
    } else {
      causes.push_back(InvalidValue(field + ".operator", op, "not a valid selector operator"));
    }
  }
}

}  // namespace

void CheckTolerations(const text::Json& pod, Causes& causes) {
  const text::Array& tolerations = text::Items(pod, {"spec", "tolerations"});
  for (size_t i = 0; i < tolerations.size(); ++i) {
    CheckToleration(fmt::format("spec.tolerations[{}]", i), tolerations[i], causes);
  }
}

void CheckNodeAffinity(const text::Json& pod, Causes& causes) {
  const std::string field = "spec.affinity.nodeAffinity.";
  constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";
  const text::Json* const affinity = text::Find(pod, {"spec", "affinity", "nodeAffinity"});
  if (affinity == nullptr) return;
  const text::Array& terms = text::Items(*affinity, {kRequired, "nodeSelectorTerms"});
  for (size_t i = 0; i < terms.size(); ++i) {
    CheckExpressions(fmt::format("{}{}.nodeSelectorTerms[{}]", field, kRequired, i), terms[i],
                     causes);
  }
  const text::Array& preferred = text::Items(*affinity, {kPreferred});
  for (size_t i = 0; i < preferred.size(); ++i) {
    const text::Json* const term = text::Find(preferred[i], {"preference"});
    if (term == nullptr) continue;
    CheckExpressions(fmt::format("{}{}[{}].preference", field, kPreferred, i), *term, causes);
  }
}

void CheckDnsPolicy(const text::Json& pod, Causes& causes) {
  const std::string_view policy = text::GetString(pod, {"spec", "dnsPolicy"});
  if (policy.empty()) return;
  CheckChoice("spec.dnsPolicy", policy,
              {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"}, causes);
}

}  // namespace local::server
