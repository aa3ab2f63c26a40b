// Lines of Prometheus' text format.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace controller {

inline std::string Head(std::string_view name, std::string_view type, std::string_view help) {
  return fmt::format("# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
}

template <typename T>
std::string One(std::string_view name, std::string_view type, std::string_view help, T value) {
  return Head(name, type, help) + fmt::format("{} {}\n", name, value);
}

// Prints `labels` in braces.
template <typename T>
std::string One(std::string_view name, std::string_view labels, std::string_view type,
                std::string_view help, T value) {
  return Head(name, type, help) + fmt::format("{}{} {}\n", name, labels, value);
}

}  // namespace controller
