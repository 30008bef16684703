import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seededRandom } from '../../fixtures/base/random.ts';
import { Identities, type IdentityPlan } from './identities.ts';
import { identityData } from './identity.ts';
import { IdentityError } from './identity-error.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-identities-'));
});

afterAll(() => rmSync(folder, { recursive: true }));

const random = seededRandom('x');

function identities(plan: Partial<IdentityPlan>): Promise<Identities> {
  return Identities.open({ devices: 3, ...plan }, { random });
}

/** Returns the id_data of the first devices of a fleet whose file has this content. */
async function rowsOf(csv: string, devices = 2) {
  const idDataFile = join(folder, 'devices.csv');
  writeFileSync(idDataFile, csv);
  const fleet = await identities({ idDataFile, devices });
  return Array.from({ length: devices }, (_, index) => fleet.of(index).idData);
}

async function refusalOf(work: Promise<unknown>): Promise<string> {
  const thrown: unknown = await work.catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(IdentityError);
  return thrown instanceof Error ? thrown.message : '';
}

describe('id_data without options', () => {
  it('is the identity data of the device itself', async () => {
    const { identity, idData } = (await identities({})).of(1);
    expect(idData).toBe(identity);
    expect(identity).toEqual(identityData(random, 1, 'FB'));
  });
});

describe('id_data from a template', () => {
  it('has its placeholders filled in for each device', async () => {
    const template =
      '{"mac":"{mac}","site":"north-{index:4}","nr":"{number}","kind":"meter","v":2}';
    const fleet = await identities({ idData: template });
    const { mac } = identityData(random, 1, 'FB');
    const wanted = { mac, site: 'north-0001', nr: '2', kind: 'meter', v: 2 };
    expect(fleet.of(1).idData).toEqual(wanted);
  });

  it('has the same random parts in every run, and different ones on every device', async () => {
    const template = '{"imei":"{digits:15}","key":"{hex:6}"}';
    const fleet = await identities({ idData: template });
    const { imei, key } = fleet.of(0).idData;
    expect(imei).toMatch(/^\d{15}$/);
    expect(key).toMatch(/^[0-9a-f]{6}$/);
    expect((await identities({ idData: template })).of(0).idData).toEqual({ imei, key });
    expect(fleet.of(1).idData.imei).not.toBe(imei);
  });

  it('sets the serial number in the identity of the device', async () => {
    const fleet = await identities({ idData: '{"serial":"S{index}"}' });
    expect(fleet.of(2).identity).toEqual({ ...identityData(random, 2, 'FB'), serial: 'S2' });
  });

  it.each([
    ['', 'line 1, column 1: '],
    ['{"mac":', 'line 1, column 8: '],
    ['["{mac}"]', 'line 1, column 1: must be an object'],
    ['{}', 'line 1, column 1: must have at least one member'],
    [
      '{"a":"{mac}",\n "b":["x"]}',
      'line 2, column 6: b: must be a string, a number, true or false',
    ],
    ['{"a":"{serail}"}', 'line 1, column 6: a: {serail} is unknown; use {index}, {number}, {mac}'],
    ['{"a":"{mac"}', 'line 1, column 6: a: a brace is not closed or not opened'],
    ['{"a":"{hex:99}"}', 'line 1, column 6: a: the length in {hex:99} must be from 1 to 64'],
    ['{"a":"{hex:x}"}', 'line 1, column 6: a: the length in {hex:x} must be from 1 to 64'],
  ])('is refused for %j at %s', async (idData, problem) => {
    const message = await refusalOf(identities({ idData }));
    expect(message).toContain(`the template of id_data is wrong at ${problem}`);
    expect(message).toContain('; a valid one is {"mac":"{mac}"');
  });

  it('is refused when it makes two devices the same', async () => {
    const message = await refusalOf(identities({ idData: '{"kind":"{sku}"}', devices: 100 }));
    expect(message).toMatch(
      /^devices \d+ and \d+ would both have the id_data \{"kind":"[^"]+"\}; put \{index\}/,
    );
  });
});

describe('id_data from a file', () => {
  it('has the members that the first row names', async () => {
    expect(await rowsOf('mac,"serial, short"\r\n02:00,S1\r\n"02:""01""",S2\r\n')).toEqual([
      { mac: '02:00', 'serial, short': 'S1' },
      { mac: '02:"01"', 'serial, short': 'S2' },
    ]);
  });

  it('can begin with a byte order mark, and have empty lines and extra rows', async () => {
    expect(await rowsOf('\uFEFFid\n\na\nb\n\nb,too many\n')).toEqual([{ id: 'a' }, { id: 'b' }]);
  });

  it('can contain line breaks within quotes', async () => {
    expect(await rowsOf('id\n"a\nb"\nc')).toEqual([{ id: 'a\nb' }, { id: 'c' }]);
  });

  it.each([
    ['', 'line 1, column 1: the file is empty; its first row must name the members.'],
    ['id\na\n', 'line 3, column 1: the file has 1 row for 2 devices.'],
    ['id,\na,b\nc,d\n', 'line 1, column 4: a column has no name.'],
    ['id;mac\na;b\nc;d\n', 'line 1, column 1: columns must be separated by commas.'],
    ['id,mac,id\n', 'line 1, column 8: two columns are named id.'],
    ['id,mac\na\nc,d\n', 'line 2, column 1: the column mac is missing.'],
    ['id,mac\na,b\nc,\n', 'line 3, column 3: the column mac is empty.'],
    [
      'id,mac\na,b,c\n',
      'line 2, column 5: this row has more columns than the header, which names 2.',
    ],
    ['id,mac\na,b\na,b\n', 'line 3, column 1: this is the same device as in line 2.'],
    ['id\n"a\nb\n', 'line 2, column 1: this quote is never closed.'],
    ['id\na"b"\n', 'line 2, column 2: a field contains a quote but does not begin with one.'],
    ['id\n"a"b\n', 'line 2, column 4: a comma is missing after the closing quote.'],
    ['id\n"a\nb"\n"c\nd"x\n', 'line 5, column 3: a comma is missing after the closing quote.'],
  ])('is refused for %j: %s', async (csv, problem) => {
    expect(await refusalOf(rowsOf(csv))).toBe(`${join(folder, 'devices.csv')}, ${problem}`);
  });

  it('is refused with the file name when the file does not exist', async () => {
    const message = await refusalOf(identities({ idDataFile: join(folder, 'absent.csv') }));
    expect(message).toMatch(/^cannot read the id_data of \S+absent\.csv: there is no such file/);
  });

  it('cannot be combined with a template', async () => {
    const both = { idData: '{"a":"{mac}"}', idDataFile: 'x' };
    expect(await refusalOf(identities(both))).toContain('not from both');
  });
});
