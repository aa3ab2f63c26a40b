// Requests whose body is part of a file, which is sent as it is read and is never whole in memory.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "net/http/types.h"

namespace net {

struct FileRange {
  int fd = -1;  // borrowed for the call
  uint64_t offset = 0, size = 0;
};

// Thread safe.
class FileUploader {
 public:
  virtual ~FileUploader() = default;
  // Like HttpClient::Send. The request itself has no body. kConflict when the file ends before the
  // range does.
  virtual base::Result<HttpResponse> SendFile(const HttpRequest& request,
                                              const FileRange& range) = 0;
};

}  // namespace net
