#include "check.h"
#include "controller/operator/admission_review.h"

// Whatever is posted to the webhook, it is answered: a review with a decision, or a refusal that
// says why.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  const net::HttpResponse answer = controller::AnswerAdmissionReview(body);
  if (answer.status != 200) {
    fuzz::Hold("a refusal says why", answer.status == 400 && answer.body.size() > 1);
    return 0;
  }
  const auto asked = text::ParseJson(body);
  const auto review = text::ParseJson(answer.body);
  fuzz::Hold("the answer is JSON", review.has_value() && asked.has_value());
  fuzz::Same("uid", text::GetString(*asked, {"request", "uid"}),
             text::GetString(*review, {"response", "uid"}));
  const auto allowed = text::GetBool(*review, {"response", "allowed"});
  fuzz::Hold("it decides", allowed.has_value());
  fuzz::Hold("a refusal has a message",
             *allowed || !text::GetString(*review, {"response", "status", "message"}).empty());
  return 0;
}
