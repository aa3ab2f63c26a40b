#include "arena/creation.h"

#include <fmt/format.h>

#include "base/log.h"

namespace arena {

using base::Code;
using base::Fail;

base::Error Creation::NameTaken() const {
  return {Code::kAlreadyExists,
          fmt::format("the job {} is already exist, please delete it first. use '{} delete {}'",
                      options_.flags.name, program_, options_.flags.name),
          0};
}

base::Status Creation::Run() {
  base::Status status = CreateAll();
  if (!status) TakeBack();
  return status;
}

base::Status Creation::CreateAll() {
  TRY(CreateDependencies());
  const size_t dependencies = made_.size();
  TRY(CreateJob());
  if (dependencies > 0) TRY(AdoptDependencies());
  TRY(CreateOwned(api::kConfigMaps, RenderIdentity(options_, submission_)));
  if (auto service = RenderTensorboardService(options_, submission_)) {
    TRY(CreateOwned(api::kServices, std::move(*service)));
  }
  if (auto deployment = RenderTensorboardDeployment(options_, submission_)) {
    TRY(CreateOwned(api::kDeployments, std::move(*deployment)));
  }
  return {};
}

base::Status Creation::CreateDependencies() {
  const std::optional<text::Json> secret = RenderGitSecret(options_, submission_);
  const std::vector<text::Json> maps = RenderConfigMaps(options_, submission_);
  if (!secret && maps.empty()) return {};
  // They would overwrite those of a job that stands, so its name is looked up before.
  const auto job = client_.Get(api::kPyTorchJobs, submission_.namespace_name, options_.flags.name);
  if (job) return Fail(NameTaken());
  if (job.error().code != Code::kNotFound) return Fail(job.error());
  if (secret) TRY(CreateLeftover(api::kSecrets, *secret));
  for (const text::Json& map : maps) TRY(CreateLeftover(api::kConfigMaps, map));
  return {};
}

// Creates, or overwrites what an earlier job of this name left behind.
base::Status Creation::CreateLeftover(const api::Resource& resource, const text::Json& object) {
  const std::string name(text::GetString(object, {"metadata", "name"}));
  auto created = client_.Create(resource, submission_.namespace_name, object);
  if (!created && created.error().code == Code::kAlreadyExists) {
    TRY_ASSIGN(const text::Json found, client_.Get(resource, submission_.namespace_name, name));
    if (text::GetString(found, {"metadata", "labels", "createdBy"}) != "PyTorchJob" ||
        text::GetString(found, {"metadata", "labels", "release"}) != options_.flags.name) {
      return Fail(Code::kAlreadyExists,
                  fmt::format("{} {} already exists and belongs to something else: delete it, or "
                              "choose another --name",
                              resource.singular, name));
    }
    text::Json replacement = object;
    text::Set(replacement, {"metadata", "resourceVersion"},
              text::Json(text::GetString(found, {"metadata", "resourceVersion"})));
    created = client_.Update(resource, replacement);
  }
  if (!created)
    return Fail(created.error().Wrap(fmt::format("create {} {}", resource.singular, name)));
  made_.push_back({&resource, name});
  return {};
}

base::Status Creation::CreateJob() {
  auto created = client_.Create(api::kPyTorchJobs, submission_.namespace_name,
                                RenderJob(options_, submission_));
  if (!created) {
    if (created.error().code == Code::kAlreadyExists) return Fail(NameTaken());
    return Fail(created.error());
  }
  job_ = std::move(*created);
  made_.push_back({&api::kPyTorchJobs, options_.flags.name});
  return {};
}

base::Status Creation::AdoptDependencies() {
  const text::Json patch = text::Object{
      {"metadata", text::Object{{"ownerReferences", text::Array{OwnerReference(job_)}}}}};
  for (const Made& made : made_) {
    if (made.resource == &api::kPyTorchJobs) continue;
    TRY(client_.Patch(*made.resource, submission_.namespace_name, made.name,
                      cluster::PatchType::kMerge, patch));
  }
  return {};
}

base::Status Creation::CreateOwned(const api::Resource& resource, text::Json object) {
  text::Set(object, {"metadata", "ownerReferences"}, text::Array{OwnerReference(job_)});
  const std::string name(text::GetString(object, {"metadata", "name"}));
  const auto created = client_.Create(resource, submission_.namespace_name, object);
  if (!created) {
    if (created.error().code == Code::kAlreadyExists && name == IdentityName(options_.flags.name)) {
      return Fail(Code::kAlreadyExists,
                  fmt::format("the job configmap {} is already exist, please delete it first. use "
                              "'{} delete {}'",
                              name, program_, options_.flags.name));
    }
    return Fail(created.error().Wrap(fmt::format("create {} {}", resource.singular, name)));
  }
  made_.push_back({&resource, name});
  return {};
}

void Creation::TakeBack() {
  for (auto made = made_.rbegin(); made != made_.rend(); ++made) {
    const base::Status deleted =
        client_.Delete(*made->resource, submission_.namespace_name, made->name);
    if (!deleted && deleted.error().code != Code::kNotFound) {
      base::LogWarn("{} {} could not be deleted again: {}", made->resource->singular, made->name,
                    deleted.error().message);
    }
  }
}

}  // namespace arena
