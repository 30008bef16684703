import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ConnectMessageError,
  decodeConnectMessage,
} from '../../../fixtures/formats/connect-message.ts';
import { readArtifact } from '../../../fixtures/formats/mender-artifact-reader.ts';
import { ArtifactError } from '../../../fixtures/formats/mender-artifact-shape.ts';
import { examine, keysOf } from '../../../server/explain/doctor/finding.ts';
import { startCommand } from '../../testing/built-command.ts';

const root = mkdtempSync(join(tmpdir(), 'fleetbed-vectors-'));
afterAll(() => rmSync(root, { recursive: true }));

const filePath = (...names: readonly string[]): string => join(root, ...names);
const run = (...args: readonly string[]) => startCommand(['vectors', ...args]).ended;

type Row = Readonly<Record<string, string | number>>;
let json: Readonly<Record<string, readonly Row[]>>;

/** Returns the rows of a group as pairs of a title and the row. */
const rowsOf = (group: string): readonly Row[] => json[group] ?? [];
const bytes = (row: Row, field: string): Buffer => Buffer.from(String(row[`${field}Hex`]), 'hex');
const text = (row: Row, field: string): string => String(row[field]);

const filesIn = (folder: string) =>
  readdirSync(filePath(folder))
    .sort()
    .map((name) => [name, readFileSync(filePath(folder, name)).toString('base64')]);

beforeAll(async () => {
  const end = await run('--seed', 'one', '--out', filePath('json'));
  expect(end).toMatchObject({ code: 0, stderr: '' });
  json = JSON.parse(readFileSync(filePath('json', 'vectors.json'), 'utf8'));
});

describe('a folder of test vectors', () => {
  it('has the same bytes for the same seed and others for another seed', async () => {
    await run('--seed', 'one', '--out', filePath('again'));
    await run('--seed', 'two', '--out', filePath('other'));
    expect(filesIn('again')).toEqual(filesIn('json'));
    const shared = filesIn('other').filter(([, content]) =>
      filesIn('json').some(([, jsonContent]) => jsonContent === content),
    );
    expect(shared).toEqual([]);
  });

  it('is refused in place of a folder with files, which stays as it was', async () => {
    mkdirSync(filePath('full'));
    writeFileSync(filePath('full', 'mine.txt'), 'mine');
    const { code, stderr } = await run('--out', filePath('full'));
    expect(code).toBe(3);
    expect(stderr).toContain('it is a folder that is not empty; choose another folder.');
    expect(readdirSync(filePath('full'))).toEqual(['mine.txt']);
    expect(readdirSync(root).filter((name) => name.includes('draft'))).toEqual([]);
  });

  it.each([
    ['below a file', ['--out', 'FULL/mine.txt/vectors'], 3],
    ['with an unknown format', ['--format', 'rust'], 2],
  ])('is refused %s', async (_title, args, exitCode) => {
    const { code } = await run(...args.map((word) => word.replace('FULL', filePath('full'))));
    expect(code).toBe(exitCode);
  });
});

describe('signatures among the test vectors', () => {
  const openssl = (...args: readonly string[]): string =>
    execFileSync('openssl', args, { cwd: filePath('json'), encoding: 'utf8' });

  it.each(
    ['rsa', 'ecdsa', 'ed25519'].flatMap((keyType) =>
      ['plain', 'line-feed', 'utf-8'].map((title) => [keyType, title] as const),
    ),
  )('verify with openssl over the bytes of the body: %s, %s', (keyType, title) => {
    const key = `${keyType}-public.pem`;
    const [body, signature] = ['body.json', 'signature.bin'].map(
      (end) => `${keyType}-${title}-${end}`,
    ) as [string, string];
    const printed =
      keyType === 'ed25519'
        ? openssl(
            ...['pkeyutl', '-verify', '-pubin', '-inkey', key, '-rawin'],
            ...['-in', body, '-sigfile', signature],
          )
        : openssl('dgst', '-sha256', '-verify', key, '-signature', signature, body);
    expect(printed).toMatch(/Verified OK|Verified Successfully/);
  });

  it('have each cause that the doctor names, at least fifteen for each key type', () => {
    const wrong = rowsOf('wrongSignatures');
    const otherKeys = rowsOf('keys')
      .filter(({ device }) => device === 1)
      .flatMap((row) => keysOf('other', text(row, 'publicKeyPem')));
    const found = wrong.map((row) => {
      const body = bytes(row, 'body');
      const { cause, fits } = examine({ body, signature: text(row, 'header'), otherKeys });
      return { keyType: row.keyType, cause: fits ? 'none' : cause };
    });
    expect(found).toEqual(wrong.map(({ keyType, cause }) => ({ keyType, cause })));
    for (const keyType of ['rsa', 'ecdsa', 'ed25519']) {
      expect(wrong.filter((row) => row.keyType === keyType).length).toBeGreaterThanOrEqual(15);
    }
  });
});

describe('other test vectors', () => {
  it('are frames that are decoded to the listed message, or refused when wrong', () => {
    const read = rowsOf('messages').map((row) => {
      try {
        const {
          proto,
          typ = '',
          sid = '',
          body = new Uint8Array(),
        } = decodeConnectMessage(bytes(row, 'frame'));
        return { proto, typ, sid, bodyHex: Buffer.from(body).toString('hex'), isRight: true };
      } catch (error) {
        expect(error).toBeInstanceOf(ConnectMessageError);
        const { proto, typ, sid, bodyHex } = row;
        return { proto, typ, sid, bodyHex, isRight: false };
      }
    });
    expect(read).toEqual(
      rowsOf('messages').map(({ proto, typ, sid, bodyHex, cause }) => ({
        proto,
        typ,
        sid,
        bodyHex,
        isRight: cause === '',
      })),
    );
  });

  it.each([
    ['', undefined],
    ['payload-changed', ArtifactError],
    ['manifest-changed', ArtifactError],
    ['format-unknown', ArtifactError],
    ['cut-off', ArtifactError],
  ])('are artifacts that a reader accepts only if they are valid: %s', async (cause, refusal) => {
    const row = rowsOf('artifacts').find((each) => each.cause === cause) ?? {};
    const file = bytes(row, 'file');
    const read = readArtifact(Readable.from([file]));
    if (refusal) await expect(read).rejects.toBeInstanceOf(refusal);
    else await expect(read).resolves.toMatchObject({ name: 'release-2' });
    expect(createHash('sha256').update(file).digest()).toEqual(bytes(row, 'fileSha256'));
  });

  it('are tokens of three parts, with another Authorization header for each wrong token', () => {
    for (const row of rowsOf('tokens')) {
      const token = bytes(row, 'body').toString();
      expect(token.split('.')).toHaveLength(3);
      expect(text(row, 'authorization') === `Bearer ${token}`).toBe(row.cause === '');
    }
  });
});

describe('a C header of test vectors', () => {
  it('compiles without warnings as C99 without a library, and contains the bytes of the JSON format', async () => {
    await run('--seed', 'one', '--format', 'c', '--out', filePath('c'));
    const program = `#include "fleetbed_vectors.h"
int main(void) {
  unsigned long sum = 0;
  size_t i, k;
  for (i = 0; i < FLEETBED_AUTH_REQUESTS_COUNT; i++) {
    struct fleetbed_bytes body = fleetbed_auth_requests[i].body;
    for (k = 0; k < body.size; k++) sum = (sum * 31 + body.at[k]) & 0xffffff;
  }
  return sum == ${rowsOf('authRequests').reduce(
    (total, row) => bytes(row, 'body').reduce((sum, byte) => (sum * 31 + byte) & 0xffffff, total),
    0,
  )} ? 0 : 1;
}
`;
    writeFileSync(filePath('c', 'main.c'), program);
    const flags = ['-std=c99', '-Wall', '-Wextra', '-pedantic', '-Werror', '-ffreestanding'];
    execFileSync('gcc', [...flags, '-o', 'main', 'main.c'], { cwd: filePath('c') });
    expect(execFileSync(filePath('c', 'main'))).toHaveLength(0);
  });
});

describe('a Python module of test vectors', () => {
  it('has the same groups and bytes as the JSON format', async () => {
    await run('--seed', 'one', '--format', 'python', '--out', filePath('python'));
    const program = `import json, fleetbed_vectors as v
print(json.dumps({
  'header': [r['header'] for r in v.WRONG_SIGNATURES],
  'body': [r['body'].hex() for r in v.WRONG_SIGNATURES],
  'frame': [r['frame'].hex() for r in v.MESSAGES]}))`;
    const printed = execFileSync('python3', ['-c', program], { cwd: filePath('python') });
    expect(JSON.parse(printed.toString())).toEqual({
      header: rowsOf('wrongSignatures').map(({ header }) => header),
      body: rowsOf('wrongSignatures').map(({ bodyHex }) => bodyHex),
      frame: rowsOf('messages').map(({ frameHex }) => frameHex),
    });
  });
});
