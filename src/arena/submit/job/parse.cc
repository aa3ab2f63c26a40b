// The values of the flags that are lists of pairs and the like. Pure.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "api/names.h"
#include "arena/submit/job/options.h"
#include "arena/submit/job/refusal.h"
#include "base/strings.h"
#include "base/utf8.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;
using StringMap = std::map<std::string, std::string>;

constexpr int64_t kMaxElasticReplicas = 100'000;
// Whatever stands where a value should be may be a secret that lost its name: only its start is
// shown.
constexpr size_t kShown = 16;
constexpr std::string_view kTolerationForm = "key=value:effect,operator or all";

std::string Shown(std::string_view value) {
  return value.size() > kShown ? std::string(value.substr(0, kShown)) + "..." : std::string(value);
}

base::Error Invalid(std::string_view flag, std::string_view value, std::string_view why) {
  return {Code::kInvalidArgument, fmt::format("{} \"{}\" is invalid{}", flag, Shown(value), why),
          0};
}

base::Status CheckLabelKeys(std::string_view flag, const StringMap& pairs) {
  for (const auto& [key, value] : pairs) {
    if (api::IsQualifiedName(key)) continue;
    return Fail(Invalid(flag, key,
                        ": the key must be letters, digits, '-', '_' and '.', at most 63 of them, "
                        "with or without a domain/ before them"));
  }
  return {};
}

constexpr std::string_view kVariableRule =
    ": the name must be letters, digits, '_', '-' and '.', and not begin with a digit";

bool HasEquals(std::string_view value) { return value.find('=') != std::string_view::npos; }

bool IsLikeToleration(std::string_view value) {
  return value == "all" || (HasEquals(value) && value.find(':') != std::string_view::npos &&
                            value.find(',') != std::string_view::npos);
}

}  // namespace

std::vector<std::string> TakeMalformed(SubmitFlags& flags, const base::Environment& environment) {
  std::vector<std::string> warnings;
  const auto take = [&](std::string_view flag, std::vector<std::string>& values,
                        const auto& is_good, std::string_view form) {
    std::erase_if(values, [&](const std::string& value) {
      if (is_good(value)) return false;
      warnings.push_back(
          fmt::format("{} \"{}\" is ignored, should like {}", flag, Shown(value), form));
      return true;
    });
  };
  take(
      "--env", flags.env,
      [&](const std::string& value) { return HasEquals(value) || environment.Get(value); },
      "key=value");
  take("--label", flags.labels, HasEquals, "key=value");
  take("--annotation", flags.annotations, HasEquals, "key=value");
  take("--selector", flags.selectors, HasEquals, "key=value");
  take("--toleration", flags.tolerations, IsLikeToleration, kTolerationForm);
  if (flags.sync_mode.empty() && !flags.sync_source.empty()) {
    warnings.emplace_back("--sync-source is ignored: --sync-mode is not set");
    flags.sync_source.clear();
  }
  return warnings;
}

base::Result<StringMap> ParsePairs(std::string_view flag, const std::vector<std::string>& values) {
  StringMap pairs;
  for (const std::string& value : values) {
    const size_t equals = value.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Fail(Invalid(flag, value, ", should like key=value"));
    }
    const std::string key = value.substr(0, equals);
    if (!base::IsUtf8(value)) return Fail(Invalid(flag, key, ": it is not UTF-8"));
    pairs[key] = value.substr(equals + 1);
  }
  return pairs;
}

base::Result<StringMap> ParseLabels(std::string_view flag, const std::vector<std::string>& values) {
  TRY_ASSIGN(StringMap pairs, ParsePairs(flag, values));
  TRY(CheckLabelKeys(flag, pairs));
  for (const auto& [key, value] : pairs) {
    if (api::IsLabelValue(value)) continue;
    return Fail(Invalid(flag, key,
                        ": the value must be letters, digits, '-', '_' and '.', at most 63 of them "
                        "(an --annotation may hold any text)"));
  }
  return pairs;
}

base::Result<StringMap> ParseJobLabels(const std::vector<std::string>& values) {
  // list, get and delete do not find a job with other values of these, or take it for somebody
  // else's.
  constexpr std::array<std::string_view, 7> kOwn = {"app",
                                                    "release",
                                                    "chart",
                                                    "heritage",
                                                    "createdBy",
                                                    "arena.kubeflow.org/uid",
                                                    "master-pod-name"};
  TRY_ASSIGN(StringMap labels, ParseLabels("--label", values));
  for (const std::string_view own : kOwn) {
    if (!labels.contains(std::string(own))) continue;
    return Fail(
        Code::kInvalidArgument,
        fmt::format("--label \"{}\" is invalid: jobs are found by it; choose another key", own));
  }
  return labels;
}

base::Result<StringMap> ParseAnnotations(const std::vector<std::string>& values) {
  TRY_ASSIGN(StringMap pairs, ParsePairs("--annotation", values));
  TRY(CheckLabelKeys("--annotation", pairs));
  return pairs;
}

base::Result<StringMap> ParseEnv(const std::vector<std::string>& values) {
  // What was set here has its value by now.
  const auto unset = std::find_if(values.begin(), values.end(), [](const std::string& value) {
    return api::IsVariableName(value);
  });
  if (unset != values.end()) {
    return Fail(Invalid("--env", *unset, ", should like key=value: no such variable is set here"));
  }
  TRY_ASSIGN(StringMap pairs, ParsePairs("--env", values));
  for (const auto& [name, value] : pairs) {
    if (!api::IsVariableName(name)) return Fail(Invalid("--env", name, kVariableRule));
  }
  return pairs;
}

base::Result<std::vector<SecretEnv>> ParseSecretEnv(const std::vector<std::string>& values) {
  constexpr std::string_view kFlag = "--env-from-secret";
  constexpr std::string_view kForm = ", should like NAME=SECRET:KEY or SECRET";
  std::vector<SecretEnv> variables;
  for (const std::string& value : values) {
    SecretEnv variable;
    const size_t equals = value.find('=');
    if (equals == std::string::npos) {
      variable.secret = value;
    } else {
      const size_t colon = value.find(':', equals);
      if (colon == std::string::npos) return Fail(Invalid(kFlag, value, kForm));
      variable.name = value.substr(0, equals);
      variable.secret = value.substr(equals + 1, colon - equals - 1);
      variable.key = value.substr(colon + 1);
      if (!api::IsVariableName(variable.name)) return Fail(Invalid(kFlag, value, kVariableRule));
      const bool is_key =
          !variable.key.empty() &&
          std::all_of(variable.key.begin(), variable.key.end(), api::IsNameCharacter);
      if (!is_key) return Fail(Invalid(kFlag, value, kForm));
    }
    if (!api::IsObjectName(variable.secret)) return Fail(Invalid(kFlag, value, kForm));
    const bool is_repeated =
        std::any_of(variables.begin(), variables.end(), [&](const SecretEnv& other) {
          return other.name == variable.name && (!other.name.empty() || other.secret == value);
        });
    if (is_repeated) return Fail(Invalid(kFlag, value, ": it is given twice"));
    variables.push_back(std::move(variable));
  }
  return variables;
}

base::Result<Elastic> ParseElastic(std::string_view value) {
  const size_t colon = value.find(':');
  const std::optional<int64_t> min = base::ParseInt(value.substr(0, colon));
  const std::optional<int64_t> max =
      colon == std::string_view::npos ? min : base::ParseInt(value.substr(colon + 1));
  if (!min || !max || *min < 1 || *max < *min || *max > kMaxElasticReplicas) {
    return Fail(Invalid("--elastic", value,
                        ", should like MIN:MAX, how many workers there are at least and at most"));
  }
  return Elastic{*min, *max};
}

base::Result<std::vector<Toleration>> ParseTolerations(const std::vector<std::string>& values) {
  constexpr std::array<std::string_view, 4> kEffects = {"", "NoSchedule", "PreferNoSchedule",
                                                        "NoExecute"};
  std::vector<Toleration> tolerations;
  bool tolerates_all = false;
  for (const std::string& value : values) {
    const auto refuse = [&](std::string_view why) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("--toleration \"{}\" is invalid{}", value, why));
    };
    if (value == "all") {
      tolerates_all = true;
      continue;
    }
    const size_t comma = value.find(',');
    const size_t colon = value.rfind(':', comma);
    const size_t equals = value.find('=');
    if (comma == std::string::npos || colon == std::string::npos || equals == std::string::npos ||
        equals == 0 || equals > colon) {
      return refuse(fmt::format(", should like {}", kTolerationForm));
    }
    Toleration toleration{value.substr(0, equals), value.substr(equals + 1, colon - equals - 1),
                          value.substr(colon + 1, comma - colon - 1), value.substr(comma + 1)};
    if (toleration.op != "Equal" && toleration.op != "Exists") {
      return refuse(": the operator is Equal or Exists");
    }
    if (toleration.op == "Exists" && !toleration.value.empty()) {
      return refuse(fmt::format(": Exists takes no value, should like {}=:{},Exists",
                                toleration.key, toleration.effect));
    }
    if (std::find(kEffects.begin(), kEffects.end(), toleration.effect) == kEffects.end()) {
      return refuse(": the effect is NoSchedule, PreferNoSchedule or NoExecute, or empty for all");
    }
    if (!api::IsQualifiedName(toleration.key)) return refuse(": the key is not a label of a node");
    if (!api::IsLabelValue(toleration.value)) {
      return refuse(": the value must be letters, digits, '-', '_' and '.', at most 63 of them");
    }
    tolerations.push_back(std::move(toleration));
  }
  if (tolerates_all) return std::vector<Toleration>{{"", "", "", "Exists"}};
  return tolerations;
}

}  // namespace arena
