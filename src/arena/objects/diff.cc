#include <fmt/format.h>

#include <memory>
#include <utility>

#include "api/object.h"
#include "arena/objects/diff_program.h"
#include "arena/objects/manifest_objects.h"
#include "arena/verbs.h"
#include "base/log.h"
#include "text/yaml.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

// As in kubectl and diff: 0 means equal.
constexpr int kExitDifferent = 1;
constexpr int kExitTrouble = 2;

std::optional<text::Json> FieldOf(const text::Json& object, std::string_view map,
                                  std::string_view key) {
  const text::Json* const value = text::Find(object, {map, key});
  return value == nullptr ? std::nullopt : std::optional(*value);
}

// Marks differing values as different without showing them.
void HideSecretValues(text::Json& live, text::Json& merged) {
  for (const char* const map : {"data", "stringData"}) {
    for (const auto& [from, to] : {std::pair(&live, &merged), std::pair(&merged, &live)}) {
      std::vector<std::string> keys;
      for (const auto& entry : text::Members(*from, {map})) keys.emplace_back(entry.key());
      for (const std::string& key : keys) {
        const auto mine = FieldOf(*from, map, key);
        const auto other = FieldOf(*to, map, key);
        // The first round has hidden the fields that both have.
        if (other && from == &merged) continue;
        const bool is_changed = other && *other != *mine;
        text::Set(*from, {map, key}, text::Json(is_changed ? "*** (before)" : "***"));
        if (other) text::Set(*to, {map, key}, text::Json(is_changed ? "*** (after)" : "***"));
      }
    }
  }
}

// Prepares the comparison: removes fields that apply never changes by itself.
void LevelBookkeeping(const api::Resource& resource, const text::Json& live, text::Json& merged) {
  text::Set(merged, {"metadata", "resourceVersion"}, text::Json(api::ResourceVersion(live)));
  if (!resource.has_status) return;
  // A controller may have written it meanwhile.
  if (const text::Json* const status = text::Find(live, {"status"})) {
    text::Set(merged, {"status"}, *status);
  } else {
    text::Erase(merged, {"status"});
  }
}

std::string FileName(const ManifestObject& wanted) {
  const api::Resource& resource = *wanted.resource;
  return fmt::format("{}{}{}.{}.{}.{}", resource.group, resource.group.empty() ? "" : ".",
                     resource.version, resource.kind, api::Namespace(wanted.object),
                     api::Name(wanted.object));
}

base::Status AddObject(cluster::Client& client, const ManifestFlags& flags,
                       const ManifestObject& wanted, const DiffFolders& folders) {
  TRY_ASSIGN(auto live, FindLive(client, wanted));
  TRY_ASSIGN(text::Json merged, client.Apply(*wanted.resource, wanted.object, flags.field_manager,
                                             flags.force_conflicts, /*dry_run=*/true));
  text::Erase(merged, {"metadata", "managedFields"});
  text::Json before;
  if (live) {
    before = std::move(*live);
    text::Erase(before, {"metadata", "managedFields"});
    LevelBookkeeping(*wanted.resource, before, merged);
  }
  if (wanted.resource->kind == "Secret" && wanted.resource->group.empty()) {
    HideSecretValues(before, merged);
  }
  return folders.Add(FileName(wanted), before.is_null() ? "" : text::ToYaml(before),
                     text::ToYaml(merged));
}

int RunDiff(Context& context, const ManifestFlags& flags) {
  const auto trouble = [](const base::Error& error) {
    base::LogError("{}", error.message);
    return kExitTrouble;
  };
  auto manifests = ReadManifests(flags, context.environment);
  if (!manifests) return trouble(manifests.error());
  const auto client = context.connect(context);
  if (!client) return trouble(client.error());
  KindFinder kinds(**client, context.cluster_is_this_machine);
  const auto folders = DiffFolders::Make(context.environment);
  if (!folders) return trouble(folders.error());
  const bool is_fine = ForEachObject(
      context, kinds, std::move(*manifests),
      [&](const ManifestObject& wanted) { return AddObject(**client, flags, wanted, *folders); });
  const auto is_different = folders->Show(context.environment);
  if (!is_different) return trouble(is_different.error());
  if (!is_fine) return kExitTrouble;
  return *is_different ? kExitDifferent : 0;
}

}  // namespace

void AddDiff(cli::Command& root, Context& context) {
  auto flags = std::make_shared<ManifestFlags>();
  cli::Command& verb = root.Add("diff -f FILE", "Show what apply would change")
                           .Help("arena/objects/diff", context.program);
  AddManifestFlags(verb, *flags);
  verb.Check([flags](cli::Invocation& call) { return CheckManifestFlags(*flags, call); });
  verb.Run([flags, &context](cli::Invocation&) -> base::Result<int> {
    return RunDiff(context, *flags);
  });
}

}  // namespace arena
