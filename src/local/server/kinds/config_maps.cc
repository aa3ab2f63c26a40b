#include "api/object.h"
#include "local/server/kinds/data_rules.h"
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

void SetConfigMapDefaults(text::Json& map) { JoinBase64Lines(map, "binaryData"); }

void CheckConfigMap(const text::Json& map, Causes& causes) {
  CheckDataKeys(map, "data", causes);
  CheckDataKeys(map, "binaryData", causes);
}

void CheckConfigMapChange(const text::Json& old, const text::Json& map, Causes& causes) {
  CheckStaysImmutable(old, map, {"immutable", "data", "binaryData"}, causes);
}

void ConfigMapCells(const text::Json& map, base::Time now, Cells& cells) {
  cells.Text(api::Name(map));
  cells.Number(CountKeys(map));
  cells.Text(Age(api::CreationTime(map), now));
}

}  // namespace

const KindRules kConfigMapRules{.short_name = "cm",
                                .set_defaults = SetConfigMapDefaults,
                                .check = CheckConfigMap,
                                .check_change = CheckConfigMapChange,
                                .columns = kDataColumns,
                                .cells = ConfigMapCells};

}  // namespace local::server
