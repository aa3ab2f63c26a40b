// ContainerTool: docker, podman or buildah, whichever is installed (compat/opctl.md 2.3, 2.4).
#pragma once

#include <string>
#include <vector>

#include "ads/config/image_config.h"
#include "base/environment.h"
#include "base/result.h"

namespace ads {

// `<tool> build --build-arg CODE_DIR=... -t ... -f ... [proxies] [--build-arg ...] .`: the argv.
// Pure.
std::vector<std::string> BuildArgv(const std::string& tool, const ImageConfig& image,
                                   const base::Environment& environment);

// Starts the program and waits for it; its output goes to the descriptor `to`. One thread.
class ContainerTool {
 public:
  // The first of docker, podman and buildah on PATH. kNotFound when none is.
  static base::Result<ContainerTool> Find(const base::Environment& environment, int to);

  const std::string& name() const { return name_; }

  base::Status Build(const ImageConfig& image) const;  // `RuntimeError: Docker build failed.`
  base::Status Push(const std::string& image) const;   // `RuntimeError: Docker push failed.`
  base::Status Tag(const std::string& image, const std::string& as) const;
  // Whether the registry has the image.
  base::Result<bool> IsInRegistry(const std::string& image) const;

 private:
  ContainerTool(const base::Environment& environment, std::string name, std::string path, int to)
      : environment_(environment), name_(std::move(name)), path_(std::move(path)), to_(to) {}
  base::Result<int> Run(const std::vector<std::string>& argv, int to) const;

  const base::Environment& environment_;
  std::string name_, path_;
  int to_;
};

}  // namespace ads
