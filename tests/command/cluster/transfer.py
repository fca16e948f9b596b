"""A transfer over TCP: transfer.py receive PORT, or transfer.py send HOST PORT BYTES PAUSE TIMES, which prints seconds."""

import socket
import sys
import time


def exactly(connection, count):
    left = count
    while left:
        got = len(connection.recv(min(left, 1 << 16)))
        if not got:
            raise SystemExit("the connection ended")
        left -= got


def receive(port):
    with socket.create_server(("", int(port))) as server:
        print("ready", flush=True)
        connection, _ = server.accept()
        with connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while header := connection.recv(8, socket.MSG_WAITALL):
                exactly(connection, int.from_bytes(header, "big"))
                connection.sendall(b"y")


def send(host, port, count, pause, times):
    data = bytes(int(count))
    with socket.create_connection((host, int(port))) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(int(times)):
            time.sleep(float(pause))
            begin = time.monotonic()
            connection.sendall(len(data).to_bytes(8, "big") + data)
            exactly(connection, 1)
            print(time.monotonic() - begin, flush=True)


if __name__ == "__main__":
    {"receive": receive, "send": send}[sys.argv[1]](*sys.argv[2:])
