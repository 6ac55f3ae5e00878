meta:
  id: exactbearoff
  title: Michel Grimminck's ExactBearoff
  license: MIT
  endian: le
  bit-endian: le
  imports: [positions]
doc: |
  Equity = value / 4194000 - 2. Sides are in an order of their own: by the chequers on point 6, then 5, and so on to
  point 1, fewest first. No genuine file was seen.
doc-ref: docs/formats/exactbearoff.md
seq:
  - {id: magic, contents: [0xcc, 0xde, 0x60, 0x04]}
  - {id: version, type: u4, valid: 100}
  - {id: bottom, type: s4, doc: chequers}
  - {id: top, type: s4, valid: bottom}
  - {id: sides, type: "positions(6, bottom)"}
instances:
  n: {value: sides.n}
  rows: {pos: 16, type: "row(n)", repeat: expr, repeat-expr: n}
types:
  row:
    params:
      - {id: n, type: s8}
    seq:
      - {id: records, type: record, repeat: expr, repeat-expr: n}
  record:
    seq:
      - {id: cubeless, type: b24}
      - {id: owned, type: b24}
      - {id: centered, type: b24}
      - {id: opponents, type: b24}
