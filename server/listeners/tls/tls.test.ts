import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { connect as connectPlainly } from 'node:net';
import { connect } from 'node:tls';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { systemClock } from '../../../fixtures/base/clock.ts';
import { operations } from '../../../fixtures/contract/operations.ts';
import { artifactBytes, uploadArtifact } from '../../testing/test-artifacts.ts';
import { board, deploy, instructionsIn } from '../../testing/test-deployments.ts';
import { type AcceptedDevice, acceptedDevice } from '../../testing/test-device.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';
import { caOf, refusalOf, sendSecurely, startTlsServer } from '../../testing/test-tls.ts';
import { servedNames } from './tls.ts';

const CLOSE_MAX_MS = 2000;
const { path } = operations['get-configuration'];

let server: TestServer;
let device: AcceptedDevice;

beforeAll(async () => {
  server = await startTlsServer({ names: ['Update.Example.com', '*.fleet.test', 'fd00::17'] });
  device = await acceptedDevice(server, 'behind-tls');
  await uploadArtifact(server, await artifactBytes());
  await deploy(server, [device]);
});

afterAll(() => server.close());

/** Requests the link of the device's deployment with these headers. */
async function linkFor(target: TestServer, { token }: AcceptedDevice, headers = {}) {
  const call = { token, query: board, headers };
  const { uri } = instructionsIn(await target.call('get-next-deployment', call)).artifact.source;
  if (uri === undefined) throw new Error('the instructions have no link');
  return uri;
}

describe('a server with an ec key', () => {
  let ofEc: TestServer;

  beforeAll(async () => {
    ofEc = await startTlsServer({ keyType: 'ec', brokenTls: true });
  });

  afterAll(() => ofEc.close());

  it('is accepted by a client without RSA ciphers that trusts the test CA', async () => {
    const tls = {
      ca: caOf(ofEc),
      ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256',
      maxVersion: 'TLSv1.2',
    } as const;
    expect((await sendSecurely(ofEc.baseUrl + path, { tls })).status).toBe(401);
  });

  it('has a P-256 certificate signed by the test CA', async () => {
    const { hostname: host, port } = new URL(ofEc.baseUrl);
    const socket = connect({ host, port: Number(port), ca: caOf(ofEc) });
    await once(socket, 'secureConnect');
    const certificate = new X509Certificate(socket.getPeerCertificate().raw);
    socket.destroy();
    const { asymmetricKeyType, asymmetricKeyDetails } = certificate.publicKey;
    expect([asymmetricKeyType, asymmetricKeyDetails?.namedCurve]).toEqual(['ec', 'prime256v1']);
    expect(certificate.verify(new X509Certificate(caOf(ofEc)).publicKey)).toBe(true);
  });

  it('is refused by a client with only RSA ciphers', async () => {
    const tls = {
      ca: caOf(ofEc),
      ciphers: 'ECDHE-RSA-AES128-GCM-SHA256',
      maxVersion: 'TLSv1.2',
    } as const;
    await expect(sendSecurely(ofEc.baseUrl + path, { tls })).rejects.toThrow();
  });
});

describe('a client that trusts the test CA', () => {
  it('authenticates, polls and downloads by an https link', async () => {
    expect(new URL(server.baseUrl).protocol).toBe('https:');
    const uri = await linkFor(server, device);
    expect(uri.startsWith(`${server.baseUrl}/`)).toBe(true);
    const response = await sendSecurely(uri, { tls: { ca: caOf(server) } });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-length')).toBe(String((await artifactBytes()).length));
  });

  it('connects by a wss WebSocket', async () => {
    const url = server.baseUrl.replace('https', 'wss') + operations.connect.path;
    const headers = { Authorization: `Bearer ${device.token}` };
    const socket = new WebSocket(url, { headers, ca: caOf(server) });
    await once(socket, 'open');
    socket.ping('alive');
    expect(String((await once(socket, 'pong'))[0])).toBe('alive');
    socket.close(1000);
    expect((await once(socket, 'close'))[0]).toBe(1000);
  });

  it('can also use undici, several times on one connection', async () => {
    const agent = new Agent({ connections: 1, connect: { ca: caOf(server) } });
    const headers = { authorization: `Bearer ${device.token}` };
    for (const status of [200, 200]) {
      const response = await request(server.baseUrl + path, { dispatcher: agent, headers });
      expect(response.statusCode).toBe(status);
      await response.body.dump();
    }
    await agent.close();
  });

  it.each(['update.example.com', 'a.fleet.test', 'localhost'])(
    'accepts the server under the name %s',
    async (servername) => {
      expect(await refusalOf(server.baseUrl, { ca: caOf(server), servername })).toBe('answered');
    },
  );

  it.each(['fd00::17', '::1', '127.0.0.1'])(
    'accepts the server under the address %s',
    async (address) => {
      const { port } = new URL(server.baseUrl);
      const socket = connect({ host: '127.0.0.1', port: Number(port), ca: caOf(server) });
      await once(socket, 'secureConnect');
      const certificate = new X509Certificate(socket.getPeerCertificate().raw);
      socket.destroy();
      expect(certificate.checkIP(address)).toBe(address);
    },
  );

  it('can read the Error body for invalid HTTP', async () => {
    const { port } = new URL(server.baseUrl);
    const socket = connect({ host: '127.0.0.1', port: Number(port), ca: caOf(server) });
    socket.end('SSH-2.0-client\r\n');
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(text).toContain('the request is not valid HTTP');
  });
});

describe('a server with a test certificate', () => {
  it.each([
    ['that does not know the CA', {}, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
    ['that calls another name', { servername: 'other.example' }, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    [
      'that calls a name two levels below a wildcard',
      { servername: 'a.b.fleet.test' },
      'ERR_TLS_CERT_ALTNAME_INVALID',
    ],
    [
      'that speaks only TLS 1.1',
      { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const,
      'EPROTO',
    ],
  ])('is refused by a client %s', async (_, tls, code) => {
    const ca = code.startsWith('UNABLE') ? {} : { ca: caOf(server) };
    expect(await refusalOf(server.baseUrl, { ...ca, ...tls })).toBe(code);
  });

  it('is refused by a client that trusts the CA of another server', async () => {
    const otherServer = await startTlsServer();
    expect(caOf(otherServer)).not.toBe(caOf(server));
    const code = await refusalOf(server.baseUrl, { ca: caOf(otherServer) });
    expect(code).toBe('UNABLE_TO_VERIFY_LEAF_SIGNATURE');
    await otherServer.close();
  });

  it('is refused over wss by a client that does not know the test CA', async () => {
    const url = server.baseUrl.replace('https', 'wss') + operations.connect.path;
    const socket = new WebSocket(url, { headers: { Authorization: `Bearer ${device.token}` } });
    const [error] = await once(socket, 'error');
    expect(error).toMatchObject({ code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' });
  });

  it('refuses a client that speaks plain HTTP', async () => {
    const response = await fetch(server.baseUrl.replace('https', 'http'));
    expect([response.status, await response.json()]).toEqual([
      400,
      {
        error:
          'the request is not valid HTTP: plain HTTP was sent to the port for TLS: "GET / HTTP/1.1"; use the scheme https:// in the URL, or start the server without TLS',
        request_id: response.headers.get('x-svc-requestid'),
      },
    ]);
  });
});

describe('artifact links of a TLS server', () => {
  it('use http when a trusted proxy reports a caller on http', async () => {
    const proxied = await startTlsServer({}, { trustProxy: true });
    const caller = await acceptedDevice(proxied, 'behind-proxy');
    await uploadArtifact(proxied, await artifactBytes());
    await deploy(proxied, [caller]);
    const forwardedHeaders = (scheme: string) => ({
      'X-Forwarded-Host': 'fleet.example',
      'X-Forwarded-Proto': scheme,
    });
    expect(await linkFor(proxied, caller, forwardedHeaders('http'))).toMatch(
      /^http:\/\/fleet\.example\//,
    );
    expect(await linkFor(proxied, caller, forwardedHeaders('https'))).toMatch(
      /^https:\/\/fleet\.example\//,
    );
    const silent = { 'X-Forwarded-Host': 'fleet.example' };
    expect(await linkFor(proxied, caller, silent)).toMatch(/^https:\/\/fleet\.example\//);
    await proxied.close();
  });

  it('use https on the host of artifact files', async () => {
    const storageServer = await startTlsServer({}, { dialects: new Set(['storage-host']) });
    const caller = await acceptedDevice(storageServer, 'storage');
    await uploadArtifact(storageServer, await artifactBytes());
    await deploy(storageServer, [caller]);
    const uri = await linkFor(storageServer, caller);
    expect(storageServer.storageUrl).toMatch(/^https:/);
    expect(new URL(uri).origin).toBe(storageServer.storageUrl);
    expect((await sendSecurely(uri, { tls: { ca: caOf(storageServer) } })).status).toBe(200);
    await storageServer.close();
  });

  it('do not become https by a header without TLS', async () => {
    const plain = await startTestServer();
    const caller = await acceptedDevice(plain, 'plain');
    await uploadArtifact(plain, await artifactBytes());
    await deploy(plain, [caller]);
    const uri = await linkFor(plain, caller, { 'X-Forwarded-Proto': 'https' });
    expect(uri).toMatch(/^http:/);
    expect(plain.tls).toBeUndefined();
    await plain.close();
  });
});

describe('a server behind TLS', () => {
  it('leaves the control listener on plain HTTP', async () => {
    expect(server.controlUrl).toMatch(/^http:\/\/127\.0\.0\.1:/);
    expect((await fetch(`${server.controlUrl}/ready`)).status).toBe(200);
  });

  it('stops at once despite a handshake that has not started', async () => {
    const ending = await startTlsServer();
    const { port } = new URL(ending.baseUrl);
    const idle = connectPlainly(Number(port), '127.0.0.1');
    await once(idle, 'connect');
    // After a complete exchange the server also knows about the idle connection.
    expect(await refusalOf(ending.baseUrl, { ca: caOf(ending) })).toBe('answered');
    const closed = once(idle, 'close');
    const startedMs = systemClock.monotonicMs();
    await Promise.all([ending.close(), closed]);
    expect(systemClock.monotonicMs() - startedMs).toBeLessThan(CLOSE_MAX_MS);
  });

  it('closes sockets with 1001 when it stops', async () => {
    const ending = await startTlsServer();
    const caller = await acceptedDevice(ending, 'last');
    const url = ending.baseUrl.replace('https', 'wss') + operations.connect.path;
    const headers = { Authorization: `Bearer ${caller.token}` };
    const socket = new WebSocket(url, { headers, ca: caOf(ending) });
    await once(socket, 'open');
    const [[code]] = await Promise.all([once(socket, 'close'), ending.close()]);
    expect(code).toBe(1001);
  });
});

describe('the served names of a TLS server', () => {
  it('are the chosen names, loopback, and the listening address, without duplicates', () => {
    expect(servedNames(['A.test', '127.0.0.1', 'a.test'], '192.168.1.10')).toEqual([
      'a.test',
      '127.0.0.1',
      'localhost',
      '::1',
      '192.168.1.10',
    ]);
  });

  it('omit a listening address that is not a valid host', () => {
    expect(servedNames([], 'not a host')).toEqual(['localhost', '127.0.0.1', '::1']);
  });
});
