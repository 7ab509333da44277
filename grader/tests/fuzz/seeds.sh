#!/bin/sh
# seeds.sh FOLDER: the corpus to begin with, every tracked .ptx cut so that a file has one entry
# and whatever else its module holds.  Small texts make a fuzzer fast.
set -eu
mkdir -p "$1"
find grader/tests -name '*.ptx' | sort | while read -r file; do
  awk -v out="$1/$(echo "$file" | tr '/' '-' | sed 's/\.ptx$//')" '
    /^[^\/]*\.entry/ { entry++; inside = 1 }
    inside { body[entry] = body[entry] $0 "\n"; if (/^}/) inside = 0; next }
    !/^[ \t]*$/ && !/^\/\// { if (entry) behind = behind $0 "\n"; else before = before $0 "\n" }
    END {
      for (i = 1; i <= entry; i++) printf "%s%s%s", before, body[i], behind > (out "-" i ".ptx")
      if (!entry) printf "%s", before > (out ".ptx")
    }' "$file"
done
