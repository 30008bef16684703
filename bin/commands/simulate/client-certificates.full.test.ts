import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../fixtures/base/clock.ts';
import type { FleetResult } from '../../../simulator/engine/simulate-fleet.ts';
import { TransportError } from '../../../simulator/network/errors.ts';
import { fleetError } from '../../output/fleet-outcome.ts';
import { type RunningCommand, runCommand, startServe } from '../../testing/built-command.ts';
import { selfSigned } from '../../testing/tls-front.ts';

const RUN_MAX_MS = 60_000;

let folder: string;
let server: RunningCommand;
let baseUrl: string;
let login: readonly string[];

const filePath = (name: string): string => join(folder, name);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-client-certificates-'));
  for (const name of ['good', 'wrong']) {
    const { key, certificatePem } = selfSigned(systemClock.now());
    writeFileSync(filePath(`${name}.crt`), certificatePem);
    writeFileSync(filePath(`${name}.key`), key);
  }
  writeFileSync(filePath('words.pem'), 'no PEM at all\n');
  const asks = ['--tls-client-ca', filePath('good.crt'), '--tls-ca-out', folder];
  const { running, ready } = await startServe(asks);
  server = running;
  baseUrl = ready.baseUrl;
  login = ['--password', ready.adminPassword];
}, RUN_MAX_MS);

afterAll(async () => {
  await server.end();
  rmSync(folder, { recursive: true });
});

const own = (cert: string, key: string) => ['--cert', filePath(cert), '--key', filePath(key)];

function fleet(...more: readonly string[]) {
  const small = ['--devices', '2', '--keys', 'ed25519=1', '--poll', '200ms', '--ramp', '0'];
  const trust = ['--ca', filePath('ca.pem')];
  return runCommand(['simulate', '--json', '--url', baseUrl, ...trust, ...small, ...more]);
}

describe('a server that requires client certificates', { timeout: RUN_MAX_MS }, () => {
  it('serves requests, sockets and the cleanup of a fleet with a certificate', async () => {
    const ledger = filePath('ledger.ndjson');
    const more = ['--connect', '--duration', '2s', '--ledger', ledger, '--accept', ...login];
    const { code, stdout, stderr } = await fleet(...own('good.crt', 'good.key'), ...more);
    expect(code, stderr).toBe(0);
    const result = JSON.parse(stdout) as FleetResult;
    expect(result.funnel.noContact).toBe(0);
    const sockets = result.operations.find(({ operation }) => operation === 'connect');
    expect(sockets).toMatchObject({ responses: { '1xx': 2 }, unanswered: 0 });
    const cleanup = ['simulate', 'cleanup', ledger, '--json', '--ca', filePath('ca.pem'), ...login];
    expect((await runCommand(cleanup)).stderr).toMatch(
      /if the server requires a client certificate/,
    );
    const cleaned = await runCommand([...cleanup, ...own('good.crt', 'good.key')]);
    expect(cleaned.code, cleaned.stderr).toBe(0);
    expect(JSON.parse(cleaned.stdout)).toMatchObject({ decommissioned: 2 });
  });

  it.concurrent.each([
    [
      'no certificate',
      () => [],
      /the connection was cut; if the server requires a client certificate/,
    ],
    [
      'one that it does not know',
      () => own('wrong.crt', 'wrong.key'),
      /the connection was cut; the server may not accept the certificate of --cert$/,
    ],
    [
      'one with the key of another',
      () => own('good.crt', 'wrong.key'),
      /--key \S+wrong\.key is not the key of the certificate in --cert \S+good\.crt; use another/,
    ],
    [
      'a file that holds none',
      () => own('words.pem', 'good.key'),
      /--cert \S+ contains no PEM certificate/,
    ],
    [
      'a file that holds no key',
      () => own('good.crt', 'words.pem'),
      /--key \S+ contains no unencrypted PEM private key/,
    ],
    [
      'no authority',
      () => ['--ca', filePath('words.pem')],
      /--ca \S+words\.pem contains no PEM certificate/,
    ],
  ])('ends a fleet with %s with exit code 3', async (...[, more, line]) => {
    const { code, stdout, stderr } = await fleet('--duration', '2s', ...more());
    expect({ code, stdout }, stderr).toEqual({ code: 3, stdout: '' });
    expect(stderr.trimEnd().split('\n').at(-1)).toMatch(line);
    expect(stderr).toMatch(/^fleetbed: /m);
    expect(stderr).not.toMatch(/\n\s+at |Error:/);
  });

  it('causes an error message with the reason for which it closes a connection', () => {
    const circumstances = { operation: 'reach-server', caller: 'fleet', elapsedMs: 1 };
    const said = (reason: string, certPem?: string) => {
      const plan = { baseUrl: 'https://h', tls: certPem === undefined ? {} : { certPem } };
      return String(fleetError(new TransportError(reason, circumstances), plan));
    };
    const wants = 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED';
    expect(said(wants)).toMatch(/requires a client certificate; give one with --cert and/);
    expect(said('ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'pem')).toMatch(
      /does not accept the certificate/,
    );
    expect(said('ECONNREFUSED', 'pem')).not.toMatch(/--cert/);
  });
});
