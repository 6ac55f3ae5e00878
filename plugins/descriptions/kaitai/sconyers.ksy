meta:
  id: sconyers
  title: One of the 44 files of Hugh Sconyers's database
  file-extension: dat
  license: MIT
  endian: le
  imports: [positions]
doc: |
  No header: the number of chequers (15) is in the file's name. A file has 1250 rows of the side on roll, the last one
  what is left; sides without chequers are left out. No genuine file was seen.
doc-ref: docs/formats/sconyers.md
params:
  - {id: chequers, type: s4}
seq:
  - {id: sides, type: "positions(6, chequers)"}
instances:
  n: {value: sides.n - 1, doc: sides with chequers}
  rows: {pos: 0, type: "row(n)", repeat: expr, repeat-expr: _io.size / (16 * n)}
types:
  row:
    params:
      - {id: n, type: s8}
    seq:
      - {id: records, type: record, repeat: expr, repeat-expr: n}
  record:
    seq:
      - {id: cubeless, type: f4}
      - {id: owned, type: f4}
      - {id: centered, type: f4}
      - {id: opponents, type: f4}
