#include "arena/run/run_volume.h"

#include "api/job/command.h"

namespace arena {
namespace {

constexpr const char* kRunPath = "/muster/run";
constexpr const char* kResumePath = "/muster/resume";

}  // namespace

void AddRunVolume(const std::string& claim, const std::string& folder, SubmitOptions& options) {
  options.claim_folders.push_back({claim, folder, kRunPath, false});
  options.env["MUSTER_RUN_DIR"] = kRunPath;
}

std::optional<ClaimFolder> RunVolumeOf(const text::Json& job) {
  const text::Object* const replicas = text::FindObject(job, {"spec", "pytorchReplicaSpecs"});
  const text::Json* const container = api::FirstContainer(job);
  if (replicas == nullptr || container == nullptr) return std::nullopt;
  const text::Array* const mounts = text::FindArray(*container, {"volumeMounts"});
  if (mounts == nullptr) return std::nullopt;
  for (const text::Json& mount : *mounts) {
    if (text::GetString(mount, {"mountPath"}) != kRunPath) continue;
    for (const auto& replica : *replicas) {
      const text::Array* const volumes =
          text::FindArray(replica.value(), {"template", "spec", "volumes"});
      if (volumes == nullptr) continue;
      for (const text::Json& volume : *volumes) {
        if (text::GetString(volume, {"name"}) != text::GetString(mount, {"name"})) continue;
        return ClaimFolder{
            std::string(text::GetString(volume, {"persistentVolumeClaim", "claimName"})),
            std::string(text::GetString(mount, {"subPath"})), kRunPath, false};
      }
    }
  }
  return std::nullopt;
}

void AddResumeVolume(const ClaimFolder& folder, SubmitOptions& options) {
  options.claim_folders.push_back({folder.claim, folder.folder, kResumePath, true});
  options.env["MUSTER_RESUME_DIR"] = kResumePath;
}

}  // namespace arena
