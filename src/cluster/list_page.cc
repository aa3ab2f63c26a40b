#include "cluster/list_page.h"

#include <string>
#include <utility>

namespace cluster {

void NameKind(text::Json& item, std::string_view api_version, std::string_view kind) {
  text::Object* object = item.if_object();
  if (object == nullptr || (object->contains("kind") && object->contains("apiVersion"))) return;
  text::Object named(object->storage());
  named.reserve(object->size() + 2);
  named["apiVersion"] = api_version;
  named["kind"] = kind;
  for (auto& entry : *object) named[entry.key()] = std::move(entry.value());
  *object = std::move(named);
}

base::Status AppendItems(const api::Resource& resource, const ListOptions& options,
                         text::Json& page, ObjectList& list) {
  text::Json* items = text::Find(page, {"items"});
  if (items == nullptr || items->is_null()) return {};
  if (!items->is_array())
    return base::Fail(base::Code::kInternal, "the list's items are not an array");
  const std::string api_version(resource.api_version());
  text::Array& array = items->get_array();
  list.items.reserve(list.items.size() + array.size());
  for (text::Json& item : array) {
    NameKind(item, api_version, resource.kind);
    if (options.trim) options.trim(item);
    list.items.push_back(std::move(item));
  }
  return {};
}

std::vector<Table::Column> ColumnsOf(const text::Json& page) {
  std::vector<Table::Column> columns;
  for (const text::Json& definition : text::Items(page, {"columnDefinitions"})) {
    columns.push_back({std::string(text::GetString(definition, {"name"})),
                       text::GetInt(definition, {"priority"}).value_or(0)});
  }
  return columns;
}

void AppendRows(text::Json& page, bool with_namespace, Table& table) {
  text::Json* rows = text::Find(page, {"rows"});
  if (rows == nullptr || !rows->is_array()) return;
  for (text::Json& row : rows->get_array()) {
    std::vector<text::Json> cells;
    if (with_namespace) {
      cells.emplace_back(text::GetString(row, {"object", "metadata", "namespace"}));
    }
    if (text::Json* values = text::Find(row, {"cells"}); values && values->is_array()) {
      for (text::Json& value : values->get_array()) cells.push_back(std::move(value));
    }
    cells.resize(table.columns.size());
    table.rows.push_back(std::move(cells));
  }
}

}  // namespace cluster
