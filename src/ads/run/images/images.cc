#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "ads/config/ini_file.h"
#include "ads/config/opctl_config.h"
#include "ads/run/images/image_steps.h"
#include "ads/verbs.h"
#include "base/file.h"
#include "base/strings.h"

namespace ads {
namespace {

struct BuildImageFlags {
  ImageFlags image;
  bool is_pushed = false, is_dry = false, is_debug = false;
};

base::Result<int> BuildImage(const Context& context, const BuildImageFlags& flags,
                             cli::Output& out) {
  TRY_ASSIGN(const ImageConfig image,
             RefreshImageConfig(flags.image, "", ImageNeed::kNameAndDockerfile));
  if (flags.is_dry) {
    const auto tool = ContainerTool::Find(context.environment, STDOUT_FILENO);
    std::string line;
    for (const std::string& word :
         BuildArgv(tool ? tool->name() : "docker", image, context.environment)) {
      if (!line.empty()) line += ' ';
      line += base::ShellQuote(word);
    }
    TRY(out.Write(line + "\n"));
    return 0;
  }
  TRY_ASSIGN(const ContainerTool tool, ContainerTool::Find(context.environment, STDOUT_FILENO));
  TRY(tool.Build(image));
  if (!flags.is_pushed) return 0;
  TRY(out.Write("pushing docker image\n"));
  TRY(PushImage(tool, image.Image(), out));
  return 0;
}

base::Result<std::string> ImageToPublish(const std::string& given) {
  if (!given.empty()) return given;
  const auto text = base::ReadFile(kImageIniPath);
  if (text) {
    TRY_ASSIGN(const IniFile file, IniFile::Parse(*text, kImageIniPath));
    const ImageConfig image = ReadImageConfig(file);
    if (!image.registry.empty() && !image.tag.empty()) return image.Image();
  }
  return base::Fail(base::Code::kInvalidArgument,
                    "ValueError: Arg image is missing; name it, or build it first");
}

struct PublishFlags {
  std::string registry, image;
  LoginFlags login;
  bool is_debug = false;
};

base::Result<int> Publish(const Context& context, const PublishFlags& flags,
                          const std::string& image, cli::Output& out) {
  TRY_ASSIGN(const ContainerTool tool, ContainerTool::Find(context.environment, STDOUT_FILENO));
  std::string registry = flags.registry;
  if (registry.empty()) {
    TRY_ASSIGN(registry, JobDefault(flags.login, context.environment, "docker_registry"));
  }
  while (registry.ends_with('/')) registry.pop_back();
  if (registry.empty()) {
    TRY(PushImage(tool, image, out));
    return 0;
  }
  const std::string target = registry + "/" + image.substr(image.rfind('/') + 1);
  TRY(tool.Tag(image, target));
  TRY(PushImage(tool, target, out));
  return 0;
}

}  // namespace

void AddBuildImage(cli::Command& parent, Context& context) {
  cli::Command& verb = parent.Add("build-image", "Build the image of a distributed training.");
  verb.WithoutShortHelp();
  verb.Help("ads/run/images/build_image", context.program);
  auto flags = std::make_shared<BuildImageFlags>();
  DeclareImageFlags(verb.flags(), flags->image);
  verb.flags()
      .Bool(&flags->is_pushed, "push", false, "Push the image to its registry.")
      .Short('p')
      .SingleDash("push");
  verb.flags()
      .Bool(&flags->is_dry, "dry-run", false,
            "Print the command that would build it; the flags are stored all the same.")
      .Short('r');
  verb.flags().Bool(&flags->is_debug, "debug", false, "Accepted for compatibility.").Short('d');
  verb.Run(
      [&context, flags](cli::Invocation& call) { return BuildImage(context, *flags, call.out); });
}

void AddPublishImage(cli::Command& parent, Context& context) {
  cli::Command& verb = parent.Add("publish-image", "Push the image to its registry.");
  verb.Help("ads/run/images/publish_built", context.program).ClickArgs({"[IMAGE]"});
  auto flags = std::make_shared<PublishFlags>();
  verb.flags().String(&flags->image, "image", "", "The image's name.").SingleDash("image");
  verb.flags().Bool(&flags->is_debug, "debug", false, "Accepted for compatibility.").Short('d');
  verb.Run([&context, flags](cli::Invocation& call) -> base::Result<int> {
    TRY_ASSIGN(const std::string image,
               ImageToPublish(call.args.empty() ? flags->image : call.args[0]));
    TRY_ASSIGN(const ContainerTool tool, ContainerTool::Find(context.environment, STDOUT_FILENO));
    TRY(PushImage(tool, image, call.out));
    return 0;
  });
}

void AddPublish(cli::Command& parent, Context& context) {
  cli::Command& verb = parent.Add("publish-image", "Push an image to a registry.");
  verb.Help("ads/run/images/publish_image", context.program).ClickArgs({"IMAGE"});
  auto flags = std::make_shared<PublishFlags>();
  verb.flags().String(&flags->registry, "registry", "", "Registry to push to.").Short('r');
  DeclareLoginFlags(verb.flags(), flags->login, {});
  verb.flags().Bool(&flags->is_debug, "debug", false, "Accepted for compatibility.").Short('d');
  verb.Run([&context, flags](cli::Invocation& call) {
    return Publish(context, *flags, call.args[0], call.out);
  });
}

}  // namespace ads
