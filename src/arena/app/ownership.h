// Which user owns a job. A namespace isolates its users from each other when its label
// arena.kubeflow.org/isolate-user is "true" (compat/arena.md 1.3.5 to 1.3.7).
#pragma once

#include <string>

#include "arena/app/app.h"
#include "cluster/client.h"
#include "text/json.h"

namespace arena {

inline constexpr std::string_view kUserLabel = "arena.kubeflow.org/uid";

// The value of that label for the user: the hex MD5 of the name. After connect.
base::Result<std::string> UserId(const Context& context);

// Whether the namespace isolates its users. kNotFound, in Arena's words, when the namespace does
// not exist; false when the user may not read it.
base::Result<bool> IsolatesUsers(cluster::Client& client, const Context& context,
                                 const std::string& namespace_name);

// kNotFound, in Arena's words, when the namespace does not exist: the error of a verb that found
// nothing in it. OK in every other case.
base::Status CheckNamespace(cluster::Client& client, const Context& context,
                            const std::string& namespace_name);

// Whether `adminUsers` of the ConfigMap arena-config names the user. False when it cannot be read.
bool IsAdmin(cluster::Client& client, const Context& context);

// kPermissionDenied, in Arena's words, when `object` (a job, a job's ConfigMap) belongs to another
// user, or under the name arena to none, and its namespace isolates users. Asks the server only if
// that decides.
enum class Admins { kMay, kMayNot };
base::Status CheckOwner(cluster::Client& client, const Context& context, const text::Json& object,
                        Admins admins);

// What is wrong with a selector of labels that was given as -l/--selector.
base::Status CheckSelector(std::string_view selector);
// `selector` ("" selects everything), narrowed to the user's own objects where the command's
// namespace isolates users and the user is not an administrator.
base::Result<std::string> VisibleSelector(cluster::Client& client, const Context& context,
                                          std::string_view selector);

}  // namespace arena
