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
  # made: seq gnubg-hyper.header
  - {id: magic, contents: gnubg}
  - {size: 1, doc: "`-`, ignored"}
  - {id: kind, contents: H}
  - {id: chequers_digits, type: str, size: 1, encoding: ASCII, doc: "1, 2 or 3"}
  - {id: filling, size: 32, doc: "`x` and a line feed, ignored"}
  # made: end
  - {id: table, type: "table(chequers, 40)"}
instances:
  chequers: {value: chequers_digits.to_i}
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
      # made: seq gnubg-hyper.record
      - {id: win, type: b24, doc: "probabilities, parts of 16777215"}
      - {id: win_gammon, type: b24}
      - {id: win_backgammon, type: b24}
      - {id: lose_gammon, type: b24}
      - {id: lose_backgammon, type: b24}
      - {id: owned, type: b24, doc: "equities (v / 16777215 - 0.5) * 6: the side on roll owns the cube"}
      - {id: centered, type: b24}
      - {id: centered_jacoby, type: b24, doc: the same with the Jacoby rule}
      - {id: opponents, type: b24, doc: the opponent owns the cube}
      - {id: zero, type: u1, valid: 0}
      # made: end
