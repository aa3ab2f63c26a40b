// ObjectStorage: where a cluster's nodes meet and artifacts are stored: a local folder or a bucket.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace ads {

// The objects below one URI ("file:///work", "oci://bucket@namespace/prefix"). Names are relative
// to it, with slashes. Blocking; one thread at a time.
class ObjectStorage {
 public:
  virtual ~ObjectStorage() = default;

  // Replaces the object in one step, so that nobody reads a part of it.
  virtual base::Status Put(const std::string& name, std::string_view content) = 0;
  // kNotFound when it does not exist.
  virtual base::Result<std::string> Get(const std::string& name) = 0;
  // When it was last written, by the storage's clock. kNotFound.
  virtual base::Result<base::Time> ModifiedAt(const std::string& name) = 0;
  // OK when the object does not exist.
  virtual base::Status Remove(const std::string& name) = 0;
  // Names on all levels below `prefix`, sorted.
  virtual base::Result<std::vector<std::string>> List(const std::string& prefix) = 0;
  // Copies a local file to an object, and back. Large ones in parts.
  virtual base::Status PutFile(const std::string& name, const std::string& path) = 0;
  // Stores many files, several at a time if the storage can: the results are in the order of the
  // files.
  struct FileToPut {
    std::string name, path;
  };
  virtual std::vector<base::Status> PutFiles(std::span<const FileToPut> files) {
    std::vector<base::Status> results;
    for (const FileToPut& file : files) results.push_back(PutFile(file.name, file.path));
    return results;
  }
  virtual base::Status GetFile(const std::string& name, const std::string& path) = 0;
  // The URI of an object, for messages.
  virtual std::string UriOf(const std::string& name) const = 0;

  // A descriptor that becomes readable when an object directly below the URI changes, until
  // DrainChanges; -1 when the storage cannot report changes and must be polled.
  virtual int ChangesFd() { return -1; }
  virtual void DrainChanges() {}
};

// file:///folder or a plain path. The folder is created when something is stored in it.
base::Result<std::unique_ptr<ObjectStorage>> OpenFolder(const std::string& uri);

}  // namespace ads
