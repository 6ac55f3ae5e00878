meta:
  id: gnubg_huge
  title: GNU Backgammon one-sided bearoff database of autumn 2002
  file-extension: bd
  license: MIT
  endian: le
  imports: [positions]
doc: Fifteen chequers; chances, parts of 65535, to bear off in exactly 0 to 31 rolls. No genuine file was seen.
doc-ref: docs/formats/gnubg-huge.md
seq:
  - {id: points_digits, type: str, size: 2, encoding: ASCII}
  - {id: filling, contents: "xxxxxxxxxxxxxxxxxxx\n"}
  - {id: sides, type: "positions(points, 15)"}
instances:
  points: {value: points_digits.to_i}
  rows: {pos: 22, type: row, repeat: expr, repeat-expr: sides.n}
types:
  row:
    seq:
      - {id: bearoff, type: u2, repeat: expr, repeat-expr: 32}
