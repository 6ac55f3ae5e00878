// Reads compressed two-sided tables, `.bgts`: where a record lies, and what it is. docs/formats/bgfmt-ts.md has the bytes.
//
// Nothing is fetched here. Generators yield the ranges that they need, [[offset, length], ...], are sent what holds their
// bytes, and return what was asked for: `bgfmt.js` runs them, at once for tables in memory, else with pages.
//
// Sums of a legal file stay within 2^53, so that doubles are exact; `>>>` and `|` are on numbers of 32 bits alone.

import { CorruptError, FormatError, TruncatedError, count } from "./bgfmt.js";

const HEAD = 64;
const CLASSES = 16 * 65 * 2;
const MOST_GROUP = 8192;
const MOST_FACTS = 65536;
const FEW_GROUPS = 8; // strips whose heads are read when a table is opened
const STRIP = 5120; // bytes asked for at once of a strip's head, whose size stands in its first four
const [MIDDLE, ESCAPE, PLAIN] = [31, 63, 255];
const KINDS = { 1: "two-sided", 3: "two-sided-gammons", 4: "two-sided-jacoby" }; // by version; the others count gammons

const u16 = (bytes, at) => bytes[at] | (bytes[at + 1] << 8);
const u32 = (bytes, at) => (u16(bytes, at) | (u16(bytes, at + 2) << 16)) >>> 0;
const u64 = (bytes, at) => u32(bytes, at) + u32(bytes, at + 4) * 2 ** 32;

// -- sums -------------------------------------------------------------------------------------------------------

const CRC = Uint32Array.from({ length: 256 }, (_, byte) => {
  for (let k = 0; k < 8; k++) byte = (byte >>> 1) ^ (byte & 1 ? 0xedb88320 : 0);
  return byte;
});

/** Whether the last four of these bytes are the CRC-32 of the others. */
function sealed(bytes) {
  const end = bytes.length - 4;
  let c = 0xffffffff;
  for (let k = 0; k < end; k++) c = CRC[(c ^ bytes[k]) & 255] ^ (c >>> 8);
  return (c ^ 0xffffffff) >>> 0 === u32(bytes, end);
}

// -- opening ----------------------------------------------------------------------------------------------------

/** What the first 64 bytes say, checked; `at` is where the table begins in the file. */
function shapeOf(head, at, name) {
  if (head.length < HEAD) throw new TruncatedError(`${name}: cut short at byte ${at + head.length}: the header needs ${HEAD} bytes`);
  if (!sealed(head.subarray(0, HEAD))) throw new CorruptError(`${name}: byte ${at + 60}: the header is not as its sum says`);
  const version = u16(head, 8);
  if (version === 2) {
    throw new FormatError(`${name}: a bgfmt-ts table of level 2; bgfmt 0.2 converts it to level 1, which this reader reads`);
  }
  const kind = KINDS[version];
  const [points, chequers, columns, block] = head.subarray(10, 14);
  const [groups, positions, facts, size] = [u16(head, 14), u32(head, 16), u32(head, 20), u64(head, 24)];
  const sound =
    kind && points >= 1 && points <= 25 && chequers >= 1 && chequers <= 15 && (columns === 1 || columns === 4) &&
    block >= 4 && block <= 12 && positions === count(points, chequers) && groups >= 1 && groups <= positions &&
    positions <= groups * MOST_GROUP && facts <= MOST_FACTS;
  const order = HEAD + CLASSES + 8 * (groups + 1);
  const first = order + 4 * positions + facts + 4;
  if (!sound || size < first) throw new FormatError(`${name}: a bgfmt-ts header of sizes that cannot be`);
  return { kind, points, chequers, columns, block: 2 ** block, groups, positions, order, first, end: at + size };
}

/** Symbols by class and slot: low bits << 31 | symbol << 25 | frequency << 12 | distance; class 0 says "residual 0". */
function slotsOf(bytes, corrupt) {
  const slots = new Uint32Array(16 * 4096);
  const shifts = new Uint8Array(16);
  for (let k = 0; k < 4096; k++) slots[k] = (MIDDLE << 25) | (4096 << 12) | k;
  for (let kind = 0; kind < 16; kind++) {
    const at = 130 * kind;
    const shift = u16(bytes, at);
    let slot = 0;
    for (let symbol = 0; symbol < 64; symbol++) {
      const many = u16(bytes, at + 2 + 2 * symbol);
      if (slot + many > (kind ? 4096 : 0)) corrupt();
      const low = symbol === ESCAPE || shift ? 2 ** 31 : 0;
      for (let k = 0; k < many; k++) slots[4096 * kind + slot++] = low + ((symbol << 25) | (many << 12) | k);
    }
    if (shift > 15 || (kind && slot < 4096)) corrupt();
    shifts[kind] = shift;
  }
  return { slots, shifts };
}

/** A compressed table at byte `at` of a file, opened: {kind, points, chequers, positions, cubeful, gammon, end, packed}. */
export function* openPacked(head, at, name, short) {
  const shape = shapeOf(head, at, name);
  short(shape.end);
  const { kind, points, chequers, positions, groups, columns } = shape;
  const body = HEAD + CLASSES;
  const starts = (bytes) => Array.from({ length: groups + 1 }, (_, g) => u64(bytes, 8 * g));
  const range = [at + HEAD, shape.first - HEAD];
  let heads = [];
  if (groups <= FEW_GROUPS) { // the strips' heads are asked for together with the rest of the directory
    const begins = starts((yield [[at + body, 8 * (groups + 1)]]).bytes(at + body, 8 * (groups + 1)));
    heads = begins.slice(0, -1).filter((begin, g) => begin + STRIP <= begins[g + 1] && at + begins[g + 1] <= shape.end);
  }
  const held = yield [range, ...heads.map((begin) => [at + begin, STRIP])];
  const bytes = held.bytes(...range);
  const corrupt = (what) => { throw new CorruptError(`${name}: byte ${at + HEAD}: the directory ${what}`); };
  if (!sealed(bytes)) corrupt("is not as its sum says");
  const strips = starts(bytes.subarray(CLASSES));
  const rows = (g) => Math.floor(((g + 1) * positions) / groups) - Math.floor((g * positions) / groups);
  const rising = strips.slice(1).every((end, g) => end - strips[g] > 8 * groups * rows(g));
  if (!rising || strips[0] !== shape.first || at + strips[groups] !== shape.end) corrupt("has strips that overlap");
  const places = new Uint32Array(positions).fill(0xffffffff);
  for (let place = 0; place < positions; place++) {
    const number = u32(bytes, shape.order - HEAD + 4 * place);
    if (number >= positions || places[number] !== 0xffffffff) corrupt("has no order of the positions");
    places[number] = place;
  }
  const coder = slotsOf(bytes, () => corrupt("has classes that no stream has"));
  const packed = new Packed(shape, at, name, strips, places, coder);
  if (heads.length === groups) yield* packed.need(Array.from({ length: groups }, (_, g) => g));
  return { kind, points, chequers, positions, cubeful: columns === 4, gammon: kind !== KINDS[1], end: shape.end, packed };
}

// -- records ----------------------------------------------------------------------------------------------------

/** An opened table: its directory, and the heads of the strips that were touched. */
class Packed {
  #shape; #at; #name; #begins; #places; #coder; #edges; #strips = [];

  constructor(shape, at, name, begins, places, coder) {
    this.#shape = shape;
    this.#at = at;
    this.#name = name;
    this.#begins = begins.map((begin) => at + begin);
    this.#places = places;
    this.#coder = coder;
    const { groups, positions } = shape;
    this.#edges = Array.from({ length: groups + 1 }, (_, g) => Math.floor((g * positions) / groups));
  }

  #corrupt(offset, what) { return new CorruptError(`${this.#name}: byte ${offset}: ${what}`); }

  /** Read the heads of these strips, once. */
  *need(groups) {
    const missing = [...new Set(groups)].filter((g) => !this.#strips[g]);
    if (!missing.length) return;
    const first = (g) => [this.#begins[g], Math.min(STRIP, this.#begins[g + 1] - this.#begins[g])];
    let held = yield missing.map(first);
    const columns = this.#shape.groups * this.#shape.columns;
    const ranges = missing.map((g) => {
      const [begin, length] = first(g);
      const size = u32(held.bytes(begin, 4), 0);
      if (size < 8 + 6 * columns || size > Math.min(8 + 2310 * columns, this.#begins[g + 1] - begin)) {
        throw this.#corrupt(begin, "a strip's head of a size that cannot be");
      }
      return [begin, size, size <= length];
    });
    const long = ranges.filter(([, , there]) => !there);
    const more = long.length ? yield long : held;
    missing.forEach((g, k) => {
      const [begin, size, there] = ranges[k];
      this.#strips[g] ??= this.#strip(g, begin, (there ? held : more).bytes(begin, size));
    });
  }

  #strip(g, begin, bytes) {
    const { groups, columns } = this.#shape;
    const wrong = () => this.#corrupt(begin, "the head of a strip is not as its sum says");
    if (!sealed(bytes)) throw wrong();
    const rows = this.#edges[g + 1] - this.#edges[g];
    const index = begin + bytes.length;
    let beside = index + 8 * (rows * groups + 1) + 4;
    let at = 4;
    const tiles = [];
    for (let j = 0; j < groups; j++) {
      const parts = [];
      let factors = 0;
      for (let c = 0; c < columns; c++) {
        const [wide, narrow, pairs] = [u16(bytes, at), u16(bytes, at + 2), u16(bytes, at + 4)];
        const shifts = bytes.slice(at + 6, at + 6 + wide + narrow + pairs);
        at += 6 + wide + narrow + pairs;
        if (wide > 256 || narrow > 1024 || pairs > 1024 || at > bytes.length - 4 || shifts.some((s) => s > 15)) throw wrong();
        parts.push({ wide, narrow, pairs, powers: Float64Array.from(shifts, (s) => 2 ** s) });
        factors += 2 * wide + narrow + pairs;
      }
      tiles.push({ parts, factors, beside });
      beside += (this.#edges[j + 1] - this.#edges[j]) * (factors + 4);
    }
    if (at !== bytes.length - 4) throw wrong();
    return { index, tiles, segments: beside, end: this.#begins[g + 1] };
  }

  /** Group of a place: between which edges it lies. */
  #group(place) {
    const { groups, positions } = this.#shape;
    let g = Math.min(groups - 1, Math.floor((place * groups) / positions));
    while (this.#edges[g] > place) g--;
    while (this.#edges[g + 1] <= place) g++;
    return g;
  }

  /** Records by number, us * positions + them: an array of the columns' 16-bit integers each. */
  *records(numbers) {
    const { groups, positions, columns, block } = this.#shape;
    const asked = numbers.map((number) => {
      const us = Math.floor(number / positions);
      const [row, place] = [this.#places[us], this.#places[number - us * positions]];
      return { row, g: this.#group(row), place, j: this.#group(place) };
    });
    yield* this.need(asked.map((one) => one.g));
    for (const one of asked) {
      one.strip = this.#strips[one.g];
      one.tile = one.strip.tiles[one.j];
      one.column = one.place - this.#edges[one.j];
      one.entry = one.strip.index + 8 * ((one.row - this.#edges[one.g]) * groups + one.j);
      one.beside = [one.tile.beside + one.column * (one.tile.factors + 4), one.tile.factors + 4];
    }
    const near = yield asked.flatMap(({ entry, beside }) => [[entry, 16], beside]);
    const segments = new Map();
    for (const one of asked) {
      one.theirs = near.bytes(...one.beside);
      if (!sealed(one.theirs)) throw this.#corrupt(one.beside[0], "the factors of a column are not as their sum says");
      if (segments.has(one.entry)) continue;
      const pair = near.bytes(one.entry, 16);
      const [begin, end] = [this.#at + u64(pair, 0), this.#at + u64(pair, 8)];
      const width = this.#edges[one.j + 1] - this.#edges[one.j];
      const least = Math.ceil(width / block) * (columns === 4 ? 3 : 2) + one.tile.factors + 4;
      const most = least + 2 * columns * width;
      if (begin < one.strip.segments || end > one.strip.end || end - begin < least || end - begin > most) {
        throw this.#corrupt(one.entry, "a row segment where there can be none");
      }
      segments.set(one.entry, [begin, end - begin]);
    }
    const held = yield [...segments.values()];
    for (const [entry, range] of segments) {
      const bytes = held.bytes(...range);
      if (!sealed(bytes)) throw this.#corrupt(range[0], "a row segment is not as its sum says");
      segments.set(entry, { bytes, begin: range[0] });
    }
    return asked.map((one) => this.#record(one, segments.get(one.entry)));
  }

  #record({ j, column, tile, theirs }, { bytes, begin }) {
    const { columns, block } = this.#shape;
    const width = this.#edges[j + 1] - this.#edges[j];
    const blocks = Math.ceil(width / block);
    const kinds = columns === 4 ? 2 : 1;
    const lengths = blocks * kinds;
    const mine = lengths + blocks;
    const here = Math.floor(column / block);
    const within = column % block;
    let at = mine + tile.factors;
    for (let b = 0; b < here; b++) at += bytes[lengths + b] === PLAIN ? 2 * columns * block : 2 * bytes[lengths + b];
    const units = bytes[lengths + here];
    const records = Math.min(block, width - here * block);
    const end = at + (units === PLAIN ? 2 * columns * records : 2 * units);
    const bad = () => this.#corrupt(begin, "blocks of records that no stream has");
    if (end > bytes.length - 4) throw bad();
    if (units === PLAIN) return Array.from({ length: columns }, (_, c) => u16(bytes, at + 2 * (within * columns + c)));
    const classes = Array.from({ length: columns }, (_, c) => (bytes[here * kinds + (c >> 1)] >> (4 * (c & 1))) & 15);
    const residuals = new Array(columns).fill(0);
    if (units) {
      if (units < 4 || !this.#decode(bytes, at, end, classes, within, (records + 1) >> 1, residuals)) throw bad();
    } else if (classes.some(Boolean)) throw bad();
    let own = mine;
    let other = 0;
    return tile.parts.map((part, c) => {
      const value = predict(bytes, own, theirs, other, part) + residuals[c];
      own += 2 * part.wide + part.narrow + part.pairs;
      other += 2 * part.wide + part.narrow + part.pairs;
      return value & 65535;
    });
  }

  /** The residuals of a record of a block, bytes from `at` to `end`; false where the stream leaves it. */
  #decode(bytes, at, end, classes, within, half, out) {
    const { slots, shifts } = this.#coder;
    const [least, most] = [at + 2, end - 4];
    const back = within >= half; // the second half is read from the block's end
    const step = back ? -2 : 2;
    let x = back ? (u16(bytes, end - 2) | (u16(bytes, end - 4) << 16)) >>> 0 : u32(bytes, at);
    let next = back ? end - 6 : at + 4;
    if (x < 65536) return false;
    for (let left = back ? within - half : within; left >= 0; left--) {
      for (let c = 0; c < out.length; c++) {
        const slot = slots[4096 * classes[c] + (x & 4095)];
        x = (Math.imul((slot >>> 12) & 8191, x >>> 12) + (slot & 4095)) >>> 0;
        if (x < 65536) {
          x = ((x << 16) | u16(bytes, next)) >>> 0;
          next += step;
        }
        const symbol = (slot >>> 25) & 63;
        out[c] = symbol - MIDDLE;
        if (slot < 2 ** 31) continue;
        const low = symbol === ESCAPE ? 16 : shifts[classes[c]];
        out[c] = ((symbol === ESCAPE ? 0 : out[c]) << low) + (x & ((1 << low) - 1));
        x >>>= low;
        if (x < 65536) {
          x = ((x << 16) | u16(bytes, next)) >>> 0;
          next += step;
        }
      }
      if (next < least || next > most) return false;
    }
    return true;
  }
}

const low = (byte) => (byte << 28) >> 28; // the lower half of a byte, signed
const high = (byte) => (byte << 24) >> 28;
const int8 = (byte) => (byte << 24) >> 24;

/** What factors of a row and of a column say of a record: 0 to 65535. */
function predict(a, i, b, k, { wide, narrow, pairs, powers }) {
  let sum = 0;
  let small = 0;
  let p = 0;
  for (const end = i + wide; i < end; i++, k++, p++) {
    sum += ((int8(a[i]) << 8) | a[i + wide]) * ((int8(b[k]) << 8) | b[k + wide]) * powers[p];
  }
  i += wide;
  k += wide;
  for (const end = i + narrow; i < end; i++, k++, p++) small += int8(a[i]) * int8(b[k]) * powers[p];
  for (const end = i + pairs; i < end; i++, k++, p++) {
    small += (low(a[i]) * low(b[k]) + high(a[i]) * high(b[k])) * powers[p];
  }
  const found = Math.floor((Math.floor(sum / 1024) + small + 8192) / 16384) + 32768;
  return Math.min(65535, Math.max(0, found));
}
