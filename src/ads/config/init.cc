#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "ads/config/init_artifacts.h"
#include "ads/verbs.h"
#include "base/file.h"

namespace ads {
namespace {

namespace fs = std::filesystem;

struct InitFlags {
  std::string framework, version;
  bool is_debug = false, is_overwritten = false;
};

// Keeps the user's own changes.
base::Status WriteInitFile(const std::string& folder, const InitFile& file, bool is_overwritten,
                           cli::Output& out, cli::Output& err) {
  const std::string path = fmt::format("{}/{}", folder, file.name);
  const auto before = base::ReadFile(path);
  if (before && *before != file.text && !is_overwritten) {
    return err.Write(fmt::format("{} was changed and is kept; --overwrite replaces it\n", path));
  }
  TRY(base::WriteFileAtomic(path, file.text, file.mode, base::Durability::kNone));
  return out.Write(path + "\n");
}

// The entry point is this program.
base::Status WriteEntryProgram(const std::string& folder, const std::string& self,
                               cli::Output& out) {
  const std::string path = folder + "/muster";
  std::error_code error;
  fs::remove(path, error);  // it may be running
  fs::copy_file(self, path, fs::copy_options::overwrite_existing, error);
  if (error)
    return base::Fail(base::Errno(error.value(), fmt::format("copy {} to {}", self, path)));
  return out.Write(path + "\n");
}

base::Result<int> Init(const Context& context, const InitFlags& flags, cli::Output& out,
                       cli::Output& err) {
  if (flags.framework != "pytorch" || flags.version != "v1") {
    return base::Fail(base::Code::kInvalidArgument,
                      fmt::format("RuntimeError: there are no artifacts for {} {} here, only "
                                  "for --framework pytorch --version v1",
                                  flags.framework, flags.version));
  }
  const std::string folder =
      fmt::format("oci_dist_training_artifacts/{}/{}", flags.framework, flags.version);
  TRY(base::MakeDirs(folder, 0755));
  for (const InitFile& file : PyTorchInitFiles()) {
    TRY(WriteInitFile(folder, file, flags.is_overwritten, out, err));
  }
  TRY(WriteEntryProgram(folder, context.self, out));
  TRY(out.Write(fmt::format("Check {}/README.md for build instructions \n", folder)));
  return 0;
}

}  // namespace

void AddInit(cli::Command& parent, Context& context) {
  cli::Command& verb = parent.Add("init", "Write the Dockerfile and entry point of an image.");
  verb.Help("ads/config/init", context.program);
  auto flags = std::make_shared<InitFlags>();
  verb.flags()
      .String(&flags->framework, "framework", "", "The framework of the artifacts.")
      .Short('f')
      .Required()
      .OneOf({"dask", "horovod-tensorflow", "horovod-pytorch", "pytorch", "tensorflow", "ray"});
  verb.flags().String(&flags->version, "version", "v1", "Their version.");
  verb.flags().Bool(&flags->is_overwritten, "overwrite", false,
                    "Overwrite files that were changed.");
  verb.flags().Bool(&flags->is_debug, "debug", false, "Accepted for compatibility.").Short('d');
  verb.Run([&context, flags](cli::Invocation& call) {
    return Init(context, *flags, call.out, call.err);
  });
}

}  // namespace ads
