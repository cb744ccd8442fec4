# SPDX-License-Identifier: ISC
# GNU make. make, make STATIC=1 CC=musl-gcc, make check, check-all, lint, coverage, bench, install, dist.
# make prints a short line for each program, with V=1 each command, with -s nothing.
# With ONE=1 tools and managers are links to one program, which takes a third of the space.
# MINIMAL=1 leaves out the areas draw, flight, requests and block: pictures and exports, the flight
# recorder, and the subsystems distributed and blktrace. LTO=1, as STATIC=1, optimizes each program
# as a whole.

VERSION = 0.3.0
# the commit of sources that deploy/tree or git archive has copied
COMMIT := $(shell sed -n 's/^\([0-9a-f]\{12\}\)[0-9a-f]*$$/ (\1)/p' .commit 2>/dev/null)
PREFIX = /usr/local
CC = cc
CFLAGS = -Os
WARN = -std=c11 -Wall -Wextra -Wshadow -Wconversion
# files of more than 2 GiB, and dates after 2038, on hosts of 32 bits as well
DEFS = -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64 -DVERSION='"$(VERSION)$(COMMIT)"' \
	-Ilib -Ibin -Ibuild/gen
CODE := -ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables
LINK := -Wl,--gc-sections -Wl,-z,noseparate-code

ifeq ($(V),1)
note =
else
Q := @
# silent with -s
note = $(if $(findstring s,$(firstword -$(MAKEFLAGS))),,@echo "  $1 $@")
endif

comma := ,
# accepts FLAGS: the flags, if the compiler can make a program with them
accepts = $(shell echo 'int main(void) { return 0; }' | \
	$(CC) -Werror $(1) -o /dev/null -x c - -x none 2>/dev/null && echo '$(1)')

ifdef STATIC
LTO = 1
CFLAGS := $(or $(call accepts,-Oz),$(CFLAGS))
ifndef DEBUG
LINK += -s
endif
endif
ifdef LTO
CODE += $(call accepts,-flto=auto) $(call accepts,-flto-partition=one)
endif

# These programs run as root, and read data from untrusted users.
HARDEN := $(or $(call accepts,-fstack-protector-strong -fcf-protection), \
	$(call accepts,-fstack-protector-strong) $(call accepts,-mbranch-protection=standard))
ifneq ($(filter-out -O0,$(filter -O%,$(CFLAGS))),) # the headers warn without -O
HARDEN += -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
endif
LINK += -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack
ifndef STATIC
HARDEN += -fPIE
LINK += -pie
else
# musl's wrapper of gcc does not know -static-pie and links Scrt1.o, the start of dynamic programs.
# The right start, rcrt1.o, lies beside it. gcc for arm names a dynamic linker in spite of
# -static-pie.
CRT := $(shell $(CC) -static-pie -\#\#\# -x c /dev/null 2>&1 | tr -d '"' | tr ' ' '\n' | \
	sed -n 's|/Scrt1\.o$$|/rcrt1.o|p')
PIE := $(or $(call accepts,-fPIE \
	$(if $(CRT),-static -nostartfiles $(CRT) -Wl$(comma)-pie,-static-pie) \
	-Wl$(comma)--no-dynamic-linker -Wl$(comma)-z$(comma)text),\
	-static)
LINK += $(PIE)
ifneq ($(filter -fPIE,$(PIE)),)
# On s390x ld leaves a pointer to a visible object to the dynamic linker, but there is none.
HARDEN += -fPIE -fvisibility=hidden
LINK += -Wl,-u,protect_constants # lib/base/protect.c
ifneq ($(and $(CRT),$(filter x86_64-%,$(shell $(CC) -dumpmachine)),$(call accepts,-Wl$(comma)--fatal-warnings \
	-Wl$(comma)-z$(comma)pack-relative-relocs)),)
LINK += -Wl,-z,pack-relative-relocs,-e,relocate_start # lib/base/relocate.c
endif
endif
endif
COMPILE = $(CC) $(WARN) $(DEFS) $(CPPFLAGS) $(CFLAGS) $(CODE) $(HARDEN)
BUILD = $(COMPILE) $(LINK) $(LDFLAGS)

# Each folder of lib/ is a layer, the lowest first. A folder of bin/ is an area: tools, each beside
# its page, and their private code. t/layers checks who includes whom.
LAYERS := base host tool proc event select calls why people reader elf tracefs bpf live tracedat lines answers show seen draw session
AREAS := control stuck record filter draw flight block requests run

# A program is linked with its object, with the private code of its area and with the library,
# and keeps what it calls.
BUILT := $(if $(MINIMAL),$(filter-out draw flight requests block,$(AREAS)),$(AREAS))
SOURCES := $(patsubst %.1,%.c,$(wildcard $(BUILT:%=bin/%/*.1)))
TOOLS := $(patsubst %.c,bin/%,$(notdir $(SOURCES)))
SUBSYSTEMS := $(filter-out $(if $(MINIMAL),trace-hooks/blktrace trace-hooks/distributed), \
	$(patsubst %/subsystem.c,%,$(wildcard trace-hooks/*/subsystem.c)))
MANAGERS := $(addsuffix /manager,$(SUBSYSTEMS))
# container-tracer's code looks for "manager.*", its document for "manager"
ALIASES := $(addsuffix .tfs,$(MANAGERS))
HOOKS := $(filter-out $(if $(MINIMAL),%/trace_flight),$(wildcard $(SUBSYSTEMS:%=%/hooks.d/*)))
PAGES := $(SOURCES:.c=.1) $(wildcard trace-hooks/*.[157]) \
	$(filter-out $(if $(MINIMAL),%/trace_flight.7),$(wildcard $(SUBSYSTEMS:%=%/*.7)))
LIB_C := $(filter-out lib/session/manager.c,$(wildcard $(LAYERS:%=lib/%/*.c)))
OBJECTS := $(LIB_C:%.c=build/%.o)
# private AREA: The objects that only the tools of the area use
private = $(patsubst %.c,build/%.o,$(filter-out $(SOURCES),$(wildcard bin/$1/*.c)))
# With LTO the linker wants the objects themselves. Without LTO it gets a thin archive, and prints
# (-t -t) the objects that it has taken. The program depends on these objects, so a change in the
# library links only the programs again that use the change. If another linker does not print them,
# or an object is gone, the program depends on the archive.
taken = $(if $(filter-out $(OBJECTS),$(or $1,none)),$(LIBRARY),$1)
ifdef LTO
LIBRARY = $(OBJECTS)
else
LIBRARY = build/libtfs.a
ONLY_FIRST := |
USED = -Wl,-t,-t >build/$@.taken
USED += && awk '/^build\/lib\// { all = all " " $$0 } \
	END { print "$@: $$(call taken," all ")" }' build/$@.taken >build/$@.used
endif
# these remove what stale sessions of each subsystem leave
INSTANCES := $(wildcard $(SUBSYSTEMS:%=%/instances.c))
# the private code of areas that the subsystems use
SHARED := $(foreach a,$(filter block requests,$(BUILT)),$(call private,$a))
KINDS := build/gen/kinds.o $(INSTANCES:%.c=build/%.o) $(SHARED)

all: $(TOOLS) $(MANAGERS) $(ALIASES) build/formats

# Check that vformat supports every format string; the compiler would let more pass. The headers
# have the functions that take formats, so if only C files have changed, check only these.
build/formats: lib/base/formats.awk $(wildcard lib/*/*.[ch] $(BUILT:%=bin/%/*.[ch]) $(SUBSYSTEMS:%=%/*.c))
	@mkdir -p $(@D)
	@awk -f $(filter-out %.c,$^) $(filter %.c,$(if $(filter-out %.c,$?),$^,$?))
	@touch $@

# These change only when the compiler or a flag changes. Objects depend on build/flags, programs on
# .build, whose second line can be given to make again.
.build: FORCE
	@{ echo '$(BUILD) $(ONE) $(MINIMAL)'; echo "CC='$(CC)' CFLAGS='$(CFLAGS)' CODE='$(CODE)'" \
		"HARDEN='$(HARDEN)' LINK='$(LINK)'"; } >$@.new
	@cmp -s $@.new $@ || cp $@.new $@
	@rm $@.new
build/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(COMPILE)' | cmp -s - $@ || echo '$(COMPILE)' >$@
FORCE:

# Every record or line of a trace passes through these files, so they are optimized for speed and not
# for size, except in a static program. CFLAGS of the command line still count.
FAST := base/out base/json base/table lines/event_text lines/event_line lines/line_head lines/decimal seen/of_record \
	calls/pairing why/account why/windows why/wait_words event/subbuf event/merge event/field event/vm \
	event/comms event/conversion event/line show/record_json answers/facts calls/decode calls/decode_memory calls/decode_files calls/decode_select show/calls show/call_text show/call_json show/record_why select/pick \
	event/notes show/show calls/print calls/user
ifndef STATIC
$(FAST:%=build/lib/%.o): private CFLAGS = -O2
endif

# the files that objects include and the Makefile makes
ROWS := $(notdir $(basename $(wildcard lib/*/*.rows $(BUILT:%=bin/%/*.rows))))
STYLES := svg $(if $(filter requests,$(BUILT)),sequence)
GENERATED := $(patsubst %,build/gen/%.h,$(ROWS) allowed help error_numbers syscall_numbers \
	syscall_names roles_data syscalls_data svg_script $(STYLES:=_style))
generated: $(GENERATED)

# Each object is followed by its headers, as the compiler saw them: -MMD.
build/%.o: %.c build/flags | $(GENERATED)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -MMD -MP -c -o $@ $<

build/gen/%.o: build/gen/%.c build/flags
	$(Q)$(COMPILE) -MMD -MP -c -o $@ $<

build/gen/kinds.c: $(INSTANCES) build/flags
	@mkdir -p $(@D)
	@{ echo '#include "session/session.h"'; \
	printf 'extern const struct instance_kind %s_instances;\n' $(INSTANCES:trace-hooks/%/instances.c=%); \
	echo 'const struct instance_kind *const instance_kinds[] = {'; \
	printf '&%s_instances,\n' $(INSTANCES:trace-hooks/%/instances.c=%); echo 'NULL };'; } >$@

build/libtfs.a: $(OBJECTS)
	@rm -f $@
	$(Q)$(AR) qcsT $@ $(OBJECTS)

-include $(wildcard build/*/*.d build/*/*/*.d build/bin/*.used build/trace-hooks/*/*.used)

# The tools of this area draw or convert traces for other machines. Hosts that need one small
# program seldom need them.
APART := $(patsubst %.c,bin/%,$(notdir $(filter bin/draw/%,$(SOURCES))))
APART_SOURCES := $(filter bin/draw/%,$(SOURCES))

# program PROGRAM, OBJECT...: Link the program of these objects and the library.
define program
$1: $2 .build $(if $(wildcard build/$1.used),$(ONLY_FIRST)) $(LIBRARY)
	$$(call note,CC)
	@mkdir -p $(dir build/$1)
	$$(Q)$$(BUILD) -o $$@ $2 $$(LIBRARY) $$(USED)
endef

# link SOURCE: Make the program of this file.
link = $(call program,bin/$(notdir $(1:.c=)),build/$(1:.c=.o) $(call private,$(word 2,$(subst /, ,$1))) \
	$(if $(filter %/tfs-instance.c,$1),$(KINDS)))

ifdef ONE
WITHIN := $(filter-out $(APART),$(TOOLS))
WITHIN_SOURCES := $(filter-out $(APART_SOURCES),$(SOURCES))
$(foreach s,$(APART_SOURCES),$(eval $(call link,$s)))
$(WITHIN): bin/tfs
	$(Q)ln -sf tfs $@

$(MANAGERS): bin/tfs
	$(Q)ln -sf ../../bin/tfs $@

# ... with the mains and the subsystems under other names
bin/tfs: bin/tfs.c build/one/one.h build/one/lib/session/manager.o \
		$(WITHIN_SOURCES:%.c=build/one/%.o) $(SUBSYSTEMS:%=build/one/%/subsystem.o) \
		$(sort $(KINDS) $(foreach a,$(filter-out draw,$(BUILT)),$(call private,$a))) \
		$(LIBRARY) .build
	$(call note,CC)
	$(Q)$(BUILD) -Ibuild/one -o $@ $(filter %.c %.o %.a,$^)

build/one/%.o: %.c build/flags | $(GENERATED)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -MMD -MP -Dmain=main_$(subst -,_,$(notdir $*)) \
		-Dmanager_subsystem$(if $(filter %/subsystem,$*),=subsystem_$(notdir $(*D)),=manager_subsystem) -c -o $@ $<

build/one/one.h: $(WITHIN_SOURCES) .build
	@mkdir -p $(@D)
	$(Q)printf 'TOOL("%s", %s)\n' \
		$(foreach t,$(notdir $(WITHIN)),$t main_$(subst -,_,$t)) >$@
	$(Q)printf 'SUBSYSTEM(%s)\n' $(SUBSYSTEMS:trace-hooks/%=subsystem_%) >>$@
else
$(foreach s,$(SOURCES),$(eval $(call link,$s)))

$(foreach s,$(SUBSYSTEMS),$(eval $(call program,$s/manager, \
	$(patsubst %.c,build/%.o,$(wildcard $s/*.c)) build/lib/session/manager.o $(SHARED))))
endif

# what --help prints
build/gen/help.h: lib/tool/help.awk $(wildcard lib/*/*.help $(BUILT:%=bin/%/*.help))
	@mkdir -p $(@D)
	$(Q)awk -f $^ >$@

# rows of arrays
vpath %.rows $(LAYERS:%=lib/%) $(AREAS:%=bin/%)
$(ROWS:%=build/gen/%.h): build/gen/%.h: lib/base/rows.awk %.rows
	@mkdir -p $(@D)
	$(Q)awk -f $^ >$@

build/gen/syscall_names.h: lib/host/syscall_names.in
	@mkdir -p $(@D)
	$(Q)LC_ALL=C sed -n 's/ /\\0/g; s/^[a-z0-9].*/"&\\0\\0"/p' $< >$@
build/gen/syscall_numbers.h: build/flags
	@mkdir -p $(@D)
	$(Q)echo '#include <sys/syscall.h>' | $(CC) $(CPPFLAGS) $(CFLAGS) -E -dM - | \
	sed -n 's/^#define __NR_\([a-z0-9_]*\) .*/ENTRY("\1", __NR_\1)/p' | sort >$@

build/gen/error_numbers.h: build/flags
	@mkdir -p $(@D)
	$(Q)echo '#include <errno.h>' | $(CC) $(CPPFLAGS) $(CFLAGS) -E -dM - | \
	sed -n 's/^#define \(E[A-Z0-9]*\) \([0-9]*\)$$/ENTRY("\1", \2)/p' | sort -t, -k2n >$@

build/gen/allowed.h: build/gen/syscall_numbers.h lib/host/allowed.in
	$(Q)awk 'FNR == NR { split($$0, part, "\""); known[part[2]] = 1; next } \
		$$1 in known { print "{ SYS_" $$1 ", " (NF > 1 ? $$2 ", " $$3 ", " $$4 : "0, ALWAYS, 0") " }," }' $^ >$@

build/gen/roles_data.h: lib/calls/roles.awk lib/host/syscall_names.in lib/calls/data/calls.in \
		lib/calls/data/roles.in
	@mkdir -p $(@D)
	$(Q)LC_ALL=C awk -f $^ >$@.new
	$(Q)mv $@.new $@

# the tables of system calls, compiled
CALLS_IN := $(addprefix lib/calls/data/,types.in pieces.in numbers.in) \
	$(sort $(wildcard lib/calls/data/sets/*.in)) \
	$(addprefix lib/calls/data/,layouts.in netlink.in calls.in)
build/gen/syscalls_data.h: lib/calls/tables.awk $(CALLS_IN)
	@mkdir -p $(@D)
	$(Q)LC_ALL=C awk -v NAMES=build/gen/syscalls_names.h -f $^ >$@.new
	$(Q)mv $@.new $@

# Choose the pieces of texts again, after many texts have changed.
pieces:
	@mkdir -p build/gen
	$(Q)LC_ALL=C awk -v NAMES=build/gen/pieces -v TEXTS=build/gen/texts -f lib/calls/tables.awk $(CALLS_IN) >/dev/null
	$(Q)LC_ALL=C awk -f lib/calls/pieces.awk build/gen/texts >build/gen/pieces
	$(Q)mv build/gen/pieces lib/calls/data/pieces.in

# the script of the pictures as a string, without comments, indentation and most spaces
build/gen/svg_script.h: lib/draw/svg.js build/flags
	$(Q){ echo 'static const char svg_script[] ='; \
	sed 's/^[[:space:]]*//; /^\/\//d; /^$$/d; s/ \([-=+*?:<>&|]\{1,3\}\) /\1/g; s/\([,;:)]\) /\1/g; s/ \([{}(]\)/\1/g; s/{ /{/g; s/[\\"]/\\&/g; s/.*/"&\\n"/' $<; echo ';'; } >$@

# the styles of pictures as strings, without comments
vpath %.css lib/draw bin/requests
build/gen/%_style.h: %.css
	$(Q)sed '/^ *[/*]/d; s/["\\]/\\&/g; s/.*/"&\\n"/' $< >$@

%/manager.tfs: %/manager
	$(Q)ln -sf manager $@

# all tests but the long ones
check: all
	t/run

check-all: all
	t/run --all

# one test for each tool and hook
check-quick: all
	t/run --quick

# the guests of t/vm/guests, or some: make check-vm KERNEL=5.10 ARCH=amd64
KERNEL = *
ARCH = *
check-vm:
	t/vm/matrix '$(KERNEL)-$(ARCH)'

soak: all
	t/soak $(SECONDS)

lint: generated
	t/lint

# which lines of C the tests of check-quick reach
coverage:
	t/coverage

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
SHARE = $(DESTDIR)$(PREFIX)/share
BASHDIR = $(SHARE)/bash-completion/completions
ZSHDIR = $(SHARE)/zsh/site-functions
FISHDIR = $(SHARE)/fish/vendor_completions.d
FILL = sed 's|@TOOLS@|$(notdir $(TOOLS))|'

install: all
	install -d $(BINDIR)
ifdef ONE
	install bin/tfs $(APART) $(BINDIR)
	for t in $(notdir $(WITHIN)); do ln -sf tfs $(BINDIR)/$$t || exit; done
else
	install $(TOOLS) $(BINDIR)
endif
	for s in $(notdir $(SUBSYSTEMS)); do \
		install -d $(HOOKDIR)/$$s/hooks.d && \
		$(PUT_MANAGER) && \
		ln -sf manager $(HOOKDIR)/$$s/manager.tfs || exit; \
	done
	for h in $(HOOKS:trace-hooks/%=%); do install trace-hooks/$$h $(HOOKDIR)/$$h || exit; done
	install -d $(MANDIR)/man1 $(MANDIR)/man5 $(MANDIR)/man7
	install -m 644 $(filter %.1,$(PAGES)) $(MANDIR)/man1
	install -m 644 $(filter %.5,$(PAGES)) $(MANDIR)/man5
	install -m 644 $(filter %.7,$(PAGES)) $(MANDIR)/man7
	install completion/complete $(HOOKDIR)
	install -d $(BASHDIR) $(ZSHDIR) $(FISHDIR)
	$(FILL) completion/tfs.zsh >$(ZSHDIR)/_tfs
	$(FILL) completion/tfs.bash >$(BASHDIR)/tfs-run
	$(FILL) completion/tfs.fish >$(FISHDIR)/tfs-run.fish
# bash and fish look for a file with the name of the command
	for t in $(filter-out tfs-run,$(notdir $(TOOLS))); do \
		ln -sf tfs-run $(BASHDIR)/$$t && ln -sf tfs-run.fish $(FISHDIR)/$$t.fish || exit; \
	done

uninstall:
	rm -f $(addprefix $(BINDIR)/,$(notdir $(TOOLS)) tfs)
	for s in $(notdir $(SUBSYSTEMS)); do \
		rm -f $(HOOKDIR)/$$s/manager $(HOOKDIR)/$$s/manager.tfs; \
	done
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/lib/,$(HOOKS))
	for p in $(PAGES); do rm -f $(MANDIR)/man$${p##*.}/$${p##*/}; done
	rm -f $(HOOKDIR)/complete $(ZSHDIR)/_tfs $(addprefix $(BASHDIR)/,$(notdir $(TOOLS))) \
		$(patsubst %,$(FISHDIR)/%.fish,$(notdir $(TOOLS)))
# keep a hook that the administrator added, and its directory
	-rmdir $(foreach s,$(notdir $(SUBSYSTEMS)),$(HOOKDIR)/$s/hooks.d $(HOOKDIR)/$s) \
		$(HOOKDIR) 2>/dev/null

# the sources of the last commit as a tarball in DIST, the same bytes each time
DIST = .
dist:
	git archive --format=tar --prefix=tfs-tools-$(VERSION)/ -o $(DIST)/tfs-tools-$(VERSION).tar HEAD
	gzip -9nf $(DIST)/tfs-tools-$(VERSION).tar

clean:
	rm -f $(TOOLS) bin/tfs $(MANAGERS) $(ALIASES) .build
	rm -rf $(filter-out build/vm,$(wildcard build/*)) # the kernels stay

# make clean all, with -j as well
ifneq ($(filter clean,$(MAKECMDGOALS)),)
.NOTPARALLEL:
endif

.PHONY: all generated pieces check check-all check-quick check-vm soak lint coverage bench install uninstall dist clean FORCE
