#include "api/job/wait_for.h"

#include <fmt/format.h>

#include "api/object.h"
#include "base/strings.h"

namespace api {

std::string WriteAwaited(const std::vector<AwaitedJob>& jobs) {
  std::string text;
  for (const AwaitedJob& job : jobs) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", job.name, job.uid);
  }
  return text;
}

std::vector<AwaitedJob> AwaitedBy(const text::Json& job) {
  std::vector<AwaitedJob> jobs;
  const std::string_view text = Annotation(job, kWaitForAnnotation);
  if (text.empty() || !text::GetBool(job, {"spec", "runPolicy", "suspend"}).value_or(false)) {
    return jobs;
  }
  for (const std::string& one : base::Split(text, ',')) {
    const size_t equals = one.find('=');
    if (equals == 0 || equals == std::string::npos) continue;
    jobs.push_back({one.substr(0, equals), one.substr(equals + 1)});
  }
  return jobs;
}

}  // namespace api
