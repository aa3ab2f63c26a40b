#include "runs/ledger/read_life.h"

#include <algorithm>

#include "api/names.h"
#include "api/object.h"
#include "api/pod.h"
#include "api/stall.h"

namespace runs {
namespace {

MaybeMillis Maybe(const std::optional<base::Time>& time) {
  return time ? MaybeMillis(ToMillis(*time)) : std::nullopt;
}

void RaiseTo(MaybeMillis& to, MaybeMillis value) {
  if (value && (!to || *value > *to)) to = value;
}

void LowerTo(MaybeMillis& to, MaybeMillis value) {
  if (value && (!to || *value < *to)) to = value;
}

void ReadInit(const text::Json& pod, ReplicaLife& life) {
  for (const api::ContainerStatus& status : api::InitContainerStatuses(pod)) {
    if (api::IsSidecar(pod, status.name)) continue;
    if (status.is_running) LowerTo(life.init_begin, Maybe(status.running_since));
    if (!status.terminated) continue;
    LowerTo(life.init_begin, Maybe(status.terminated->started));
    RaiseTo(life.init_end, Maybe(status.terminated->finished));
  }
}

// The lives of a pod: the present one and, before it, the previous life of its containers.
void ReadPod(const PodRecord& record, std::vector<ReplicaLife>& lives) {
  const text::Json& pod = *record.pod;
  ReplicaLife life;
  life.name = api::Name(pod);
  life.resume = api::Annotation(pod, api::kRunAnnotation);
  life.gpus = std::max<int64_t>(0, api::PodRequest(pod).gpus);
  life.created = Maybe(api::CreationTime(pod));
  if (const text::Json* scheduled = api::FindCondition(pod, "PodScheduled");
      scheduled != nullptr && text::GetString(*scheduled, {"status"}) == "True") {
    life.scheduled = Maybe(api::GetTime(*scheduled, {"lastTransitionTime"}));
  }
  life.accepted = Maybe(api::GetTime(pod, {"status", "startTime"}));
  life.has_succeeded = api::Phase(pod) == "Succeeded";
  ReadInit(pod, life);
  ReplicaLife before = life;
  bool is_over = true;
  int restarts = 0;
  for (const api::ContainerStatus& status : api::ContainerStatuses(pod)) {
    is_over = is_over && status.terminated.has_value();
    if (status.terminated) RaiseTo(life.ended, Maybe(status.terminated->finished));
  }
  if (const auto training = api::StatusOfTraining(pod)) {
    restarts = training->restart_count;
    if (training->last_terminated) {
      before.started = Maybe(training->last_terminated->started);
      before.ended = Maybe(training->last_terminated->finished);
    }
    life.started =
        Maybe(training->terminated ? training->terminated->started : training->running_since);
  }
  if (!is_over) life.ended.reset();
  if (!life.ended) life.ended = Maybe(record.deleted);
  if (before.ended) {
    before.has_succeeded = false;
    if (restarts > 1) {
      // Only the last restart is reported; the first start followed the pod's preparation.
      ReplicaLife first = before;
      first.started = first.init_end ? first.init_end : first.accepted;
      first.ended.reset();
      lives.push_back(std::move(first));
      before.created = before.scheduled = before.accepted = before.started;
      before.init_begin = before.init_end = std::nullopt;
    }
    lives.push_back(before);
    // The pod kept its place in between.
    life.created = life.scheduled = life.accepted = before.ended;
    life.init_begin = life.init_end = std::nullopt;
  }
  lives.push_back(std::move(life));
}

void ReadEnd(const text::Json& job, std::optional<base::Time> deleted, Life& life) {
  MaybeMillis ended = Maybe(api::GetTime(job, {"status", "completionTime"}));
  for (const char* type : {"Succeeded", "Failed"}) {
    const text::Json* condition = api::TrueCondition(job, type);
    if (condition == nullptr) continue;
    life.has_finished = true;
    life.has_succeeded = *type == 'S';
    if (!ended) ended = Maybe(api::GetTime(*condition, {"lastTransitionTime"}));
  }
  life.ended = ended ? ended : Maybe(deleted);
  if (const text::Json* suspended = api::TrueCondition(job, "Suspended");
      suspended && !life.has_finished) {
    life.suspended = Maybe(api::GetTime(*suspended, {"lastTransitionTime"}));
  }
}

}  // namespace

Life LifeOf(const text::Json& job, const std::vector<PodRecord>& pods,
            std::optional<base::Time> deleted, base::Time now) {
  Life life;
  life.now = ToMillis(now);
  life.submitted = Maybe(api::CreationTime(job)).value_or(life.now);
  ReadEnd(job, deleted, life);
  for (const PodRecord& record : pods) ReadPod(record, life.lives);
  for (const api::PastStall& stall : api::StallsOf(job, now)) {
    life.spans.push_back({ToMillis(stall.begin), ToMillis(stall.end), Bucket::kStalled, true,
                          "watch for ranks that hold others up"});
  }
  return life;
}

}  // namespace runs
