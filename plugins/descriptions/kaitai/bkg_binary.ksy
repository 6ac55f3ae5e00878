meta:
  id: bkg_binary
  title: Gillogly's table for BKG as float64
  file-extension: bkb
  license: MIT
  endian: le
doc-ref: docs/formats/bkg-binary.md
seq:
  # made: seq bkg-binary.header
  - {id: magic, contents: bkg-T-06-08-25-}
  - {id: domain, size: 1, doc: "`u` union, `i` intersection"}
  - {id: rest, contents: "-08-f8xxxxxxxxxxxxxxxxx\n"}
  # made: end
instances:
  n: {value: "domain == [117] ? 4853 : 1724"}
  # made: instances bkg-binary.file
  rows: {pos: 40, type: rows_row, repeat: expr, repeat-expr: n, doc: "mean number of rolls (ENR), P(1) ... P(8)"}
  # made: end
types:
  # made: rows bkg-binary.file
  rows_row:
    seq: [{id: values, type: f8, repeat: expr, repeat-expr: 9}]
  # made: end
