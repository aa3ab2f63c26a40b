// A temporary folder of the launcher that nobody else can enter.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/environment.h"
#include "base/result.h"

namespace launch {

// Removes the folder when destroyed.
class PrivateFolder {
 public:
  // In $TMPDIR or /tmp.
  static base::Result<std::unique_ptr<PrivateFolder>> Make(const base::Environment& environment);
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  explicit PrivateFolder(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace launch
