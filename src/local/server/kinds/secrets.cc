#include <fmt/format.h>

#include <utility>

#include "api/object.h"
#include "base/strings.h"
#include "local/server/kinds/data_rules.h"
#include "local/server/kinds/kind_rules.h"

namespace local::server {
namespace {

constexpr Column kSecretColumns[] = {
    {"Name", "string"}, {"Type", "string"}, {"Data", "string"}, {"Age", "string"}};

void SetSecretDefaults(text::Json& secret) {
  SetDefaultText(secret, {"type"}, "Opaque");
  JoinBase64Lines(secret, "data");
  const text::Object plain = text::Members(secret, {"stringData"});
  for (const auto& [key, value] : plain) {
    if (!value.is_string()) continue;
    text::Set(secret, {"data", std::string_view(key)},
              text::Json(base::Base64Encode(value.get_string())));
  }
  text::Erase(secret, {"stringData"});
}

// The keys that a type promises.
constexpr std::pair<std::string_view, std::string_view> kKeysOfTypes[] = {
    {"kubernetes.io/dockercfg", ".dockercfg"},
    {"kubernetes.io/dockerconfigjson", ".dockerconfigjson"},
    {"kubernetes.io/ssh-auth", "ssh-privatekey"},
    {"kubernetes.io/tls", "tls.crt"},
    {"kubernetes.io/tls", "tls.key"},
};

void CheckSecret(const text::Json& secret, Causes& causes) {
  CheckDataKeys(secret, "data", causes);
  for (const auto& [type, key] : kKeysOfTypes) {
    if (text::GetString(secret, {"type"}) != type) continue;
    if (text::Find(secret, {"data", key}) != nullptr) continue;
    causes.push_back(fmt::format("data[{}]: Required value", key));
  }
}

void CheckSecretChange(const text::Json& old, const text::Json& secret, Causes& causes) {
  const std::string_view type = text::GetString(secret, {"type"});
  if (type != text::GetString(old, {"type"})) {
    causes.push_back(InvalidValue("type", type, "field is immutable"));
  }
  CheckStaysImmutable(old, secret, {"immutable", "data"}, causes);
}

void SecretCells(const text::Json& secret, base::Time now, Cells& cells) {
  cells.Text(api::Name(secret));
  cells.Text(text::GetString(secret, {"type"}));
  cells.Number(static_cast<double>(text::Members(secret, {"data"}).size()));
  cells.Text(Age(api::CreationTime(secret), now));
}

}  // namespace

const KindRules kSecretRules{.set_defaults = SetSecretDefaults,
                             .check = CheckSecret,
                             .check_change = CheckSecretChange,
                             .columns = kSecretColumns,
                             .cells = SecretCells};

}  // namespace local::server
