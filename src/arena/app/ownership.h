// Whose jobs are whose: users of one namespace are kept apart when its label
// arena.kubeflow.org/isolate-user is "true" (compat/arena.md 1.3.5 to 1.3.7).
#pragma once

#include <string>

#include "arena/app/app.h"
#include "cluster/client.h"
#include "text/json.h"

namespace arena {

inline constexpr std::string_view kUserLabel = "arena.kubeflow.org/uid";

// What that label holds for the user: hex MD5 of the name. After connect.
base::Result<std::string> UserId(const Context& context);

// Whether the namespace keeps its users apart. kNotFound, with Arena's words, when there is no such
// namespace; one that the user may not read is taken as open.
base::Result<bool> IsIsolated(cluster::Client& client, const Context& context,
                              const std::string& namespace_name);

// kNotFound, with Arena's words, when there is no such namespace: what a verb that found nothing in
// it has to say. OK in every other case.
base::Status CheckNamespace(cluster::Client& client, const Context& context,
                            const std::string& namespace_name);

// Whether `adminUsers` of the ConfigMap arena-config names the user. False when it cannot be read.
bool IsAdmin(cluster::Client& client, const Context& context);

// kPermissionDenied, with Arena's words, when `object` (a job, a job's ConfigMap) is another user's
// and its namespace keeps users apart. Asks the server only about objects that carry another
// user's label.
enum class Admins { kMay, kMayNot };
base::Status CheckOwner(cluster::Client& client, const Context& context, const text::Json& object,
                        Admins admins);

// `selector` ("" is everything), narrowed to the user's own where the command's namespace keeps
// users apart and the user is not an administrator.
base::Result<std::string> OnlyVisible(cluster::Client& client, const Context& context,
                                      std::string_view selector);

}  // namespace arena
