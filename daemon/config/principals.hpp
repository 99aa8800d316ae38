// [[principal]] tables to the rows by which the service recognizes its peers. Default deny: what is
// not written is not allowed, and what could never apply is refused rather than ignored.
#pragma once

#include <vector>

#include "daemon/config/checks.hpp"
#include "lib/service/authenticate.hpp"

namespace starlease::config {

/// Checks all tables; problems go to `checks`.
[[nodiscard]] std::vector<service::PrincipalRow> principal_rows(const Config& config,
                                                                Checks& checks);

/// `text` as lock identities carry it in `component`, or nothing if it can be no such component.
[[nodiscard]] std::optional<std::string> normalized_component(core::Component component,
                                                              const std::string& text,
                                                              bool keep_case);

}  // namespace starlease::config
