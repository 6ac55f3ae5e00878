meta:
  id: bkg_binary
  title: Gillogly's table for BKG as float64
  file-extension: bkb
  license: MIT
  endian: le
doc-ref: docs/formats/bkg-binary.md
seq:
  - {id: magic, contents: bkg-T-06-08-25-}
  - {id: domain, type: str, size: 1, encoding: ASCII, doc: "u union, i intersection"}
  - {id: rest, contents: "-08-f8xxxxxxxxxxxxxxxxx\n"}
instances:
  rows: {pos: 40, type: row, repeat: expr, repeat-expr: "domain == 'u' ? 4853 : 1724"}
types:
  row:
    seq:
      - {id: enr, type: f8, doc: expected number of rolls}
      - {id: chances, type: f8, repeat: expr, repeat-expr: 8, doc: chance to be off in 1 to 8 rolls}
