// The identifiers of the domain as distinct types. All are opaque text with bounds; the daemon
// makes some of them (see id_factory), callers the others.
#pragma once

#include "lib/base/strong.hpp"

namespace starlease::core {

using LeaseId = base::StrongString<struct LeaseIdTag>;
using RequestId = base::StrongString<struct RequestIdTag>;
using CorrelationId = base::StrongString<struct CorrelationIdTag>;
using DecisionId = base::StrongString<struct DecisionIdTag>;
using PrincipalId = base::StrongString<struct PrincipalIdTag>;
using ClientId = base::StrongString<struct ClientIdTag>;
using CredentialId = base::StrongString<struct CredentialIdTag>;
using ServiceInstanceId = base::StrongString<struct ServiceInstanceIdTag>;
using ExecutionId = base::StrongString<struct ExecutionIdTag>;
using JobId = base::StrongString<struct JobIdTag>;
using TraceId = base::StrongString<struct TraceIdTag>;

}  // namespace starlease::core
