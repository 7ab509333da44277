// verdict: CE
// says: line 4: #error \x1b[2J<script>
#line 1 "grader.c"
#error [2J<script>alert(1)</script> 100%: Checks: 1
unsigned bank_of(unsigned address) { return 0; }
