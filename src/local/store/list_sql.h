// The SQL of Store::List and Count. Pure.
#pragma once

#include <string>

#include "local/store/store.h"

namespace local::store {

// namespace, name, version and json of what `query` asks for, by namespace then name. Binds
// resource, namespace, name, job, owner, after.namespace, after.name, release.
std::string ListSql(const ListQuery& query);
// Counts the matches; has the same parameters.
std::string CountSql(const ListQuery& query);

}  // namespace local::store
