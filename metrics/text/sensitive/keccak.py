"""Keccak-256 as Ethereum uses it: the padding differs from that of SHA3-256 in hashlib."""

RATE = 136  # bytes absorbed at a time
MASK = (1 << 64) - 1
ROUND_CONSTANTS = (
    0x0000000000000001, 0x0000000000008082, 0x800000000000808A, 0x8000000080008000, 0x000000000000808B,
    0x0000000080000001, 0x8000000080008081, 0x8000000000008009, 0x000000000000008A, 0x0000000000000088,
    0x0000000080008009, 0x000000008000000A, 0x000000008000808B, 0x800000000000008B, 0x8000000000008089,
    0x8000000000008003, 0x8000000000008002, 0x8000000000000080, 0x000000000000800A, 0x800000008000000A,
    0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008,
)  # fmt: skip


def keccak_256(data: bytes) -> bytes:
    """Return the 32 bytes of Keccak-256. Source: Bertoni et al., The Keccak reference, version 3.0."""
    lanes = [0] * 25
    padded = bytearray(data + b"\x01" + bytes(-(len(data) + 1) % RATE))
    padded[-1] |= 0x80
    for begin in range(0, len(padded), RATE):
        for number in range(RATE // 8):
            place = begin + 8 * number
            lanes[number] ^= int.from_bytes(padded[place : place + 8], "little")
        _permute(lanes)
    return b"".join(lane.to_bytes(8, "little") for lane in lanes[:4])


def _turned(lane: int, by: int) -> int:
    return (lane << by | lane >> (64 - by)) & MASK


def _permute(lanes: list[int]) -> None:
    """Apply the 24 rounds of Keccak-f[1600]; lane x, y stands at x + 5y."""
    for constant in ROUND_CONSTANTS:
        columns = [lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20] for x in range(5)]
        for place in range(25):
            lanes[place] ^= columns[(place - 1) % 5] ^ _turned(columns[(place + 1) % 5], 1)
        x, y, current = 1, 0, lanes[1]
        for step in range(24):
            x, y = y, (2 * x + 3 * y) % 5
            current, lanes[x + 5 * y] = lanes[x + 5 * y], _turned(current, (step + 1) * (step + 2) // 2 % 64)
        for row in range(0, 25, 5):
            own = lanes[row : row + 5]
            for x in range(5):
                lanes[row + x] = own[x] ^ (~own[(x + 1) % 5] & MASK & own[(x + 2) % 5])
        lanes[0] ^= constant
