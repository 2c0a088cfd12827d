// cli/program.h: the whole command-line program: takes arguments, returns an exit code.
#pragma once

namespace agentrt::cli {

int run_program(int argc, char** argv);

}  // namespace agentrt::cli
