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

base::Result<std::vector<RunSecret>> ReadRunSecrets(const std::vector<std::string>& texts) {
  std::vector<RunSecret> secrets;
  for (const std::string& text : texts) {
    const auto misuse = [&](const char* why) {
      return Fail(Code::kInvalidArgument, fmt::format("--secret \"{}\" is invalid: {}", text, why));
    };
    RunSecret& secret = secrets.emplace_back();
    const size_t colon = text.find(':');
    const bool has_key = colon != std::string::npos;
    secret.name = text.substr(0, colon);
    if (has_key) {
      const size_t equals = text.find('=', colon);
      secret.key = text.substr(colon + 1, equals - colon - 1);
      secret.variable = equals == std::string::npos ? secret.key : text.substr(equals + 1);
    }
    if (secret.name.empty() || (has_key && secret.key.empty())) {
      return misuse("it is NAME, NAME:KEY or NAME:KEY=VARIABLE");
    }
    if (has_key && !api::IsVariableName(secret.variable)) {
      return misuse(
          "a variable consists of letters, digits and '_', and does not begin with a digit: "
          "NAME:KEY=VARIABLE");
    }
  }
  return secrets;
}

base::Status CheckRunSecrets(cluster::Client& client, const Context& context,
                             const std::vector<std::string>& texts) {
  if (!context.cluster_is_this_machine) return {};
  TRY_ASSIGN(const std::vector<RunSecret> secrets, ReadRunSecrets(texts));
  for (const RunSecret& secret : secrets) {
    const auto found = client.Get(api::kSecrets, context.Namespace(), secret.name);
    if (!found && found.error().code != Code::kNotFound) continue;
    if (!found) {
      return Fail(Code::kNotFound,
                  fmt::format("--secret \"{0}\" is invalid: there is no secret {0}; `{1} secret "
                              "create {0} KEY=-` creates it, `{1} secret list` lists them",
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
