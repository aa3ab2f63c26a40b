// Oracle's regions and realms: facts of oci-python-sdk 2.189.0 (oci/regions_definitions.py, July
// 2026). OCI_REGION_METADATA or ~/.oci/regions-config.json describe later ones.
#pragma once

#include <array>
#include <string_view>

namespace ads::oci {

struct RealmRow {
  std::string_view key, domain;
};
inline constexpr std::array kRealmTable = {
    RealmRow{"oc1", "oraclecloud.com"},    RealmRow{"oc2", "oraclegovcloud.com"},
    RealmRow{"oc3", "oraclegovcloud.com"}, RealmRow{"oc4", "oraclegovcloud.uk"},
    RealmRow{"oc8", "oraclecloud8.com"},   RealmRow{"oc9", "oraclecloud9.com"},
    RealmRow{"oc10", "oraclecloud10.com"}, RealmRow{"oc14", "oraclecloud14.com"},
    RealmRow{"oc15", "oraclecloud15.com"}, RealmRow{"oc19", "oraclecloud.eu"},
    RealmRow{"oc20", "oraclecloud20.com"}, RealmRow{"oc21", "oraclecloud21.com"},
    RealmRow{"oc23", "oraclecloud23.com"}, RealmRow{"oc24", "oraclecloud24.com"},
    RealmRow{"oc26", "oraclecloud26.com"}, RealmRow{"oc29", "oraclecloud29.com"},
    RealmRow{"oc35", "oraclecloud35.com"}, RealmRow{"oc42", "oraclecloud42.com"},
    RealmRow{"oc51", "oraclecloud51.com"}, RealmRow{"oc52", "oraclecloud52.com"},
};

struct RegionRow {
  std::string_view key, name, realm;
};
inline constexpr std::array kRegionTable = {
    RegionRow{"lej", "af-casablanca-1", "oc1"},    RegionRow{"jnb", "af-johannesburg-1", "oc1"},
    RegionRow{"hsg", "ap-batam-1", "oc1"},         RegionRow{"yny", "ap-chuncheon-1", "oc1"},
    RegionRow{"onm", "ap-delhi-1", "oc1"},         RegionRow{"hyd", "ap-hyderabad-1", "oc1"},
    RegionRow{"jbp", "ap-kulai-2", "oc1"},         RegionRow{"mel", "ap-melbourne-1", "oc1"},
    RegionRow{"bom", "ap-mumbai-1", "oc1"},        RegionRow{"kix", "ap-osaka-1", "oc1"},
    RegionRow{"icn", "ap-seoul-1", "oc1"},         RegionRow{"sin", "ap-singapore-1", "oc1"},
    RegionRow{"xsp", "ap-singapore-2", "oc1"},     RegionRow{"syd", "ap-sydney-1", "oc1"},
    RegionRow{"nrt", "ap-tokyo-1", "oc1"},         RegionRow{"yul", "ca-montreal-1", "oc1"},
    RegionRow{"yyz", "ca-toronto-1", "oc1"},       RegionRow{"ams", "eu-amsterdam-1", "oc1"},
    RegionRow{"fra", "eu-frankfurt-1", "oc1"},     RegionRow{"mad", "eu-madrid-1", "oc1"},
    RegionRow{"orf", "eu-madrid-3", "oc1"},        RegionRow{"mrs", "eu-marseille-1", "oc1"},
    RegionRow{"lin", "eu-milan-1", "oc1"},         RegionRow{"cdg", "eu-paris-1", "oc1"},
    RegionRow{"arn", "eu-stockholm-1", "oc1"},     RegionRow{"nrq", "eu-turin-1", "oc1"},
    RegionRow{"zrh", "eu-zurich-1", "oc1"},        RegionRow{"mtz", "il-jerusalem-1", "oc1"},
    RegionRow{"auh", "me-abudhabi-1", "oc1"},      RegionRow{"dxb", "me-dubai-1", "oc1"},
    RegionRow{"jed", "me-jeddah-1", "oc1"},        RegionRow{"ruh", "me-riyadh-1", "oc1"},
    RegionRow{"mty", "mx-monterrey-1", "oc1"},     RegionRow{"qro", "mx-queretaro-1", "oc1"},
    RegionRow{"bog", "sa-bogota-1", "oc1"},        RegionRow{"scl", "sa-santiago-1", "oc1"},
    RegionRow{"gru", "sa-saopaulo-1", "oc1"},      RegionRow{"vap", "sa-valparaiso-1", "oc1"},
    RegionRow{"vcp", "sa-vinhedo-1", "oc1"},       RegionRow{"cwl", "uk-cardiff-1", "oc1"},
    RegionRow{"lhr", "uk-london-1", "oc1"},        RegionRow{"iad", "us-ashburn-1", "oc1"},
    RegionRow{"ord", "us-chicago-1", "oc1"},       RegionRow{"phx", "us-phoenix-1", "oc1"},
    RegionRow{"aga", "us-saltlake-2", "oc1"},      RegionRow{"sjc", "us-sanjose-1", "oc1"},
    RegionRow{"lfi", "us-langley-1", "oc2"},       RegionRow{"luf", "us-luke-1", "oc2"},
    RegionRow{"ric", "us-gov-ashburn-1", "oc3"},   RegionRow{"pia", "us-gov-chicago-1", "oc3"},
    RegionRow{"tus", "us-gov-phoenix-1", "oc3"},   RegionRow{"brs", "uk-gov-cardiff-1", "oc4"},
    RegionRow{"ltn", "uk-gov-london-1", "oc4"},    RegionRow{"nja", "ap-chiyoda-1", "oc8"},
    RegionRow{"ukb", "ap-ibaraki-1", "oc8"},       RegionRow{"mct", "me-dcc-muscat-1", "oc9"},
    RegionRow{"ibr", "me-ibri-1", "oc9"},          RegionRow{"wga", "ap-dcc-canberra-1", "oc10"},
    RegionRow{"ork", "eu-dcc-dublin-1", "oc14"},   RegionRow{"snn", "eu-dcc-dublin-2", "oc14"},
    RegionRow{"bgy", "eu-dcc-milan-1", "oc14"},    RegionRow{"mxp", "eu-dcc-milan-2", "oc14"},
    RegionRow{"dus", "eu-dcc-rating-1", "oc14"},   RegionRow{"dtm", "eu-dcc-rating-2", "oc14"},
    RegionRow{"dac", "ap-dcc-gazipur-1", "oc15"},  RegionRow{"str", "eu-frankfurt-2", "oc19"},
    RegionRow{"vll", "eu-madrid-2", "oc19"},       RegionRow{"beg", "eu-jovanovac-1", "oc20"},
    RegionRow{"vve", "me-alrayyan-1", "oc21"},     RegionRow{"doh", "me-dcc-doha-1", "oc21"},
    RegionRow{"ebb", "us-somerset-1", "oc23"},     RegionRow{"ebl", "us-thames-1", "oc23"},
    RegionRow{"avf", "eu-crissier-1", "oc24"},     RegionRow{"avz", "eu-dcc-zurich-1", "oc24"},
    RegionRow{"ahu", "me-abudhabi-3", "oc26"},     RegionRow{"rba", "me-alain-1", "oc26"},
    RegionRow{"rkt", "me-abudhabi-2", "oc29"},     RegionRow{"shj", "me-abudhabi-4", "oc29"},
    RegionRow{"bno", "ap-chuncheon-2", "oc35"},    RegionRow{"dtz", "ap-seoul-2", "oc35"},
    RegionRow{"dln", "ap-suwon-1", "oc35"},        RegionRow{"yxj", "us-ashburn-2", "oc42"},
    RegionRow{"pgc", "us-newark-1", "oc42"},       RegionRow{"jsk", "eu-budapest-1", "oc51"},
    RegionRow{"hnw", "sa-riodejaneiro-1", "oc52"},
};

}  // namespace ads::oci
