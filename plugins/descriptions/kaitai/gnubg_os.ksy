meta:
  id: gnubg_os
  title: GNU Backgammon one-sided bearoff database
  file-extension: bd
  license: MIT
  endian: le
  imports: [positions]
doc: |
  Chances, parts of 65535, to bear off the last chequer (and the first one, "gammon") in exactly 0 to 31 rolls.
  A file without header is a `table` at byte 0, whose parameters have to be known.
doc-ref: docs/formats/gnubg-os.md
seq:
  # made: seq gnubg-os.header
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
  - {id: table, type: "table(points, chequers, gammon, compressed, 40)"}
instances:
  points: {value: points_digits.to_i}
  chequers: {value: chequers_digits.to_i}
  gammon: {value: gammon_digits.to_i != 0}
  compressed: {value: compressed_digits.to_i != 0}
types:
  table:
    params:
      - {id: points, type: s4}
      - {id: chequers, type: s4}
      - {id: gammon, type: bool}
      - {id: compressed, type: bool}
      - {id: start, type: s8}
    seq:
      - {id: sides, type: "positions(points, chequers)"}
    instances:
      n: {value: sides.n}
      start_if_6: {pos: start + 6, type: u4}
      start_if_8: {pos: start + 8, type: u4}
      entry_size:
        value: "gammon or (start_if_6 != 1 and start_if_8 == 1) ? 8 : 6"
        doc: Without gammons 6, but 8 until March 2009, which the start of position 1's values tells.
      data: {value: start + n * entry_size}
      rows:
        pos: start
        type: row(gammon)
        repeat: expr
        repeat-expr: n
        if: not compressed
      index:
        pos: start
        type: entry(entry_size, data, gammon)
        repeat: expr
        repeat-expr: n
        if: compressed
  row:
    params:
      - {id: with_gammon, type: bool}
    seq:
      - {id: bearoff, type: u2, repeat: expr, repeat-expr: 32}
      - {id: gammon, type: u2, repeat: expr, repeat-expr: 32, if: with_gammon}
  entry:
    params:
      - {id: entry_size, type: s4}
      - {id: data, type: s8}
      - {id: with_gammon, type: bool}
    seq:
      # made: seq gnubg-os.entry if entry_size == 8: gammon_count gammon_first
      - {id: start, type: u4, doc: "first value, counted in u16 from the end of the index"}
      - {id: count, type: u1, doc: number of stored bearoff values}
      - {id: first, type: u1, doc: roll of the first stored bearoff value}
      - {id: gammon_count, type: u1, if: "entry_size == 8", doc: number of stored gammon values}
      - {id: gammon_first, type: u1, if: "entry_size == 8", doc: roll of the first stored gammon value}
      # made: end
    instances:
      bearoff: {pos: data + 2 * start, type: u2, repeat: expr, repeat-expr: count}
      gammon:
        pos: data + 2 * (start + count)
        type: u2
        repeat: expr
        repeat-expr: gammon_count
        if: with_gammon
