#include "answers/rule.h"

namespace answers {

std::vector<Rule> NetworkRules() {
  return {
      {.kind = "port-in-use",
       .title = "the port is taken",
       .advice = Advice::kRetry,
       .advice_text = "Choose another port (MASTER_PORT, --master-port), or find who holds it: "
                      "ss -ltnp.",
       .exceptions = {"[Errno 98] Address already in use", "EADDRINUSE", "ddress already in use",
                      "Tried to launch distributed communication on port `",
                      "The server socket has failed to bind",
                      "Only one usage of each socket address"},
       .lines = {"bind: address already in use"}},
      {.kind = "dns",
       .title = "a host name is not known",
       .advice = Advice::kRetry,
       .advice_text = "Check the name and the node's resolver; of a job that has just begun, the "
                      "service of its master may not have been there yet.",
       .exceptions = {"[Errno -2] Name or service not known",
                      "[Errno -3] Temporary failure in name",
                      "[Errno -5] No address associated with hostname", "gaierror",
                      "Name or service not known", "Temporary failure in name resolution",
                      "Failed to resolve '", "Could not resolve host",
                      "The name cannot be resolved", "gai error: ", "cannot be retrieved (gai",
                      "nodename nor servname provided"},
       .lines = {"Could not resolve host", "no such host", "unable to resolve host address"}},
      {.kind = "download",
       .title = "something could not be fetched from the network",
       .advice = Advice::kRetry,
       .advice_text =
           "Try the address from that node (proxy, firewall), or bring the data with the "
           "job.",
       .exceptions = {"Max retries exceeded with url",
                      "We couldn't connect to 'http",
                      "URLError: ",
                      "HTTPError: HTTP Error 5",
                      "HTTPError: 5",
                      "HTTPError: 429",
                      "HTTP Error 404",
                      "404 Client Error",
                      "ReadTimeoutError",
                      "IncompleteRead",
                      "LocalEntryNotFoundError",
                      "OfflineModeIsEnabled",
                      "CERTIFICATE_VERIFY_FAILED",
                      "ReadTimeout",
                      "ConnectTimeout",
                      "ProxyError",
                      "ChunkedEncodingError",
                      "429 Client Error",
                      "500 Server Error",
                      "502 Server Error",
                      "503 Server Error",
                      "504 Server Error",
                      "ConnectionError: Couldn't reach ",
                      "Consistency check failed: file should be of size",
                      "invalid hash value (expected \"",
                      "RuntimeError: Error downloading ",
                      "Could not connect to the endpoint URL",
                      "ServerDisconnectedError",
                      "ClientPayloadError",
                      "RemoteDisconnected",
                      "FSTimeoutError"},
       .lines = {"error: RPC failed; ", "fatal: early EOF", "fatal: fetch-pack: invalid index-pack",
                 "The requested URL returned error: 5"}},
      {.kind = "unreachable",
       .title = "the service that records the run does not answer",
       .advice = Advice::kRetry,
       .advice_text = "Check that the job may reach it (proxy, firewall), or record offline "
                      "(WANDB_MODE=offline) and upload later.",
       .exceptions = {"CommError: *timed out", "CommError: Error communicating with",
                      "CommError: *Network error"}},
      {.kind = "unreachable",
       .title = "the address is not one of this machine",
       .advice = Advice::kFixFirst,
       .advice_text =
           "MASTER_ADDR has to be an address of the machine of rank 0: a process listens "
           "only on its own.",
       .exceptions = {"Cannot assign requested address", "EADDRNOTAVAIL"}},
      {.kind = "unreachable",
       .title = "nobody answers at that address",
       .advice = Advice::kRetry,
       .advice_text = "If the ranks are on several machines: a rank told the others 127.0.x.x, "
                      "because its machine's name resolves to that; set GLOO_SOCKET_IFNAME (and "
                      "NCCL_SOCKET_IFNAME) to the interface of the network. On one machine: check "
                      "that the other rank runs.",
       .exceptions = {"gloo/transport/tcp/pair.cc*connect [127.0.*]*Connection refused"}},
      {.kind = "unreachable",
       .title = "nobody answers at that address",
       .advice = Advice::kRetry,
       .advice_text =
           "Check that the other side runs, listens on that address and port, and that no "
           "firewall or network policy is between them.",
       .exceptions = {"^ConnectionRefusedError", "[Errno 111] Connection refused",
                      "[Errno 113] No route to host", "[Errno 101] Network is unreachable",
                      "Connection refused", "No route to host", "Connection timed out",
                      "Software caused connection abort", "while trying to connect to",
                      "connect() timed out",
                      "The client socket has failed to connect to any network address",
                      "Gloo connectFullMesh failed with",
                      "TCP client failed to connect/validate to host", "ConnectTimeoutError"},
       .lines = {"WARN *onnect to * failed", "onnect returned *exceeded error retry count",
                 "ssh: connect to host * port *: ",
                 "WARN *Call to connect * failed : Connection refused",
                 "WARN *Call to connect*: Connection refused",
                 "WARN *Call to connect*: No route to host",
                 "WARN *Call to connect*Connection timed out", "WARN socket*: Connect to * failed",
                 "WARN socket*connect returned *exceeded error retry count",
                 "fatal: unable to access '*': Failed to connect"},
       .raised_in =
           {"RendezvousConnectionError: *\n*c10d_rendezvous_backend.py _create_tcp_store"}},
  };
}

}  // namespace answers
