// Compiles the non-template code of Asio and Beast once for the module
// (BOOST_*_SEPARATE_COMPILATION).
#include <boost/asio/impl/src.hpp>
#include <boost/beast/src.hpp>
