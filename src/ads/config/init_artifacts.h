// The files that `init` writes, stored in the binary.
#pragma once

#include <span>
#include <string_view>

namespace ads {

struct InitFile {
  std::string_view name;  // in oci_dist_training_artifacts/pytorch/v1
  std::string_view text;
  unsigned mode;
};

std::span<const InitFile> PyTorchInitFiles();

}  // namespace ads
