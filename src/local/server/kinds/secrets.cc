#include "api/object.h"
#include "base/strings.h"
#include "local/server/kinds/kind_rules.h"

namespace local::server {
namespace {

constexpr Column kSecretColumns[] = {
    {"Name", "string"}, {"Type", "string"}, {"Data", "string"}, {"Age", "string"}};

void SetSecretDefaults(text::Json& secret) {
  text::SetDefault(secret, {"type"}, "Opaque");
  const text::Object plain = text::Members(secret, {"stringData"});
  for (const auto& [key, value] : plain) {
    if (!value.is_string()) continue;
    text::Set(secret, {"data", std::string_view(key)},
              text::Json(base::Base64Encode(value.get_string())));
  }
  text::Erase(secret, {"stringData"});
}

void SecretCells(const text::Json& secret, base::Time now, Cells& cells) {
  cells.Text(api::Name(secret));
  cells.Text(text::GetString(secret, {"type"}));
  cells.Number(static_cast<double>(text::Members(secret, {"data"}).size()));
  cells.Text(Age(api::CreationTime(secret), now));
}

}  // namespace

const KindRules kSecretRules{
    .set_defaults = SetSecretDefaults, .columns = kSecretColumns, .cells = SecretCells};

}  // namespace local::server
