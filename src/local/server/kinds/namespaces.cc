#include "api/object.h"
#include "local/server/kinds/kind_rules.h"

namespace local::server {
namespace {

constexpr Column kNamespaceColumns[] = {
    {"Name", "string"}, {"Status", "string"}, {"Age", "string"}};

void BeginNamespace(text::Json& object) {
  text::Set(object, {"metadata", "labels", "kubernetes.io/metadata.name"},
            *text::Find(object, {"metadata", "name"}));
  text::Set(object, {"spec", "finalizers"}, text::Array{"kubernetes"});
  text::Set(object, {"status", "phase"}, "Active");
}

void NamespaceCells(const text::Json& object, base::Time now, Cells& cells) {
  cells.Text(api::Name(object));
  cells.Text(text::GetString(object, {"status", "phase"}));
  cells.Text(Age(api::CreationTime(object), now));
}

}  // namespace

const KindRules kNamespaceRules{.name = NameRule::kLabel,
                                .short_name = "ns",
                                .begin = BeginNamespace,
                                .columns = kNamespaceColumns,
                                .cells = NamespaceCells};

}  // namespace local::server
