meta:
  id: gnubg_2001
  title: GNU Backgammon's gnubg.bd until November 2002
  file-extension: bd
  license: MIT
  endian: le
doc: Two tables without header, of chances in parts of 65535.
doc-ref: docs/formats/gnubg-2001.md
instances:
  one_sided: {pos: 0, type: rolls, repeat: expr, repeat-expr: 54264}
  two_sided: {pos: 3472896, type: row, repeat: expr, repeat-expr: 924}
types:
  rolls:
    seq:
      - {id: bearoff, type: u2, repeat: expr, repeat-expr: 32}
  row:
    seq:
      - {id: win, type: u2, repeat: expr, repeat-expr: 924}
