#include "net/curl/error_words.h"

#include <curl/curl.h>
#include <fmt/format.h>
#include <openssl/x509_vfy.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/strings.h"

namespace net {
namespace {

using base::Code;

bool Holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Leaves out a proxy's password.
std::string_view ProxyName(std::string_view proxy) {
  const size_t scheme = proxy.find("://");
  if (scheme != std::string_view::npos) proxy.remove_prefix(scheme + 3);
  const size_t login = proxy.rfind('@');
  if (login != std::string_view::npos) proxy.remove_prefix(login + 1);
  return proxy;
}

// Where the server's address comes from.
std::string_view Address(const CurlFailure& failure) {
  return failure.is_of_kubeconfig ? "server in the kubeconfig" : "the address";
}

base::Error Untrusted(const CurlFailure& failure, const std::string& server) {
  const auto untrusted = [&](std::string_view why) {
    return base::Error{Code::kInvalidArgument,
                       fmt::format("the certificate of {} is not trusted: {}", server, why), 0};
  };
  const bool is_ours = failure.is_of_kubeconfig;
  const std::string_view other_name =
      is_ours ? "it is for another name: correct server in the kubeconfig, or name the "
                "certificate's with tls-server-name"
              : "it is for another name";
  // libcurl compares names itself, and leaves OpenSSL's verdict unset then.
  if (Holds(failure.detail, "subject name")) return untrusted(other_name);
  switch (failure.verify_result) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return untrusted("it has expired (is this machine's clock right?)");
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return untrusted("it is not valid yet (is this machine's clock right?)");
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      return untrusted(is_ours ? "it is signed by an authority that certificate-authority in the "
                                 "kubeconfig does not contain"
                               : "it is signed by an authority that is not known here");
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return untrusted(is_ours ? "its signature is wrong: certificate-authority in the kubeconfig "
                                 "is of another cluster"
                               : "its signature is wrong");
    case X509_V_ERR_CERT_REVOKED:
      return untrusted("it was revoked");
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return untrusted(other_name);
    default:
      return untrusted(::X509_verify_cert_error_string(failure.verify_result));
  }
}

// Whether nobody answered at all. libcurl mostly tells no error then.
bool IsSilence(int os_errno) {
  return os_errno == 0 || os_errno == EINPROGRESS || os_errno == ETIMEDOUT;
}

std::string WhyNotConnected(int os_errno, const std::string& to) {
  if (os_errno == ECONNREFUSED) return fmt::format("nothing listens at {}", to);
  if (IsSilence(os_errno)) return fmt::format("{} did not answer", to);
  return fmt::format("{} cannot be reached: {}", to, std::strerror(os_errno));
}

base::Error NotConnected(const CurlFailure& failure, const std::string& server) {
  std::string message = WhyNotConnected(failure.os_errno, server);
  if (failure.os_errno == ECONNREFUSED) {
    message += fmt::format(": is {} right?", failure.is_of_kubeconfig
                                                 ? "the cluster up, and is server in the kubeconfig"
                                                 : "it up, and is the address");
  } else if (IsSilence(failure.os_errno)) {
    message += fmt::format(": is the network (or VPN) up, and is {} right?", Address(failure));
  }
  return {Code::kUnavailable, std::move(message), failure.os_errno};
}

// Where a proxy's URL comes from.
base::Error ProxyFailed(const CurlFailure& failure, const std::string& what) {
  return {Code::kUnavailable,
          fmt::format("{}: see HTTPS_PROXY{}", what,
                      failure.is_of_kubeconfig ? ", and proxy-url in the kubeconfig" : ""),
          failure.os_errno};
}

base::Error ProxyNotConnected(const CurlFailure& failure, std::string_view proxy) {
  if (Holds(failure.detail, "Unsupported proxy")) {
    return ProxyFailed(failure,
                       fmt::format("the URL of the proxy {} has an unknown scheme", proxy));
  }
  return ProxyFailed(failure,
                     WhyNotConnected(failure.os_errno, fmt::format("the proxy {}", proxy)));
}

// For a handshake that failed, or a connection that an alert ended.
base::Error TlsFailed(const CurlFailure& failure, const std::string& server) {
  const std::string_view detail = failure.detail;
  if (Holds(detail, "wrong version number") || Holds(detail, "packet length too long") ||
      Holds(detail, "http request")) {
    return {Code::kInvalidArgument,
            fmt::format("{} does not speak TLS: {} says https, the server there http", server,
                        Address(failure)),
            0};
  }
  if (Holds(detail, "alert")) {
    return {Code::kUnauthenticated,
            fmt::format("{} refused the connection's TLS: {} (a client certificate that has "
                        "expired or is of another cluster?)",
                        server, detail),
            0};
  }
  return {Code::kUnavailable, fmt::format("TLS with {} failed: {}", server, detail), 0};
}

base::Error TimedOut(const std::string& server) {
  return {Code::kTimeout,
          fmt::format("{} took the connection and then did not answer in time", server), 0};
}

}  // namespace

base::Error ErrorFromCurl(const CurlFailure& failure, const Url& url, const std::string& proxy) {
  const std::string server = url.Authority();
  const auto not_connected = [&] {
    return proxy.empty() ? NotConnected(failure, server)
                         : ProxyNotConnected(failure, ProxyName(proxy));
  };
  switch (failure.curl_code) {
    case CURLE_COULDNT_RESOLVE_HOST:
      return {Code::kUnavailable,
              fmt::format("no address is known of {}: is {} right, and is DNS (or the VPN) up?",
                          url.host, Address(failure)),
              0};
    case CURLE_COULDNT_RESOLVE_PROXY:
      return ProxyFailed(failure,
                         fmt::format("no address is known of the proxy {}", ProxyName(proxy)));
    case CURLE_COULDNT_CONNECT:
      return not_connected();
    case CURLE_PROXY:
      return {Code::kUnavailable,
              fmt::format("the proxy {} refused to connect to {}: {}", ProxyName(proxy), server,
                          failure.detail),
              0};
    case CURLE_OPERATION_TIMEDOUT:
      return failure.was_connected ? TimedOut(server) : not_connected();
    case CURLE_PEER_FAILED_VERIFICATION:
      return Untrusted(failure, server);
    case CURLE_SSL_CERTPROBLEM:
      return {Code::kInvalidArgument,
              fmt::format("the client certificate or its key cannot be used: {}", failure.detail),
              0};
    case CURLE_SSL_CACERT_BADFILE:
      return {Code::kInvalidArgument,
              failure.is_of_kubeconfig
                  ? "certificate-authority of the kubeconfig contains no readable certificate"
                  : "the file of trusted authorities contains no readable certificate",
              0};
    case CURLE_SSL_CONNECT_ERROR:
      return TlsFailed(failure, server);
    default:
      break;
  }
  if (!proxy.empty() && Holds(failure.detail, "CONNECT")) {
    return {Code::kUnavailable,
            fmt::format("the proxy {} refused to connect to {}: {}", ProxyName(proxy), server,
                        failure.detail),
            0};
  }
  if (Holds(failure.detail, "alert")) return TlsFailed(failure, server);
  return {Code::kUnavailable, fmt::format("the connection to {} broke: {}", server, failure.detail),
          failure.os_errno};
}

}  // namespace net
