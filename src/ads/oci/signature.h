// Signs requests to Oracle's cloud (compat/opctl.md 5.4): HTTP signatures, version 1.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ads/oci/private_key.h"
#include "base/clock.h"
#include "base/result.h"
#include "net/http/types.h"

namespace ads::oci {

// Whether the body of a POST, PUT or PATCH is signed; those of object uploads are not.
enum class SignedBody { kYes, kNo };

// The names of the signed headers, as listed in the Authorization header.
std::string SignedHeaders(std::string_view method, SignedBody body);
// The text to sign, made from the request's headers, its target and its body's length.
std::string SigningString(const net::HttpRequest& request, std::string_view signed_headers);

// The Authorization header's value.
std::string AuthorizationHeader(std::string_view signed_headers, std::string_view key_id,
                                std::string_view signature);

// Adds date, host (of the endpoint: "host" or "host:port"), x-content-sha256 if the body is signed,
// and authorization. The request must have its content-type.
base::Status SignRequest(net::HttpRequest& request, const std::string& host, SignedBody body,
                         const std::string& key_id, const PrivateKey& key, base::Time now);

// "Thu, 05 Jan 2014 21:31:40 GMT" (RFC 9110, 5.6.7), and the inverse; nullopt when malformed.
std::string FormatHttpDate(base::Time time);
std::optional<base::Time> ParseHttpDate(std::string_view text);

}  // namespace ads::oci
