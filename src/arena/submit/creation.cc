#include "arena/submit/creation.h"

#include <fmt/format.h>

#include <set>

#include "api/job/training_summary.h"
#include "api/names.h"
#include "api/object.h"
#include "arena/jobs/broken_submission.h"
#include "arena/jobs/owned_names.h"
#include "base/log.h"
#include "base/uid.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

// Whether the request may have been carried out in spite of it.
bool IsUncertain(const base::Error& error) {
  return error.code == Code::kUnavailable || error.code == Code::kTimeout ||
         error.code == Code::kInternal;
}

std::vector<text::Json> RenderParts(const SubmitOptions& options, const Submission& submission) {
  std::vector<text::Json> objects;
  if (auto secret = RenderCodeSecret(options, submission)) objects.push_back(std::move(*secret));
  if (auto secret = RenderEnvironmentSecret(options, submission)) {
    objects.push_back(std::move(*secret));
  }
  for (text::Json& map : RenderConfigMaps(options, submission)) objects.push_back(std::move(map));
  for (text::Json& part : RenderCodeParts(options, submission)) objects.push_back(std::move(part));
  objects.push_back(RenderIdentity(options, submission));
  for (auto& object : {RenderTensorboardService(options, submission),
                       RenderTensorboardDeployment(options, submission)}) {
    if (object) objects.push_back(*object);
  }
  return objects;
}

const api::Resource& ResourceOf(const text::Json& object) {
  return *api::FindResourceByKind(text::GetString(object, {"apiVersion"}),
                                  text::GetString(object, {"kind"}));
}

base::Error OfCreating(const text::Json& object, const base::Error& why) {
  return why.Wrap(fmt::format("create {} {}", ResourceOf(object).singular, api::Name(object)));
}

// Messages that Arena prints without another word (compat/arena.md 2.2).
bool IsArenasText(std::string_view message) {
  return message.starts_with("failed to create arena client: ") ||
         message.starts_with("the job configmap ");
}

base::Error TakenBy(const text::Json* standing, const std::string& name, const std::string& program,
                    const Creation::IsForeign& is_foreign) {
  if (standing != nullptr && is_foreign(*standing)) {
    return {Code::kAlreadyExists,
            fmt::format("the job {} is already exist and it owned by other user,you have no "
                        "privileges to operate it",
                        name),
            0};
  }
  if (const std::string why = standing != nullptr ? api::WhyStillThere(*standing) : "";
      !why.empty()) {
    return {Code::kAlreadyExists, fmt::format("there is still a job {}: {}", name, why), 0};
  }
  return {Code::kAlreadyExists,
          fmt::format("the job {} is already exist, please delete it first. use '{} delete {}'",
                      name, program, name),
          0};
}

}  // namespace

base::Status CheckNameIsFree(cluster::Client& client, const Context& context,
                             const std::string& name, const Creation::IsForeign& is_foreign) {
  const auto standing = client.Get(api::kPyTorchJobs, context.Namespace(), name);
  // An interrupted submission gives its name back to Creation.
  if (!standing || IsBrokenOff(*standing, context.clock.Now())) return {};
  return Fail(TakenBy(&*standing, name, context.program, is_foreign));
}

Creation::Creation(cluster::Client& client, const Context& context, const SubmitOptions& options,
                   const Submission& submission, IsForeign is_foreign)
    : Creation(client, context, RenderJob(options, submission), RenderParts(options, submission),
               std::move(is_foreign)) {
  for_old_operator_ = [&options, &submission] {
    Submission old = submission;
    old.has_run_policy = false;
    return RenderJob(options, old);
  };
}

Creation::Creation(cluster::Client& client, const Context& context, text::Json job,
                   std::vector<text::Json> parts, IsForeign is_foreign)
    : client_(client),
      context_(context),
      wanted_(std::move(job)),
      name_(api::Name(wanted_)),
      namespace_(api::Namespace(wanted_)),
      program_(context.program),
      is_foreign_(std::move(is_foreign)),
      id_(base::NewUid()) {
  for (text::Json& object : parts) {
    const api::Resource& resource = ResourceOf(object);
    parts_.push_back({&resource, std::move(object)});
  }
}

base::Error Creation::NameTaken(const text::Json* standing) {
  fate_ = Fate::kNameTaken;
  return TakenBy(standing, name_, program_, is_foreign_);
}

base::Error Creation::InTheWay(const Part& part) const {
  const std::string name(api::Name(part.object));
  if (name == IdentityName(name_)) {
    return {Code::kAlreadyExists,
            fmt::format("the job configmap {} is already exist, please delete it first. use '{} "
                        "delete {}'",
                        name, program_, name_),
            0};
  }
  return {Code::kAlreadyExists,
          fmt::format("{} {} already exists and belongs to something else: delete it, or choose "
                      "another --name",
                      part.resource->singular, name),
          0};
}

// Arena looks for the namespace before everything else, and says so.
base::Error Creation::OfMissingNamespace(base::Error error) const {
  const bool is_missing = error.code == Code::kNotFound && error.message.starts_with("namespaces ");
  return is_missing ? error.Wrap(fmt::format("failed to create {} client", program_)) : error;
}

// Adds the state of the job to an error of a request about the job itself.
base::Error Creation::OfJob(base::Error error) const {
  // An API server without the CRD: Arena's words, then what to do.
  if (error.message.starts_with("the cluster knows no PyTorchJob")) {
    error.message = fmt::format(
        "failed to find pytorchjob {0} from api server,reason: the server could not find the "
        "requested resource (get pytorchjobs.kubeflow.org {0}): {1}",
        name_, error.message);
  }
  return OfMissingNamespace(std::move(error));
}

base::Status Creation::Run() {
  base::Status made = context_.cluster_is_this_machine ? CreateAtOnce() : CreateInSteps();
  if (made || fate_ == Fate::kNameTaken) return made;
  if (program_ == "arena" && IsArenasText(made.error().message)) return made;
  std::string_view fate =
      "; it is not known whether the job {0} was created, `{1} get {0}` will tell";
  if (fate_ == Fate::kNotMade) fate = "; the job {0} was not created";
  if (fate_ == Fate::kLeft) fate = "; the job {0} is left, and incomplete";
  made.error().message += fmt::format(fmt::runtime(fate), name_, program_);
  return made;
}

base::Status Creation::CreateAtOnce() {
  base::Status made = TryAtOnce();
  // A daemon of an older muster, which knows no such request.
  if (!made && made.error().message.starts_with("List in version")) return CreateInSteps();
  const bool is_in_the_way =
      !made && made.error().code == Code::kAlreadyExists && fate_ == Fate::kNotMade;
  if (!is_in_the_way) return made;
  TRY(ClearTheWay());
  return TryAtOnce();
}

base::Status Creation::TryAtOnce() {
  text::Array items{OwnJob()};
  for (const Part& part : parts_) items.push_back(part.object);
  cluster::BatchWrite write;
  write.verb = cluster::BatchWrite::Verb::kCreateWithOwned;
  write.resource = &api::kPyTorchJobs;
  write.namespace_name = namespace_;
  write.object = text::Object{{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}};
  base::Result<text::Json> made = std::move(client_.Batch({write}).front());
  const bool is_of_part = !made && made.error().code == Code::kAlreadyExists &&
                          !made.error().message.starts_with(api::kPyTorchJobs.plural);
  if (!made && !is_of_part &&
      (IsUncertain(made.error()) || made.error().code == Code::kAlreadyExists)) {
    made = WhatBecameOfJob(std::move(made.error()));
  }
  if (!made) return Fail(OfJob(std::move(made.error())));
  job_ = std::move(*made);
  return {};
}

base::Status Creation::ClearTheWay() {
  for (const Part& part : parts_) {
    const auto found = client_.Get(*part.resource, namespace_, api::Name(part.object));
    if (found) TRY(RemoveLeftover(part, *found));
  }
  return {};
}

base::Status Creation::CreateInSteps() {
  TRY(CheckRights());
  TRY(CreateJob());
  base::Status status = SuitOldOperator();
  if (status) status = CreateParts();
  if (status) status = RemoveMark();
  if (!status) TakeBack();
  return status;
}

// All other errors can wait for the request itself.
base::Status Creation::CheckRights() {
  std::set<const api::Resource*> kinds;
  std::vector<cluster::BatchWrite> writes;
  for (const Part& part : parts_) {
    if (!kinds.insert(part.resource).second) continue;
    cluster::BatchWrite write;
    write.resource = part.resource;
    write.namespace_name = namespace_;
    write.object = part.object;
    write.dry_run = true;
    writes.push_back(std::move(write));
  }
  const std::vector<base::Result<text::Json>> results = client_.Batch(writes);
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i] || results[i].error().code != Code::kPermissionDenied) continue;
    // Who may not create the job either is told that.
    const auto job = client_.Create(api::kPyTorchJobs, namespace_, wanted_, true);
    const bool may = job || job.error().code != Code::kPermissionDenied;
    return Fail(may ? OfCreating(writes[i].object, results[i].error()) : job.error());
  }
  return {};
}

text::Json Creation::OwnJob() const {
  text::Json job = wanted_;
  text::Set(job, {"metadata", "annotations", api::kSubmissionAnnotation}, text::Json(id_));
  return job;
}

base::Status Creation::CreateJob() {
  text::Json job = OwnJob();
  text::Set(job, {"metadata", "annotations", api::kSubmittingAnnotation},
            text::Json(SubmitterMark()));
  auto created = CreateOrFindJob(job);
  if (!created && fate_ == Fate::kNameTaken) {
    const auto standing = client_.Get(api::kPyTorchJobs, namespace_, name_);
    if (standing && TakeBackIfBrokenOff(client_, context_, *standing)) {
      fate_ = Fate::kNotMade;
      created = CreateOrFindJob(job);
    }
  }
  if (!created) return Fail(OfJob(std::move(created.error())));
  job_ = std::move(*created);
  const text::Json owner = api::MakeControllerReference(api::kPyTorchJobs, job_);
  for (Part& part : parts_) {
    text::Set(part.object, {"metadata", "ownerReferences"}, text::Array{owner});
  }
  return {};
}

base::Result<text::Json> Creation::CreateOrFindJob(const text::Json& job) {
  auto created = client_.Create(api::kPyTorchJobs, namespace_, job);
  if (created || (!IsUncertain(created.error()) && created.error().code != Code::kAlreadyExists)) {
    return created;
  }
  return WhatBecameOfJob(std::move(created.error()));
}

// The job is complete. The request is sent twice, because a lost answer is no reason to undo the
// job.
base::Status Creation::RemoveMark() {
  const text::Json patch = text::Object{
      {"metadata",
       text::Object{{"uid", api::Uid(job_)},
                    {"annotations", text::Object{{api::kSubmittingAnnotation, nullptr}}}}}};
  base::Result<text::Json> patched;
  for (int tries = 0; tries < 2; ++tries) {
    patched =
        client_.Patch(api::kPyTorchJobs, namespace_, name_, cluster::PatchType::kMerge, patch);
    if (patched) {
      job_ = std::move(*patched);
      return {};
    }
    // A user who may create jobs but not change them gets a complete job with a mark
    // (TakeBackIfBrokenOff).
    if (patched.error().code == Code::kPermissionDenied) return {};
    if (!IsUncertain(patched.error())) break;
  }
  return Fail(patched.error().Wrap("complete the job " + name_));
}

// The first operators' CRD has the run policy's fields in spec: a server that has it drops
// spec.runPolicy (compat/arena.md 3.1).
base::Status Creation::SuitOldOperator() {
  if (!for_old_operator_ || text::Find(job_, {"spec", "runPolicy"}) != nullptr) return {};
  text::Json job = for_old_operator_();
  text::Erase(job, {"spec", "pytorchReplicaSpecs"});
  const text::Json patch = text::Object{{"spec", *text::Find(job, {"spec"})}};
  TRY(client_.Patch(api::kPyTorchJobs, namespace_, name_, cluster::PatchType::kMerge, patch));
  return {};
}

base::Result<text::Json> Creation::WhatBecameOfJob(base::Error error) {
  auto found = client_.Get(api::kPyTorchJobs, namespace_, name_);
  if (found) {
    if (api::Annotation(*found, api::kSubmissionAnnotation) == id_) return found;
    return Fail(NameTaken(&*found));
  }
  if (error.code == Code::kAlreadyExists) return Fail(NameTaken(nullptr));
  // A request that was not answered in time may still be carried out.
  const bool is_absent = found.error().code == Code::kNotFound && error.code != Code::kTimeout;
  fate_ = is_absent ? Fate::kNotMade : Fate::kUnknown;
  return Fail(std::move(error));
}

base::Status Creation::CreateParts() {
  std::vector<cluster::BatchWrite> writes;
  for (Part& part : parts_) {
    cluster::BatchWrite write;
    write.resource = part.resource;
    write.namespace_name = namespace_;
    write.object = part.object;
    writes.push_back(std::move(write));
    part.may_exist = true;
  }
  std::vector<base::Result<text::Json>> results = client_.Batch(writes);
  base::Status first;
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (results[i]) continue;
    base::Status settled = Settle(parts_[i], std::move(results[i].error()));
    if (!settled && first) first = std::move(settled);
  }
  return first;
}

// A part that could not be created: it may be there nevertheless, or something of its name is, or
// the request was lost with its connection and is sent again.
base::Status Creation::Settle(Part& part, base::Error error) {
  const std::string name(api::Name(part.object));
  const auto in_context = [&](const base::Error& why) {
    return Fail(OfCreating(part.object, why));
  };
  const bool is_taken = error.code == Code::kAlreadyExists;
  if (!IsUncertain(error) && !is_taken) {
    part.may_exist = false;
    return in_context(error);
  }
  const auto found = client_.Get(*part.resource, namespace_, name);
  if (!found && (found.error().code != Code::kNotFound || error.code != Code::kUnavailable)) {
    part.may_exist = found.error().code != Code::kNotFound;
    return in_context(error);
  }
  if (found) {
    if (IsOurs(*found)) return {};
    part.may_exist = false;
    if (!is_taken) return in_context(error);
    TRY(RemoveLeftover(part, *found));
    part.may_exist = true;
  }
  const auto created = client_.Create(*part.resource, namespace_, part.object);
  if (created) return {};
  return in_context(created.error());
}

bool Creation::IsOurs(const text::Json& found) const {
  return api::ControllerUid(found) == api::Uid(job_);
}

// What an earlier job of this name left behind: it has just been deleted, and what it owned will
// go any moment. Anything else stays, and is in the way.
base::Status Creation::RemoveLeftover(const Part& part, const text::Json& found) {
  bool is_leftover = false;
  for (const text::Json& owner : text::Items(found, {"metadata", "ownerReferences"})) {
    is_leftover = is_leftover || (text::GetString(owner, {"kind"}) == api::kPyTorchJobs.kind &&
                                  text::GetString(owner, {"name"}) == name_);
  }
  // Objects of a submission that ended before it set their owner.
  is_leftover = is_leftover || (api::Label(found, "createdBy") == "PyTorchJob" &&
                                api::Label(found, "release") == name_);
  if (!is_leftover) return Fail(InTheWay(part));
  cluster::DeleteOptions only_it;
  only_it.uid = api::Uid(found);
  const base::Status deleted =
      client_.Delete(*part.resource, namespace_, api::Name(found), only_it);
  if (deleted || deleted.error().code == Code::kNotFound ||
      deleted.error().code == Code::kConflict) {
    return {};
  }
  return Fail(deleted.error().Wrap(
      fmt::format("delete the old {} {}", part.resource->singular, api::Name(found))));
}

base::Result<std::vector<text::Json>> Creation::DryRun() {
  std::vector<text::Json> checked;
  auto job = client_.Create(api::kPyTorchJobs, namespace_, wanted_, true);
  if (!job) {
    if (job.error().code != Code::kAlreadyExists)
      return Fail(OfMissingNamespace(std::move(job.error())));
    const auto standing = client_.Get(api::kPyTorchJobs, namespace_, name_);
    return Fail(NameTaken(standing ? &*standing : nullptr));
  }
  checked.push_back(std::move(*job));
  for (const Part& part : parts_) {
    auto made = client_.Create(*part.resource, namespace_, part.object, true);
    if (!made && made.error().code == Code::kAlreadyExists) return Fail(InTheWay(part));
    if (!made) return Fail(OfCreating(part.object, made.error()));
    if (part.resource != &api::kSecrets) checked.push_back(std::move(*made));
  }
  return checked;
}

// The job first: its pods end, and what it owns goes with it even if this is as far as it gets.
void Creation::TakeBack() {
  cluster::DeleteOptions only_it;
  only_it.uid = api::Uid(job_);
  const base::Status deleted = client_.Delete(api::kPyTorchJobs, namespace_, name_, only_it);
  const bool is_gone =
      deleted || deleted.error().code == Code::kNotFound || deleted.error().code == Code::kConflict;
  if (!is_gone) {
    fate_ = deleted.error().code == Code::kPermissionDenied ? Fate::kLeft : Fate::kUnknown;
    base::LogWarn("the job {0} could not be removed again: {1}; delete it with `{2} delete {0}`",
                  name_, deleted.error().message, program_);
  }
  for (const Part& part : parts_) {
    if (part.may_exist) TakeBackPart(part);
  }
}

void Creation::TakeBackPart(const Part& part) {
  const std::string name(api::Name(part.object));
  const auto found = client_.Get(*part.resource, namespace_, name);
  base::Status deleted;
  if (!found) {
    deleted = Fail(found.error());
  } else if (IsOurs(*found)) {
    cluster::DeleteOptions only_it;
    only_it.uid = api::Uid(*found);
    deleted = client_.Delete(*part.resource, namespace_, name, only_it);
  }
  if (deleted || deleted.error().code == Code::kNotFound ||
      deleted.error().code == Code::kConflict) {
    return;
  }
  base::LogWarn("{} {} could not be removed again: {}", part.resource->singular, name,
                deleted.error().message);
}

}  // namespace arena
