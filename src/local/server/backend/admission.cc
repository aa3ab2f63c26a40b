#include "local/server/backend/admission.h"

#include <fmt/format.h>

#include "api/job/pytorch_job.h"
#include "base/strings.h"

namespace local::server {
namespace {

constexpr std::string_view kWebhookPrefix =
    "admission webhook \"validator.pytorchjob.training-operator.kubeflow.org\" denied the "
    "request: ";

Answer<std::vector<std::string>> CheckJob(const api::Resource& resource,
                                          api::FieldValidation fields, const text::Json& object,
                                          const text::Json* old) {
  const std::vector<std::string> causes = api::CheckPyTorchJobSchema(object, old);
  const std::string_view name = text::GetString(object, {"metadata", "name"});
  if (!causes.empty()) return Refuse(Invalid(resource, name, causes));
  api::Validation validation = api::ValidatePyTorchJob(object, old, fields);
  if (!validation.errors.empty()) {
    const std::string joined = base::Join(validation.errors, ", ");
    return Refuse(Forbidden(fmt::format(
        "{}{}", kWebhookPrefix, validation.errors.size() == 1 ? joined : "[" + joined + "]")));
  }
  return std::move(validation.warnings);
}

}  // namespace

Answer<std::vector<std::string>> Admit(const Admission& admission, Operation operation,
                                       const api::Resource& resource,
                                       const net::HttpRequest& request,
                                       api::FieldValidation validation, text::Json& object,
                                       const text::Json* old) {
  std::vector<std::string> warnings;
  if (&resource == &api::kPyTorchJobs) {
    auto checked = CheckJob(resource, validation, object, old);
    if (!checked) return checked;
    warnings = std::move(*checked);
  }
  if (!admission) return warnings;
  auto further = admission(operation, resource, request, object, old);
  if (!further) {
    if (further.error().code == base::Code::kInvalidArgument) {
      return Refuse({422, "Invalid", further.error().message, {}});
    }
    return Refuse(FromError(further.error()));
  }
  warnings.insert(warnings.end(), std::make_move_iterator(further->begin()),
                  std::make_move_iterator(further->end()));
  return warnings;
}

}  // namespace local::server
