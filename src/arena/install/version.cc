#include <fmt/format.h>
#include <sys/utsname.h>

#include <memory>

#include "arena/install/build_info.h"
#include "arena/jobs/job_output.h"
#include "arena/verbs.h"

namespace arena {
namespace {

#if defined(__clang__)
constexpr std::string_view kCompiler = "clang " __clang_version__;
#else
constexpr std::string_view kCompiler = "gcc " __VERSION__;
#endif

struct VersionFlags {
  std::string output;
  bool is_short = false, is_verbose = false;
};

std::string Platform() {
  utsname names{};
  if (::uname(&names) != 0) return "linux";
  // Go's names for them, as kubectl and Arena print them.
  const std::string_view machine = names.machine;
  return fmt::format("linux/{}", machine == "x86_64"    ? "amd64"
                                 : machine == "aarch64" ? "arm64"
                                                        : machine);
}

base::Result<int> RunVersion(const Context& context, const VersionFlags& flags,
                             cli::Invocation& call) {
  TRY_ASSIGN(const Format format, ParseFormat(flags.output));
  if (format == Format::kJson || format == Format::kYaml) {
    const text::Json json =
        text::Object{{"version", "v" MUSTER_VERSION},  {"buildDate", kBuildInfo.date},
                     {"gitCommit", kBuildInfo.commit}, {"gitTreeState", kBuildInfo.state},
                     {"compiler", kCompiler},          {"platform", Platform()}};
    TRY(call.out.Write(RenderDocument(json, format)));
    return 0;
  }
  TRY(call.out.Write(fmt::format("{}: v{}\n", context.program, MUSTER_VERSION)));
  if (!flags.is_short) {
    TRY(call.out.Write(
        fmt::format("  BuildDate: {}\n  GitCommit: {}\n  GitTreeState: {}\n"
                    "  Compiler: {}\n  Platform: {}\n",
                    kBuildInfo.date, kBuildInfo.commit, kBuildInfo.state, kCompiler, Platform())));
  }
  return 0;
}

}  // namespace

void AddVersion(cli::Command& root, Context& context) {
  cli::Command& verb = root.Add("version", "Print the version")
                           .Args(cli::NoArgs())
                           .Help("arena/install/version", context.program);
  auto flags = std::make_shared<VersionFlags>();
  verb.flags().Bool(&flags->is_short, "short", false, "print just the version number");
  verb.flags()
      .Bool(&flags->is_verbose, "verbose", false, "accepted for compatibility")
      .Short('v')
      .Hidden();
  AddDocumentFlag(verb.flags(), &flags->output);
  verb.Check([flags](cli::Invocation&) -> base::Status {
    TRY(ParseFormat(flags->output));
    return {};
  });
  verb.Run([&context, flags](cli::Invocation& call) { return RunVersion(context, *flags, call); });
}

}  // namespace arena
