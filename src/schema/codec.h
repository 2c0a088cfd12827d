// schema/codec.h: JSON text from described structs and back, from one declaration.
//
// A payload is a plain struct described with BOOST_DESCRIBE_STRUCT; this header derives its writer,
// its reader and its JSON Schema. Members are snake_case in C++ and camelCase on the wire; a
// trailing underscore (default_) only avoids a keyword. Absent optionals and absent ids are not
// written. Facts are read leniently (a newer build may have added members), commands strictly: an
// unknown, repeated or mistyped member is refused with its path.
#pragma once

#include "schema/json_read.h"
#include "schema/json_write.h"
#include "schema/wire_names.h"
