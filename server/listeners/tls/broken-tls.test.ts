import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../../fixtures/contract/operations.ts';
import type { TestServer } from '../../testing/test-server.ts';
import {
  type ClientTls,
  caOf,
  handshakeWith,
  refusalOf,
  sendSecurely,
  startTlsServer,
} from '../../testing/test-tls.ts';
import { type TlsDefect, tlsDefects } from './broken-tls.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTlsServer({ brokenTls: true });
});

afterAll(() => server.close());

function urlOf(member: TlsDefect): string {
  return `${server.tls?.brokenTls[member]}`;
}

const oldTls = { minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;

/** The error of a strict client, and the option with which a careless client continues. */
const refusals: Readonly<Record<TlsDefect, { code: string; careless: ClientTls }>> = {
  expired: { code: 'CERT_HAS_EXPIRED', careless: { rejectUnauthorized: false } },
  notYetValid: { code: 'CERT_NOT_YET_VALID', careless: { rejectUnauthorized: false } },
  wrongHost: { code: 'ERR_TLS_CERT_ALTNAME_INVALID', careless: { rejectUnauthorized: false } },
  unknownCa: {
    code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    careless: { rejectUnauthorized: false },
  },
  selfSigned: { code: 'DEPTH_ZERO_SELF_SIGNED_CERT', careless: { rejectUnauthorized: false } },
  oldProtocol: { code: 'EPROTO', careless: oldTls },
};

describe('the ports with broken TLS', () => {
  it('has a port for each violation beside the valid one', async () => {
    expect(Object.keys(server.tls?.brokenTls ?? {})).toEqual([...tlsDefects]);
    const urls = [server.baseUrl, ...tlsDefects.map(urlOf)];
    expect(new Set(urls).size).toBe(tlsDefects.length + 1);
    expect(await refusalOf(server.baseUrl, { ca: caOf(server) })).toBe('answered');
  });

  it.each(tlsDefects)('is refused by a strict client: %s', async (member) => {
    const { code } = refusals[member];
    expect(await refusalOf(urlOf(member), { ca: caOf(server) })).toBe(code);
  });

  it.each(tlsDefects)('answers a client that verifies nothing like the API: %s', async (member) => {
    const { careless } = refusals[member];
    const path = operations['get-configuration'].path;
    const tls = { ca: caOf(server), ...careless };
    const response = await sendSecurely(urlOf(member) + path, { tls });
    expect(response.status).toBe(401);
    expect(response.json()).toEqual({
      error: expect.stringContaining('Authorization header'),
      request_id: response.headers.get('x-svc-requestid'),
    });
  });

  it.each(['expired', 'notYetValid', 'unknownCa', 'selfSigned'] as const)(
    'has exactly one violation per port, which is not another name: %s',
    async (member) => {
      const { code } = refusals[member];
      const given = { ca: caOf(server), servername: 'localhost' };
      expect(await handshakeWith(urlOf(member), given)).toEqual({
        error: code,
        protocol: 'TLSv1.3',
      });
    },
  );

  it('has a valid chain where only the host or protocol is wrong', async () => {
    const ca = caOf(server);
    const anyNameTls = { ca, checkServerIdentity: () => undefined };
    expect((await handshakeWith(urlOf('wrongHost'), anyNameTls)).error).toBeUndefined();
    const spoken = await handshakeWith(urlOf('oldProtocol'), { ca, ...oldTls });
    expect(spoken).toEqual({ error: undefined, protocol: 'TLSv1.1' });
  });

  it('refuses a handshake without old protocols with an alert for the protocol', async () => {
    const handshake = sendSecurely(urlOf('oldProtocol'), { tls: { ca: caOf(server) } });
    await expect(handshake).rejects.toThrow('alert protocol version');
  });

  it('also speaks TLS 1.0 on the port for old protocols', async () => {
    const options = { ca: caOf(server), ...oldTls, maxVersion: 'TLSv1' } as const;
    expect((await handshakeWith(urlOf('oldProtocol'), options)).protocol).toBe('TLSv1');
  });

  it('does not exist unless the settings enable it', async () => {
    const plain = await startTlsServer();
    expect(plain.tls?.brokenTls).toEqual({});
    await plain.close();
  });
});
