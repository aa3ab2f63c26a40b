#include "base/result.h"

#include <cerrno>
#include <cstring>

namespace base {

std::string_view CodeName(Code code) {
  switch (code) {
    case Code::kInvalidArgument:
      return "InvalidArgument";
    case Code::kNotFound:
      return "NotFound";
    case Code::kAlreadyExists:
      return "AlreadyExists";
    case Code::kConflict:
      return "Conflict";
    case Code::kExpired:
      return "Expired";
    case Code::kUnauthenticated:
      return "Unauthenticated";
    case Code::kPermissionDenied:
      return "PermissionDenied";
    case Code::kUnavailable:
      return "Unavailable";
    case Code::kTimeout:
      return "Timeout";
    case Code::kCancelled:
      return "Cancelled";
    case Code::kExhausted:
      return "Exhausted";
    case Code::kInternal:
      return "Internal";
  }
  return "Internal";
}

Error Error::Wrap(std::string_view context) const {
  Error wrapped = *this;
  wrapped.message = std::string(context) + ": " + message;
  return wrapped;
}

namespace {
Code CodeFromErrno(int os_errno) {
  switch (os_errno) {
    case ENOENT:
    case ESRCH:
      return Code::kNotFound;
    case EEXIST:
      return Code::kAlreadyExists;
    case EACCES:
    case EPERM:
      return Code::kPermissionDenied;
    case ENOSPC:
    case EDQUOT:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
      return Code::kExhausted;
    case ECONNREFUSED:
    case EPIPE:
    case ECONNRESET:
      return Code::kUnavailable;
    case ETIMEDOUT:
      return Code::kTimeout;
    case EINVAL:
      return Code::kInvalidArgument;
    default:
      return Code::kInternal;
  }
}
}  // namespace

Error Errno(int os_errno, std::string_view context) {
  char buffer[128];
  const char* text = strerror_r(os_errno, buffer, sizeof buffer);
  return Error{CodeFromErrno(os_errno), std::string(context) + ": " + text, os_errno};
}

}  // namespace base
