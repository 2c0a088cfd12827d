// schema/codec.h: derives JSON encoding, decoding and JSON Schema from one struct declaration.
//
// A payload is a plain struct described with BOOST_DESCRIBE_STRUCT. Members are snake_case in C++
// and camelCase on the wire; a trailing underscore (default_) only avoids a keyword. Absent
// optionals and empty ids are not written. Facts are decoded leniently, since a newer build may
// have added members. Commands are decoded strictly: an unknown, repeated or mistyped member is
// rejected with its path.
#pragma once

#include "schema/json_read.h"
#include "schema/json_write.h"
#include "schema/wire_names.h"
