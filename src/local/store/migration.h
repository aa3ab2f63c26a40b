// The tables of the file, and their migrations.
#pragma once

#include "base/result.h"
#include "local/store/sqlite.h"

namespace local::store {

// Migrates the file to the current schema. kInvalidArgument when a newer muster wrote it.
base::Status Migrate(Database& database);

}  // namespace local::store
