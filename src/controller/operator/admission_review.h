// The validating webhook's answers (compat/pytorchjob.md 1.5). Pure.
#pragma once

#include <string_view>

#include "base/clock.h"
#include "controller/loop/metrics.h"
#include "net/http/types.h"

namespace controller {

// Answers an AdmissionReview (admission.k8s.io/v1) of a PyTorchJob with 200 and a review that
// allows it, or refuses it with the messages of 1.5, and with the warnings. Any other body is
// answered with 400 and a line that says why.
net::HttpResponse AnswerAdmissionReview(std::string_view body);

// POST kAdmissionPath, counted in `metrics`. Both outlive it.
net::HttpHandler AdmissionHandler(Metrics& metrics, base::Clock& clock);

}  // namespace controller
