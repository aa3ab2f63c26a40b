#include "arena/app/ownership.h"

#include <fmt/format.h>

#include "api/object.h"
#include "api/selector.h"
#include "base/log.h"
#include "base/strings.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

constexpr std::string_view kIsolationLabel = "arena.kubeflow.org/isolate-user";
constexpr std::string_view kArenaConfig = "arena-config";

}  // namespace

base::Result<std::string> UserId(const Context& context) {
  TRY_ASSIGN(const std::string name, context.UserName());
  return base::Md5Hex(name);
}

base::Result<bool> IsolatesUsers(cluster::Client& client, const Context& context,
                                 const std::string& namespace_name) {
  const auto found = client.Get(api::kNamespaces, "", namespace_name);
  if (found) return api::Label(*found, kIsolationLabel) == "true";
  if (found.error().code == Code::kPermissionDenied) {
    base::LogDebug("namespace {} is treated as shared by all users: {}", namespace_name,
                   found.error().message);
    return false;
  }
  if (found.error().code != Code::kNotFound) return Fail(found.error());
  return Fail(Code::kNotFound,
              fmt::format("failed to create {} client: namespaces \"{}\" not found",
                          context.program, namespace_name));
}

base::Status CheckNamespace(cluster::Client& client, const Context& context,
                            const std::string& namespace_name) {
  const base::Result<bool> found = IsolatesUsers(client, context, namespace_name);
  if (!found && found.error().code == Code::kNotFound) return Fail(found.error());
  return {};
}

bool IsAdmin(cluster::Client& client, const Context& context) {
  const auto config = client.Get(api::kConfigMaps, context.flags.arena_namespace, kArenaConfig);
  if (!config) return false;
  const auto user = context.UserName();
  if (!user) return false;
  for (const std::string& name :
       base::Split(text::GetString(*config, {"data", "adminUsers"}), ',')) {
    if (!name.empty() && base::Trim(name) == *user) return true;
  }
  return false;
}

base::Status CheckOwner(cluster::Client& client, const Context& context, const text::Json& object,
                        Admins admins) {
  const std::string_view owner = api::Label(object, kUserLabel);
  // A job that was applied has no owner; Arena creates no such job.
  if (owner.empty() && context.program != "arena") return {};
  if (!owner.empty()) {
    TRY_ASSIGN(const std::string user, UserId(context));
    if (owner == user) return {};
  }
  const base::Result<bool> isolates =
      IsolatesUsers(client, context, std::string(api::Namespace(object)));
  if (!isolates && owner.empty()) return {};
  if (!isolates) return Fail(isolates.error());
  if (!*isolates || (admins == Admins::kMay && IsAdmin(client, context))) return {};
  return Fail(Code::kPermissionDenied,
              "you have no privileges to operate the job,because the owner of job is not you");
}

base::Status CheckSelector(std::string_view selector) {
  if (selector.empty()) {
    return base::Fail(base::Code::kInvalidArgument, "--selector is empty: that would be every job");
  }
  if (const auto parsed = api::LabelSelector::Parse(selector); !parsed) {
    return base::Fail(parsed.error().Wrap("--selector is invalid"));
  }
  return {};
}

base::Result<std::string> VisibleSelector(cluster::Client& client, const Context& context,
                                          std::string_view selector) {
  std::string visible(selector);
  TRY_ASSIGN(const bool is_isolated, IsolatesUsers(client, context, context.Namespace()));
  if (is_isolated && !IsAdmin(client, context)) {
    if (!visible.empty()) visible += ',';
    TRY_ASSIGN(const std::string user, UserId(context));
    visible += fmt::format("{}={}", kUserLabel, user);
  }
  return visible;
}

}  // namespace arena
