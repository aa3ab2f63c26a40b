#include "arena/run/run_secrets.h"

#include <fmt/format.h>

#include "api/names.h"
#include "api/resources.h"
#include "text/json.h"

namespace arena {

using base::Code;
using base::Fail;

std::string RunSecret::Variables() const {
  return key.empty() ? name : fmt::format("{}={}:{}", variable, name, key);
}

std::vector<RunSecret> ReadRunSecrets(const std::vector<std::string>& texts) {
  std::vector<RunSecret> secrets;
  for (const std::string& text : texts) {
    RunSecret& secret = secrets.emplace_back();
    const size_t colon = text.find(':');
    secret.name = text.substr(0, colon);
    if (colon == std::string::npos) continue;
    const size_t equals = text.find('=', colon);
    secret.key = text.substr(colon + 1, equals - colon - 1);
    secret.variable = equals == std::string::npos ? secret.key : text.substr(equals + 1);
  }
  return secrets;
}

base::Status CheckRunSecrets(cluster::Client& client, const Context& context,
                             const std::vector<std::string>& texts) {
  if (!context.cluster_is_this_machine) return {};
  for (const RunSecret& secret : ReadRunSecrets(texts)) {
    const auto found = client.Get(api::kSecrets, context.Namespace(), secret.name);
    if (!found && found.error().code != Code::kNotFound) continue;
    if (!found) {
      return Fail(Code::kNotFound,
                  fmt::format("--secret \"{0}\" is invalid: there is no secret {0}; `{1} secret "
                              "create {0} KEY=-` makes it, `{1} secret list` lists them",
                              secret.name, context.program));
    }
    const bool has_key = secret.key.empty() || text::Find(*found, {"data", secret.key}) != nullptr;
    if (has_key) continue;
    return Fail(Code::kNotFound,
                fmt::format("--secret \"{}:{}\" is invalid: the secret has no such key; `{} secret "
                            "list` lists them",
                            secret.name, secret.key, context.program));
  }
  return {};
}

}  // namespace arena
