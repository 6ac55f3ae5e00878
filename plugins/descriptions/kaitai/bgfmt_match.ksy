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
  - {id: magic, contents: [BGMATCH, 0x1a]}
  - {id: version, type: u2, valid: 1}
  - {id: points, type: u1}
  - {id: chequers, type: u1}
  - {id: away, type: u1, repeat: expr, repeat-expr: 2}
  - {id: player, type: u1}
  - {id: flags, type: u1}
  - {id: num_columns, type: u2}
  - {id: num_results, type: u2}
  - {id: block_rows, type: u4}
  - {id: digest, size: 32, doc: SHA-256 of the match equity table's values}
  - {id: met, size: 64, type: strz, encoding: UTF-8}
  - {id: columns, type: column, repeat: expr, repeat-expr: num_columns}
  - {id: results, type: result, repeat: expr, repeat-expr: num_results}
  - {id: header_crc32, type: u4}
  - {id: sides, type: "positions(points, chequers)"}
instances:
  n: {value: sides.n}
  start: {value: (124 + 4 * num_columns + 20 * num_results + 63) / 64 * 64}
  rows:
    pos: start
    type: row
    repeat: expr
    repeat-expr: n
    doc: by position number of the side on roll
  block_crc32:
    pos: start + 4 * n * n * num_columns
    type: u4
    repeat: expr
    repeat-expr: (n + block_rows - 1) / block_rows
types:
  column:
    seq:
      - {id: roller, type: u1, doc: "0 a, 1 b"}
      - {id: owner, type: u1, doc: "0 a, 1 b, 2 nobody, 255 there is no cube"}
      - {id: cube, type: u2}
  result:
    seq:
      - {id: points, type: u4}
      - {id: win, type: f8}
      - {id: lose, type: f8}
  row:
    seq:
      - {id: records, type: record, repeat: expr, repeat-expr: _root.n, doc: by position number of the other side}
  record:
    seq:
      - {id: balance, type: f4, repeat: expr, repeat-expr: _root.num_columns}
