import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import {
  localPortRange,
  localPortsCheck,
  openFilesCheck,
  openFilesLimit,
  portCheck,
} from './machine.ts';

describe('the check of the open files limit', () => {
  it.each<[string, number, boolean, string, number]>([
    ['20000', 1000, true, 'pass', 19_424],
    ['20000', 19_424, true, 'pass', 19_424],
    ['20000', 19_425, true, 'fail', 19_424],
    ['20000', 19_425, false, 'warn', 19_424],
    ['1024', 1000, true, 'fail', 448],
    ['1024', 1000, false, 'warn', 448],
    ['576', 1000, false, 'warn', 0],
    ['575', 1000, false, 'fail', 0],
    ['66', 1, false, 'warn', 0],
    ['65', 1, false, 'fail', 0],
  ])('judges %s for %i devices, connected: %s: %s', (limit, devices, connect, verdict, max) => {
    const check = openFilesCheck(limit, { devices, connect });
    expect(check).toMatchObject({ verdict, connectedDevicesMax: max });
    expect(check.found).toContain(limit);
  });

  it('passes when there is no limit', () => {
    const check = openFilesCheck('unlimited', { devices: 1_000_000, connect: true });
    expect(check.verdict).toBe('pass');
    expect(check.connectedDevicesMax).toBeUndefined();
  });

  it.each([undefined, 'many'])('gives a warning when the limit is unknown: %s', (limit) => {
    expect(openFilesCheck(limit, { devices: 1, connect: false }).verdict).toBe('warn');
  });

  it('can read the limit of the current system', async () => {
    expect(await openFilesLimit()).toMatch(/^(\d+|unlimited)$/);
  });
});

describe('the check of the outgoing port range', () => {
  it.each<[string, number, boolean, string]>([
    ['32768\t60999\n', 1000, true, 'pass'],
    ['32768\t60999\n', 27_720, true, 'pass'],
    ['32768\t60999\n', 27_721, true, 'fail'],
    ['32768\t60999\n', 27_721, false, 'warn'],
    ['60999 32768\n', 1, true, 'fail'],
  ])('judges the range %j for %i devices, connected: %s', (range, devices, connect, verdict) => {
    expect(localPortsCheck(range, { devices, connect }).verdict).toBe(verdict);
  });

  it.each([undefined, '', 'all'])('passes when the range is unknown: %s', (range) => {
    const check = localPortsCheck(range, { devices: 1, connect: true });
    expect(check).toMatchObject({ verdict: 'pass' });
    expect(check.connectedDevicesMax).toBeUndefined();
  });

  it.runIf(process.platform === 'linux')('can read the range of the current system', async () => {
    expect(await localPortRange()).toMatch(/^\d+\s+\d+\s*$/);
  });
});

describe('the check of a port to listen on', () => {
  it('fails while another process listens on the port, and passes afterwards', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    expect(await portCheck('127.0.0.1', port)).toMatchObject({
      verdict: 'fail',
      found: `127.0.0.1:${port} is in use.`,
    });
    await new Promise((resolve) => server.close(resolve));
    expect(await portCheck('127.0.0.1', port)).toMatchObject({ verdict: 'pass' });
  });

  it('fails for an address that the machine does not have', async () => {
    expect(await portCheck('192.0.2.1', 0)).toMatchObject({ verdict: 'fail' });
  });
});
