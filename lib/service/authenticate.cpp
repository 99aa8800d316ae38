// Peer to principal; see the header.
#include "lib/service/authenticate.hpp"

namespace starlease::service {

const core::Principal* PrincipalTable::find(const base::PeerIdentity& peer) const {
  for (const PrincipalRow& row : rows_) {
    if (row.uid == peer.uid && (!row.gid || *row.gid == peer.gid)) return &row.principal;
  }
  return nullptr;
}

}  // namespace starlease::service
