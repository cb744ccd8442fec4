# SPDX-License-Identifier: ISC
SUMMARY = "Trace the Linux kernel from the shell with tracefs"
DESCRIPTION = "Small programs and hooks that drive tracefs: the system calls, files, programs, \
delays and network connections of the given tasks. The tools are links to one program."
SECTION = "devel"
LICENSE = "ISC"
LIC_FILES_CHKSUM = "file://LICENSE;md5=d2d1dbc910a48dab73e9773ba44a8fc9"

# The directory or URL of the source archive: local.conf can name another one.
TFS_TOOLS_URL ?= "file:///srv/sources"
SRC_URI = "${TFS_TOOLS_URL}/${BP}.tar.gz"
# An archive from a network needs a checksum: SRC_URI[sha256sum] = "...", in a .bbappend.

# The Makefile has no configure step. The tools are links to one program.
EXTRA_OEMAKE = "ONE=1 'CC=${CC}' 'AR=${AR}' 'CFLAGS=${CFLAGS}' 'CPPFLAGS=${CPPFLAGS}' \
    'LDFLAGS=${LDFLAGS}' PREFIX=${prefix}"

do_configure() {
	:
}

do_compile() {
	oe_runmake all
}

do_install() {
	oe_runmake install DESTDIR=${D}
	install -D -m 0755 ${S}/deploy/init/tfs-flight ${D}${sysconfdir}/init.d/tfs-flight
	install -D -m 0644 ${S}/deploy/init/tfs-flight.default ${D}${sysconfdir}/default/tfs-flight
	install -D -m 0644 -t ${D}${systemd_system_unitdir} ${S}/deploy/systemd/tfs-flight.service \
		${S}/deploy/systemd/tfs-last-boot.service
}

# The init script starts a recorder only if /etc/default/tfs-flight has its options. The units are
# enabled by hand.
inherit update-rc.d systemd
INITSCRIPT_NAME = "tfs-flight"
INITSCRIPT_PARAMS = "defaults 60"
SYSTEMD_SERVICE:${PN} = "tfs-flight.service tfs-last-boot.service"
SYSTEMD_AUTO_ENABLE = "disable"
CONFFILES:${PN} = "${sysconfdir}/default/tfs-flight"

# -convert: converters of traces for other machines
PACKAGES =+ "${PN}-convert ${PN}-completion"
FILES:${PN}-convert = "${bindir}/tfs-export ${bindir}/tfs-flame \
    ${bindir}/tfs-perfetto ${bindir}/tfs-timeline"
FILES:${PN}-completion = "${prefix}/lib/trace-hooks/complete ${datadir}/bash-completion \
    ${datadir}/zsh ${datadir}/fish"
FILES:${PN} += "${prefix}/lib/trace-hooks"
