#!/bin/sh
# Compares sums with what they should be.
status=0
check() {
  found=$(sh sum.sh "$1" "$2")
  if [ "$found" = "$3" ]; then
    echo "ok    $1 + $2 = $3"
  else
    echo "wrong $1 + $2 = $found, expected $3"
    status=1
  fi
}
check 2 3 5
check 40 2 42
check 0 0 0
exit $status
