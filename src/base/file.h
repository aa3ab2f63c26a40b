// Whole files and directories, with errors that name the path.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace base {

// At most `limit` bytes; kExhausted when the file is larger.
Result<std::string> ReadFile(const std::string& path, size_t limit = 64 << 20);

enum class Durability { kNone, kSync };

// Replaces `path` in one step (temporary file in the same directory, rename). With kSync the
// content and the directory entry are on disk when it returns. `mode` is exact, whatever the umask.
Status WriteFileAtomic(const std::string& path, std::string_view content, unsigned mode,
                       Durability durability);

// The whole content, into a descriptor that blocks. `shown` names it in errors.
Status WriteAll(int fd, std::string_view content, const std::string& shown);

// Copies what is left of `from` to the end of `to`; on file systems that can, the two share the
// bytes. `shown` is the path of `to` for errors.
Status CopyContent(int from, int to, const std::string& shown);

// What the path lies in, by its text: "/" of "/bin", "" of "bin".
std::string DirectoryOf(std::string_view path);

// mkdir -p; each directory that is made gets `mode`.
Status MakeDirs(const std::string& path, unsigned mode = 0700);

// rm -rf, never following a link and never crossing into another mount. Absent is success.
Status RemoveTree(const std::string& path);

}  // namespace base
