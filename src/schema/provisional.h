// schema/provisional.h: facts of the standard that this build reads but never writes.
//
// They are declared so that `validate` can check the streams of any runtime with the types that
// this runtime will use itself. When a family is implemented, it moves from this list to the one in
// facts.h, and its facts get scopes that guarantee their ids.
#pragma once

#include "schema/facts.h"
#include "schema/facts/cost.h"
#include "schema/facts/history.h"
#include "schema/facts/permission.h"
#include "schema/facts/process.h"
#include "schema/facts/tool.h"

namespace agentrt::schema {

using Provisional = boost::mp11::mp_list<CostEstimated, CostRecorded, RateLimitHit, QuotaLow,
                                         QuotaBlocked, LimitChanged, EvidenceChanged>;

// Every fact type of the standard: those that this build writes, then those that it only reads.
using StandardFacts = boost::mp11::mp_append<
    boost::mp11::mp_rename<boost::mp11::mp_pop_front<PayloadTypes>, boost::mp11::mp_list>,
    Provisional>;

}  // namespace agentrt::schema
