meta:
  id: bgsage
  title: bgsage one-sided bearoff database
  file-extension: db
  license: MIT
  endian: le
doc-ref: docs/formats/bgsage.md
seq:
  - {id: magic, contents: RAEB}
  - {id: version, type: u4, valid: 1}
  - {id: points, type: u4}
  - {id: chequers, type: u4}
  - {id: columns, type: u4}
  - {id: positions, type: u4}
  - {id: gammon_rows, type: u4}
instances:
  means_at: {value: 28 + 2 * columns * positions}
  bearoff:
    pos: 28
    type: row
    repeat: expr
    repeat-expr: positions
    doc: parts of 65535 that the last chequer is off after exactly k rolls
  means: {pos: means_at, type: f4, repeat: expr, repeat-expr: positions, doc: mean rolls}
  gammon_index:
    pos: means_at + 4 * positions
    type: s4
    repeat: expr
    repeat-expr: positions
    doc: row of `survival`, or -1
  survival:
    pos: means_at + 8 * positions
    type: row
    repeat: expr
    repeat-expr: gammon_rows
    doc: parts of 65535 that no chequer is off after k rolls
types:
  row:
    seq:
      - {id: rolls, type: u2, repeat: expr, repeat-expr: _root.columns}
