// Two folders of texts, and the program that shows how they differ: `diff -u -N`, or the one that
// KUBECTL_EXTERNAL_DIFF names, with its words, as kubectl runs it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/environment.h"
#include "base/result.h"

namespace arena {

// The folders, LIVE-* and MERGED-* below $TMPDIR: only this user can read them, and they go with
// this object.
class DiffFolders {
 public:
  static base::Result<DiffFolders> Make(const base::Environment& environment);
  ~DiffFolders();
  DiffFolders(DiffFolders&& other) noexcept;
  DiffFolders& operator=(DiffFolders&&) = delete;

  base::Status Add(const std::string& name, std::string_view live, std::string_view merged) const;

  // Runs the program on them, on our own standard streams, and waits for it. Whether they differ;
  // an error is that it cannot be run, or ends with more than 1.
  base::Result<bool> Show(const base::Environment& environment) const;

 private:
  DiffFolders() = default;

  std::string live_;
  std::string merged_;
};

// argv of the program for these two. Pure. Of KUBECTL_EXTERNAL_DIFF, split at its spaces, kubectl
// drops the arguments with anything but letters, digits, - and =.
std::vector<std::string> DiffCommand(const base::Environment& environment, const std::string& live,
                                     const std::string& merged);

}  // namespace arena
