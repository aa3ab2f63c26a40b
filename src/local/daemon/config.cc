#include "local/daemon/config.h"

#include <fmt/format.h>

#include "base/file.h"
#include "text/json.h"
#include "text/yaml.h"

namespace local::daemon {
namespace {

base::Result<std::string> StringOf(const text::Json& value, std::string_view key) {
  if (value.is_string()) return std::string(value.as_string());
  return base::Fail(base::Code::kInvalidArgument, fmt::format("{}: must be a string", key));
}

base::Status ReadLocal(const text::Json& section, Config& config) {
  if (!section.is_object()) {
    return base::Fail(base::Code::kInvalidArgument, "local: must be a mapping");
  }
  for (const auto& [key, value] : section.as_object()) {
    const std::string name = fmt::format("local.{}", std::string_view(key));
    if (key == "redirect_launch" || key == "warm") {
      if (!value.is_bool()) {
        return base::Fail(base::Code::kInvalidArgument, name + ": must be true or false");
      }
      (key == "warm" ? config.is_warm : config.redirects_launch) = value.as_bool();
      continue;
    }
    TRY_ASSIGN(const std::string text, StringOf(value, name));
    if (key == "python") {
      if (!text.starts_with('/')) {
        return base::Fail(base::Code::kInvalidArgument,
                          fmt::format("local.python: \"{}\" must be an absolute path", text));
      }
      config.python = text;
    } else if (key == "gpus") {
      if (text == "auto") {
        config.gpus = GpuMode::kAuto;
      } else if (text == "strict") {
        config.gpus = GpuMode::kStrict;
      } else if (text == "optional") {
        config.gpus = GpuMode::kOptional;
      } else {
        return base::Fail(base::Code::kInvalidArgument,
                          fmt::format("local.gpus: \"{}\" must be auto, strict or optional", text));
      }
    } else if (key == "images") {
      if (text != "host" && text != "podman") {
        return base::Fail(base::Code::kInvalidArgument,
                          fmt::format("local.images: \"{}\" must be host or podman", text));
      }
      config.has_podman = text == "podman";
    } else {
      return base::Fail(base::Code::kInvalidArgument,
                        fmt::format("{}: unknown key; there are local.python, local.gpus, "
                                    "local.redirect_launch, local.images, local.warm",
                                    name));
    }
  }
  return {};
}

base::Status Read(const text::Json& document, Config& config) {
  if (document.is_null()) return {};
  if (!document.is_object()) return base::Fail(base::Code::kInvalidArgument, "must be a mapping");
  for (const auto& [key, value] : document.as_object()) {
    if (key == "cluster") {
      TRY_ASSIGN(config.cluster, StringOf(value, "cluster"));
    } else if (key == "local") {
      TRY(ReadLocal(value, config));
    } else {
      return base::Fail(
          base::Code::kInvalidArgument,
          fmt::format("{}: unknown key; there are cluster, local", std::string_view(key)));
    }
  }
  return {};
}

}  // namespace

base::Result<Config> LoadConfig(const base::Environment& environment) {
  Config config;
  config.path = environment.ConfigDir() + "/config.yaml";
  const auto content = base::ReadFile(config.path, 1 << 20);
  if (!content) {
    if (content.error().code == base::Code::kNotFound) return config;
    return base::Fail(content.error());
  }
  const auto document = text::ParseYaml(*content);
  if (!document) return base::Fail(document.error().Wrap(config.path));
  if (base::Status read = Read(*document, config); !read) {
    return base::Fail(read.error().Wrap(config.path));
  }
  return config;
}

}  // namespace local::daemon
