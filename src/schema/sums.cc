// Instantiates the special members of the three large sums.
#include "base/sum_members.h"
#include "schema/commands.h"
#include "schema/facts.h"
#include "schema/reports.h"

namespace agentrt {

template class Sum<schema::PayloadTypes>;
template class Sum<schema::CommandTypes>;
template class Sum<schema::ReportTypes>;

}  // namespace agentrt
