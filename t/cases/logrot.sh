#!/bin/sh
# SPDX-License-Identifier: ISC
# logrot.sh DIR: a daemon writes to DIR/app.log each 0.3 s; another process renames the file to
# app.log.1 after 1 s; truth: ls -l
set -eu
cd "$1"
python3 -c '
import os, time
f = os.open("app.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
for i in range(6):
    os.write(f, b"x" * 10)
    time.sleep(0.3)
' &
sleep 1
mv app.log app.log.1
: >app.log
wait
ls -l app.log app.log.1
