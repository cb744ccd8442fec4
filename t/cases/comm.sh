#!/bin/bash
# SPDX-License-Identifier: ISC
# connects from a child that has become python3: the COMM column should be python3
/usr/bin/python3 -c 'import socket
for i in range(3):
    s=socket.socket()
    try: s.connect(("127.0.0.1",9))
    except OSError: pass'
true
