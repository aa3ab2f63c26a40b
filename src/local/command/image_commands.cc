#include "local/command/image_commands.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>

#include "base/file.h"
#include "cli/table.h"
#include "local/client/connect.h"
#include "local/node/plan/image_map.h"

namespace local::command {
namespace {

base::Status CheckImage(const std::string& image) {
  const bool is_clean = std::none_of(image.begin(), image.end(), [](unsigned char c) {
    return c <= ' ' || c == 0x7f || c == '"' || c == '\\';
  });
  if (!image.empty() && is_clean && image != node::kHostImage) return {};
  return base::Fail(base::Code::kInvalidArgument,
                    image == node::kHostImage
                        ? "\"host\" means this machine's own environment, not an image"
                        : fmt::format("\"{}\" is not a valid image name", image));
}

// Resolves every link, because pods start in another directory.
base::Result<std::string> ResolveDirectory(const std::string& path) {
  const std::unique_ptr<char, decltype(&free)> real(::realpath(path.c_str(), nullptr), &free);
  if (real == nullptr) return base::Fail(base::Errno(errno, fmt::format("\"{}\"", path)));
  struct stat info{};
  if (::stat(real.get(), &info) != 0) {
    return base::Fail(base::Errno(errno, fmt::format("\"{}\"", path)));
  }
  if (!S_ISDIR(info.st_mode)) {
    return base::Fail(base::Code::kInvalidArgument,
                      fmt::format("\"{}\" is not a directory", real.get()));
  }
  return std::string(real.get());
}

// The embedded cluster's file; other clusters have real images.
base::Result<std::string> FindImageMapFile(const ClusterContext& context) {
  TRY_ASSIGN(const ChosenCluster chosen, FindChosenCluster(context));
  if (!chosen.is_embedded) {
    return base::Fail(base::Code::kInvalidArgument,
                      "images can be mapped on the embedded cluster only, and `muster cluster` is "
                      "another one: add --local, or push the image to a registry");
  }
  const daemon::Paths paths = daemon::PathsOf(context.environment);
  TRY(daemon::MakePrivateDirs(paths));
  return node::ImageMapPath(paths.state);
}

base::Result<int> RunMap(const ClusterContext& context, const std::string& workdir,
                         cli::Invocation& call) {
  TRY_ASSIGN(const std::string path, FindImageMapFile(context));
  TRY_ASSIGN(const std::string directory, ResolveDirectory(call.args[1]));
  TRY_ASSIGN(const std::string before, node::MapImage(path, call.args[0], {directory, workdir}));
  TRY(call.out.Write(
      fmt::format("image {} mapped to {}{}{}\n", node::FullImageName(call.args[0]), directory,
                  workdir.empty() ? "" : fmt::format(", shown at {}", workdir),
                  before.empty() || before == directory ? "" : fmt::format(" (was {})", before))));
  return 0;
}

base::Result<int> RunList(const ClusterContext& context, cli::Invocation& call) {
  TRY_ASSIGN(const std::string path, FindImageMapFile(context));
  TRY_ASSIGN(const node::ImageMap map, node::LoadImageMap(path));
  cli::Table table;
  table.Row({"IMAGE", "DIRECTORY", "WORKDIR"});
  for (const auto& [image, mapped] : map) {
    table.Row(
        {image, mapped.directory, mapped.workdir.empty() ? mapped.directory : mapped.workdir});
  }
  TRY(call.out.Write(table.Render()));
  return 0;
}

base::Result<int> RunUnmap(const ClusterContext& context, cli::Invocation& call) {
  TRY_ASSIGN(const std::string path, FindImageMapFile(context));
  TRY(node::UnmapImages(path, call.args));
  for (const std::string& image : call.args) {
    TRY(call.out.Write(fmt::format("image {} unmapped\n", node::FullImageName(image))));
  }
  return 0;
}

std::vector<std::string> CompleteImages(const ClusterContext& context) {
  std::vector<std::string> images;
  const auto path = FindImageMapFile(context);
  const auto map = path ? node::LoadImageMap(*path) : base::Fail(path.error());
  if (map) {
    for (const auto& [image, mapped] : *map) images.push_back(image);
  }
  return images;
}

}  // namespace

void AddImageCommands(cli::Command& root, const ClusterContext& context) {
  cli::Command& image = root.Add("image", "Map container images to directories of this machine");
  image.Help("local/command/image_commands", "muster");

  auto workdir = std::make_shared<std::string>();
  cli::Command& map = image.Add("map IMAGE DIR", "Map an image's WORKDIR to a directory")
                          .Args(cli::ExactArgs(2))
                          .Help("local/command/image_map", "muster");
  map.flags().String(workdir.get(), "workdir", "",
                     "the image's WORKDIR, at which its pods see the directory (default: at its "
                     "own path)");
  map.Check([workdir](cli::Invocation& call) -> base::Status {
    TRY(CheckImage(call.args[0]));
    if (workdir->empty()) return {};
    if (!workdir->starts_with('/') || *workdir == "/" ||
        workdir->find("/../") != std::string::npos || workdir->ends_with("/..")) {
      return base::Fail(
          base::Code::kInvalidArgument,
          fmt::format("--workdir is invalid: \"{}\" must be absolute, and not /", *workdir));
    }
    while (workdir->ends_with('/')) workdir->pop_back();
    return {};
  });
  map.Run([context, workdir](cli::Invocation& call) { return RunMap(context, *workdir, call); });

  image.Add("list", "List the mapped images")
      .Aliases({"ls"})
      .Args(cli::NoArgs())
      .Help("local/command/image_list", "muster")
      .Run([context](cli::Invocation& call) { return RunList(context, call); });

  image.Add("unmap IMAGE [IMAGE...]", "Remove the mapping of images")
      .Args(cli::MinArgs(1))
      .Help("local/command/image_unmap", "muster")
      .CompleteArgs(
          [context](cli::Invocation&, std::string_view) { return CompleteImages(context); })
      .Run([context](cli::Invocation& call) { return RunUnmap(context, call); });
}

}  // namespace local::command
