/* QR codes (ISO/IEC 18004): bytes, error correction level L, versions 1 to 25. A screen is a clean surface, so the
   lowest level is right: it has the fewest modules, and a camera reads them easily.

   The formulas for capacities and for the places of alignment patterns, and the order of the steps, are those of the QR
   Code generator library, whose licence asks for this notice:

   Copyright (c) Project Nayuki. (MIT License)
   https://www.nayuki.io/page/qr-code-generator-library

   Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
   documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
   rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
   persons to whom the Software is furnished to do so, subject to the following conditions:
   - The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
     Software.
   - The Software is provided "as is", without warranty of any kind, express or implied, including but not limited to the
     warranties of merchantability, fitness for a particular purpose and noninfringement. In no event shall the authors or
     copyright holders be liable for any claim, damages or other liability, whether in an action of contract, tort or
     otherwise, arising from, out of or in connection with the Software or the use or other dealings in the Software. */

const correctionPerBlock = [
    7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22, 24, 28, 30, 28, 28, 28, 28, 30, 30, 26,
];
const blockCounts = [1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8, 8, 9, 9, 10, 12];
const highestVersion = 25;

/** The modules as rows of booleans, dark is true. Throws for over 1,273 bytes. */
export function modulesFor(text) {
    const bytes = new TextEncoder().encode(text);
    const version = versionFor(bytes.length);
    const codewords = interleaved(dataCodewords(bytes, version), version);
    const empty = new Drawing(version);
    empty.drawFunctionPatterns();
    let best = null;
    for (let mask = 0; mask < 8; mask++) {
        const drawing = empty.copy();
        drawing.drawCodewords(codewords, mask);
        drawing.drawFormat(mask);
        const penalty = drawing.penalty();
        if (best === null || penalty < best.penalty) best = { penalty, rows: drawing.rows };
    }
    return best.rows;
}

function versionFor(length) {
    for (let version = 1; version <= highestVersion; version++) {
        const bits = 4 + (version < 10 ? 8 : 16) + 8 * length;
        if (bits <= 8 * dataCapacity(version)) return version;
    }
    throw new RangeError(`${length} bytes are too many for a QR code`);
}

/** How many codewords of data and correction a version holds (annex of the standard, as a formula). */
function rawCapacity(version) {
    let modules = (16 * version + 128) * version + 64;
    if (version >= 2) {
        const alignments = Math.floor(version / 7) + 2;
        modules -= (25 * alignments - 10) * alignments - 55;
        if (version >= 7) modules -= 36;
    }
    return Math.floor(modules / 8);
}

const dataCapacity = (version) =>
    rawCapacity(version) - correctionPerBlock[version - 1] * blockCounts[version - 1];

function dataCodewords(bytes, version) {
    const bits = [];
    const put = (value, count) => {
        for (let place = count - 1; place >= 0; place--) bits.push((value >>> place) & 1);
    };
    put(0b0100, 4); // byte mode
    put(bytes.length, version < 10 ? 8 : 16);
    for (const byte of bytes) put(byte, 8);
    const capacity = 8 * dataCapacity(version);
    put(0, Math.min(4, capacity - bits.length));
    put(0, (8 - (bits.length % 8)) % 8);
    for (let filler = 0xec; bits.length < capacity; filler ^= 0xec ^ 0x11) put(filler, 8);
    const codewords = [];
    for (let at = 0; at < bits.length; at += 8) codewords.push(parseInt(bits.slice(at, at + 8).join(""), 2));
    return codewords;
}

/** Cuts the data into blocks, adds each block's Reed-Solomon remainder, and deals them out column by column. */
function interleaved(data, version) {
    const count = blockCounts[version - 1];
    const correction = correctionPerBlock[version - 1];
    const longer = data.length % count;
    const generator = generatorOf(correction);
    const blocks = [];
    for (let index = 0, at = 0; index < count; index++) {
        const length = Math.floor(data.length / count) + (index >= count - longer ? 1 : 0);
        const block = data.slice(at, at + length);
        blocks.push({ block, remainder: remainderOf(block, generator) });
        at += length;
    }
    const result = [];
    for (let column = 0; column <= Math.floor(data.length / count); column++)
        for (const { block } of blocks) if (column < block.length) result.push(block[column]);
    for (let column = 0; column < correction; column++)
        for (const { remainder } of blocks) result.push(remainder[column]);
    return result;
}

/** Product in GF(2^8) modulo x^8 + x^4 + x^3 + x^2 + 1. */
function product(a, b) {
    let result = 0;
    for (let place = 7; place >= 0; place--) {
        result = (result << 1) ^ ((result >>> 7) * 0x11d);
        result ^= ((b >>> place) & 1) * a;
    }
    return result;
}

function generatorOf(degree) {
    const coefficients = new Array(degree).fill(0);
    coefficients[degree - 1] = 1;
    for (let power = 0, root = 1; power < degree; power++, root = product(root, 2))
        for (let at = 0; at < degree; at++)
            coefficients[at] = product(coefficients[at], root) ^ (coefficients[at + 1] ?? 0);
    return coefficients;
}

function remainderOf(data, generator) {
    const remainder = new Array(generator.length).fill(0);
    for (const byte of data) {
        const factor = byte ^ remainder.shift();
        remainder.push(0);
        generator.forEach((coefficient, at) => (remainder[at] ^= product(coefficient, factor)));
    }
    return remainder;
}

const masks = [
    (x, y) => (x + y) % 2,
    (x, y) => y % 2,
    (x) => x % 3,
    (x, y) => (x + y) % 3,
    (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2,
    (x, y) => ((x * y) % 2) + ((x * y) % 3),
    (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2,
    (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2,
];

/** `value` with the remainder of a polynomial code behind it, as format and version are protected. */
function protectedBits(value, polynomial, degree) {
    let rest = value;
    for (let step = 0; step < degree; step++) rest = (rest << 1) ^ ((rest >>> (degree - 1)) * polynomial);
    return (value << degree) | (rest & ((1 << degree) - 1));
}

class Drawing {
    constructor(version) {
        this.version = version;
        this.size = 17 + 4 * version;
        this.rows = Array.from({ length: this.size }, () => new Array(this.size).fill(false));
        this.reserved = Array.from({ length: this.size }, () => new Array(this.size).fill(false));
    }

    copy() {
        const copy = new Drawing(this.version);
        copy.rows = this.rows.map((row) => row.slice());
        copy.reserved = this.reserved;
        return copy;
    }

    reserve(x, y, isDark) {
        this.rows[y][x] = Boolean(isDark);
        this.reserved[y][x] = true;
    }

    drawFunctionPatterns() {
        for (let at = 0; at < this.size; at++) {
            this.reserve(6, at, at % 2 === 0);
            this.reserve(at, 6, at % 2 === 0);
        }
        for (const [x, y] of [[3, 3], [this.size - 4, 3], [3, this.size - 4]]) this.drawFinder(x, y);
        const places = this.alignmentPlaces();
        for (const x of places)
            for (const y of places) {
                const last = this.size - 7;
                const isFinder = (x === 6 && y === 6) || (x === 6 && y === last) || (x === last && y === 6);
                if (!isFinder) this.drawAlignment(x, y);
            }
        this.drawFormat(0);
        if (this.version >= 7) this.drawVersion();
    }

    drawFinder(centerX, centerY) {
        for (let dy = -4; dy <= 4; dy++)
            for (let dx = -4; dx <= 4; dx++) {
                const [x, y] = [centerX + dx, centerY + dy];
                if (x < 0 || y < 0 || x >= this.size || y >= this.size) continue;
                const ring = Math.max(Math.abs(dx), Math.abs(dy));
                this.reserve(x, y, ring !== 2 && ring !== 4);
            }
    }

    drawAlignment(centerX, centerY) {
        for (let dy = -2; dy <= 2; dy++)
            for (let dx = -2; dx <= 2; dx++)
                this.reserve(centerX + dx, centerY + dy, Math.max(Math.abs(dx), Math.abs(dy)) !== 1);
    }

    alignmentPlaces() {
        if (this.version === 1) return [];
        const count = Math.floor(this.version / 7) + 2;
        const step = 2 * Math.ceil((this.size - 13) / (2 * (count - 1)));
        const places = [6];
        for (let at = this.size - 7; places.length < count; at -= step) places.splice(1, 0, at);
        return places;
    }

    drawFormat(mask) {
        const levelL = 0b01;
        const bits = protectedBits((levelL << 3) | mask, 0x537, 10) ^ 0x5412;
        const bit = (place) => (bits >>> place) & 1;
        for (let place = 0; place <= 5; place++) this.reserve(8, place, bit(place));
        this.reserve(8, 7, bit(6));
        this.reserve(8, 8, bit(7));
        this.reserve(7, 8, bit(8));
        for (let place = 9; place < 15; place++) this.reserve(14 - place, 8, bit(place));
        for (let place = 0; place < 8; place++) this.reserve(this.size - 1 - place, 8, bit(place));
        for (let place = 8; place < 15; place++) this.reserve(8, this.size - 15 + place, bit(place));
        this.reserve(8, this.size - 8, true);
    }

    drawVersion() {
        const bits = protectedBits(this.version, 0x1f25, 12);
        for (let place = 0; place < 18; place++) {
            const far = this.size - 11 + (place % 3);
            const near = Math.floor(place / 3);
            this.reserve(far, near, (bits >>> place) & 1);
            this.reserve(near, far, (bits >>> place) & 1);
        }
    }

    /** In columns of two from the right, up and down by turns, past what is reserved. */
    drawCodewords(codewords, mask) {
        let at = 0;
        for (let right = this.size - 1; right >= 1; right -= 2) {
            if (right === 6) right = 5;
            for (let step = 0; step < this.size; step++) {
                const y = ((right + 1) & 2) === 0 ? this.size - 1 - step : step;
                for (const x of [right, right - 1]) {
                    if (this.reserved[y][x]) continue;
                    const bit = ((codewords[at >>> 3] ?? 0) >>> (7 - (at & 7))) & 1;
                    this.rows[y][x] = Boolean(bit) !== (masks[mask](x, y) === 0);
                    at++;
                }
            }
        }
    }

    penalty() {
        let penalty = 0;
        let dark = 0;
        const columns = this.rows.map((_, x) => this.rows.map((row) => row[x]));
        for (const line of [...this.rows, ...columns]) {
            const text = line.map(Number).join("");
            for (const run of text.match(/0{5,}|1{5,}/g) ?? []) penalty += run.length - 2;
            for (let at = 0; at + 11 <= text.length; at++) {
                const window = text.slice(at, at + 11);
                if (window === "10111010000" || window === "00001011101") penalty += 40;
            }
        }
        for (let y = 0; y < this.size; y++)
            for (let x = 0; x < this.size; x++) {
                const color = this.rows[y][x];
                dark += color;
                const isSquare = y > 0 && x > 0 && color === this.rows[y][x - 1]
                    && color === this.rows[y - 1][x] && color === this.rows[y - 1][x - 1];
                if (isSquare) penalty += 3;
            }
        const share = Math.abs(dark * 20 - this.size * this.size * 10) / (this.size * this.size);
        return penalty + 10 * Math.max(0, Math.ceil(share) - 1);
    }
}
