// A temporary folder for a test.
#pragma once

#include <stdlib.h>

#include <string>

#include "base/file.h"

namespace ads {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = "/tmp/muster-ads-XXXXXX";
    path_ = ::mkdtemp(name.data()) == nullptr ? "" : name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { (void)base::RemoveTree(path_); }

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace ads
