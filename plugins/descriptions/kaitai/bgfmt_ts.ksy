meta:
  id: bgfmt_ts
  title: bgfmt two-sided bearoff database, compressed
  file-extension: bgts
  license: MIT
  endian: le
doc: |
  Where everything lies, down to the coded blocks; the residuals in these are the work of a rANS decoder, which the page
  describes and plugins/c and plugins/js have.
doc-ref: docs/formats/bgfmt-ts.md
seq:
  # made: seq bgfmt-ts.table
  - {id: magic, contents: bgfmt-ts}
  - {id: version, type: u2, doc: "1; 3 if the equities count gammons, 4 if they do so with the Jacoby rule"}
  - {id: points, type: u1, doc: "1 to 25"}
  - {id: chequers, type: u1, doc: "1 to 15"}
  - {id: columns, type: u1, doc: "4 (cubeless, owned, centered, opponent) or 1 (cubeless)"}
  - {id: block, type: u1, doc: "a block has 2^`block` records: 7 (128 records); 4 to 12 are allowed"}
  - {id: groups, type: u2, doc: number of groups of positions}
  - {id: positions, type: u4, doc: "C(points + chequers, points)"}
  - {id: facts_bytes, type: u4, doc: "size of `facts` in bytes, at most 65536"}
  - {id: size, type: u8, doc: size of the whole table in bytes}
  - {id: zero, contents: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]}
  - {id: header_crc, type: u4, doc: CRC-32 of all bytes before it}
  - {id: classes, type: class, repeat: expr, repeat-expr: 16}
  - {id: begins, type: u8, repeat: expr, repeat-expr: "(groups + 1)", doc: "offsets of the strips, then that of the end of the table"}
  - {id: order, type: u4, repeat: expr, repeat-expr: positions, doc: the position number at each place}
  - {id: facts, type: u1, repeat: expr, repeat-expr: facts_bytes, doc: "a JSON object like `extra` of [npz](npz.md), or nothing"}
  - {id: directory_crc, type: u4, doc: "CRC-32 of all bytes between `header_crc` and this field"}
  # made: end
  - {id: strips, type: "strip(_index)", repeat: expr, repeat-expr: groups}
instances:
  block_records: {value: 1 << block}
types:
  class:
    seq:
      # made: seq bgfmt-ts.class
      - {id: shift, type: u2, doc: "0 to 15"}
      - {id: frequencies, type: u2, repeat: expr, repeat-expr: 64, doc: "of the symbols; all 0 in class 0, with sum 4096 in the other classes"}
      # made: end
  strip:
    params:
      - {id: g, type: s4}
    instances:
      start: {value: "_root.begins[g]"}
      rows: {value: (g + 1) * _root.positions / _root.groups - g * _root.positions / _root.groups}
      head: {pos: start, type: head}
      index: {pos: start + head.size, type: index(rows * _root.groups)}
      factors:
        pos: start + head.size + index.index_size
        type: tile_factors(_index, head.tiles[_index].factor_bytes)
        repeat: expr
        repeat-expr: _root.groups
      segments:
        type: segment(index.begins[_index], index.begins[_index + 1], _index % _root.groups, head.tiles[_index % _root.groups].factor_bytes)
        repeat: expr
        repeat-expr: rows * _root.groups
  head:
    seq:
      # made: seq bgfmt-ts.head
      - {id: size, type: u4, doc: size of the head in bytes}
      - {id: models, type: column, repeat: expr, repeat-expr: "(groups * columns)", doc: "those of each tile, see below"}
      - {id: crc, type: u4, doc: CRC-32 of all bytes before it}
      # made: end
    instances:
      groups: {value: _root.groups}
      columns: {value: _root.columns}
      tiles: {type: tile(_index), repeat: expr, repeat-expr: groups}
  tile:
    params:
      - {id: j, type: s4}
    instances:
      first: {value: j * _root.columns}
      factor_bytes:
        value: "_parent.models[first].factor_bytes + (_root.columns == 1 ? 0 : _parent.models[first + 1].factor_bytes + _parent.models[first + 2].factor_bytes + _parent.models[first + 3].factor_bytes)"
  index:
    params:
      - {id: segments, type: s4}
    seq:
      # made: seq bgfmt-ts.index
      - {id: begins, type: u8, repeat: expr, repeat-expr: "(segments + 1)", doc: "offsets of the row segments, row by row and in a row tile by tile, then that of the end of the strip"}
      - {id: crc, type: u4, doc: CRC-32 of all bytes before it}
      # made: end
    instances:
      # made: size bgfmt-ts.index
      index_size: {value: "4 + 8 * (segments + 1)"}
      # made: end
  column:
    seq:
      # made: seq bgfmt-ts.column
      - {id: wide, type: u2, doc: "number of 16-bit factors, at most 256"}
      - {id: narrow, type: u2, doc: "number of 8-bit factors, at most 1024"}
      - {id: pairs, type: u2, doc: "number of pairs of 4-bit factors, at most 1024"}
      - {id: shifts, type: u1, repeat: expr, repeat-expr: "((wide + narrow) + pairs)", doc: "of the factors in this order, 0 to 15"}
      # made: end
    instances:
      factor_bytes: {value: 2 * wide + narrow + pairs}
  tile_factors:
    params:
      - {id: j, type: s4}
      - {id: factor_bytes, type: s4}
    seq:
      - {id: records, type: factors(factor_bytes), repeat: expr, repeat-expr: width}
    instances:
      width: {value: (j + 1) * _root.positions / _root.groups - j * _root.positions / _root.groups}
  factors:
    params:
      - {id: factor_bytes, type: s4}
    seq:
      - {id: factors, size: factor_bytes}
      - {id: crc32, type: u4}
  segment:
    params:
      - {id: start, type: u8}
      - {id: end, type: u8}
      - {id: j, type: s4}
      - {id: factor_bytes, type: s4}
    instances:
      width: {value: (j + 1) * _root.positions / _root.groups - j * _root.positions / _root.groups}
      blocks: {value: (width + _root.block_records - 1) / _root.block_records}
      body: {pos: start, size: end - start, type: "segment_body(width, blocks, factor_bytes)"}
  segment_body:
    params:
      - {id: width, type: s4}
      - {id: num_blocks, type: s4}
      - {id: factor_bytes, type: s4}
    seq:
      - {id: classes, size: "num_blocks * (_root.columns == 4 ? 2 : 1)"}
      - {id: lengths, type: u1, repeat: expr, repeat-expr: num_blocks, doc: "in units of two bytes; 255: plain"}
      - {id: factors, size: factor_bytes}
      - id: blocks
        size: "lengths[_index] != 255 ? 2 * lengths[_index] : 2 * _root.columns * (_index < num_blocks - 1 ? _root.block_records : width - _index * _root.block_records)"
        repeat: expr
        repeat-expr: num_blocks
      - {id: crc32, type: u4}
