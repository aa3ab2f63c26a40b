// What a page of a list holds. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "api/resources.h"
#include "base/result.h"
#include "cluster/client.h"
#include "text/json.h"

namespace cluster {

// Servers leave kind and apiVersion out of a list's items.
void NameKind(text::Json& item, std::string_view api_version, std::string_view kind);
// Takes the page's items, named and trimmed. kInternal when they are not an array.
base::Status AppendItems(const api::Resource& resource, const ListOptions& options,
                         text::Json& page, ObjectList& list);

std::vector<Table::Column> ColumnsOf(const text::Json& page);
// `with_namespace`: the namespace of the row's object comes before its cells.
void AppendRows(text::Json& page, bool with_namespace, Table& table);

}  // namespace cluster
