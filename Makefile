# SPDX-License-Identifier: ISC
# GNU make. make, make STATIC=1 CC=musl-gcc, make check, lint, bench, install.
# With ONE=1 tools and managers are links to one program: a third of the room, on a
# host that has little.

VERSION = 0.1.0
PREFIX = /usr/local
CC = cc
CFLAGS = -Os
WARN = -std=c11 -Wall -Wextra -Wshadow -Wconversion
DEFS = -D_GNU_SOURCE -DVERSION='"$(VERSION)"' -Ilib
CODE := -ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables
# of a program of a few pages, the padding between segments is a good part
LINK := -Wl,--gc-sections -Wl,-z,noseparate-code
# optimized as a whole, where compiler and linker can
CODE += $(shell echo 'int main(void) { return 0; }' | \
	$(CC) -flto=auto -o /dev/null -x c - -x none 2>/dev/null && echo -flto=auto)
ifdef STATIC
TIGHT := -Oz -falign-functions=1 -falign-jumps=1 -falign-loops=1
CFLAGS := $(shell $(CC) $(TIGHT) -E - </dev/null >/dev/null 2>&1 && echo $(TIGHT) || echo -Os)
CODE += -fno-pie
LINK += -static -no-pie -Wl,-z,norelro -Wl,--build-id=none
# the file has no gap between code and data: both may map the page between them
LINK += -Wl,-z,common-page-size=64
# musl has no control-flow enforcement that the marks would serve
CODE += $(shell $(CC) -fcf-protection=none -E - </dev/null >/dev/null 2>&1 && \
	echo -fcf-protection=none)
ifndef DEBUG
LINK += -s
endif
endif
COMPILE = $(CC) $(WARN) $(DEFS) $(CPPFLAGS) $(CFLAGS) $(CODE)
BUILD = $(COMPILE) $(LINK) $(LDFLAGS)

# A tool is a file in bin/, a manager a directory in trace-hooks/. What they
# share is lib/: each is linked with all of it and keeps what it calls.
TOOLS := $(patsubst %.c,%,$(wildcard bin/*.c))
SUBSYSTEMS := $(patsubst %/subsystem.c,%,$(wildcard trace-hooks/*/subsystem.c))
MANAGERS := $(addsuffix /manager,$(SUBSYSTEMS))
# container-tracer's code looks for "manager.*", its document for "manager"
ALIASES := $(addsuffix .tfs,$(MANAGERS))
HOOKS := $(wildcard trace-hooks/*/hooks.d/*)
PAGES := $(wildcard bin/*.1 lib/*.1 lib/*.5 lib/*.7 trace-hooks/*/*.7)
MANAGER_C := $(addprefix lib/,janitor.c manager.c recipe.c recording.c request.c rundir.c \
	session.c stream.c whom.c)
LIB_C := $(filter-out $(MANAGER_C),$(wildcard lib/*.c))
OBJECTS = $(patsubst lib/%.c,build/lib/%.o,$(1))
HEADERS := $(wildcard lib/*.h)

all: $(TOOLS) $(MANAGERS) $(ALIASES) build/formats

# Every format string is one that vformat supports; the compiler would let more pass.
build/formats: lib/formats.awk $(wildcard lib/*.[ch] lib/one/*.c bin/*.c trace-hooks/*/*.c)
	@mkdir -p $(@D)
	@awk -f $^
	@touch $@

# Built again when the compiler or a flag is another, and not otherwise.
.build: FORCE
	@echo '$(BUILD) $(ONE)' | cmp -s - $@ || echo '$(BUILD) $(ONE)' >$@
FORCE:

build/lib/%.o: lib/%.c $(HEADERS) .build
	@mkdir -p $(@D)
	$(COMPILE) -c -o $@ $<

ifdef ONE
$(TOOLS): bin/tfs
	ln -sf tfs $@

$(MANAGERS): bin/tfs
	ln -sf ../../bin/tfs $@

bin/tfs: lib/one/tfs.c build/one/one.h build/one/manager.o $(TOOLS:bin/%=build/one/%.o) \
		$(SUBSYSTEMS:trace-hooks/%=build/one/subsystem-%.o) \
		$(call OBJECTS,$(LIB_C) $(filter-out lib/manager.c,$(MANAGER_C))) .build
	$(BUILD) -Ibuild/one -o $@ $(filter %.c %.o,$^)

build/one/manager.o: lib/manager.c $(HEADERS) .build
	@mkdir -p $(@D)
	$(COMPILE) -Dmain=main_manager -c -o $@ $<

build/one/subsystem-%.o: trace-hooks/%/subsystem.c $(HEADERS) .build
	@mkdir -p $(@D)
	$(COMPILE) -Dours=ours_$* -c -o $@ $<

build/one/%.o: bin/%.c build/one/one.h $(HEADERS) .build
	$(COMPILE) -Dmain=main_$(subst -,_,$*) -c -o $@ $<

build/one/one.h: $(TOOLS:%=%.c) .build
	@mkdir -p $(@D)
	printf 'TOOL("%s", %s)\n' \
		$(foreach t,$(notdir $(TOOLS)),$t main_$(subst -,_,$t)) >$@
	printf 'SUBSYSTEM(%s)\n' $(SUBSYSTEMS:trace-hooks/%=ours_%) >>$@
else
$(TOOLS): %: %.c $(call OBJECTS,$(LIB_C)) $(HEADERS) .build
	$(BUILD) -o $@ $< $(call OBJECTS,$(LIB_C))

$(MANAGERS): %/manager: %/subsystem.c $(call OBJECTS,$(MANAGER_C) $(LIB_C)) $(HEADERS) .build
	$(BUILD) -o $@ $< $(call OBJECTS,$(MANAGER_C) $(LIB_C))
endif

bin/syscall-nr build/one/syscall-nr.o: bin/syscall-nr.h
bin/syscall-nr.h: .build
	echo '#include <sys/syscall.h>' | $(CC) $(CPPFLAGS) $(CFLAGS) -E -dM - | \
	sed -n 's/^#define __NR_\([a-z0-9_]*\) .*/{ "\1", __NR_\1 },/p' | sort >$@

%/manager.tfs: %/manager
	ln -sf manager $@

check: all
	t/run

# the guests of t/vm/guests, or some: make check-vm KERNEL=5.10 ARCH=amd64
KERNEL = *
ARCH = *
check-vm:
	t/vm/matrix '$(KERNEL)-$(ARCH)'

soak: all
	t/soak $(SECONDS)

lint: bin/syscall-nr.h
	t/lint

bench: all
	t/bench/run

BINDIR = $(DESTDIR)$(PREFIX)/bin
HOOKDIR = $(DESTDIR)$(PREFIX)/lib/trace-hooks
ifdef ONE
PUT_MANAGER = ln -sf ../../../bin/tfs $(HOOKDIR)/$$s/manager
else
PUT_MANAGER = rm -f $(HOOKDIR)/$$s/manager && install trace-hooks/$$s/manager $(HOOKDIR)/$$s
endif
MANDIR = $(DESTDIR)$(PREFIX)/share/man

install: all
	install -d $(BINDIR)
ifdef ONE
	install bin/tfs $(BINDIR)
	for t in $(notdir $(TOOLS)); do ln -sf tfs $(BINDIR)/$$t || exit; done
else
	install $(TOOLS) $(BINDIR)
endif
	for s in $(notdir $(SUBSYSTEMS)); do \
		install -d $(HOOKDIR)/$$s/hooks.d && \
		$(PUT_MANAGER) && \
		ln -sf manager $(HOOKDIR)/$$s/manager.tfs && \
		install trace-hooks/$$s/hooks.d/* $(HOOKDIR)/$$s/hooks.d || exit; \
	done
	for p in $(PAGES); do \
		install -d $(MANDIR)/man$${p##*.} && \
		install -m 644 $$p $(MANDIR)/man$${p##*.} || exit; \
	done

uninstall:
	rm -f $(addprefix $(BINDIR)/,$(notdir $(TOOLS)) tfs)
	for s in $(notdir $(SUBSYSTEMS)); do \
		rm -f $(HOOKDIR)/$$s/manager $(HOOKDIR)/$$s/manager.tfs; \
	done
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/lib/,$(HOOKS))
	for p in $(PAGES); do rm -f $(MANDIR)/man$${p##*.}/$${p##*/}; done
# a hook that somebody added stays, and so does its directory
	-rmdir $(foreach s,$(notdir $(SUBSYSTEMS)),$(HOOKDIR)/$s/hooks.d $(HOOKDIR)/$s) \
		$(HOOKDIR) 2>/dev/null

clean:
	rm -f $(TOOLS) bin/tfs $(MANAGERS) $(ALIASES) bin/syscall-nr.h .build
	rm -rf $(filter-out build/vm,$(wildcard build/*)) # the kernels stay

.PHONY: all check check-vm soak lint bench install uninstall clean FORCE
