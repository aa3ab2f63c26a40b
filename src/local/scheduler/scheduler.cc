#include "local/scheduler/scheduler.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "local/scheduler/messages.h"
#include "local/scheduler/reservation.h"

namespace local::scheduler {

Requests& Requests::operator+=(const Requests& other) {
  gpus += other.gpus;
  cpu_milli += other.cpu_milli;
  memory += other.memory;
  return *this;
}

namespace {

constexpr std::string_view kElsewhere = "another muster on this machine";

// An entry of the queue: the pods of a gang that start together, or one pod beyond the gang's
// minimum.
struct Item {
  const Gang* gang = nullptr;
  std::vector<const Pod*> pods;  // all unbound
  bool is_wish_ignored = false;
  bool is_extra = false;     // beyond min_available: never the head, starts after the others
  bool is_complete = true;   // false: some pods are still to be created
  bool keeps_place = false;  // belongs to a started gang
  int64_t need = 0;          // GPUs
};

// Whether `policy` ignores the gang's wish for GPUs. The answer stays the same for a gang: if it
// runs on the CPU, it continues there.
bool IsWishIgnored(const Gang& gang, const Node& node, GpuPolicy policy) {
  if (policy == GpuPolicy::kStrict || !node.are_gpus_known) return false;
  if (policy == GpuPolicy::kAuto && !node.gpus.empty()) return false;
  int64_t wish = gang.missing.gpus;
  for (const Pod& pod : gang.pods) {
    if (pod.is_bound && pod.requests.gpus > 0 && pod.gpus.empty()) return true;
    wish += pod.requests.gpus;
  }
  return wish > static_cast<int64_t>(node.gpus.size());
}

class Pass {
 public:
  Pass(const Node& node, const std::vector<Gang>& gangs, GpuPolicy policy, base::Time now)
      : node_(node), gangs_(gangs), policy_(policy), now_(now) {}

  Decision Run() {
    TakeStock();
    for (const Gang& gang : gangs_) AddItems(gang);
    std::stable_sort(items_.begin(), items_.end(),
                     [this](const Item& a, const Item& b) { return Before(a, b); });
    for (const Item& item : items_) Decide(item);
    return std::move(decision_);
  }

 private:
  static std::optional<base::Time> EndsBy(const Gang& gang, base::Time otherwise) {
    if (!gang.active_deadline) return std::nullopt;
    return gang.active_since.value_or(otherwise) + *gang.active_deadline;
  }

  void TakeStock() {
    std::vector<bool> taken(node_.gpus.size(), false);
    for (const Gang& gang : gangs_) {
      bool is_holding = false;
      for (const Pod& pod : gang.pods) {
        if (!pod.is_bound) continue;
        free_cpu_ -= pod.requests.cpu_milli;
        free_memory_ -= pod.requests.memory;
        int64_t held = 0;
        for (int index : pod.gpus) {
          if (index < 0 || static_cast<size_t>(index) >= taken.size()) continue;
          taken[static_cast<size_t>(index)] = true;
          ++held;
        }
        is_holding |= held > 0;
        if (held > 0) releases_.push_back({&gang, {held, EndsBy(gang, now_)}});
      }
      if (gang.is_started && !IsWishIgnored(gang, node_, policy_) && gang.missing.gpus > 0) {
        kept_ += gang.missing.gpus;
        is_holding = true;
        const int64_t each = gang.missing.gpus / std::max(1, gang.missing_pods);
        for (int i = 0; i < gang.missing_pods; ++i) {
          releases_.push_back({&gang, {each, EndsBy(gang, now_)}});
        }
      }
      if (is_holding) holders_.push_back(HolderOf(gang));
    }
    std::set<std::string> elsewhere;
    for (size_t i = 0; i < taken.size(); ++i) {
      if (node_.gpus[i].is_locked_elsewhere && !taken[i]) {
        taken[i] = true;
        ++locked_elsewhere_;
        elsewhere.emplace(node_.gpus[i].holder.empty() ? kElsewhere : node_.gpus[i].holder);
        releases_.push_back({nullptr, {1, std::nullopt}});
      }
      if (!taken[i]) free_.push_back(static_cast<int>(i));
    }
    for (const std::string& who : elsewhere) holders_.push_back({who, std::nullopt});
    holders_elsewhere_ = static_cast<std::ptrdiff_t>(elsewhere.size());
    free_cpu_ += node_.cpu_milli;
    free_memory_ += node_.memory;
  }

  // Adds the gang's core (what must start together) and, one by one, its pods beyond the minimum.
  void AddItems(const Gang& gang) {
    std::vector<const Pod*> unbound;
    for (const Pod& pod : gang.pods) {
      if (!pod.is_bound) unbound.push_back(&pod);
    }
    if (unbound.empty()) return;
    const size_t bound = gang.pods.size() - unbound.size();
    const size_t all = gang.pods.size() + static_cast<size_t>(std::max(0, gang.missing_pods));
    const size_t minimum =
        gang.min_available ? std::min(all, static_cast<size_t>(std::max(1, *gang.min_available)))
                           : all;
    const size_t core_size = minimum > bound ? minimum - bound : 0;

    Item core;
    core.gang = &gang;
    core.is_wish_ignored = IsWishIgnored(gang, node_, policy_);
    core.keeps_place = gang.is_started;
    // If pods of the gang run already, they do not wait for missing ones.
    core.is_complete = unbound.size() >= core_size || bound > 0;
    const size_t in_core = std::min(core_size, unbound.size());
    for (size_t i = 0; i < unbound.size(); ++i) {
      const int64_t gpus = core.is_wish_ignored ? 0 : unbound[i]->requests.gpus;
      if (i < in_core) {
        core.pods.push_back(unbound[i]);
        core.need += gpus;
        continue;
      }
      Item extra = {&gang, {unbound[i]}, core.is_wish_ignored, true, true, false, gpus};
      items_.push_back(std::move(extra));
    }
    if (!core.pods.empty()) items_.push_back(std::move(core));
  }

  bool FitsSoftly(const Item& item) const {
    Requests sum;
    for (const Pod* pod : item.pods) sum += pod->requests;
    return sum.cpu_milli <= free_cpu_ && sum.memory <= free_memory_;
  }

  bool Before(const Item& a, const Item& b) const {
    const auto key = [this](const Item& item) {
      return std::tuple(!item.keeps_place, -static_cast<int64_t>(item.gang->priority),
                        item.gang->created, !FitsSoftly(item), std::string_view(item.gang->key),
                        item.is_extra);
    };
    return key(a) < key(b);
  }

  int64_t Available() const {
    return std::max<int64_t>(0, static_cast<int64_t>(free_.size()) - kept_);
  }

  void Decide(const Item& item) {
    if (item.is_extra && IsWaiting(*item.gang)) return AddToWaiting(item);
    if (node_.is_cordoned) return Wait(item, Cordoned(node_), false);
    if (!item.is_complete || (item.need > 0 && !node_.are_gpus_known)) {
      if (item.keeps_place && item.need > 0) {
        kept_ += item.need;
        AddHolder(*item.gang);
      }
      return Wait(item, "", false);
    }
    if (item.need == 0) return Start(item);
    const int64_t total = static_cast<int64_t>(node_.gpus.size());
    if (item.need > total) return Wait(item, NeverFits(item.need, node_), false);
    if (item.need > Available()) {
      const int64_t in_use = total - Available();
      if (head_ == nullptr && !item.is_extra) {
        head_ = &item;
        ReserveForHead();
      }
      return Wait(item,
                  InUse(item.need, in_use, node_, Holders(*item.gang), {++places_, SureStart()}),
                  locked_elsewhere_ > 0);
    }
    if (head_ != nullptr && !MayOvertake(item)) {
      return Wait(
          item, KeptFor(item.need, Available(), node_, head_->gang->key, {++places_, std::nullopt}),
          locked_elsewhere_ > 0);
    }
    Start(item);
  }

  bool MayOvertake(const Item& item) const {
    if (item.need <= reservation_.spare) return true;
    const std::optional<base::Time> ends_by = EndsBy(*item.gang, now_);
    return ends_by && reservation_.sure_start && *ends_by <= *reservation_.sure_start;
  }

  void ReserveForHead() {
    std::vector<Release> others;
    for (const auto& [gang, release] : releases_) {
      if (gang != head_->gang) others.push_back(release);
    }
    reservation_ = Reserve(head_->need, Available(), others);
  }

  void Start(const Item& item) {
    int64_t wish = 0;
    bool is_holding = false;
    for (const Pod* pod : item.pods) {
      Binding binding{pod->uid, {}};
      wish += pod->requests.gpus;
      const int64_t count = item.is_wish_ignored ? 0 : pod->requests.gpus;
      binding.gpus.assign(free_.begin(), free_.begin() + count);
      free_.erase(free_.begin(), free_.begin() + count);
      if (count > 0) {
        releases_.push_back({item.gang, {count, EndsBy(*item.gang, now_)}});
        is_holding = true;
      }
      decision_.bindings.push_back(std::move(binding));
    }
    if (is_holding) AddHolder(*item.gang);
    if (item.is_wish_ignored && wish > 0 && !item.is_extra) {
      decision_.warnings.push_back({item.gang->key, WishIgnored(wish, node_, policy_)});
    }
    if (head_ != nullptr && item.need > 0) ReserveForHead();
  }

  // Only what the next call will certainly report again: a deadline counts from the start.
  static Holder HolderOf(const Gang& gang) {
    if (!gang.active_deadline || !gang.active_since) return {gang.key, std::nullopt};
    return {gang.key, *gang.active_since + *gang.active_deadline};
  }

  void AddHolder(const Gang& gang) {
    if (IsHolder(gang.key)) return;
    holders_.insert(holders_.end() - holders_elsewhere_, HolderOf(gang));
  }

  bool IsHolder(std::string_view key) const {
    return std::any_of(holders_.begin(), holders_.end(),
                       [key](const Holder& holder) { return holder.name == key; });
  }

  // When the first in the queue starts, if all gangs that it waits for have deadlines.
  std::optional<base::Time> SureStart() const {
    const bool all_have_deadlines =
        std::all_of(holders_.begin(), holders_.end(),
                    [](const Holder& holder) { return holder.ends_by.has_value(); });
    return all_have_deadlines ? reservation_.sure_start : std::nullopt;
  }

  bool IsWaiting(const Gang& gang) const {
    return std::any_of(decision_.waiting.begin(), decision_.waiting.end(),
                       [&](const Waiting& waiting) { return waiting.gang == gang.key; });
  }

  void Wait(const Item& item, std::string message, bool wants_locked_gpu) {
    Waiting waiting{item.gang->key, {}, std::move(message), wants_locked_gpu};
    for (const Pod* pod : item.pods) waiting.pod_uids.push_back(pod->uid);
    decision_.waiting.push_back(std::move(waiting));
  }

  void AddToWaiting(const Item& item) {
    for (Waiting& waiting : decision_.waiting) {
      if (waiting.gang != item.gang->key) continue;
      for (const Pod* pod : item.pods) waiting.pod_uids.push_back(pod->uid);
      return;
    }
  }

  // The users of the GPUs that `gang` waits for: other gangs, otherwise the gang itself.
  std::vector<Holder> Holders(const Gang& gang) const {
    std::vector<Holder> others;
    for (const Holder& holder : holders_) {
      if (holder.name != gang.key) others.push_back(holder);
    }
    return others.empty() ? holders_ : others;
  }

  const Node& node_;
  const std::vector<Gang>& gangs_;
  const GpuPolicy policy_;
  const base::Time now_;

  std::vector<int> free_;  // ascending
  int64_t kept_ = 0;       // of free_: reserved for started gangs
  int64_t locked_elsewhere_ = 0;
  std::ptrdiff_t holders_elsewhere_ = 0;  // the last entries of holders_
  int64_t free_cpu_ = 0;
  int64_t free_memory_ = 0;
  std::vector<std::pair<const Gang*, Release>> releases_;
  std::vector<Holder> holders_;
  std::vector<Item> items_;
  const Item* head_ = nullptr;  // in items_, which no longer changes
  Reservation reservation_;
  int places_ = 0;  // places in the queue that are taken
  Decision decision_;
};

}  // namespace

Decision Schedule(const Node& node, const std::vector<Gang>& gangs, GpuPolicy policy,
                  base::Time now) {
  return Pass(node, gangs, policy, now).Run();
}

}  // namespace local::scheduler
