#include "ads/oci/region.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/strings.h"

namespace ads::oci {
namespace {

using base::Code;
using base::Fail;

struct ShortRegion {
  std::string_view key, name;
};
constexpr std::array kShortRegions = {
    ShortRegion{"phx", "us-phoenix-1"},   ShortRegion{"iad", "us-ashburn-1"},
    ShortRegion{"sjc", "us-sanjose-1"},   ShortRegion{"ord", "us-chicago-1"},
    ShortRegion{"fra", "eu-frankfurt-1"}, ShortRegion{"lhr", "uk-london-1"},
    ShortRegion{"cwl", "uk-cardiff-1"},   ShortRegion{"ams", "eu-amsterdam-1"},
    ShortRegion{"zrh", "eu-zurich-1"},    ShortRegion{"cdg", "eu-paris-1"},
    ShortRegion{"mrs", "eu-marseille-1"}, ShortRegion{"lin", "eu-milan-1"},
    ShortRegion{"mad", "eu-madrid-1"},    ShortRegion{"arn", "eu-stockholm-1"},
    ShortRegion{"yyz", "ca-toronto-1"},   ShortRegion{"yul", "ca-montreal-1"},
    ShortRegion{"gru", "sa-saopaulo-1"},  ShortRegion{"vcp", "sa-vinhedo-1"},
    ShortRegion{"scl", "sa-santiago-1"},  ShortRegion{"vap", "sa-valparaiso-1"},
    ShortRegion{"bog", "sa-bogota-1"},    ShortRegion{"qro", "mx-queretaro-1"},
    ShortRegion{"mty", "mx-monterrey-1"}, ShortRegion{"nrt", "ap-tokyo-1"},
    ShortRegion{"kix", "ap-osaka-1"},     ShortRegion{"icn", "ap-seoul-1"},
    ShortRegion{"yny", "ap-chuncheon-1"}, ShortRegion{"bom", "ap-mumbai-1"},
    ShortRegion{"hyd", "ap-hyderabad-1"}, ShortRegion{"sin", "ap-singapore-1"},
    ShortRegion{"syd", "ap-sydney-1"},    ShortRegion{"mel", "ap-melbourne-1"},
    ShortRegion{"jed", "me-jeddah-1"},    ShortRegion{"ruh", "me-riyadh-1"},
    ShortRegion{"dxb", "me-dubai-1"},     ShortRegion{"auh", "me-abudhabi-1"},
    ShortRegion{"mtz", "il-jerusalem-1"}, ShortRegion{"jnb", "af-johannesburg-1"},
};

// Regions of other realms than the commercial one, by how their names begin.
struct Realm {
  std::string_view prefix, domain;
};
constexpr std::array kRealms = {
    Realm{"us-langley-", "oraclegovcloud.com"}, Realm{"us-luke-", "oraclegovcloud.com"},
    Realm{"us-gov-", "oraclegovcloud.com"},     Realm{"uk-gov-", "oraclegovcloud.uk"},
    Realm{"ap-chiyoda-", "oraclecloud8.com"},   Realm{"ap-ibaraki-", "oraclecloud8.com"},
    Realm{"me-dcc-", "oraclecloud9.com"},       Realm{"ap-dcc-", "oraclecloud10.com"},
    Realm{"eu-dcc-", "oraclecloud14.com"},      Realm{"eu-frankfurt-2", "oraclecloud.eu"},
    Realm{"eu-madrid-2", "oraclecloud.eu"},
};

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

bool IsThisMachine(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
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
  for (const ShortRegion& known : kShortRegions) {
    if (known.key == lower) return std::string(known.name);
  }
  return lower;
}

base::Result<net::Url> EndpointOf(Service service, std::string_view region,
                                  const base::Environment& environment) {
  constexpr const char* kDataScienceVariable = "OCI_ODSC_SERVICE_ENDPOINT";
  constexpr const char* kAllVariable = "MUSTER_OCI_ENDPOINT";
  if (const auto url = environment.Get(kDataScienceVariable);
      url && service == Service::kDataScience) {
    return Override(kDataScienceVariable, *url);
  }
  if (const auto url = environment.Get(kAllVariable)) return Override(kAllVariable, *url);
  const std::string name = RegionName(region);
  const bool is_host_name = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return base::IsDigit(c) || (c >= 'a' && c <= 'z') || c == '-';
  });
  if (!is_host_name) {
    return Fail(Code::kInvalidArgument, fmt::format("\"{}\" is no region: us-ashburn-1", region));
  }
  std::string domain = environment.GetOr("OCI_DEFAULT_REALM", "oraclecloud.com");
  for (const Realm& realm : kRealms) {
    if (name.starts_with(realm.prefix)) domain = realm.domain;
  }
  const ServiceHost& host = HostOf(service);
  return net::ParseUrl(fmt::format("https://{}.{}.{}{}", host.prefix, name,
                                   host.is_under_oci ? "oci." : "", domain));
}

}  // namespace ads::oci
