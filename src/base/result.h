// Result<T>: a value or an error. Every fallible function of the project returns one; no exception
// crosses a room.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace base {

// What the caller can do about an error. The HTTP status that a Kubernetes API server would use is
// in brackets.
enum class Code {
  kInvalidArgument,   // [400/422] fix the input
  kNotFound,          // [404]
  kAlreadyExists,     // [409 AlreadyExists]
  kConflict,          // [409 Conflict] read again, then retry
  kExpired,           // [410] list again
  kUnauthenticated,   // [401]
  kPermissionDenied,  // [403]
  kUnavailable,       // [503, connection refused] retry later
  kTimeout,
  kCancelled,
  kExhausted,  // [429, ENOSPC] no room: disk, memory, a named limit
  kInternal,
};

// "NotFound", "AlreadyExists", ...
std::string_view CodeName(Code code);

struct Error {
  Code code = Code::kInternal;
  std::string message;
  int os_errno = 0;  // 0 unless it was made by Errno()

  // The same error with `context: ` prepended to its message.
  Error Wrap(std::string_view context) const;
};

template <typename T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
};

using Status = Result<void>;

inline tl::unexpected<Error> Fail(Error error) { return tl::unexpected<Error>(std::move(error)); }
inline tl::unexpected<Error> Fail(Code code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message), 0});
}

// The only conversion from errno: `context: strerror`, with a code by errno (ENOENT -> kNotFound,
// EEXIST -> kAlreadyExists, EACCES/EPERM -> kPermissionDenied, ENOSPC/EDQUOT/ENOMEM/EMFILE ->
// kExhausted, ECONNREFUSED -> kUnavailable, ETIMEDOUT -> kTimeout, otherwise kInternal).
Error Errno(int os_errno, std::string_view context);

}  // namespace base

// Evaluates `expr` (a Result); on an error returns it from the enclosing function, otherwise
// declares `lhs`.
#define MUSTER_CONCAT_(a, b) a##b
#define MUSTER_CONCAT(a, b) MUSTER_CONCAT_(a, b)
#define TRY_ASSIGN_(tmp, lhs, expr)                      \
  auto tmp = (expr);                                     \
  if (!tmp) return ::base::Fail(std::move(tmp.error())); \
  lhs = std::move(*tmp)
#define TRY_ASSIGN(lhs, expr) TRY_ASSIGN_(MUSTER_CONCAT(try_, __LINE__), lhs, expr)
#define TRY(expr)                                                                                  \
  do {                                                                                             \
    if (auto try_status = (expr); !try_status) return ::base::Fail(std::move(try_status.error())); \
  } while (false)
