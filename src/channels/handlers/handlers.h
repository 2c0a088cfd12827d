// channels/handlers/handlers.h: the handlers of the route table, grouped by file.
#pragma once

#include "channels/exchange.h"

namespace agentrt::channels {

// The request id and the trace that the client sent.
RequestOrigin origin_of(const Head& head);
// Answers with what the kernel says, from the inbox.
ports::ReplyTo reply_to(Services& services, const ExchangePtr& exchange);

// command_handlers.cc
void post_command(Services& services, const ExchangePtr& exchange);
void post_rpc(Services& services, const ExchangePtr& exchange);
void get_sessions(Services& services, const ExchangePtr& exchange);
void get_session(Services& services, const ExchangePtr& exchange);
void get_thread(Services& services, const ExchangePtr& exchange);
void get_model(Services& services, const ExchangePtr& exchange);

// event_handlers.cc
void get_session_events(Services& services, const ExchangePtr& exchange);
void get_all_events(Services& services, const ExchangePtr& exchange);

// websocket_handler.cc
void get_websocket(Services& services, const ExchangePtr& exchange);

// output_handlers.cc
Result<std::shared_ptr<AuthorizedUpload>> begin_output(Services& services, const Head& head,
                                                       const Query& query,
                                                       const Identity& identity);
void post_output(Services& services, const ExchangePtr& exchange);
void get_output(Services& services, const ExchangePtr& exchange);

// token_handlers.cc
void post_token(Services& services, const ExchangePtr& exchange);
void get_tokens(Services& services, const ExchangePtr& exchange);
void delete_token(Services& services, const ExchangePtr& exchange);

// login_handlers.cc
void post_login_code(Services& services, const ExchangePtr& exchange);
void post_login(Services& services, const ExchangePtr& exchange);
void get_own_token(Services& services, const ExchangePtr& exchange);
void delete_own_token(Services& services, const ExchangePtr& exchange);

// page_handlers.cc
void get_page(Services& services, const ExchangePtr& exchange);
void get_asset(Services& services, const ExchangePtr& exchange);

// owner_handlers.cc
void post_leave(Services& services, const ExchangePtr& exchange);
void get_environments(Services& services, const ExchangePtr& exchange);
void post_environment(Services& services, const ExchangePtr& exchange);

// mcp_access_handlers.cc
void get_mcp_servers(Services& services, const ExchangePtr& exchange);
void post_mcp_login(Services& services, const ExchangePtr& exchange);
void post_mcp_callback(Services& services, const ExchangePtr& exchange);
void delete_mcp_login(Services& services, const ExchangePtr& exchange);
void post_lent_servers(Services& services, const ExchangePtr& exchange);

// mcp/mcp_handlers.cc
void post_mcp(Services& services, const ExchangePtr& exchange);
void get_mcp(Services& services, const ExchangePtr& exchange);
void delete_mcp(Services& services, const ExchangePtr& exchange);

// agui/agui_handler.cc
void post_agui(Services& services, const ExchangePtr& exchange);

// document_handlers.cc
void get_health(Services& services, const ExchangePtr& exchange);
void get_readiness(Services& services, const ExchangePtr& exchange);
void get_metrics(Services& services, const ExchangePtr& exchange);
void get_openapi(Services& services, const ExchangePtr& exchange);
void get_schema(Services& services, const ExchangePtr& exchange);

}  // namespace agentrt::channels
