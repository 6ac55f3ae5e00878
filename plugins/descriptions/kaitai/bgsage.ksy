meta:
  id: bgsage
  title: bgsage one-sided bearoff database
  file-extension: db
  license: MIT
  endian: le
doc-ref: docs/formats/bgsage.md
seq:
  # made: seq bgsage.header
  - {id: magic, contents: RAEB}
  - {id: version, type: u4, valid: 1}
  - {id: points, type: u4, valid: 6}
  - {id: chequers, type: u4, valid: 15}
  - {id: columns, type: u4, valid: 32}
  - {id: positions, type: u4, valid: 54264}
  - {id: gammon_rows, type: u4, doc: number of gammon rows}
  # made: end
instances:
  # made: instances bgsage.file
  distributions: {pos: 28, type: distributions_row, repeat: expr, repeat-expr: 54264, doc: "probability, in 65535ths, of bearing off in exactly k rolls"}
  mean_rolls: {pos: 3472924, type: f4, repeat: expr, repeat-expr: 54264, doc: mean number of rolls to bear off}
  gammon_index: {pos: 3689980, type: s4, repeat: expr, repeat-expr: 54264, doc: "number of the position's gammon row, or -1 if it has none"}
  gammon_rows_part: {pos: 3907036, type: gammon_rows_row, repeat: expr, repeat-expr: gammon_rows, doc: "probability, in 65535ths, that no chequer is off after k rolls"}
  # made: end
types:
  # made: rows bgsage.file
  distributions_row:
    seq: [{id: values, type: u2, repeat: expr, repeat-expr: 32}]
  gammon_rows_row:
    seq: [{id: values, type: u2, repeat: expr, repeat-expr: 32}]
  # made: end
