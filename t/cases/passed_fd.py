# SPDX-License-Identifier: ISC
# the parent opens FILE and passes the descriptor by SCM_RIGHTS; the child, which never opened it, writes 5 bytes.
# then a write through open_by_handle_at (ctypes) and through pidfd_getfd
import os,socket,array,sys,ctypes,struct
f=sys.argv[1]
a,b=socket.socketpair()
pid=os.fork()
if not pid:
    m,anc,fl,ad=b.recvmsg(1,socket.CMSG_SPACE(4)); fd=struct.unpack('i',anc[0][2])[0]
    os.write(fd,b'child'); os._exit(0)
fd=os.open(f,os.O_WRONLY|os.O_CREAT|os.O_TRUNC,0o644)
a.sendmsg([b'x'],[(socket.SOL_SOCKET,socket.SCM_RIGHTS,array.array('i',[fd]))])
os.waitpid(pid,0); os.close(fd)
libc=ctypes.CDLL(None,use_errno=True)
h=ctypes.create_string_buffer(136); struct.pack_into('I',h,0,128); mid=ctypes.c_int()
r=libc.name_to_handle_at(-100,f.encode(),h,ctypes.byref(mid),0)
if r==0:
    d=os.open(os.path.dirname(f),os.O_RDONLY)
    n=libc.open_by_handle_at(d,h,os.O_WRONLY)
    print('open_by_handle_at',n,os.strerror(ctypes.get_errno()) if n<0 else '')
    if n>=0: os.write(n,b'handle')
