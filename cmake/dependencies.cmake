# Third-party libraries, all Debian packages (see ./dev setup). Each is linked only by the module
# that names it, so other modules do not depend on its headers.
find_package(Threads REQUIRED)
find_package(Boost 1.81 REQUIRED)
# Static libraries where Debian has them, so that the binary starts with fewer relocations.
set(OPENSSL_USE_STATIC_LIBS ON)
find_package(OpenSSL REQUIRED)
find_library(SQLite3_LIBRARY NAMES libsqlite3.a)
find_package(SQLite3 REQUIRED)
find_library(ZLIB_LIBRARY NAMES libz.a)
find_package(ZLIB REQUIRED)
find_library(RE2_LIBRARY NAMES libre2.a REQUIRED)
# Headers only: the library is loaded when a page is parsed (src/adapters/web/xml_library.h).
find_path(LIBXML2_INCLUDE_DIR NAMES libxml/HTMLparser.h PATH_SUFFIXES libxml2 REQUIRED)
# libedit needs the terminal database, and the two small libraries that Debian built it with.
find_library(EDIT_LIBRARY NAMES libedit.a REQUIRED)
find_library(TINFO_LIBRARY NAMES libtinfo.a REQUIRED)
find_library(BSD_LIBRARY NAMES libbsd.a REQUIRED)
find_library(MD_LIBRARY NAMES libmd.a REQUIRED)
find_package(fmt REQUIRED)
find_package(simdjson REQUIRED)
find_package(benchmark REQUIRED)
