meta:
  id: jfile
  title: J component file
  file-extension: ijf
  license: MIT
doc: |
  A list of nouns. Each noun is in a form of its own: word size and byte order, told by its first byte (e0 to e3).
doc-ref: docs/formats/jfile.md
instances:
  header: {pos: 0, type: located(0)}
  version: {value: "header.noun.contents[0].noun.first"}
  components_count: {value: "header.noun.contents[2].noun.first"}
  length: {value: "header.noun.contents[3].noun.first"}
  directory_at: {value: "header.noun.contents[4].noun.first"}
  free_at: {value: "header.noun.contents[5].noun.first"}
  calls:
    value: header.noun.contents[6].noun.first
    if: header.noun.count > 6
  first_position:
    pos: directory_at
    type: u4be
    if: version == 1718235185 and components_count > 0
  old_little:
    value: first_position > length
    if: version == 1718235185 and components_count > 0
    doc: |
      Files of J 5.03 and before do not say their byte order. The library takes them as most significant byte first
      unless a position exceeds the length; here the first position alone is looked at.
  layout:
    value: "version == 1718235189 ? 2 : version == 1718235186 ? 3 : version == 1718235188 ? 0 : version == 1718235187 ? 1 : version != 1718235185 ? -1 : components_count > 0 and old_little ? 1 : 0"
    doc: "of the directory; 2: words of 8 bytes, else of 4; 1: least significant byte first"
  components:
    pos: directory_at
    type: entry(layout)
    repeat: expr
    repeat-expr: components_count
  free_blocks: {pos: free_at, type: located(free_at)}
types:
  entry:
    meta:
      endian:
        switch-on: form & 1
        cases: {0: be, 1: le}
    params:
      - {id: form, type: s4}
    seq:
      # made: words jfile.entry
      - {id: position, type: {switch-on: "form >> 1", cases: {0: s4, 1: s8}}, doc: of a block}
      - {id: size, type: {switch-on: "form >> 1", cases: {0: s4, 1: s8}}, doc: of the block}
      # made: end
    instances:
      content: {pos: position, type: located(position)}
  located:
    doc: A noun that no other holds, and the form it is in.
    params:
      - {id: start, type: s8}
    instances:
      flag: {pos: start, type: u1}
      type_le: {pos: start, type: u4le}
      second: {pos: start + 8, type: s8le}
      modern: {value: flag >= 0xe0 and flag <= 0xe3}
      old_form:
        value: "(second == -1 ? 2 : 0) + (type_le > 0 and type_le <= 0x40000 and type_le != 0x200 and type_le != 0x400 ? 1 : 0)"
        doc: before J 6.01 the type comes first, and no byte tells the form
      form: {value: "modern ? flag & 3 : old_form", doc: "2: words of 8 bytes, else of 4; 1: least significant byte first"}
      noun: {pos: start, type: "noun(start, form, modern)"}
  inner:
    doc: A noun in a box, in the form of the outermost one.
    params:
      - {id: start, type: s8}
      - {id: form, type: s4}
      - {id: modern, type: bool}
    instances:
      noun: {pos: start, type: "noun(start, form, modern)"}
  noun:
    meta:
      endian:
        switch-on: form & 1
        cases: {0: be, 1: le}
    params:
      - {id: start, type: s8}
      - {id: form, type: s4}
      - {id: modern, type: bool}
    seq:
      # made: words jfile.noun
      - {id: flag, type: {switch-on: "form >> 1", cases: {0: s4, 1: s8}}, doc: "the form (e0 to e3) in the first byte, then zeros"}
      - {id: type, type: {switch-on: "form >> 1", cases: {0: s4, 1: s8}}}
      - {id: count, type: {switch-on: "form >> 1", cases: {0: s4, 1: s8}}, doc: "number of atoms, the product of the shape"}
      - {id: rank, type: {switch-on: "form >> 1", cases: {0: s4, 1: s8}}, doc: "0 to 63"}
      - {id: shape, type: {switch-on: "form >> 1", cases: {0: s4, 1: s8}}, repeat: expr, repeat-expr: rank, doc: lengths of the axes}
      # made: end
      - {id: bytes, size: count, if: kind == 1 or kind == 2, doc: booleans or literals}
      - id: integers
        type: {switch-on: form >> 1, cases: {0: s4, 1: s8}}
        repeat: expr
        repeat-expr: count
        if: kind == 4
      - {id: floats, type: f8, repeat: expr, repeat-expr: "kind == 16 ? 2 * count : count", if: kind == 8 or kind == 16}
      - {id: quad_floats, type: f8le, repeat: expr, repeat-expr: 2 * count, if: kind == 11}
      - {id: integers_2, type: s2le, repeat: expr, repeat-expr: count, if: kind == 6}
      - {id: integers_4, type: s4le, repeat: expr, repeat-expr: count, if: kind == 7}
      - {id: unicode_2, type: u2le, repeat: expr, repeat-expr: count, if: kind == 131072}
      - {id: unicode_4, type: u4le, repeat: expr, repeat-expr: count, if: kind == 262144}
      - id: offsets
        type: {switch-on: form >> 1, cases: {0: s4, 1: s8}}
        repeat: expr
        repeat-expr: "kind == 128 ? 2 * count : count"
        if: kind == 32 or kind == 64 or kind == 128
        doc: from the noun's first byte to nouns in boxes, or to blocks of digits of extended and rational numbers
    instances:
      kind: {value: "(modern ? type : flag).as<s4>", doc: before J 6.01 the type comes first}
      first: {value: "(kind == 8 ? floats[0].to_i : kind == 4 ? integers[0] : bytes[0]).as<s8>"}
      contents:
        type: inner(start + offsets[_index], form, modern)
        repeat: expr
        repeat-expr: "kind == 128 ? 2 * count : count"
        if: kind == 32 or kind == 64 or kind == 128
