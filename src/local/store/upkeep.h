// What is done to the store's file beside its daily work. Everything opens the file by itself, and
// blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"

namespace local::store {

// Whether the last process that had the store open did not close it.
bool WasLeftOpen(const std::string& path);

// Reads the whole file. kInternal says what is wrong; the file is left as it is. Success
// where there is none.
base::Status Check(const std::string& path);

// A consistent copy, beside writers. `to` is replaced in one step by what has been checked, unless
// it is as new as the store already. False: nothing was to be done. kExhausted: no room for it.
base::Result<bool> BackUp(const std::string& path, const std::string& to);

// Makes the store at `path`, where there is none, from a backup. Its versions go on far above those
// that were given out since, so that no watch takes an old one for a new one.
base::Status RestoreFrom(const std::string& backup, const std::string& path);

// Gives the pages of what was deleted back to the disk, a few at a time. The
// number of bytes.
base::Result<int64_t> GiveBackSpace(const std::string& path);

// Forgets what was deleted (Fate), but for what `is_kept`.
base::Status ForgetDeleted(const std::string& path,
                           const std::function<bool(std::string_view uid)>& is_kept);

// When the oldest job that is kept (kept.h) was made, in microseconds since the epoch; 0: none is.
base::Result<int64_t> OldestKept(const std::string& path);

// Of all that is kept.
base::Result<std::set<std::string>> KeptUids(const std::string& path);

}  // namespace local::store
