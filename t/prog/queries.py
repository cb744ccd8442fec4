#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""send 3 packets to port 53, connect to it 2 times, and look up an address 4 times"""
import socket

for i in range(3):
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'query', ('127.0.0.1', 53))
for i in range(2):
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(('127.0.0.1', 53))
for i in range(4):
    socket.getaddrinfo('127.0.0.1', 80)
