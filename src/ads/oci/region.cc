#include "ads/oci/region.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "ads/oci/region_table.h"
#include "base/file.h"
#include "base/strings.h"
#include "text/json.h"

namespace ads::oci {
namespace {

using base::Code;
using base::Fail;

constexpr size_t kMaxRegionsFile = 1 << 20;

// Another source's description of a region, in the SDK's terms (oci/regions.py of oci-python-sdk).
struct GivenRegion {
  std::string key, name, domain;
};

std::optional<GivenRegion> ReadGivenRegion(const text::Json& value) {
  const auto get = [&](std::string_view name) {
    return base::ToLower(base::Trim(text::GetString(value, {name})));
  };
  GivenRegion given{get("regionKey"), get("regionIdentifier"), get("realmDomainComponent")};
  if (given.key.empty() || given.name.empty() || given.domain.empty()) return std::nullopt;
  return given;
}

// From ~/.oci/regions-config.json, then from OCI_REGION_METADATA; unreadable ones are ignored.
std::vector<GivenRegion> GivenRegions(const base::Environment& environment) {
  std::vector<GivenRegion> regions;
  const auto add = [&](const text::Json& value) {
    if (auto given = ReadGivenRegion(value)) regions.push_back(std::move(*given));
  };
  const auto file =
      base::ReadFile(environment.Home() + "/.oci/regions-config.json", kMaxRegionsFile);
  if (const auto parsed = file ? text::ParseJson(*file) : text::Json(nullptr);
      parsed && parsed->is_array()) {
    for (const text::Json& one : *parsed->if_array()) add(one);
  }
  if (const auto variable = environment.Get("OCI_REGION_METADATA")) {
    if (const auto parsed = text::ParseJson(*variable)) add(*parsed);
  }
  return regions;
}

const RegionRow* FindRegion(std::string_view region) {
  const auto* const found =
      std::find_if(kRegionTable.begin(), kRegionTable.end(),
                   [&](const RegionRow& row) { return row.key == region || row.name == region; });
  return found == kRegionTable.end() ? nullptr : found;
}

// A region's full name, and the second-level domain of its realm.
struct Place {
  std::string name, domain;
};

// Regions that are not in the table are looked up elsewhere; otherwise they belong to
// OCI_DEFAULT_REALM or to the commercial realm.
Place PlaceOf(std::string_view region, const base::Environment& environment) {
  const std::string lower = base::ToLower(base::Trim(region));
  if (const RegionRow* const row = FindRegion(lower)) {
    const auto* const realm =
        std::find_if(kRealmTable.begin(), kRealmTable.end(),
                     [&](const RealmRow& one) { return one.key == row->realm; });
    return {std::string(row->name), std::string(realm->domain)};
  }
  for (const GivenRegion& given : GivenRegions(environment)) {
    if (given.key == lower || given.name == lower) return {given.name, given.domain};
  }
  return {lower, environment.GetOr("OCI_DEFAULT_REALM", "oraclecloud.com")};
}

struct ServiceHost {
  Service service;
  std::string_view name, prefix;
  bool is_under_oci;
};
constexpr std::array kServiceHosts = {
    ServiceHost{Service::kDataScience, "data_science", "datascience", true},
    ServiceHost{Service::kLogging, "loggingsearch", "logging", true},
    ServiceHost{Service::kLogManagement, "logging_management", "logging", true},
    ServiceHost{Service::kObjectStorage, "object_storage", "objectstorage", false},
    ServiceHost{Service::kNetwork, "virtual_network", "iaas", false},
    ServiceHost{Service::kSecrets, "secrets", "secrets.vaults", true},
    ServiceHost{Service::kAuth, "auth", "auth", false},
};

const ServiceHost& HostOf(Service service) {
  return *std::find_if(kServiceHosts.begin(), kServiceHosts.end(),
                       [&](const ServiceHost& host) { return host.service == service; });
}

// Lower-case letters, digits and the characters of `also`.
bool IsHostName(std::string_view name, std::string_view also) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [&](char c) {
    return base::IsDigit(c) || (c >= 'a' && c <= 'z') || also.find(c) != also.npos;
  });
}

bool IsThisMachine(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

constexpr const char* kDataScienceVariable = "OCI_ODSC_SERVICE_ENDPOINT";
constexpr const char* kAllVariable = "MUSTER_OCI_ENDPOINT";

// The variable that replaces the service's endpoint; nullptr: none.
const char* OverridingVariable(Service service, const base::Environment& environment) {
  for (const char* variable : {kDataScienceVariable, kAllVariable}) {
    const bool is_its_own = service == Service::kDataScience || variable == kAllVariable;
    if (is_its_own && environment.Get(variable)) return variable;
  }
  return nullptr;
}

base::Result<net::Url> Override(const char* variable, const std::string& value) {
  auto url = net::ParseUrl(value);
  if (!url) return Fail(url.error().Wrap(variable));
  if (url->scheme == "http" && !IsThisMachine(url->host)) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: {} sends tokens unencrypted: use https", variable, value));
  }
  return url;
}

}  // namespace

std::string_view ServiceName(Service service) { return HostOf(service).name; }

std::string RegionName(std::string_view region) {
  const std::string lower = base::ToLower(base::Trim(region));
  const RegionRow* const row = FindRegion(lower);
  return row != nullptr ? std::string(row->name) : lower;
}

base::Result<net::Url> EndpointOf(Service service, std::string_view region,
                                  const base::Environment& environment) {
  if (const char* const variable = OverridingVariable(service, environment)) {
    return Override(variable, environment.GetOr(variable, ""));
  }
  const Place place = PlaceOf(region, environment);
  if (!IsHostName(place.name, "-")) {
    return Fail(Code::kInvalidArgument,
                fmt::format("\"{}\" is not a region: us-ashburn-1", region));
  }
  if (!IsHostName(place.domain, "-.")) {
    return Fail(Code::kInvalidArgument,
                fmt::format("\"{}\" is not a domain for region {}: oraclecloud.com", place.domain,
                            place.name));
  }
  const ServiceHost& host = HostOf(service);
  return net::ParseUrl(fmt::format("https://{}.{}.{}{}", host.prefix, place.name,
                                   host.is_under_oci ? "oci." : "", place.domain));
}

bool IsServedHere(Service service, const base::Environment& environment) {
  const char* const variable = OverridingVariable(service, environment);
  if (variable == nullptr) return false;
  const auto url = net::ParseUrl(environment.GetOr(variable, ""));
  return url && IsThisMachine(url->host);
}

}  // namespace ads::oci
