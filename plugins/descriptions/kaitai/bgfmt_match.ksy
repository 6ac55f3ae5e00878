meta:
  id: bgfmt_match
  title: bgfmt table of a match score
  file-extension: bgm
  license: MIT
  endian: le
  imports: [positions]
doc: A number is 2 MWC - 1 of the side on roll, which rolls without a double.
doc-ref: docs/formats/bgfmt-match.md
seq:
  # made: seq bgfmt-match.header
  - {id: magic, contents: "BGMATCH\u001a"}
  - {id: version, type: u2, valid: 1}
  - {id: points, type: u1}
  - {id: chequers, type: u1}
  - {id: away, type: u1, repeat: expr, repeat-expr: 2, doc: points that a and b need}
  - {id: player, type: u1, doc: "0 or 1: the player of the match equity table that a is"}
  - {id: flags, type: u1, doc: "sum of 1 if columns with a on roll are valid for both players, and 2 if a side may have fifteen chequers"}
  - {id: columns, type: u2, doc: number of columns}
  - {id: results, type: u2, doc: number of results}
  - {id: block_rows, type: u4, doc: rows of a block}
  - {id: digest, size: 32, doc: "SHA-256 of the match equity table's values"}
  - {id: met, size: 64, doc: "name of the match equity table, UTF-8, filled with zeros"}
  - {id: states, type: column, repeat: expr, repeat-expr: columns, doc: the cube state of each column}
  - {id: wins, type: result, repeat: expr, repeat-expr: results, doc: match winning probabilities (MWC) after each result of a game}
  - {id: crc, type: u4, doc: CRC-32 of all bytes before it}
  # made: end
  - {id: sides, type: "positions(points, chequers)"}
instances:
  n: {value: sides.n}
  blocks: {value: (n + block_rows - 1) / block_rows}
  # made: size bgfmt-match.header
  header_size: {value: "124 + 4 * columns + 20 * results"}
  # made: end
  header: {value: (header_size + 63) / 64 * 64}
  # made: instances bgfmt-match.file
  numbers: {pos: header, type: numbers_row, repeat: expr, repeat-expr: n}
  checksums_of_the_blocks: {pos: header + 4 * n * n * columns, type: u4, repeat: expr, repeat-expr: blocks, doc: "CRC-32 of each block of rows of `numbers`; the last block can be shorter"}
  # made: end
types:
  column:
    seq:
      # made: seq bgfmt-match.column
      - {id: roller, type: u1, doc: "who is on roll: 0 a, 1 b"}
      - {id: owner, type: u1, doc: "who owns the cube: 0 a, 1 b, 2 nobody, 255 there is none"}
      - {id: cube, type: u2, doc: "value of the cube, 0 for none"}
      # made: end
  result:
    seq:
      # made: seq bgfmt-match.result
      - {id: points, type: u4}
      - {id: win, type: f8, doc: MWC of a after winning the points}
      - {id: lose, type: f8, doc: MWC of a after losing them}
      # made: end
  # made: rows bgfmt-match.file
  numbers_row:
    seq: [{id: values, type: numbers_row_row, repeat: expr, repeat-expr: "_root.n"}]
  numbers_row_row:
    seq: [{id: values, type: f4, repeat: expr, repeat-expr: "_root.columns"}]
  # made: end
