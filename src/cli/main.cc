// cli/main.cc: the binary agentrt.
#include "cli/program.h"

int main(int argc, char** argv) { return agentrt::cli::run_program(argc, argv); }
