meta:
  id: gnubg_ts
  title: GNU Backgammon two-sided bearoff database
  file-extension: bd
  license: MIT
  endian: le
  imports: [positions]
doc: |
  Equity of the side on roll = value / 32767.5 - 1. A file without header is a `table` at byte 0, whose parameters have
  to be known.
doc-ref: docs/formats/gnubg-ts.md
seq:
  - {id: magic, contents: gnubg-TS-}
  - {id: points_digits, type: str, size: 2, encoding: ASCII}
  - {id: dash_1, size: 1}
  - {id: chequers_digits, type: str, size: 2, encoding: ASCII}
  - {id: dash_2, size: 1}
  - {id: cubeful_digit, type: str, size: 1, encoding: ASCII}
  - {id: filling, size: 24}
  - {id: table, type: "table(points, chequers, cubeful, 40)"}
instances:
  points: {value: points_digits.to_i}
  chequers: {value: chequers_digits.to_i}
  cubeful: {value: cubeful_digit.to_i != 0}
types:
  table:
    params:
      - {id: points, type: s4}
      - {id: chequers, type: s4}
      - {id: cubeful, type: bool}
      - {id: start, type: s8}
    seq:
      - {id: sides, type: "positions(points, chequers)"}
    instances:
      n: {value: sides.n}
      rows:
        pos: start
        type: row(n, cubeful)
        repeat: expr
        repeat-expr: n
        doc: by position number of the side on roll
  row:
    params:
      - {id: n, type: s8}
      - {id: cubeful, type: bool}
    seq:
      - id: records
        type: record(cubeful)
        repeat: expr
        repeat-expr: n
        doc: by position number of the other side
  record:
    params:
      - {id: cubeful, type: bool}
    seq:
      - {id: cubeless, type: u2}
      - {id: owned, type: u2, if: cubeful}
      - {id: centered, type: u2, if: cubeful}
      - {id: opponents, type: u2, if: cubeful}
