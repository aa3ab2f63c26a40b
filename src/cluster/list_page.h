// Reads a page of a list. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "api/resources.h"
#include "base/result.h"
#include "cluster/client.h"
#include "text/json.h"

namespace cluster {

// Adds kind and apiVersion, which servers leave out of a list's items.
void NameKind(text::Json& item, std::string_view api_version, std::string_view kind);
// Takes the page's items, with kinds and trimmed. kInternal if they are not an array.
base::Status AppendItems(const api::Resource& resource, const ListOptions& options,
                         text::Json& page, ObjectList& list);

std::vector<Table::Column> ColumnsOf(const text::Json& page);
// `with_namespace`: puts the namespace of a row's object before its cells.
void AppendRows(text::Json& page, bool with_namespace, Table& table);

}  // namespace cluster
