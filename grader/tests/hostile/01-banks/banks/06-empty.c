// expect: *: does not compile
