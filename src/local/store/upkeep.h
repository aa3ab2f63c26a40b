// Maintenance of the store's file beside its normal use. Every function opens the file itself, and
// blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"
#include "local/store/sqlite.h"

namespace local::store {

// Whether the last process that had the store open did not close it.
bool WasLeftOpen(const std::string& path);

// Reads the whole file. kInternal says what is corrupt; the file is not changed. If the file is
// sound, returns the connection that has read it (Store::Options::reader); nullopt when there is no
// file.
base::Result<std::optional<Database>> Check(const std::string& path);

// Makes a consistent copy while others write. Checks the copy, then replaces `to` with it in one
// step, unless `to` is as new as the store: then returns false. kExhausted: there is no room.
base::Result<bool> BackUp(const std::string& path, const std::string& to);

// Creates the store at `path`, which must not exist, from a backup. Its versions continue far above
// all that were used since the backup, so that no watch mistakes an old version for a new one.
base::Status RestoreFrom(const std::string& backup, const std::string& path);

// Returns free pages to the disk, a few at a time. Returns the number of bytes.
base::Result<int64_t> GiveBackSpace(const std::string& path);

// Removes the records of deleted objects (Fate), except those for which `is_kept` returns true.
base::Status ForgetDeleted(const std::string& path,
                           const std::function<bool(std::string_view uid)>& is_kept);

// When the oldest kept job (kept.h) was created, in microseconds since the epoch; 0: none is kept.
base::Result<int64_t> OldestKept(const std::string& path);

// The uids of everything that is kept.
base::Result<std::set<std::string>> KeptUids(const std::string& path);

}  // namespace local::store
