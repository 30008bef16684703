/** Builds data that has as many elements as its format allows within a size in bytes. */
import { limits } from '../../../fixtures/contract/limits.ts';
import {
  malformedArtifact,
  uncheckedTar,
  validHeaderInfo,
} from '../../../fixtures/testing/malformed-artifact.ts';

/** Returns as many numbered pieces as fit into `charactersMax` characters. */
export function joinChunks(
  charactersMax: number,
  chunkOf: (index: number) => string,
  between = '',
): string {
  const chunks: string[] = [];
  for (let length = 0; ; ) {
    const chunk = chunkOf(chunks.length);
    length += chunk.length + between.length;
    if (length > charactersMax) return chunks.join(between);
    chunks.push(chunk);
  }
}

/** Returns the members of a JSON object with `count` different names, without its braces. */
export function members(count: number): string {
  return Array.from({ length: count }, (_, index) => `"k${index.toString(36)}":1`).join(',');
}

const MSGPACK_ARRAY16 = 0xdc;
/** Greatest accepted number of entries in one list. */
const MSGPACK_LIST_MAX = 2048;

/** Returns a connect message with at least `count` small values in an unknown member. */
export function smallValues(count: number): Buffer {
  const lists = Math.ceil(count / MSGPACK_LIST_MAX);
  const list = Buffer.concat([msgpackList(MSGPACK_LIST_MAX), Buffer.alloc(MSGPACK_LIST_MAX, 1)]);
  return Buffer.concat([
    Buffer.from('\x82\xa3hdr\x81\xa5proto\x01\xa1x', 'latin1'),
    ...(lists > 1 ? [msgpackList(lists)] : []),
    ...Array.from({ length: lists }, () => list),
  ]);
}

/** Returns a connect message of the greatest size, whose body is a string of invalid UTF-8 bytes. */
export function longText(): Buffer {
  const envelope = Buffer.from('\x82\xa3hdr\x81\xa5proto\x01\xa4body\xdb', 'latin1');
  const length = Buffer.alloc(4);
  const text = Buffer.alloc(limits.websocketMessageMaxBytes - envelope.length - 4, 0xff);
  length.writeUInt32BE(text.length);
  return Buffer.concat([envelope, length, text]);
}

function msgpackList(entries: number): Buffer {
  return Buffer.from([MSGPACK_ARRAY16, entries >> 8, entries & 0xff]);
}

/** The boundary of all forms in this file. */
export const formBoundary = 'x';

/** Returns the bytes of a form: `textParts` text parts without content, and the given parts. */
export function form(textParts: number, ...parts: readonly Buffer[]): Buffer {
  const text = `--${formBoundary}\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n`;
  return Buffer.concat([
    ...parts,
    Buffer.from(text.repeat(textParts)),
    Buffer.from(`--${formBoundary}--\r\n`),
  ]);
}

/** Returns the bytes of a form part with an artifact. */
export function artifactPart(artifact: Buffer): Buffer {
  const head = 'Content-Disposition: form-data; name="artifact"; filename="a"';
  return Buffer.concat([
    Buffer.from(`--${formBoundary}\r\n${head}\r\n\r\n`),
    artifact,
    Buffer.from('\r\n'),
  ]);
}

const MEBIBYTE = 2 ** 20;
const TAR_BLOCK_BYTES = 512;

/** Artifacts that have too many elements of one kind, by that kind. */
export const finelyDividedArtifacts: Readonly<Record<string, () => Promise<Buffer>>> = {
  'provides in its header': () => {
    const provides = JSON.parse(`{"artifact_name":"a",${members(80_000)}}`) as object;
    return malformedArtifact({ headerInfo: { ...validHeaderInfo, artifact_provides: provides } });
  },
  'lines in its manifest': () => {
    const line = (index: number) => `${'0'.repeat(64)}  data/0000/${index}\n`;
    return malformedArtifact({ manifest: (lines) => lines + joinChunks(MEBIBYTE - 1000, line) });
  },
  'files in its payload': () => {
    const dataEntries = Array.from({ length: 1000 }, (_, index) => ({
      name: `${index}`,
      content: '',
    }));
    return malformedArtifact({ dataEntries });
  },
  'members in its archive': () =>
    uncheckedTar(Array.from({ length: 20_000 }, (_, index) => ({ name: `${index}`, content: '' }))),
  'records in the extension of a member': async () =>
    tarExtension(
      'x',
      joinChunks(4 * MEBIBYTE - 1000, (index) => paxRecord(`k${index}=`)),
    ),
  'records in front of many extensions': async () => {
    const one = tarExtension('x', paxRecord('k='));
    const all = tarExtension(
      'g',
      joinChunks(MEBIBYTE, (index) => paxRecord(`k${index}=`)),
    );
    return Buffer.concat([all, ...Array.from({ length: 64 }, () => one)]);
  },
};

/**
 * Returns a record of a pax extension, which begins with its length in bytes, including the length
 * itself.
 */
function paxRecord(text: string): string {
  const bytes = text.length + 2;
  const digits = String(bytes + String(bytes).length).length;
  return `${bytes + digits} ${text}\n`;
}

function tarExtension(letter: string, content: string): Buffer {
  const block = Buffer.alloc(TAR_BLOCK_BYTES);
  block.write('extension', 0);
  block.write(content.length.toString(8).padStart(11, '0'), 124);
  block.write('00000000000', 136);
  block.write(letter, 156);
  block.write('ustar\x0000', 257);
  block.fill(' ', 148, 156);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  const padding = Buffer.alloc(TAR_BLOCK_BYTES - (content.length % TAR_BLOCK_BYTES));
  return Buffer.concat([block, Buffer.from(content), padding]);
}
