#include "net/curl/error_words.h"

#include <curl/curl.h>
#include <gtest/gtest.h>
#include <openssl/x509_vfy.h>

#include <cerrno>

namespace net {
namespace {

using base::Code;

struct Case {
  CurlFailure failure;
  Code code;
  const char* words;
};

TEST(CurlError, SaysWhatHappenedAndWhatToDo) {
  const Case cases[] = {
      {{CURLE_COULDNT_RESOLVE_HOST, 0, 0, false, "x"},
       Code::kUnavailable,
       "no address is known of k"},
      {{CURLE_COULDNT_CONNECT, ECONNREFUSED, 0, false, "x"},
       Code::kUnavailable,
       "nothing listens at k:6443"},
      {{CURLE_COULDNT_CONNECT, ENETUNREACH, 0, false, "x"},
       Code::kUnavailable,
       "k:6443 cannot be reached: Network is unreachable"},
      {{CURLE_OPERATION_TIMEDOUT, 0, 0, false, "x"}, Code::kUnavailable, "k:6443 did not answer"},
      {{CURLE_OPERATION_TIMEDOUT, 0, 0, true, "x"}, Code::kTimeout, "did not answer in time"},
      {{CURLE_PEER_FAILED_VERIFICATION, 0, X509_V_ERR_CERT_HAS_EXPIRED, false, "x"},
       Code::kInvalidArgument,
       "k:6443 is not trusted: it has expired"},
      {{CURLE_PEER_FAILED_VERIFICATION, 0, X509_V_ERR_CERT_NOT_YET_VALID, false, "x"},
       Code::kInvalidArgument,
       "it is not valid yet"},
      {{CURLE_PEER_FAILED_VERIFICATION, 0, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, false, "x"},
       Code::kInvalidArgument,
       "it is signed by an authority that"},
      {{CURLE_PEER_FAILED_VERIFICATION, 0, 1, false,
        "SSL: no alternative certificate subject name matches target host name 'k'"},
       Code::kInvalidArgument,
       "it is for another name"},
      {{CURLE_SSL_CERTPROBLEM, 0, 0, false, "bad pem"},
       Code::kInvalidArgument,
       "the client certificate or its key cannot be used: bad pem"},
      {{CURLE_SSL_CACERT_BADFILE, 0, 0, false, "x"},
       Code::kInvalidArgument,
       "certificate-authority of the kubeconfig contains no readable certificate"},
      {{CURLE_SSL_CONNECT_ERROR, 0, 0, false, "SSL routines::wrong version number"},
       Code::kInvalidArgument,
       "k:6443 does not speak TLS"},
      {{CURLE_RECV_ERROR, 0, 0, true, "tlsv13 alert certificate required"},
       Code::kUnauthenticated,
       "refused the connection's TLS"},
      {{CURLE_RECV_ERROR, ECONNRESET, 0, true, "reset by peer"},
       Code::kUnavailable,
       "the connection to k:6443 broke: reset by peer"},
  };
  for (const Case& c : cases) {
    const base::Error error = ErrorFromCurl(c.failure, *ParseUrl("https://k:6443"), "");
    EXPECT_EQ(error.code, c.code) << error.message;
    EXPECT_NE(error.message.find(c.words), std::string::npos) << error.message;
  }
}

TEST(CurlError, SpeaksOfNoKubeconfigToWhoGaveAnAddress) {
  const CurlFailure failures[] = {
      {CURLE_COULDNT_RESOLVE_HOST, 0, 0, false, "x", false},
      {CURLE_COULDNT_RESOLVE_PROXY, 0, 0, false, "x", false},
      {CURLE_COULDNT_CONNECT, ECONNREFUSED, 0, false, "x", false},
      {CURLE_OPERATION_TIMEDOUT, 0, 0, false, "x", false},
      {CURLE_PEER_FAILED_VERIFICATION, 0, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, false, "x", false},
      {CURLE_PEER_FAILED_VERIFICATION, 0, X509_V_ERR_CERT_SIGNATURE_FAILURE, false, "x", false},
      {CURLE_PEER_FAILED_VERIFICATION, 0, X509_V_ERR_HOSTNAME_MISMATCH, false, "x", false},
      {CURLE_SSL_CACERT_BADFILE, 0, 0, false, "x", false},
      {CURLE_SSL_CONNECT_ERROR, 0, 0, false, "SSL routines::wrong version number", false},
  };
  for (CurlFailure failure : failures) {
    const std::string plain = ErrorFromCurl(failure, *ParseUrl("https://k"), "").message;
    EXPECT_EQ(plain.find("kubeconfig"), std::string::npos) << plain;
    failure.is_of_kubeconfig = true;
    const std::string of_cluster = ErrorFromCurl(failure, *ParseUrl("https://k"), "").message;
    EXPECT_NE(of_cluster.find("kubeconfig"), std::string::npos) << of_cluster;
  }
}

TEST(CurlError, NamesTheProxyWithoutItsPassword) {
  const Url url = *ParseUrl("https://k:6443");
  const CurlFailure failures[] = {
      {CURLE_COULDNT_RESOLVE_PROXY, 0, 0, false, "x"},
      {CURLE_COULDNT_CONNECT, ECONNREFUSED, 0, false, "x"},
      {CURLE_COULDNT_CONNECT, 0, 0, false,
       "Unsupported proxy scheme for 'foo://tom:secret@p:3128'"},
      {CURLE_OPERATION_TIMEDOUT, 0, 0, false, "x"},
      {CURLE_PROXY, 0, 0, false, "CONNECT tunnel failed"},
      {CURLE_RECV_ERROR, 0, 0, false, "Received HTTP code 407 from proxy after CONNECT"},
  };
  for (const char* proxy : {"http://tom:secret@p:3128", "socks5://tom:secret@p:3128",
                            "socks5h://tom:sec@ret@p:3128", "p:3128"}) {
    for (const CurlFailure& failure : failures) {
      const base::Error error = ErrorFromCurl(failure, url, proxy);
      EXPECT_NE(error.message.find("the proxy p:3128"), std::string::npos) << error.message;
      EXPECT_EQ(error.message.find("sec"), std::string::npos) << error.message;
      EXPECT_EQ(error.message.find("is server in the kubeconfig"), std::string::npos);
    }
  }
  const CurlFailure failure{CURLE_COULDNT_CONNECT, EHOSTUNREACH, 0, false, "x", false};
  EXPECT_EQ(ErrorFromCurl(failure, url, "http://p:3128").message,
            "the proxy p:3128 cannot be reached: No route to host: see HTTPS_PROXY");
}

}  // namespace
}  // namespace net
