meta:
  id: gnubg_nd
  title: GNU Backgammon one-sided bearoff database, normal distributions
  file-extension: bd
  license: MIT
  endian: le
  imports: [positions]
doc: A file without header is a `table` at byte 0, whose parameters have to be known.
doc-ref: docs/formats/gnubg-nd.md
seq:
  - {id: magic, contents: gnubg-OS-}
  - {id: points_digits, type: str, size: 2, encoding: ASCII}
  - {id: dash_1, size: 1}
  - {id: chequers_digits, type: str, size: 2, encoding: ASCII}
  - {id: flags, size: 5}
  - {id: normal, contents: "1"}
  - {id: filling, size: 20}
  - {id: table, type: "table(points, chequers, 40)"}
instances:
  points: {value: points_digits.to_i}
  chequers: {value: chequers_digits.to_i}
types:
  table:
    params:
      - {id: points, type: s4}
      - {id: chequers, type: s4}
      - {id: start, type: s8}
    seq:
      - {id: sides, type: "positions(points, chequers)"}
    instances:
      n: {value: sides.n}
      rows: {pos: start, type: row, repeat: expr, repeat-expr: n}
  row:
    seq:
      - {id: mean, type: f4, doc: rolls to bear off the last chequer}
      - {id: deviation, type: f4}
      - {id: gammon_mean, type: f4, doc: rolls to bear off the first chequer}
      - {id: gammon_deviation, type: f4}
