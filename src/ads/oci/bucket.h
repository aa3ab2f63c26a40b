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
  std::string name_space;  // "": the tenancy's own, oci://bucket@/prefix
  std::string prefix;      // without leading and trailing slashes; "": the whole bucket
};
// Pure. kInvalidArgument names the expected form. The URI may end with any number of slashes.
base::Result<BucketUri> ParseBucketUri(std::string_view uri);

// Larger files are sent in parts, several at a time, read while they are sent.
inline constexpr uint64_t kPartBytes = 10 << 20;
inline constexpr size_t kPartsAtOnce = 8;
inline constexpr uint64_t kMaxParts = 10'000;
// Smaller files are sent several at a time, by as many threads.
inline constexpr uint64_t kSmallFileBytes = 1 << 20;
inline constexpr size_t kSmallFilesAtOnce = 32;
// The size of a file's parts: kPartBytes, or more if there would be too many parts. Pure.
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
  // kNotFound when it does not exist.
  base::Result<std::string> Get(const std::string& name);
  base::Result<Head> Look(const std::string& name);
  // OK when the object does not exist.
  base::Status Remove(const std::string& name);
  // All levels below `prefix`, sorted by name.
  base::Result<std::vector<Object>> List(const std::string& prefix);
  // Stores a regular file; a large one in parts. kConflict when it changed meanwhile: nothing was
  // stored.
  base::Status PutFile(const std::string& name, const std::string& path);
  // Stores many files, small ones several at a time: the results are in the order of the files.
  struct FileToPut {
    std::string name, path;
  };
  std::vector<base::Status> PutFiles(std::span<const FileToPut> files);
  // Writes to a temporary file beside `path`, which then replaces it.
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
