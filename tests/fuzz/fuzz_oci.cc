#include "ads/oci/bucket.h"
#include "ads/oci/data_science.h"
#include "ads/oci/instance_identity.h"
#include "ads/oci/principal.h"
#include "ads/oci/profile.h"
#include "ads/oci/service_error.h"
#include "ads/oci/signature.h"
#include "check.h"
#include "text/web_token.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ads::oci;  // NOLINT(google-build-using-namespace)
  const std::string_view input(reinterpret_cast<const char*>(data), size);

  const auto profile = ParseProfile(input, "/p", "DEFAULT", "/home");
  if (!profile) {
    fuzz::Hold("an error says something", !profile.error().message.empty());
  } else if (CheckProfile(*profile, ProfileUse::kApiKey)) {
    fuzz::Hold("a checked profile is whole", !profile->user.empty() && !profile->region.empty() &&
                                                 profile->fingerprint.size() == 47);
  }

  (void)text::ExpiryOfToken(input);
  if (const auto token = TokenOf(input)) fuzz::Hold("a token says something", !token->empty());
  if (const auto identity = InstanceIdentity::Read(input, Secret(), input); !identity) {
    fuzz::Hold("an error says something", !identity.error().message.empty());
  }
  (void)KindOfOcid(input);
  if (const auto time = ParseHttpDate(input)) {
    fuzz::Hold("a date reads back", ParseHttpDate(FormatHttpDate(*time)) == time);
  }
  if (const auto uri = ParseBucketUri(input)) {
    const auto again =
        ParseBucketUri("oci://" + uri->bucket + "@" + uri->name_space + "/" + uri->prefix);
    fuzz::Hold("a URI reads back", again && again->bucket == uri->bucket &&
                                       again->name_space == uri->name_space &&
                                       again->prefix == uri->prefix);
  }

  const net::HttpResponse answer{401, {{"date", std::string(input)}}, std::string(input)};
  const base::Error error = ErrorFromService(answer, {"s", "o", "a", base::Time()});
  fuzz::Hold("an error is one line", error.message.find('\n') == std::string::npos);
  if (const auto value = text::ParseJson(input)) (void)ReadJobRun(*value);
  return 0;
}
