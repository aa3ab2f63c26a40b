#include "local/daemon/config.h"

#include <fmt/format.h>

#include <utility>

#include "base/file.h"
#include "base/quantity.h"
#include "text/json.h"
#include "text/yaml.h"

namespace local::daemon {
namespace {

base::Result<std::string> StringOf(const text::Json& value, std::string_view key) {
  if (value.is_string()) return std::string(value.as_string());
  return base::Fail(base::Code::kInvalidArgument, fmt::format("{}: must be a string", key));
}

// Where a number is kept that the key sets; nullptr for other keys.
int64_t* NumberOf(Config& config, std::string_view key) {
  if (key == "log_limit") return &config.log_limit;
  if (key == "keep_days") return &config.keep.days;
  if (key == "keep_jobs") return &config.keep.jobs;
  if (key == "keep_size") return &config.keep.bytes;
  return nullptr;
}

base::Status ReadNumber(const text::Json& value, const std::string& name, int64_t& to) {
  const std::string text = value.is_string() ? std::string(value.as_string()) : text::ToJson(value);
  const auto milli = base::ParseQuantityMilli(text);
  if (!milli || *milli < 0 || *milli % 1000 != 0) {
    return base::Fail(base::Code::kInvalidArgument,
                      fmt::format("{}: {} must be a number such as 100, 500M or 20Gi", name, text));
  }
  to = *milli / 1000;
  return {};
}

std::string SizeText(int64_t bytes) {
  for (const auto& [unit, size] :
       {std::pair("G", int64_t{1'000'000'000}), std::pair("M", int64_t{1'000'000}),
        std::pair("k", int64_t{1'000})}) {
    if (bytes >= size && bytes % size == 0) return fmt::format("{}{}", bytes / size, unit);
  }
  return fmt::format("{} bytes", bytes);
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
    if (int64_t* const number = NumberOf(config, key)) {
      TRY(ReadNumber(value, name, *number));
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
                                    "local.redirect_launch, local.images, local.warm, "
                                    "local.log_limit, local.keep_days, local.keep_jobs, "
                                    "local.keep_size",
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

std::string DescribeKeep(const Config& config) {
  const Keep& keep = config.keep;
  std::string text = keep.days == 0 ? "finished jobs of any age"
                                    : fmt::format("finished jobs for {} days", keep.days);
  if (keep.jobs != 0) text += fmt::format(", {} of them", keep.jobs);
  if (keep.bytes != 0) text += fmt::format(", {} in all", SizeText(keep.bytes));
  if (config.log_limit == 0) return text + "; each rank's whole log";
  return text + fmt::format("; the newest {} of each rank's log", SizeText(config.log_limit));
}

}  // namespace local::daemon
