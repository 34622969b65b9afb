"""Messages between two processes over pipes that only these two hold; arrays go as they lie in memory."""

from __future__ import annotations

import pickle
import struct
from dataclasses import dataclass
from io import BufferedReader, BufferedWriter
from typing import Any

_SIZE = struct.Struct("<q")


@dataclass(frozen=True)
class Wire:
    """Two ends of pipes. One thread at a time may send, one may receive."""

    reader: BufferedReader
    writer: BufferedWriter

    def send(self, message: object) -> None:
        """Raises OSError where nobody receives any more."""
        buffers: list[pickle.PickleBuffer] = []
        head = pickle.dumps(message, protocol=5, buffer_callback=buffers.append)
        parts = [memoryview(head), *(buffer.raw() for buffer in buffers)]
        sizes = b"".join(_SIZE.pack(size) for size in (len(parts), *(part.nbytes for part in parts)))
        try:
            for part in (sizes, *parts):
                self.writer.write(part)
            self.writer.flush()
        except ValueError as error:  # closed here meanwhile, as the other process has ended
            raise BrokenPipeError(str(error)) from error

    def receive(self) -> Any:
        """The next message. Raises EOFError where none can come any more."""
        (count,) = _SIZE.unpack(self._read(_SIZE.size))
        sizes = [_SIZE.unpack(self._read(_SIZE.size))[0] for _ in range(count)]
        head, *buffers = (self._read(size) for size in sizes)
        return pickle.loads(head, buffers=buffers)

    def _read(self, size: int) -> bytearray:
        data = bytearray(size)
        if self.reader.readinto(data) != size:
            raise EOFError("The other process has ended.")
        return data
