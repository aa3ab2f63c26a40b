#include "reconcile/conditions.h"

#include <algorithm>
#include <utility>

namespace reconcile {
namespace {

bool AreSameConditions(const api::Condition& a, const api::Condition& b) {
  return a.type == b.type && a.status == b.status && a.reason == b.reason &&
         a.message == b.message && a.last_update_time == b.last_update_time &&
         a.last_transition_time == b.last_transition_time;
}

bool IsDrivenOut(const api::Condition& old, std::string_view by) {
  return old.type == by || (by == kRunning && old.type == kRestarting) ||
         (by == kRestarting && old.type == kRunning);
}

}  // namespace

bool SetCondition(api::JobStatus& status, std::string_view type, bool is_true,
                  std::string_view reason, std::string message, base::Time now) {
  if (status.Is(kFailed)) return false;
  api::Condition next;
  next.type = type;
  next.status = is_true ? "True" : "False";
  next.reason = reason;
  next.message = std::move(message);
  next.last_update_time = now;
  next.last_transition_time = now;
  if (const api::Condition* const old = status.Find(type); old && old->status == next.status) {
    if (old->reason == next.reason) return false;
    next.last_transition_time = old->last_transition_time;
  }
  std::erase_if(status.conditions,
                [type](const api::Condition& old) { return IsDrivenOut(old, type); });
  if (type == kSucceeded || type == kFailed) {
    for (api::Condition& old : status.conditions) {
      if (old.type == kRunning || old.type == kRestarting) old.status = "False";
    }
  }
  status.conditions.push_back(std::move(next));
  return true;
}

void DropCondition(api::JobStatus& status, std::string_view type) {
  std::erase_if(status.conditions,
                [type](const api::Condition& condition) { return condition.type == type; });
}

bool AreEqual(const api::JobStatus& a, const api::JobStatus& b) {
  return a.start_time == b.start_time && a.completion_time == b.completion_time &&
         a.last_reconcile_time == b.last_reconcile_time &&
         a.replica_statuses == b.replica_statuses &&
         std::equal(a.conditions.begin(), a.conditions.end(), b.conditions.begin(),
                    b.conditions.end(), [](const api::Condition& x, const api::Condition& y) {
                      return AreSameConditions(x, y);
                    });
}

}  // namespace reconcile
