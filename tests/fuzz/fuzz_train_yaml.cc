#include "ads/config/entry_settings.h"
#include "ads/config/image_config.h"
#include "ads/config/train_config.h"
#include "ads/run/dry_run.h"
#include "ads/yaml/yaml.h"
#include "base/strings.h"
#include "check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto document = ads::ReadPyYaml(input);
  if (!document) {
    const std::string& message = document.error().message;
    fuzz::Hold("an error names its place",
               message.starts_with("line ") || message.starts_with("byte "));
    return 0;
  }
  const std::string yaml = ads::DumpPyYaml(*document);
  if (yaml.size() > (1 << 18)) return 0;  // what aliases expand to is slow to print
  const auto again = ads::ReadPyYaml(yaml);
  if (!again) fuzz::Same(again.error().message, "", yaml);
  fuzz::Same("YAML", yaml, ads::DumpPyYaml(*again));
  for (const bool is_strict : {true, false}) {
    const auto config = ads::ReadTrainConfig(*document, "train.yaml", {is_strict});
    if (!config) {
      fuzz::Hold("an error is one line that names the file",
                 config.error().message.find("train.yaml") != std::string::npos &&
                     config.error().message.find('\n') == std::string::npos);
      continue;
    }
    (void)ads::CheckPlaceholders(*config, {});
    // A million runs are the user's wish, and take as long as they take to print.
    if (config->worker && config->worker->replicas > 100) continue;
    if (config->ps && config->ps->replicas > 100) continue;
    const ads::JobSpec job = ads::MakeJobSpec(*config, "registry/image:tag", "");
    const std::string dry = ads::RenderDryRun(job);
    fuzz::Hold("the dry run is whole",
               dry.ends_with("Ending dryrun mode----------------------------------\n"));
    for (const auto& [name, value] : ads::SubstituteEnv(job.env)) (void)base::ShellWords(value);
    (void)ads::UpdateImageIni(config->image, "config.ini", {}, config->image,
                              ads::ImageNeed::kName);
  }
  return 0;
}
