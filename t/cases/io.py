# SPDX-License-Identifier: ISC
# io.py DEV - reads, writes, flushes, a discard and zeros on a disk
import os,mmap,sys,fcntl,struct
dev=sys.argv[1]
fd=os.open(dev,os.O_RDWR|os.O_DIRECT); buf=mmap.mmap(-1,4096); buf.write(b'x'*4096)
for i in range(5): os.pwrite(fd,buf,i*8192); os.fsync(fd)      # 5 writes + 5 flushes
for i in range(3): os.preadv(fd,[buf],i*8192)                  # 3 reads
try: fcntl.ioctl(fd,0x1277,struct.pack('QQ',0,1<<20)); print('discard ok')   # BLKDISCARD
except OSError as e: print('discard',e)
try: fcntl.ioctl(fd,0x127f,struct.pack('QQ',1<<20,1<<20)); print('zeroout ok')   # BLKZEROOUT
except OSError as e: print('zeroout',e)
fd2=os.open(dev,os.O_RDWR|os.O_DIRECT|os.O_SYNC); os.pwrite(fd2,buf,0) # FUA or flush
fd3=os.open(dev,os.O_RDWR); os.pwrite(fd3,b'y'*100000,2<<20); os.fsync(fd3) # buffered
