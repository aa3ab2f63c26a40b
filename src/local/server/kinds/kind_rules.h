// The server's rules for objects of one kind: one value for each kind, in a file of its own. A new
// kind needs its api::Resource, such a file, and a row of the table in kind_rules.cc. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/resources.h"
#include "base/clock.h"
#include "local/server/kinds/name_rules.h"
#include "local/server/kinds/table_cells.h"
#include "text/json.h"

namespace local::server {

// Texts of the errors that Kubernetes would report (422).
using Causes = std::vector<std::string>;

inline constexpr Column kNameAndAge[] = {{"Name", "string"}, {"Age", "string"}};
void NameAndAgeCells(const text::Json& object, base::Time now, Cells& cells);

struct KindRules {
  NameRule name = NameRule::kSubdomain;
  std::string_view short_name = {};  // kubectl's; "": none
  bool is_in_all = false;            // `kubectl get all` includes it
  bool has_generation = false;       // counts the changes outside of metadata and status
  bool can_scale = false;            // has the scale subresource

  // For a new or changed object, before it is stored; nullptr: none.
  void (*set_defaults)(text::Json& object) = nullptr;
  // For a new object, after the client's status was removed.
  void (*begin)(text::Json& object) = nullptr;
  // For a new object: sets fields that no manager owns.
  void (*fill_in)(text::Json& object) = nullptr;
  void (*check)(const text::Json& object, Causes& causes) = nullptr;
  void (*check_change)(const text::Json& old, const text::Json& object, Causes& causes) = nullptr;

  std::span<const Column> columns = kNameAndAge;
  void (*cells)(const text::Json& object, base::Time now, Cells& cells) = NameAndAgeCells;
};

// For set_defaults: sets a text that is absent, null or "", which are all one to Kubernetes.
void SetDefaultText(text::Json& object, text::Path path, std::string_view to);

// All other kinds, and a CustomResourceDefinition, have the defaults above.
const KindRules& RulesOf(const api::Resource& resource);

extern const KindRules kAutoscalerRules;
extern const KindRules kClaimRules;
extern const KindRules kConfigMapRules;
extern const KindRules kDeploymentRules;
extern const KindRules kEventRules;
extern const KindRules kJobRules;
extern const KindRules kNamespaceRules;
extern const KindRules kNodeRules;
extern const KindRules kPodRules;
extern const KindRules kPriorityClassRules;
extern const KindRules kSecretRules;
extern const KindRules kServiceRules;

}  // namespace local::server
