import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runCommand } from '../testing/built-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'fleetbed-test-'));

afterAll(() => rmSync(folder, { recursive: true }));

describe('fleetbed contract', () => {
  it.each([
    ['openapi', '"openapi": "3.1.1"'],
    ['asyncapi', '"asyncapi": "3.0.0"'],
    ['json', '"requirements": ['],
    ['markdown', '# Device API, Management API'],
    ['http', '@url = https://staging.example'],
    ['postman', '"value": "https://staging.example"'],
  ])('writes the format %s to standard output and to a file', async (format, part) => {
    const args = ['contract', '--format', format, '--url', 'https://staging.example/'];
    const printed = await runCommand(args);
    expect([printed.code, printed.stderr]).toEqual([0, '']);
    expect(printed.stdout).toContain(part);
    const file = join(folder, format);
    const written = await runCommand([...args, '--out', file]);
    expect([written.code, written.stdout]).toEqual([0, '']);
    expect(readFileSync(file, 'utf8')).toBe(printed.stdout);
  });

  it('describes only the chosen API, with the header names of the vendor', async () => {
    const args = ['contract', '--api', 'device', '--header-prefix', 'X-MEN'];
    const { paths } = JSON.parse((await runCommand(args)).stdout);
    const names = Object.keys(paths);
    expect(names.every((path) => /^\/(api\/devices|storage)\//.test(path))).toBe(true);
    expect(JSON.stringify(paths)).toContain('X-MEN-Signature');
    expect(JSON.stringify(paths)).not.toContain('X-SVC');
  });

  it.each([
    ['an unknown format', ['--format', 'raml'], /openapi, asyncapi, json/],
    [
      'AsyncAPI of another API',
      ['--format', 'asyncapi', '--api', 'control'],
      /only the device API/,
    ],
    ['a URL of another scheme', ['--url', 'ftp://staging.example'], /http:\/\/ or https:\/\//],
    ['a file in a folder that does not exist', ['--out', join(folder, 'no/file')], /no such/i],
  ])('refuses %s in one sentence', async (_, args, sentence) => {
    const { code, stdout, stderr } = await runCommand(['contract', ...args]);
    expect([code, stdout]).toEqual([args[0] === '--out' ? 3 : 2, '']);
    expect(stderr).toMatch(sentence);
  });
});
