#!/usr/bin/python3
# SPDX-License-Identifier: ISC
# bigelf.py FILE [MB] - write a sparse ELF library whose tables of symbols are MB each and lie over each other
import struct, sys
f, mb = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 126
size = mb << 20
off = 8192
def sh(name, type, flags, addr, offset, size, link, info=0, align=8, ent=24):
    return struct.pack('<IIQQQQIIQQ', name, type, flags, addr, offset, size, link, info, align, ent)
secs = [sh(0,0,0,0,0,0,0),
        sh(0,2,0,0,off,size,2),          # SYMTAB
        sh(0,3,0,0,off,4096,0),          # STRTAB: small, so that little is kept
        sh(0,11,0,0,off,size,2),         # DYNSYM
        sh(0,0x6fffffff,0,0,off,size,3)] # GNU_versym of section 3
eh = b'\x7fELF\x02\x01\x01' + bytes(9) + struct.pack('<HHIQQQIHHHHHH', 3, 62, 1, 0, 64, 1024, 0, 64, 56, 1, 64, len(secs), 0)
ph = struct.pack('<IIQQQQQQ', 1, 5, 0, 0, 0, 4096, 4096, 4096)
with open(f, 'wb') as o:
    o.write(eh + ph); o.seek(1024); o.write(b''.join(secs)); o.truncate(off + size)
