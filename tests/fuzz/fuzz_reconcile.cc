// The input is a PyTorchJob, and after NUL bytes pods and services that bear its labels: whatever
// they hold, a pass over them comes to an end, and its plan can be carried out and looked at again.
#include "check.h"
#include "controller/loop/projection.h"
#include "reconcile/reconcile.h"

namespace {

constexpr base::Time kNow{std::chrono::hours(24 * 365 * 50)};

void TryOn(const text::Json& job, const std::vector<text::Json>& pods,
           const std::vector<text::Json>& services, const reconcile::Options& options) {
  reconcile::Observed observed;
  observed.job = &job;
  for (const text::Json& pod : pods) observed.pods.push_back(&pod);
  for (const text::Json& service : services) observed.services.push_back(&service);
  reconcile::Plan plan = reconcile::Reconcile(observed, options, kNow);
  for (const reconcile::Write& write : plan.writes) {
    fuzz::Hold("a write has a kind", write.resource != nullptr);
    fuzz::Hold("what is written is JSON", text::ParseJson(text::ToJson(write.object)).has_value());
  }
  if (!plan.status) return;
  text::Json next = job;
  text::Set(next, {"status"}, *plan.status);
  observed.job = &next;
  reconcile::Reconcile(observed, options, kNow);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  std::vector<text::Json> objects;
  while (true) {
    const size_t end = input.find('\0');
    if (auto object = text::ParseJson(input.substr(0, end))) objects.push_back(std::move(*object));
    if (end == std::string_view::npos) break;
    input.remove_prefix(end + 1);
  }
  if (objects.empty()) return 0;
  text::Json job = std::move(objects.front());
  controller::ProjectJob(job);
  std::vector<text::Json> pods, services;
  for (size_t i = 1; i < objects.size(); ++i) {
    text::Json& object = objects[i];
    if (i % 2 == 1) {
      controller::ProjectPod(object);
      pods.push_back(std::move(object));
    } else {
      controller::ProjectService(object);
      services.push_back(std::move(object));
    }
  }
  reconcile::Options options;
  TryOn(job, pods, services, options);
  options.gang_scheduler_name = "volcano";
  options.init_step = "port";
  options.reports_first_failure = true;
  TryOn(job, pods, services, options);
  return 0;
}
