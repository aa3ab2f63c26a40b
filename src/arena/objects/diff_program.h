// Two folders of texts, and the program that shows their differences: `diff -u -N`, or that of
// KUBECTL_EXTERNAL_DIFF with its arguments, as kubectl runs it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/environment.h"
#include "base/result.h"

namespace arena {

// The folders, LIVE-* and MERGED-* below $TMPDIR: only this user can read them, and they are
// deleted with this object.
class DiffFolders {
 public:
  static base::Result<DiffFolders> Make(const base::Environment& environment);
  ~DiffFolders();
  DiffFolders(DiffFolders&& other) noexcept;
  DiffFolders& operator=(DiffFolders&&) = delete;

  base::Status Add(const std::string& name, std::string_view live, std::string_view merged) const;

  // Runs the program on them with our standard streams, and waits for it. Returns whether they
  // differ; an error when it cannot run, or exits with more than 1.
  base::Result<bool> Show(const base::Environment& environment) const;

 private:
  DiffFolders() = default;

  std::string live_;
  std::string merged_;
};

// argv of the program for these two folders. Pure. kubectl splits KUBECTL_EXTERNAL_DIFF at spaces,
// and drops arguments that contain anything but letters, digits, - and =.
std::vector<std::string> DiffCommand(const base::Environment& environment, const std::string& live,
                                     const std::string& merged);

}  // namespace arena
