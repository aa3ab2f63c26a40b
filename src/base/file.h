// Whole files and directories; errors name the path.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace base {

// At most `limit` bytes; kExhausted when the file is larger.
Result<std::string> ReadFile(const std::string& path, size_t limit = 64 << 20);

enum class Durability { kNone, kSync };

// Replaces `path` in one step (temporary file in the same directory, rename). With kSync, content
// and directory entry are on disk when it returns. `mode` is exact, regardless of the umask.
Status WriteFileAtomic(const std::string& path, std::string_view content, unsigned mode,
                       Durability durability);

// Writes the whole content to a blocking descriptor. `shown` names it in errors.
Status WriteAll(int fd, std::string_view content, const std::string& shown);

// Copies the rest of `from` to the end of `to`; file systems that support it share the blocks.
// `shown` is the path of `to` for errors.
Status CopyContent(int from, int to, const std::string& shown);

// The parent directory by the path's text: "/" of "/bin", "" of "bin".
std::string DirectoryOf(std::string_view path);

// mkdir -p; each created directory gets `mode`; nullopt: what the umask leaves of 0777.
Status MakeDirs(const std::string& path, std::optional<unsigned> mode = 0700);

// rm -rf that never follows a link and never crosses into another mount. OK when the tree is
// absent.
Status RemoveTree(const std::string& path);

}  // namespace base
