# Thirty-Two Banks.  `make help` lists what you can type.
EX     ?=
FROM   ?= exercises
DATA   ?= h200
FORMAT ?= svg
BUILD  ?= build
SECONDS ?= 600
CC     ?= gcc
# AVX2 rows of lanes where the machine is an x86-64; make ARCHFLAGS= for one without AVX2.
ARCHFLAGS ?= $(if $(filter x86_64,$(shell uname -m)),-march=x86-64-v3)
WARN   := -Wall -Wextra $(if $(or $(CI),$(WERROR)),-Werror)
CFLAGS ?= -O2 -g
ifdef SANITIZE
  BUILD := $(BUILD)/sanitize
  SAN   := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
endif
ALL_CFLAGS = -std=gnu11 $(WARN) $(CFLAGS) $(ARCHFLAGS) -ffp-contract=off -fno-math-errno $(SAN) \
             -MMD -MP -Igrader -DBANKS_BUILD='"$(abspath $(BUILD))"'
LIBS   := -lcheck -lsubunit -lrt -ljansson -lm -lpthread -ldl

SOURCES := $(filter-out grader/banks.c $(wildcard grader/tests/*.c),$(wildcard grader/*.c grader/*/*.c))
TESTS   := $(wildcard grader/tests/*.c)
OBJ      = $(SOURCES:%.c=$(BUILD)/%.o)

.DEFAULT_GOAL := all
.PHONY: all setup grade check reset test demo hint list doctor lab profile prove portable fuzz plots plot \
        help clean

all: $(BUILD)/banks            ## build the grader

setup:                         ## install what is missing (apt)
	@.ci/setup

grade: $(BUILD)/banks          ## grade all, or EX=04-padding; FROM=solutions or a folder
	@$(BUILD)/banks grade $(EX) --from '$(FROM)'

check: $(BUILD)/banks          ## grade one: make check EX=04-padding/transpose
	@$(BUILD)/banks check $(EX) --from '$(FROM)'

hint: $(BUILD)/banks           ## the next hint: make hint EX=04-padding/transpose
	@$(BUILD)/banks hint $(EX)

reset: $(BUILD)/banks          ## the starter again, keeping yours: make reset EX=04-padding/transpose
	@$(BUILD)/banks reset $(EX)

doctor: $(BUILD)/banks         ## what was found on this machine
	@$(BUILD)/banks doctor

list: $(BUILD)/banks           ## the exercises; EX=04-padding: of a chapter
	@$(BUILD)/banks list $(EX)

lab: $(BUILD)/banks            ## the eight-residue lab of chapter 03
	@$(BUILD)/banks lab

demo: $(BUILD)/banks           ## a starter and its solution side by side
	@$(BUILD)/banks demo

test: $(BUILD)/banks $(BUILD)/banks-tests   ## all tests; SANITIZE=1 for the sanitizers
	@BANKS=$(BUILD)/banks $(BUILD)/banks-tests

fuzz: $(addprefix $(BUILD)/fuzz/fuzz_,ptx sim)   ## fuzz the PTX reader and the simulator; SECONDS=600
	@grader/tests/fuzz/seeds.sh $(BUILD)/fuzz/seeds
	@pids=; for k in ptx sim; do mkdir -p $(BUILD)/fuzz/corpus_$$k; \
	  $(BUILD)/fuzz/fuzz_$$k -max_total_time=$(SECONDS) -rss_limit_mb=1024 -timeout=10 \
	    -max_len=40000 -len_control=0 -artifact_prefix=$(BUILD)/fuzz/$$k- \
	    $(BUILD)/fuzz/corpus_$$k $(BUILD)/fuzz/seeds & \
	  pids="$$pids $$!"; done; status=0; \
	  for p in $$pids; do wait $$p || status=1; done; exit $$status

profile: $(BUILD)/banks        ## your kernel: make profile FILE=k.cu KERNEL=k ARGS='--grid 8 --block 256 f32[2048]'
	@set -f; words='$(ARGS)'; $(BUILD)/banks profile '$(FILE)' '$(KERNEL)' $$words

prove: $(BUILD)/banks          ## the same on the GPU as well, counts and values side by side
	@set -f; words='$(ARGS)'; $(BUILD)/banks prove '$(FILE)' '$(KERNEL)' $$words

plots:                         ## draw a recording: make plots DATA=h200 FORMAT=svg, png or dumb
	@DATA=$(DATA) FORMAT=$(FORMAT) plots/draw.sh

plot: $(BUILD)/banks           ## your kernel beside starter and solution: make plot EX=04-padding/transpose
	@DATA=$(DATA) FORMAT=$(FORMAT) BANKS=$(BUILD)/banks plots/exercise.sh $(EX) $(FROM)

bench: $(BUILD)/banks          ## how fast the simulator is here
	@$(BUILD)/banks bench

help:                          ## this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 16

clean:                         ## remove what was built
	rm -rf build

$(BUILD)/banks: $(BUILD)/grader/banks.o $(OBJ)
	$(CC) $(SAN) -o $@ $^ $(LIBS)

$(BUILD)/banks-tests: $(TESTS:%.c=$(BUILD)/%.o) $(OBJ)
	$(CC) $(SAN) -o $@ $^ $(LIBS)

# `make -j2 setup grade`: nothing is built before setup is done
ifneq ($(filter setup,$(MAKECMDGOALS)),)
$(SOURCES:%.c=$(BUILD)/%.o) $(TESTS:%.c=$(BUILD)/%.o) $(BUILD)/grader/banks.o plots: | setup
endif

$(BUILD)/grader/sim/%.o: CFLAGS += -O3   # rows of lanes are vectorised there

$(BUILD)/%.o: %.c Makefile
	@mkdir -p $(@D)
	@echo "  CC $<"; $(CC) $(ALL_CFLAGS) -c -o $@ $<

# libFuzzer comes with clang; the tests' replay of its finds needs neither.
FUZZED := $(filter grader/ptx/% grader/sim/% grader/model/%,$(SOURCES)) grader/tests/feed.c \
          grader/tests/fuzz/mutate.c
FUZZ_FLAGS = -std=gnu11 $(WARN) -O1 -g $(ARCHFLAGS) -ffp-contract=off -fno-math-errno -Igrader \
             -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer

$(BUILD)/fuzz/%.o: %.c Makefile
	@mkdir -p $(@D)
	@echo "  CC $<"; clang $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link -MMD -MP -c -o $@ $<

$(BUILD)/fuzz/fuzz_%: $(BUILD)/fuzz/grader/tests/fuzz/fuzz_%.o $(FUZZED:%.c=$(BUILD)/fuzz/%.o)
	clang $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $^ -lm -lpthread

.SECONDARY: $(FUZZED:%.c=$(BUILD)/fuzz/%.o) \
            $(addprefix $(BUILD)/fuzz/grader/tests/fuzz/fuzz_,ptx.o sim.o)

$(BUILD)/grader/cli/bench.o: grader/cli/bench/kernels.ptx

# compile.c carries these as text
$(BUILD)/grader/toolchain/compile.o: grader/toolchain/ask.h $(wildcard grader/toolchain/*_for_clang.h)

# For a machine without Check and jansson: they are linked in.  Runs wherever glibc is as new.
portable: $(BUILD)/portable/banks   ## a program to carry to a machine with a GPU

$(BUILD)/portable/banks: $(BUILD)/grader/banks.o $(OBJ)
	@mkdir -p $(@D)
	$(CC) $(SAN) -s -o $@ $^ -l:libcheck.a -l:libsubunit.a -l:libjansson.a -lrt -lm -lpthread -ldl

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
