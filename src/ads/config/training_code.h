// Fetches the code of a training to a node: from git or object storage (compat/opctl.md 3.3).
#pragma once

#include "ads/app.h"
#include "ads/config/entry_settings.h"
#include "base/result.h"

namespace ads {

// Puts the code into settings.code_dir and moves existing contents aside. Does nothing for code
// that is part of the image. Blocks; git's output goes to stdout. A key from the vault is on disk
// (mode 0600) only while git runs.
base::Status FetchCode(const EntrySettings& settings, const Context& context, OciServices* services,
                       cli::Output& out);

// Opens file://, a plain path or oci://. With `services` nullptr, oci:// is refused.
base::Result<std::unique_ptr<ObjectStorage>> OpenStorage(const std::string& uri,
                                                         OciServices* services);

}  // namespace ads
