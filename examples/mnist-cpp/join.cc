#include "join.h"

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

namespace {

constexpr std::chrono::minutes kPatience{5};

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

int Number(const char* name, int otherwise) {
  const std::string value = Variable(name);
  if (value.empty()) return otherwise;
  if (value.size() > 9 || value.find_first_not_of("0123456789") != std::string::npos) {
    throw std::runtime_error(std::string(name) + "=\"" + value + "\" is not a number");
  }
  return std::stoi(value);
}

}  // namespace

Place PlaceFromEnvironment() {
  const Place place{Number("RANK", 0), Number("WORLD_SIZE", 1)};
  if (place.rank >= place.world_size) {
    throw std::runtime_error(
        "RANK=" + std::to_string(place.rank) +
        " is none of the ranks of WORLD_SIZE=" + std::to_string(place.world_size));
  }
  return place;
}

c10::intrusive_ptr<c10d::ProcessGroupGloo> Join(const Place& place) {
  const std::string host = Variable("MASTER_ADDR");
  const int port = Number("MASTER_PORT", 0);
  if (host.empty() || port < 1 || port > 65535) {
    throw std::runtime_error("WORLD_SIZE is " + std::to_string(place.world_size) +
                             ", and MASTER_ADDR and MASTER_PORT name no place to meet");
  }
  // A launcher keeps the store itself, and a start after a failure begins with other names.
  const bool is_agents = Variable("TORCHELASTIC_USE_AGENT_STORE") == "True";
  const auto store = c10::make_intrusive<c10d::TCPStore>(
      host, static_cast<uint16_t>(port), c10::nullopt, !is_agents && place.rank == 0, kPatience,
      /*waitWorkers=*/false);
  const auto own = c10::make_intrusive<c10d::PrefixStore>(
      "mnist-cpp/" + std::to_string(Number("TORCHELASTIC_RESTART_COUNT", 0)), store);
  const auto options = c10d::ProcessGroupGloo::Options::create(kPatience);
  options->devices.push_back(c10d::ProcessGroupGloo::createDefaultDevice());
  return c10::make_intrusive<c10d::ProcessGroupGloo>(own, place.rank, place.world_size, options);
}
