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
  # made: seq gnubg-ts.header
  - {id: magic, contents: gnubg}
  - {size: 1, doc: "`-`, ignored"}
  - {id: kind, contents: TS}
  - {size: 1, doc: "`-`, ignored"}
  - {id: points_digits, type: str, size: 2, encoding: ASCII}
  - {size: 1, doc: "`-`, ignored"}
  - {id: chequers_digits, type: str, size: 2, encoding: ASCII}
  - {size: 1, doc: "`-`, ignored"}
  - {id: cubeful_digits, type: str, size: 1, encoding: ASCII, doc: "1 with cubeful equities"}
  - {id: filling, size: 24, doc: "`x` and a line feed, ignored"}
  # made: end
  - {id: table, type: "table(points, chequers, cubeful, 40)"}
instances:
  points: {value: points_digits.to_i}
  chequers: {value: chequers_digits.to_i}
  cubeful: {value: cubeful_digits.to_i != 0}
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
      # made: seq gnubg-ts.equities if cubeful: owned centered opponents
      - {id: cubeless, type: u2}
      - {id: owned, type: u2, if: cubeful, doc: the side on roll owns the cube}
      - {id: centered, type: u2, if: cubeful}
      - {id: opponents, type: u2, if: cubeful, doc: the opponent owns the cube}
      # made: end
