# SPDX-License-Identifier: ISC
# the options of the kernel that tracefs and BPF programs need
FILESEXTRAPATHS:prepend := "${THISDIR}:"
SRC_URI += "file://tfs-tools.cfg"
