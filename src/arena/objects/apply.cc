#include <fmt/format.h>

#include <memory>
#include <utility>

#include "api/object.h"
#include "api/resources.h"
#include "arena/objects/manifest_objects.h"
#include "arena/verbs.h"
#include "base/log.h"
#include "text/yaml.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

struct ApplyFlags {
  ManifestFlags manifests;
  std::string dry_run;
  std::string output;
  std::string validate;
};

// The API's value for --validate; "" for an invalid one.
std::string_view FieldValidationOf(std::string_view validate) {
  if (validate == "strict" || validate == "true") return "Strict";
  if (validate == "warn") return "Warn";
  if (validate == "ignore" || validate == "false") return "Ignore";
  return "";
}

// Whether `live` contains everything in `wanted`.
bool IsCovered(const text::Json& wanted, const text::Json& live) {
  if (const text::Object* const object = wanted.if_object()) {
    if (!live.is_object()) return object->empty();
    for (const auto& [key, value] : *object) {
      const text::Json* const found = live.get_object().if_contains(key);
      if (found == nullptr ? !value.is_null() : !IsCovered(value, *found)) return false;
    }
    return true;
  }
  const text::Array* const array = wanted.if_array();
  if (array == nullptr) return wanted == live;
  if (!live.is_array() || live.get_array().size() != array->size()) return false;
  for (size_t i = 0; i < array->size(); ++i) {
    if (!IsCovered((*array)[i], live.get_array()[i])) return false;
  }
  return true;
}

// Applies it. On this machine, a namespace that the file names and that does not exist is created
// first: `created` is told its name. One of the command line may be a typo.
base::Result<AppliedObject> Apply(const Context& context, cluster::Client& client,
                                  const ApplyFlags& flags, const ManifestObject& wanted,
                                  std::string& created) {
  const ApplyOptions options{flags.manifests.field_manager, flags.manifests.force_conflicts,
                             flags.dry_run == "server", FieldValidationOf(flags.validate)};
  auto applied = ApplyObject(client, wanted, options);
  if (applied || !context.cluster_is_this_machine || options.is_dry_run) return applied;
  const std::string name(api::Namespace(wanted.object));
  if (applied.error().code != Code::kNotFound || name == context.Namespace() ||
      applied.error().message != fmt::format("namespaces \"{}\" not found", name)) {
    return applied;
  }
  const auto made = client.Create(
      api::kNamespaces, "",
      text::Object{
          {"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", text::Object{{"name", name}}}});
  if (made) created = name;
  // Another `apply` may have created it meanwhile.
  if (!made && made.error().code != Code::kAlreadyExists) return Fail(made.error());
  return ApplyObject(client, wanted, options);
}

base::Result<AppliedObject> ApplyOrTry(const Context& context, cluster::Client& client,
                                       const ApplyFlags& flags, const ManifestObject& wanted,
                                       std::string& created) {
  if (flags.dry_run != "client") return Apply(context, client, flags, wanted, created);
  TRY_ASSIGN(const auto live, FindLive(client, wanted));
  if (!live) return AppliedObject{wanted.object, "created"};
  return AppliedObject{wanted.object, IsCovered(wanted.object, *live) ? "unchanged" : "configured"};
}

// One object by itself, several in a List.
base::Status PrintApplied(std::vector<text::Json> objects, const std::string& output,
                          cli::Output& out) {
  if (objects.empty()) return {};
  for (text::Json& object : objects) text::Erase(object, {"metadata", "managedFields"});
  text::Json all;
  if (objects.size() == 1) {
    all = std::move(objects.front());
  } else {
    all = text::Object{{"apiVersion", "v1"},
                       {"kind", "List"},
                       {"items", text::Array(objects.begin(), objects.end())}};
  }
  return out.Write(output == "yaml" ? text::ToYaml(all) : text::ToPrettyJson(all) + "\n");
}

base::Result<int> RunApply(Context& context, const ApplyFlags& flags, cli::Invocation& call) {
  TRY_ASSIGN(std::vector<Manifest> manifests, ReadManifests(flags.manifests, context.environment));
  TRY_ASSIGN(cluster::Client * client, context.connect(context));
  KindFinder kinds(*client, context.cluster_is_this_machine);
  const std::string_view note = flags.dry_run == "client"   ? " (dry run)"
                                : flags.dry_run == "server" ? " (server dry run)"
                                                            : "";
  std::vector<text::Json> objects;
  const auto visit = [&](const ManifestObject& wanted) -> base::Status {
    std::string namespace_name;
    auto tried = ApplyOrTry(context, *client, flags, wanted, namespace_name);
    if (!namespace_name.empty()) {
      base::LogInfo("namespace {} did not exist and was created", namespace_name);
    }
    TRY_ASSIGN(AppliedObject applied, std::move(tried));
    if (wanted.resource->kind == "CustomResourceDefinition" && flags.dry_run == "none") {
      kinds.Expect(wanted.object, context.pause);
    }
    if (flags.output.empty()) {
      return call.out.Write(fmt::format("{} {}{}\n", wanted.Label(), applied.verb, note));
    }
    if (flags.output == "name") return call.out.Write(wanted.Label() + "\n");
    objects.push_back(std::move(applied.object));
    return {};
  };
  const bool is_fine = ForEachObject(context, kinds, std::move(manifests), visit);
  TRY(PrintApplied(std::move(objects), flags.output, call.out));
  return is_fine ? 0 : cli::kExitFailure;
}

base::Status CheckApplyFlags(const ApplyFlags& flags, const cli::Invocation& call) {
  TRY(CheckManifestFlags(flags.manifests, call));
  if (flags.dry_run != "none" && flags.dry_run != "client" && flags.dry_run != "server") {
    return Fail(Code::kInvalidArgument,
                fmt::format("--dry-run={}: give none, client or server", flags.dry_run));
  }
  if (FieldValidationOf(flags.validate).empty()) {
    return Fail(Code::kInvalidArgument,
                fmt::format("--validate={}: give strict, warn or ignore", flags.validate));
  }
  const std::string& output = flags.output;
  if (!output.empty() && output != "yaml" && output != "json" && output != "name") {
    return Fail(Code::kInvalidArgument,
                fmt::format("--output={}: give yaml, json or name", output));
  }
  return {};
}

}  // namespace

void AddApply(cli::Command& root, Context& context) {
  auto flags = std::make_shared<ApplyFlags>();
  cli::Command& verb = root.Add("apply -f FILE", "Create or update objects of any kind from files")
                           .Help("arena/objects/apply", context.program);
  AddManifestFlags(verb, flags->manifests);
  verb.flags()
      .String(&flags->dry_run, "dry-run", "none",
              "only say what would happen: client compares with the cluster's objects, server "
              "checks everything")
      .Choices({"none", "client", "server"});
  verb.flags()
      .String(&flags->output, "output", "", "print the objects instead: yaml, json or name")
      .Short('o')
      .Choices({"yaml", "json", "name"});
  verb.flags()
      .String(&flags->validate, "validate", "strict",
              "what the server does about fields given twice, and unknown ones in a job's pod "
              "templates: strict refuses them, warn and ignore take the last and keep them; other "
              "unknown fields are always refused")
      .Choices({"strict", "warn", "ignore"});
  verb.Check([flags](cli::Invocation& call) { return CheckApplyFlags(*flags, call); });
  verb.Run([flags, &context](cli::Invocation& call) { return RunApply(context, *flags, call); });
}

}  // namespace arena
