#include "arena/submit/prepare.h"

#include <fmt/format.h>

#include <set>
#include <string>
#include <vector>

#include "api/object.h"
#include "arena/app/ownership.h"
#include "arena/app/program_name.h"
#include "arena/submit/awaited.h"
#include "arena/submit/job/refusal.h"
#include "arena/submit/place.h"
#include "base/log.h"
#include "base/strings.h"
#include "base/uid.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

// Where the events go on the node when --logdir is on no claim: /arena_logs/training<9 digits>.
std::string NewLogHostDir() {
  constexpr size_t kDigits = 9;
  std::string digits;
  while (digits.size() < kDigits) {
    for (const char c : base::NewUid()) {
      if (c >= '0' && c <= '9' && digits.size() < kDigits) digits += c;
    }
  }
  return "/arena_logs/training" + digits;
}

// The image of replicas that have none of their own. On this machine a job runs without one, so
// `host` stands for none.
base::Result<std::string> ImageOf(const SubmitFlags& flags, const Context& context) {
  for (const std::string* image : {&flags.image, &flags.worker_image, &flags.master_image}) {
    if (!image->empty()) return *image;
  }
  if (context.cluster_is_this_machine) return std::string("host");
  return Fail(Code::kInvalidArgument, fmt::format("{}: --image must be set ", kRefused));
}

void WarnOfAbsentObjects(cluster::Client& client, const SubmitOptions& options,
                         const std::string& namespace_name) {
  std::set<std::string> claims, secrets;
  for (const DataMount& data : options.data) claims.insert(data.claim);
  for (const SecretEnv& env : options.secret_env) secrets.insert(env.secret);
  for (const std::string& name : claims) {
    WarnIfAbsent(client, api::kPersistentVolumeClaims, namespace_name, name);
  }
  for (const std::string& name : secrets) {
    WarnIfAbsent(client, api::kSecrets, namespace_name, name);
  }
}

// ": this cluster has low, high"; "" where the user may not list them.
std::string PriorityClassesOf(cluster::Client& client) {
  const auto there = client.List(api::kPriorityClasses, {});
  if (!there) return "";
  if (there->items.empty()) {
    return ": this cluster has no PriorityClass: create one with `muster apply -f FILE`";
  }
  std::vector<std::string> names;
  for (const text::Json& one : there->items) names.emplace_back(api::Name(one));
  return ": this cluster has " + base::Join(names, ", ");
}

base::Status CheckOfCluster(const Prepared& prepared, const Context& context,
                            const SubmitOptions& options) {
  if (prepared.client == nullptr) return {};
  TRY(CheckPriorityClass(*prepared.client, context, options.flags.priority));
  if (!context.cluster_is_this_machine) {
    if (context.program != "arena") {
      WarnOfAbsentObjects(*prepared.client, options, prepared.submission.namespace_name);
    }
    return {};
  }
  base::Status found = CheckClaims(*prepared.client, options, prepared.submission.namespace_name);
  if (!found) found.error().message = UseProgramName(context, std::move(found.error().message));
  return found;
}

base::Result<Prepared> Prepare(Context& context, const SubmitOptions& options, bool& is_misuse) {
  Prepared prepared;
  if (options.flags.dry_run == "client") {
    if (context.choose) TRY(context.choose(context));
  } else {
    TRY_ASSIGN(prepared.client, context.connect(context));
  }
  is_misuse = true;  // what is refused up to where it is unset
  TRY_ASSIGN(std::string image, ImageOf(options.flags, context));
  TRY(CheckFolders(options, context.cluster_is_this_machine, context.environment));
  is_misuse = false;
  TRY_ASSIGN(std::string user, context.UserName());
  prepared.submission.namespace_name = context.Namespace();
  prepared.submission.user = std::move(user);
  prepared.submission.image = std::move(image);
  prepared.submission.log_host_dir = NewLogHostDir();
  // The embedded cluster keeps them unasked.
  prepared.submission.keeps_last_lines =
      !context.cluster_is_this_machine && context.program != "arena";
  TRY(CheckOfCluster(prepared, context, options));
  if (prepared.client != nullptr && !context.cluster_is_this_machine &&
      context.program == "arena") {
    const auto isolates =
        IsolatesUsers(*prepared.client, context, prepared.submission.namespace_name);
    prepared.submission.isolates_users = isolates && *isolates;
  }
  if (context.cluster_is_this_machine || context.program != "arena") {
    prepared.submission.shared_logdir =
        SharedLogdir(prepared.client, options, prepared.submission.namespace_name,
                     context.cluster_is_this_machine);
  }
  if (prepared.client != nullptr) {
    TRY_ASSIGN(prepared.submission.awaited, FindAwaited(*prepared.client, context, options.flags));
  } else {
    for (const std::string& name : options.flags.wait_for) {
      prepared.submission.awaited.push_back({name, ""});
    }
  }
  return prepared;
}

}  // namespace

base::Status CheckPriorityClass(cluster::Client& client, const Context& context,
                                const std::string& name) {
  if (name.empty()) return {};
  const auto found = client.Get(api::kPriorityClasses, "", name);
  if (found) return {};
  // A user who may not read priority classes may still use them; the server decides.
  if (found.error().code == Code::kPermissionDenied) return {};
  if (found.error().code != Code::kNotFound) return Fail(found.error());
  if (context.program != "arena") {
    return Fail(Code::kInvalidArgument, fmt::format("{}: the priority {} doesn't exist{}", kRefused,
                                                    name, PriorityClassesOf(client)));
  }
  return Fail(
      Code::kInvalidArgument,
      fmt::format("{}: the priority {} doesn't exist. Please check with `kubectl get pc` to "
                  "get a valid priority",
                  kRefused, name));
}

void WarnIfAbsent(cluster::Client& client, const api::Resource& kind,
                  const std::string& namespace_name, const std::string& name) {
  const auto found = client.Get(kind, namespace_name, name);
  // A user who may not read it may still use it.
  if (found || found.error().code != Code::kNotFound) return;
  base::LogWarn("namespace {} has no {} \"{}\": the job waits until there is one", namespace_name,
                kind.singular, name);
}

tl::expected<Prepared, Unprepared> PrepareSubmission(Context& context,
                                                     const SubmitOptions& options) {
  bool is_misuse = false;
  auto prepared = Prepare(context, options, is_misuse);
  if (!prepared) return tl::unexpected(Unprepared{std::move(prepared.error()), is_misuse});
  return std::move(*prepared);
}

Creation::IsForeign IsOfAnother(cluster::Client& client, const Context& context) {
  return [&client, &context](const text::Json& job) {
    const base::Status may = CheckOwner(client, context, job, Admins::kMay);
    return !may && may.error().code == Code::kPermissionDenied;
  };
}

}  // namespace arena
