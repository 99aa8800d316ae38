// The table of error answers; see the header. The first rule that fits counts.
#include "daemon/valkey/server_errors.hpp"

#include <algorithm>
#include <array>

namespace starlease::valkey {
namespace {

using base::Milliseconds;

constexpr std::size_t max_logged_bytes = 200;

constexpr std::array rules = {
    // Inside a function: what came before the failing command has been done.
    ErrorRule{"ERR ACL failure in script", false, CallEffect::possible, LinkEffect::keep,
              Milliseconds(5000),
              "grant the daemon's user the commands, keys and channels that docs/valkey.md lists"},
    ErrorRule{
        "on @user_function", true, CallEffect::possible, LinkEffect::keep, Milliseconds(1000),
        "a function failed half-way: look for foreign keys under the namespace, and deploy the "
        "library of this version (starlease admin deploy)"},

    // The server is not ready, or not the one that may write.
    ErrorRule{"LOADING", false, CallEffect::none, LinkEffect::keep, Milliseconds(500),
              "wait: the server is loading its data"},
    ErrorRule{
        "BUSY", false, CallEffect::none, LinkEffect::keep, Milliseconds(250),
        "a script of somebody else holds the server: end it with SCRIPT KILL or FUNCTION KILL"},
    ErrorRule{"READONLY", false, CallEffect::none, LinkEffect::reconnect, Milliseconds(500),
              "this server is a replica (now): the daemon must reach the primary"},
    ErrorRule{"MASTERDOWN", false, CallEffect::none, LinkEffect::reconnect, Milliseconds(1000),
              "this server is a replica without its primary: the daemon must reach the primary"},
    ErrorRule{"MOVED", false, CallEffect::none, LinkEffect::reconnect, Milliseconds(500),
              "the keys live on another node of a cluster: name the node that owns them"},
    ErrorRule{"ASK", false, CallEffect::none, LinkEffect::keep, Milliseconds(500),
              "the cluster is moving the keys to another node: wait"},
    ErrorRule{"TRYAGAIN", false, CallEffect::none, LinkEffect::keep, Milliseconds(500),
              "the cluster is moving the keys to another node: wait"},
    ErrorRule{"CLUSTERDOWN", false, CallEffect::none, LinkEffect::keep, Milliseconds(500),
              "the cluster has lost nodes: bring them back"},
    ErrorRule{"CROSSSLOT", false, CallEffect::none, LinkEffect::keep, Milliseconds(5000),
              "one call named keys of two slots: this is a fault of this program"},
    ErrorRule{"NOREPLICAS", false, CallEffect::none, LinkEffect::keep, Milliseconds(500),
              "too few replicas follow the primary (min-replicas-to-write): bring them back"},
    ErrorRule{"MISCONF", false, CallEffect::none, LinkEffect::keep, Milliseconds(1000),
              "the server cannot write to its disk: free space or repair it"},
    ErrorRule{"OOM", false, CallEffect::none, LinkEffect::keep, Milliseconds(1000),
              "the server is at maxmemory: raise it or remove other data"},

    // We are not who the server lets in, or may not do this.
    ErrorRule{"NOAUTH", false, CallEffect::none, LinkEffect::reconnect, Milliseconds(2000),
              "set valkey.user and a password"},
    ErrorRule{"WRONGPASS", false, CallEffect::none, LinkEffect::reconnect, Milliseconds(2000),
              "user and password do not fit: correct them here or on the server"},
    ErrorRule{"NOPERM", false, CallEffect::none, LinkEffect::keep, Milliseconds(5000),
              "grant the daemon's user the commands, keys and channels that docs/valkey.md lists"},
    ErrorRule{"NOPROTO", false, CallEffect::none, LinkEffect::reconnect, Milliseconds(5000),
              "the server does not speak RESP3: Valkey 7.2 or newer is needed"},
    ErrorRule{"ERR unknown command", false, CallEffect::none, LinkEffect::reconnect,
              Milliseconds(5000), "the server lacks the command: Valkey 7.2 or newer is needed"},
    ErrorRule{"ERR max number of clients", false, CallEffect::none, LinkEffect::reconnect,
              Milliseconds(1000), "raise the server's maxclients, or close other connections"},

    // The function library.
    ErrorRule{"ERR Function not found", false, CallEffect::none, LinkEffect::reconnect,
              Milliseconds(500), "load the function library: starlease admin deploy"},
    ErrorRule{"ERR Script killed", false, CallEffect::none, LinkEffect::keep, Milliseconds(250),
              "somebody ended the function with SCRIPT KILL or FUNCTION KILL"},
    ErrorRule{"NOSCRIPT", false, CallEffect::none, LinkEffect::reconnect, Milliseconds(500),
              "load the function library: starlease admin deploy"},
};

/// Anything else.
constexpr ErrorRule unforeseen{"",
                               false,
                               CallEffect::possible,
                               LinkEffect::keep,
                               Milliseconds(1000),
                               "see the error's text and the server's log"};

bool fits(const ErrorRule& rule, std::string_view error) {
  return rule.anywhere ? error.find(rule.mark) != std::string_view::npos
                       : error.starts_with(rule.mark);
}

}  // namespace

const ErrorRule& classify(std::string_view error) {
  const auto rule =
      std::ranges::find_if(rules, [error](const ErrorRule& r) { return fits(r, error); });
  return rule == rules.end() ? unforeseen : *rule;
}

std::string printable(std::string_view text) {
  std::string line(text.substr(0, max_logged_bytes));
  for (char& c : line) {
    if (c < ' ' || c > '~') c = '?';
  }
  return line;
}

}  // namespace starlease::valkey
