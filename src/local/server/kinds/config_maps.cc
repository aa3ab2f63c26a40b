#include "api/object.h"
#include "local/server/kinds/kind_rules.h"

namespace local::server {
namespace {

constexpr Column kDataColumns[] = {{"Name", "string"}, {"Data", "string"}, {"Age", "string"}};

double CountKeys(const text::Json& object) {
  size_t count = 0;
  for (const std::string_view key : {"data", "binaryData"}) {
    count += text::Members(object, {key}).size();
  }
  return static_cast<double>(count);
}

void ConfigMapCells(const text::Json& map, base::Time now, Cells& cells) {
  cells.Text(api::Name(map));
  cells.Number(CountKeys(map));
  cells.Text(Age(api::CreationTime(map), now));
}

}  // namespace

const KindRules kConfigMapRules{
    .short_name = "cm", .columns = kDataColumns, .cells = ConfigMapCells};

}  // namespace local::server
