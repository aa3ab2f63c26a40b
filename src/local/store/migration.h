// The file's tables and how they came to be.
#pragma once

#include "base/result.h"
#include "local/store/sqlite.h"

namespace local::store {

// Brings the file to the present schema. kInvalidArgument when it is of a newer one.
base::Status Migrate(Database& database);

}  // namespace local::store
