// Bucket: objects of Object Storage below one prefix (compat/opctl.md 5.5).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ads/oci/api.h"
#include "base/result.h"

namespace ads::oci {

// oci://bucket@namespace/prefix
struct BucketUri {
  std::string bucket;
  std::string name_space;  // "" is the tenancy's own: oci://bucket@/prefix
  std::string prefix;      // without slashes at its ends; "" is the whole bucket
};
// Pure. kInvalidArgument naming the form that is wanted. Any number of slashes, also none, may end
// it.
base::Result<BucketUri> ParseBucketUri(std::string_view uri);

// Files above this size travel in parts, some at once, which are sent as they are read.
inline constexpr uint64_t kPartBytes = 10 << 20;
inline constexpr size_t kPartsAtOnce = 8;
inline constexpr uint64_t kMaxParts = 10'000;
// Smaller files go some at once, in as many threads.
inline constexpr uint64_t kSmallFileBytes = 1 << 20;
inline constexpr size_t kSmallFilesAtOnce = 32;
// How large the parts of a file are: kPartBytes, and more where they would be too many. Pure.
uint64_t PartSizeOf(uint64_t file_size);

// The tenancy's own namespace.
base::Result<std::string> OwnNamespace(Api& object_storage);

// Names are relative to the prefix. Blocking; as thread safe as the Api that it borrows.
class Bucket {
 public:
  Bucket(Api& api, BucketUri uri) : api_(api), uri_(std::move(uri)) {}

  struct Head {
    uint64_t size = 0;
    std::string etag;
    base::Time modified;  // by the service's clock
  };
  struct Object {
    std::string name;
    uint64_t size = 0;
  };

  base::Status Put(const std::string& name, std::string content);
  // kNotFound when there is none.
  base::Result<std::string> Get(const std::string& name);
  base::Result<Head> Look(const std::string& name);
  // Without an object that is not there: success.
  base::Status Remove(const std::string& name);
  // Below `prefix`, every level, sorted by name.
  base::Result<std::vector<Object>> List(const std::string& prefix);
  // A regular file; large ones in parts. kConflict when it changed meanwhile: nothing was put.
  base::Status PutFile(const std::string& name, const std::string& path);
  // Many, small ones some at once: what became of each, in their order.
  struct FileToPut {
    std::string name, path;
  };
  std::vector<base::Status> PutFiles(std::span<const FileToPut> files);
  // Into a temporary file beside `path` that then takes its place.
  base::Status GetFile(const std::string& name, const std::string& path);
  std::string UriOf(const std::string& name) const;

 private:
  std::string FullName(const std::string& name) const;
  std::string ObjectPath(const std::string& name) const;
  std::string UploadPath(const std::string& name) const;
  ApiRequest PutRequest(const std::string& name, std::string content) const;
  base::Status PutParts(const std::string& name, const std::string& path, int fd, uint64_t size);
  base::Result<text::Array> SendParts(const std::string& target, const std::string& path, int fd,
                                      uint64_t size);
  base::Status GetParts(const std::string& name, const Head& head, int fd, const std::string& path);

  Api& api_;
  const BucketUri uri_;
};

}  // namespace ads::oci
