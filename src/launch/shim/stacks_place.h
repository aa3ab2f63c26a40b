// A folder of the launcher to which its ranks write their stacks, and the start-up hook by which
// Python does so (warm/python/stacks.py).
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/environment.h"
#include "base/result.h"

namespace launch {

// Removes the folder when destroyed.
class StacksPlace {
 public:
  // A temporary one that nobody else can enter.
  static base::Result<std::unique_ptr<StacksPlace>> Make(const base::Environment& environment);
  ~StacksPlace();
  StacksPlace(const StacksPlace&) = delete;
  StacksPlace& operator=(const StacksPlace&) = delete;

  const std::string& folder() const { return folder_; }
  // Puts the hook before the present path; the hook removes itself again.
  std::string PythonPath(const base::Environment& environment) const;

 private:
  explicit StacksPlace(std::string folder) : folder_(std::move(folder)) {}

  std::string folder_;
};

}  // namespace launch
