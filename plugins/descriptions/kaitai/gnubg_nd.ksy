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
  # made: seq gnubg-nd.header
  - {id: magic, contents: gnubg}
  - {size: 1, doc: "`-`, ignored"}
  - {id: kind, contents: OS}
  - {size: 1, doc: "`-`, ignored"}
  - {id: points_digits, type: str, size: 2, encoding: ASCII}
  - {size: 1, doc: "`-`, ignored"}
  - {id: chequers_digits, type: str, size: 2, encoding: ASCII}
  - {size: 1, doc: "`-`, ignored"}
  - {id: gammon_digits, type: str, size: 1, encoding: ASCII, doc: "1 with gammon distributions"}
  - {size: 1, doc: "`-`, ignored"}
  - {id: compressed_digits, type: str, size: 1, encoding: ASCII, doc: "1 if compressed"}
  - {size: 1, doc: "`-`, ignored"}
  - {id: normal_digits, type: str, size: 1, encoding: ASCII, doc: "1 with normal distributions"}
  - {id: filling, size: 20, doc: "`x` and a line feed, ignored"}
  # made: end
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
      # made: seq gnubg-nd.moments
      - {id: mean, type: f4, doc: mean number of rolls to bear off the last chequer}
      - {id: deviation, type: f4, doc: its standard deviation}
      - {id: gammon_mean, type: f4, doc: mean number of rolls to bear off the first chequer (to save the gammon)}
      - {id: gammon_deviation, type: f4, doc: its standard deviation}
      # made: end
