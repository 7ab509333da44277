// expect: *: no kernel called transpose
