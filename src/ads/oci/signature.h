// How a request to Oracle's cloud is signed (compat/opctl.md 5.4): HTTP signatures, version 1.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ads/oci/private_key.h"
#include "base/clock.h"
#include "base/result.h"
#include "net/http/types.h"

namespace ads::oci {

// Whether a POST, PUT or PATCH has its body signed; uploads of objects have not.
enum class SignedBody { kYes, kNo };

// The names that are signed, as the Authorization header lists them.
std::string SignedHeaders(std::string_view method, SignedBody body);
// The lines that are signed: of the request's headers, its target and its body's length.
std::string SigningString(const net::HttpRequest& request, std::string_view signed_headers);

// The Authorization header's value.
std::string AuthorizationHeader(std::string_view signed_headers, std::string_view key_id,
                                std::string_view signature);

// Adds date, host (of the endpoint: "host" or "host:port"), x-content-sha256 where the body is
// signed, and authorization. The request has its content-type.
base::Status SignRequest(net::HttpRequest& request, const std::string& host, SignedBody body,
                         const std::string& key_id, const PrivateKey& key, base::Time now);

// "Thu, 05 Jan 2014 21:31:40 GMT" (RFC 9110, 5.6.7), and back; nothing when it is no such date.
std::string FormatHttpDate(base::Time time);
std::optional<base::Time> ParseHttpDate(std::string_view text);

}  // namespace ads::oci
