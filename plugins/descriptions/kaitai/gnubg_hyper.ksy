meta:
  id: gnubg_hyper
  title: GNU Backgammon hypergammon database
  file-extension: bd
  license: MIT
  endian: le
  bit-endian: le
  imports: [positions]
doc: |
  Chances are parts of 16777215; an equity is (value / 16777215 - 0.5) * 6. A file without header is a `table` at byte 0,
  whose parameters have to be known.
doc-ref: docs/formats/gnubg-hyper.md
seq:
  - {id: magic, contents: gnubg-H}
  - {id: chequers_digit, type: str, size: 1, encoding: ASCII}
  - {id: filling, size: 32}
  - {id: table, type: "table(chequers, 40)"}
instances:
  chequers: {value: chequers_digit.to_i}
types:
  table:
    params:
      - {id: chequers, type: s4}
      - {id: start, type: s8}
    seq:
      - {id: sides, type: "positions(25, chequers)"}
    instances:
      n: {value: sides.n}
      rows: {pos: start, type: "row(n)", repeat: expr, repeat-expr: n}
  row:
    params:
      - {id: n, type: s8}
    seq:
      - {id: records, type: record, repeat: expr, repeat-expr: n}
  record:
    seq:
      - {id: win, type: b24}
      - {id: win_gammon, type: b24}
      - {id: win_backgammon, type: b24}
      - {id: lose_gammon, type: b24}
      - {id: lose_backgammon, type: b24}
      - {id: owned, type: b24}
      - {id: centered, type: b24}
      - {id: centered_jacoby, type: b24}
      - {id: opponents, type: b24}
      - {id: zero, type: u1}
