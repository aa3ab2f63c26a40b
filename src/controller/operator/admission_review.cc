#include "controller/operator/admission_review.h"

#include <fmt/format.h>

#include "api/job/pytorch_job.h"
#include "api/object.h"
#include "text/json.h"

namespace controller {
namespace {

constexpr std::string_view kReviewApi = "admission.k8s.io/v1";
constexpr int kForbidden = 403;

net::HttpResponse PlainAnswer(int status, std::string line) {
  return {status, {{"Content-Type", "text/plain; charset=utf-8"}}, std::move(line) + "\n"};
}

text::Json ReviewAnswer(std::string_view uid, const api::Validation& validation) {
  text::Object response{{"uid", uid}, {"allowed", validation.errors.empty()}};
  if (!validation.errors.empty()) {
    response["status"] = text::Object{{"code", kForbidden},
                                      {"reason", "Forbidden"},
                                      {"message", api::JoinErrors(validation.errors)}};
  }
  if (!validation.warnings.empty()) {
    response["warnings"] = text::Array(validation.warnings.begin(), validation.warnings.end());
  }
  return text::Object{
      {"apiVersion", kReviewApi}, {"kind", "AdmissionReview"}, {"response", std::move(response)}};
}

// An object that is being deleted may be changed whatever it contains, or its finalizers would keep
// it.
api::Validation Validate(const text::Json& request) {
  const text::Json* const object = text::Find(request, {"object"});
  const std::string_view operation = text::GetString(request, {"operation"});
  if (object == nullptr || !object->is_object() || operation == "DELETE") return {};
  if (api::IsDeleting(*object)) return {};
  const text::Json* old = text::Find(request, {"oldObject"});
  if (operation != "UPDATE" || old == nullptr || !old->is_object()) old = nullptr;
  // The API server passes on what the request's fieldValidation said.
  const auto fields =
      api::ParseFieldValidation(text::GetString(request, {"options", "fieldValidation"}));
  return api::ValidatePyTorchJob(*object, old, fields.value_or(api::FieldValidation::kWarn));
}

}  // namespace

net::HttpResponse AnswerAdmissionReview(std::string_view body) {
  const auto review = text::ParseJson(body);
  if (!review) return PlainAnswer(400, "not JSON: " + review.error().message);
  if (text::GetString(*review, {"kind"}) != "AdmissionReview" ||
      text::GetString(*review, {"apiVersion"}) != kReviewApi) {
    return PlainAnswer(400, fmt::format("not an AdmissionReview of {}", kReviewApi));
  }
  const text::Json* const request = text::Find(*review, {"request"});
  const std::string_view uid = text::GetString(*review, {"request", "uid"});
  if (request == nullptr || uid.empty()) return PlainAnswer(400, "request.uid is missing");
  return {200,
          {{"Content-Type", "application/json"}},
          text::ToJson(ReviewAnswer(uid, Validate(*request)))};
}

net::HttpHandler AdmissionHandler(Metrics& metrics, base::Clock& clock) {
  return [&metrics, &clock](const net::HttpRequest& request,
                            const std::shared_ptr<net::Responder>& responder) {
    const std::string_view path =
        std::string_view(request.target).substr(0, request.target.find('?'));
    if (path != kAdmissionPath) {
      return responder->Send(
          PlainAnswer(404, fmt::format("not found; this server has {}", kAdmissionPath)));
    }
    if (request.method != "POST") return responder->Send(PlainAnswer(405, "POST only"));
    const auto begin = clock.Steady();
    ++metrics.reviews_under_way;
    net::HttpResponse answer = AnswerAdmissionReview(request.body);
    metrics.CountReview(answer.status,
                        std::chrono::duration_cast<base::Duration>(clock.Steady() - begin));
    responder->Send(std::move(answer));
    --metrics.reviews_under_way;
  };
}

}  // namespace controller
