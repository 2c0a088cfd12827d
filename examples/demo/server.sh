#!/bin/sh
# Ends by itself after ten minutes, also if the demo was killed.
request=0
while [ $request -lt 300 ]; do
  request=$((request + 1))
  echo "request $request: $(sh sum.sh $request 1)"
  sleep 2
done
