/** The formats of a set of test vectors: JSON, a C header, a Python module. */
import type { Vector, VectorGroup, VectorSet, VectorValue } from './content.ts';

/** A format of the file with all vectors. */
interface VectorFormat {
  readonly fileName: string;
  readonly textOf: (set: VectorSet) => string;
}

/** Every format by its name on the command line. */
export const vectorFormats = {
  json: { fileName: 'vectors.json', textOf: jsonText },
  c: { fileName: 'fleetbed_vectors.h', textOf: cText },
  python: { fileName: 'fleetbed_vectors.py', textOf: pythonText },
} as const satisfies Readonly<Record<string, VectorFormat>>;

/** Returns the title for a comment, which neither begins nor ends in it. */
const title = ({ seed }: VectorSet): string =>
  `Test vectors for device clients, seed ${asciiJson(seed).replaceAll('/', '\\/')}.`;

function jsonText({ seed, groups }: VectorSet): string {
  const groupEntries = groups.map(({ name, vectors }) => [name, vectors.map(jsonVector)]);
  const whole = { schema: 'fleetbed-vectors/1', seed, ...Object.fromEntries(groupEntries) };
  return `${JSON.stringify(whole, null, 2)}\n`;
}

/** Returns the vector with bytes in hexadecimal, in a field whose name ends in `Hex`. */
function jsonVector(vector: Vector): Readonly<Record<string, string | number>> {
  const fields = Object.entries(vector).map(([name, value]): [string, string | number] =>
    typeof value === 'object' ? [`${name}Hex`, hexOf(value)] : [name, value],
  );
  return Object.fromEntries(fields);
}

function pythonText(set: VectorSet): string {
  const groups = set.groups.map(({ name, meaning, vectors }) => {
    const rows = vectors.map((vector) => `    {${pythonFields(vector)}},\n`).join('');
    return `\n# ${meaning}\n${snakeCase(name).toUpperCase()} = [\n${rows}]\n`;
  });
  return `# ${title(set)}\n${groups.join('')}`;
}

function pythonFields(vector: Vector): string {
  return Object.entries(vector)
    .map(([name, value]) => `"${snakeCase(name)}": ${pythonValue(value)}`)
    .join(', ');
}

function pythonValue(value: VectorValue): string {
  if (typeof value === 'object') return `bytes.fromhex("${hexOf(value)}")`;
  return typeof value === 'number' ? String(value) : asciiJson(value);
}

/** JSON in ASCII, whose strings are Python's too. */
function asciiJson(text: string): string {
  const escapeUnit = (unit: string): string =>
    `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(text).replaceAll(/[\u007f-\uffff]/g, escapeUnit);
}

const BYTES_PER_LINE = 16;

/**
 * Returns a header for C99 that needs only `<stddef.h>`. Equal bytes are one array, because flash
 * memory is small.
 */
function cText(set: VectorSet): string {
  const arrays = new Map<string, string>();
  const arrayOf = (value: Uint8Array): string => {
    const hex = hexOf(value);
    const name = arrays.get(hex) ?? `fleetbed_bytes_${arrays.size}`;
    arrays.set(hex, name);
    return `{${name}, ${value.length}}`;
  };
  const groups = set.groups.map((group) => cGroup(group, arrayOf)).join('');
  const bytes = Array.from(arrays, ([hex, name]) => cArray(name, hex)).join('');
  return `/* ${title(set)} */
#ifndef FLEETBED_VECTORS_H
#define FLEETBED_VECTORS_H

#include <stddef.h>

struct fleetbed_bytes {
  const unsigned char *at;
  size_t size;
};

${bytes}${groups}
#endif
`;
}

function cArray(name: string, hex: string): string {
  const line = new RegExp(`.{1,${2 * BYTES_PER_LINE}}`, 'g');
  // C has no empty arrays; the size beside the address says that there is nothing.
  const lines = (hex || '00').match(line) ?? [];
  const rows = lines.map((each) => `  ${each.replaceAll(/../g, '0x$&,')}\n`);
  return `static const unsigned char ${name}[] = {\n${rows.join('')}};\n`;
}

function cGroup(
  { name, meaning, vectors }: VectorGroup,
  arrayOf: (value: Uint8Array) => string,
): string {
  const initializerOf = (value: VectorValue): string => {
    if (typeof value === 'object') return arrayOf(value);
    return typeof value === 'number' ? String(value) : cString(value);
  };
  const fields = Object.entries(vectors[0] ?? {}).map(
    ([field, value]) => `  ${cTypeOf(value)}${snakeCase(field)};\n`,
  );
  const rows = vectors.map(
    (vector) => `  {${Object.values(vector).map(initializerOf).join(', ')}},\n`,
  );
  const list = `fleetbed_${snakeCase(name)}`;
  return `
/* ${meaning} */
struct ${list}_vector {
${fields.join('')}};
static const struct ${list}_vector ${list}[] = {
${rows.join('')}};
#define ${list.toUpperCase()}_COUNT (sizeof ${list} / sizeof ${list}[0])
`;
}

function cTypeOf(value: VectorValue): string {
  if (typeof value === 'object') return 'struct fleetbed_bytes ';
  return typeof value === 'number' ? 'long ' : 'const char *';
}

/** Octal escapes end after three digits, hexadecimal ones do not; `?` could begin a trigraph. */
function cString(text: string): string {
  const escaped = Array.from(Buffer.from(text), (byte) => {
    const character = String.fromCharCode(byte);
    if (/[ !#->@-[\]-~]/.test(character)) return character;
    return character === '\n' ? '\\n' : `\\${byte.toString(8).padStart(3, '0')}`;
  });
  return `"${escaped.join('')}"`;
}

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** Digits belong to the word before them: `bodySha256` becomes `body_sha256`. */
function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
