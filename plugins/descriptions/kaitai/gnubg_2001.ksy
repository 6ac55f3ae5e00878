meta:
  id: gnubg_2001
  title: GNU Backgammon's gnubg.bd until November 2002
  file-extension: bd
  license: MIT
  endian: le
doc: Two tables without header, of chances in parts of 65535.
doc-ref: docs/formats/gnubg-2001.md
instances:
  # made: instances gnubg-2001.file
  rolls: {pos: 0, type: rolls_row, repeat: expr, repeat-expr: 54264, doc: "probability, in 65535ths, of bearing off in exactly k rolls, k from 0 to 31; 6 points, 15 chequers"}
  pairs: {pos: 3472896, type: pairs_row, repeat: expr, repeat-expr: 924, doc: "win probability of the side on roll, in 65535ths, record us * 924 + them; 6 points, 6 chequers"}
  # made: end
types:
  # made: rows gnubg-2001.file
  rolls_row:
    seq: [{id: values, type: u2, repeat: expr, repeat-expr: 32}]
  pairs_row:
    seq: [{id: values, type: pairs_row_row, repeat: expr, repeat-expr: 924}]
  pairs_row_row:
    seq: [{id: values, type: u2, repeat: expr, repeat-expr: 1}]
  # made: end
