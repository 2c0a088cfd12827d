// cli/program.h: the whole command line: arguments in, exit code out.
#pragma once

namespace agentrt::cli {

int run_program(int argc, char** argv);

}  // namespace agentrt::cli
