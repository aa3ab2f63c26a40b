// Environment variables with a dict's order: setting one again keeps its place.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ads {

class OrderedEnv {
 public:
  using Entry = std::pair<std::string, std::string>;

  void Set(std::string name, std::string value) {
    for (Entry& entry : entries_) {
      if (entry.first == name) {
        entry.second = std::move(value);
        return;
      }
    }
    entries_.emplace_back(std::move(name), std::move(value));
  }
  void SetAll(const OrderedEnv& others) {
    for (const Entry& entry : others.entries_) Set(entry.first, entry.second);
  }
  // nullptr when absent.
  const std::string* Find(std::string_view name) const {
    for (const Entry& entry : entries_) {
      if (entry.first == name) return &entry.second;
    }
    return nullptr;
  }
  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

 private:
  std::vector<Entry> entries_;
};

}  // namespace ads
