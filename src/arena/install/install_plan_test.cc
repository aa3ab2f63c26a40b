#include "arena/install/install_plan.h"

#include <gtest/gtest.h>

#include <set>

#include "api/object.h"

namespace arena {
namespace {

std::vector<text::Json> Plan(const InstallOptions& options) {
  auto objects = PlanInstall(options);
  EXPECT_TRUE(objects) << objects.error().message;
  return objects ? *objects : std::vector<text::Json>();
}

const text::Json* FindKind(const std::vector<text::Json>& objects, std::string_view kind) {
  for (const text::Json& object : objects) {
    if (text::GetString(object, {"kind"}) == kind) return &object;
  }
  return nullptr;
}

std::vector<std::string> ArgsOf(const std::vector<text::Json>& objects) {
  std::vector<std::string> args;
  const text::Json* const deployment = FindKind(objects, "Deployment");
  const text::Json& container =
      text::FindArray(*deployment, {"spec", "template", "spec", "containers"})->front();
  for (const text::Json& arg : *text::FindArray(container, {"args"})) {
    args.emplace_back(text::GetString(arg, {}));
  }
  return args;
}

TEST(InstallPlan, PutsEverythingIntoTheNamespace) {
  InstallOptions options;
  options.namespace_name = "training";
  options.image = "registry.local/muster:2";
  options.replicas = 2;
  options.has_monitoring = true;
  options.failure_policy = "Ignore";
  options.operator_args = {"--gang-scheduler-name=volcano"};
  const auto objects = Plan(options);
  for (const text::Json& object : objects) {
    EXPECT_TRUE(IsOurs(object)) << text::ToJson(object);
    EXPECT_EQ(text::ToJson(object).find("muster-system"), std::string::npos)
        << text::ToJson(object);
  }
  EXPECT_EQ(text::GetString(objects.front(), {"kind"}), "CustomResourceDefinition");
  EXPECT_EQ(text::GetString(objects.back(), {"kind"}), "ValidatingWebhookConfiguration");
  // The operator adds the webhook once it serves it, so no job is refused before.
  EXPECT_EQ(text::Find(objects.back(), {"webhooks"}), nullptr);
  EXPECT_EQ(api::Name(*FindKind(objects, "Namespace")), "training");
  EXPECT_NE(FindKind(objects, "ServiceMonitor"), nullptr);
  const auto args = ArgsOf(objects);
  EXPECT_NE(std::find(args.begin(), args.end(), "--webhook-failure-policy=Ignore"), args.end());
  const text::Json* const deployment = FindKind(objects, "Deployment");
  EXPECT_EQ(text::GetInt(*deployment, {"spec", "replicas"}), 2);
  EXPECT_NE(text::ToJson(*deployment).find("\"registry.local/muster:2\""), std::string::npos);
  // Several operators are spread over nodes, and may be evicted one at a time.
  const text::Json* const budget = FindKind(objects, "PodDisruptionBudget");
  ASSERT_NE(budget, nullptr);
  const text::Json* const labels =
      text::Find(*deployment, {"spec", "template", "metadata", "labels"});
  EXPECT_EQ(*text::Find(*budget, {"spec", "selector", "matchLabels"}), *labels);
  const text::Json& apart =
      text::FindArray(*deployment, {"spec", "template", "spec", "affinity", "podAntiAffinity",
                                    "preferredDuringSchedulingIgnoredDuringExecution"})
          ->front();
  EXPECT_EQ(*text::Find(apart, {"podAffinityTerm", "labelSelector", "matchLabels"}), *labels);
  EXPECT_EQ(ArgsOf(objects).back(), "--gang-scheduler-name=volcano");
}

TEST(InstallPlan, TheEndpointOfPostsComesWithItsRightsOnlyWhenItIsWanted) {
  const auto has_status = [](const text::Json& object) {
    return api::Name(object).starts_with("muster-operator-status");
  };
  InstallOptions options;
  auto objects = Plan(options);
  EXPECT_EQ(std::count_if(objects.begin(), objects.end(), has_status), 0);
  options.takes_status_posts = true;
  options.namespace_name = "training";
  objects = Plan(options);
  EXPECT_EQ(std::count_if(objects.begin(), objects.end(), has_status), 6);
  EXPECT_EQ(ArgsOf(objects).back(), "--status-address=:9444");
  for (const text::Json& object : objects) {
    EXPECT_EQ(text::ToJson(object).find("muster-system"), std::string::npos);
  }
}

TEST(InstallPlan, ANamespacedOperatorTouchesNothingOfTheWholeCluster) {
  InstallOptions options;
  options.namespace_name = "team";
  options.is_namespaced = true;
  const auto objects = Plan(options);
  std::set<std::string> kinds;
  for (const text::Json& object : objects) {
    EXPECT_EQ(api::Namespace(object), "team") << text::ToJson(object);
    kinds.emplace(text::GetString(object, {"kind"}));
  }
  EXPECT_EQ(kinds, (std::set<std::string>{"ServiceAccount", "Role", "RoleBinding", "Service",
                                          "PodDisruptionBudget", "Deployment"}));
  const auto args = ArgsOf(objects);
  EXPECT_NE(std::find(args.begin(), args.end(), "--namespace=team"), args.end());
  EXPECT_NE(std::find(args.begin(), args.end(), "--webhook-server-port=0"), args.end());
  for (const char* kind : {"Service", "Deployment"}) {
    EXPECT_EQ(text::ToJson(*FindKind(objects, kind)).find("\"name\":\"webhook\""),
              std::string::npos)
        << kind;
  }
}

TEST(InstallPlan, TheDefinitionComesWithTheRolesOfThoseWhoHaveJobs) {
  InstallOptions options;
  options.is_crd_only = true;
  std::vector<std::string> names;
  for (const text::Json& object : Plan(options)) {
    EXPECT_TRUE(IsOfDefinition(object));
    names.emplace_back(api::Name(object));
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"pytorchjobs.kubeflow.org", "muster-pytorchjobs-admin",
                                      "muster-pytorchjobs-edit", "muster-pytorchjobs-view"}));
}

// Permissions that a namespaced operator gets and that administrators of a namespace do not have by
// default.
TEST(InstallPlan, ANamespacedOperatorsRightsAreGivenByTheRolesOfTheDefinition) {
  using Right = std::pair<std::string, std::string>;
  const auto rights = [](const text::Json& role) {
    std::set<Right> found;
    for (const text::Json& rule : *text::FindArray(role, {"rules"})) {
      for (const text::Json& group : *text::FindArray(rule, {"apiGroups"})) {
        const std::string name(text::GetString(group, {}));
        if (name != "kubeflow.org" && !name.starts_with("scheduling.")) continue;
        for (const text::Json& resource : *text::FindArray(rule, {"resources"})) {
          for (const text::Json& verb : *text::FindArray(rule, {"verbs"})) {
            found.emplace(std::string(text::GetString(resource, {})) + "." + name,
                          text::GetString(verb, {}));
          }
        }
      }
    }
    return found;
  };
  InstallOptions definition;
  definition.is_crd_only = true;
  std::set<Right> given;
  for (const text::Json& object : Plan(definition)) {
    if (text::GetString(object, {"kind"}) == "ClusterRole") given.merge(rights(object));
  }
  InstallOptions options;
  options.is_namespaced = true;
  const auto objects = Plan(options);
  for (const Right& right : rights(*FindKind(objects, "Role"))) {
    EXPECT_TRUE(given.contains(right)) << right.second << " " << right.first;
  }
}

// Anyone who may create Secrets or read all of them can act as anybody.
TEST(InstallPlan, SecretsAreReadableByNameAndInOneNamespaceOnly) {
  for (const bool is_namespaced : {false, true}) {
    InstallOptions options;
    options.is_namespaced = is_namespaced;
    options.takes_status_posts = !is_namespaced;
    for (const text::Json& object : Plan(options)) {
      const text::Array* const rules = text::FindArray(object, {"rules"});
      if (rules == nullptr) continue;
      for (const text::Json& rule : *rules) {
        const std::string as_text = text::ToJson(rule);
        EXPECT_EQ(as_text.find('*'), std::string::npos) << as_text;
        if (as_text.find("\"secrets\"") == std::string::npos) continue;
        EXPECT_EQ(text::GetString(object, {"kind"}), "Role");
        EXPECT_EQ(text::FindArray(rule, {"resourceNames"})->size(), 1U) << as_text;
        EXPECT_EQ(as_text.find("create"), std::string::npos) << as_text;
      }
    }
  }
}

TEST(InstallPlan, AnImageIsWhatRegistriesTake) {
  const std::string digest = "@sha256:" + std::string(64, 'a');
  for (const std::string& good :
       {std::string("muster"), std::string("muster:v0.1.0"), "team/muster:1" + digest, "x" + digest,
        std::string("registry.local:5000/a_b/c-d.e/muster"), std::string("localhost/m:T_1"),
        std::string("Registry.LOCAL/team/m"), std::string("host:5000/m")}) {
    EXPECT_TRUE(IsImageReference(good)) << good;
  }
  for (const char* const bad :
       {"", "two words", "Muster:1", "team/Muster", "m:", "m:-1", "m@sha256:12", "/m", "m/", "a//b",
        "https://registry.local/m", "m:1:2", "-m", "m;rm", "m\n", "m:a b", "team:50000/m/"}) {
    EXPECT_FALSE(IsImageReference(bad)) << bad;
  }
}

}  // namespace
}  // namespace arena
