import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { seededRandom } from '../../fixtures/base/random.ts';
import {
  artifactBytes,
  fetchFile,
  linkTo,
  publish,
  uploadArtifact,
} from '../testing/test-artifacts.ts';
import {
  abort,
  board,
  deploy,
  instructionsIn,
  nextRequests,
  report,
  statusOf,
} from '../testing/test-deployments.ts';
import { type AcceptedDevice, acceptedDevice } from '../testing/test-device.ts';
import { journalPage } from '../testing/test-journal.ts';
import { startTestServer, type TestServer } from '../testing/test-server.ts';
import { control } from '../testing/test-tenants.ts';
import { check, plan, ruleCounts } from './testing/planned.ts';

let server: TestServer;
let device: AcceptedDevice;
let file: Buffer;
let url: string;

beforeEach(async () => {
  server = await startTestServer();
  device = await acceptedDevice(server, 'd-1');
  file = await artifactBytes({ files: [{ name: 'a', content: seededRandom('a').bytes(300_000) }] });
  url = (await linkTo(server, device.token, await publish(server, file))).uri;
});

afterEach(() => server.close());

const match = { operation: 'download-artifact' };

/** Fetches the file and keeps the bytes that arrived before the connection was cut. */
function fetchPart(
  headers: Record<string, string> = {},
): Promise<{ bytes: Buffer; etag: string; cut: boolean }> {
  return new Promise((resolve, reject) => {
    const clientRequest = request(url, { headers });
    clientRequest.on('error', reject);
    clientRequest.on('response', (response) => {
      const chunks: Buffer[] = [];
      const resolveWith = (cut: boolean) => () =>
        resolve({ bytes: Buffer.concat(chunks), etag: response.headers.etag ?? '', cut });
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      // Node reports a cut connection on the request, on the response, or on both.
      for (const side of [clientRequest.off('error', reject), response])
        side.on('error', resolveWith(true));
      response.on('end', resolveWith(false));
    });
    clientRequest.end();
  });
}

function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

describe('a faulty download', () => {
  it('is complete while no plan matches it', async () => {
    await plan(server, { match: { operation: 'upload-artifact' }, act: 'reset' });
    expect(digestOf((await fetchFile(url)).bytes)).toBe(digestOf(file));
  });

  it('can be resumed after it was cut', async () => {
    await plan(server, { match, when: 'body', act: { kind: 'reset', afterBytes: 100_000 } });
    const { bytes, etag, cut } = await fetchPart();
    expect([cut, digestOf(bytes)]).toEqual([true, digestOf(file.subarray(0, bytes.length))]);
    const resumedDownload = await fetchFile(url, {
      headers: { Range: `bytes=${bytes.length}-`, 'If-Range': etag },
    });
    expect(resumedDownload.status).toBe(206);
    expect(digestOf(Buffer.concat([bytes, resumedDownload.bytes]))).toBe(digestOf(file));
  });

  it('has all bytes but no proper end if cut after the last byte', async () => {
    await plan(server, { match, when: 'body', act: { kind: 'reset', afterBytes: 'end' } });
    // This range fits into the caller's window, because an RST discards bytes that wait to be sent.
    const { bytes } = await fetchPart({ Range: 'bytes=0-9999' });
    expect(digestOf(bytes)).toBe(digestOf(file.subarray(0, 10_000)));
  });

  it('is corrupted at the chosen byte, with unchanged validators', async () => {
    await plan(server, { match, act: { kind: 'corrupted', atByte: 200_000, bytes: 3 } });
    const { bytes, headers } = await fetchFile(url);
    const wrong = [...bytes.keys()].filter((position) => bytes[position] !== file[position]);
    expect(wrong).toEqual([200_000, 200_001, 200_002]);
    expect(headers.etag).toBe(`"${digestOf(file)}"`);
  });

  it('states the shifted range if its range is shifted', async () => {
    await plan(server, { match, act: { kind: 'shifted-range', byBytes: 10 } });
    const { status, headers, bytes } = await fetchFile(url, {
      headers: { Range: 'bytes=100-199' },
    });
    expect([status, headers['content-range']]).toEqual([206, `bytes 110-209/${file.length}`]);
    expect(bytes).toEqual(file.subarray(110, 210));
  });

  it('may claim the requested range though its range is shifted', async () => {
    await plan(server, { match, act: { kind: 'shifted-range', byBytes: 10, claims: 'requested' } });
    const { headers, bytes } = await fetchFile(url, { headers: { Range: 'bytes=100-199' } });
    expect(headers['content-range']).toBe(`bytes 100-199/${file.length}`);
    expect(bytes).toEqual(file.subarray(110, 210));
  });

  it('does not match a shifted-range rule if it has no range', async () => {
    await plan(server, { match, act: 'shifted-range' });
    expect(digestOf((await fetchFile(url)).bytes)).toBe(digestOf(file));
    expect(await ruleCounts(server)).toMatchObject({ matched: 0, fired: 0 });
  });

  it('restarts from the first byte on If-Range with a changed validator', async () => {
    await plan(server, { match, script: [{ kind: 'truncated' }, 'changed-validator'] });
    const { etag } = await fetchPart();
    const response = await fetchFile(url, { headers: { Range: 'bytes=1000-', 'If-Range': etag } });
    expect([response.status, response.bytes.length]).toEqual([200, file.length]);
    expect(response.headers.etag).not.toBe(etag);
    expect(response.headers['last-modified']).toBe(new Date(server.clock.now()).toUTCString());
  });

  it('fails an If-Match precondition with a changed validator', async () => {
    await plan(server, { match, act: 'changed-validator' });
    const headers = { Range: 'bytes=1000-', 'If-Match': `"${digestOf(file)}"` };
    expect((await fetchFile(url, { headers })).status).toBe(412);
    expect((await fetchFile(url, { headers })).status).toBe(206);
    expect((await ruleCounts(server)).fired).toBe(1);
  });

  it('returns 416 because of its range', async () => {
    await plan(server, { match, act: 'range-refused' });
    const response = await fetchFile(url, { headers: { Range: 'bytes=5-' } });
    expect([response.status, response.headers['content-range']]).toEqual([416, 'bytes */0']);
  });

  it('is redirected to the same URL once and then succeeds', async () => {
    await plan(server, { match, act: 'redirect' });
    const response = await fetch(url);
    expect([response.status, response.redirected]).toEqual([200, true]);
    expect(digestOf(Buffer.from(await response.arrayBuffer()))).toBe(digestOf(file));
  });

  it('is delayed, dripped and lost like any other response', async () => {
    await plan(server, { match, when: 'after', act: 'gateway-504' });
    expect((await fetchFile(url)).status).toBe(504);
    expect(digestOf((await fetchFile(url)).bytes)).toBe(digestOf(file));
  });
});

describe('a faulty upload', () => {
  const operation = 'upload-artifact';

  it('returns 502 before any byte of it is accepted', async () => {
    await plan(server, { match: { operation }, act: 'gateway-502' });
    const otherArtifact = await artifactBytes({ name: 'release-2' });
    expect((await uploadArtifact(server, otherArtifact)).status).toBe(502);
    expect((await uploadArtifact(server, otherArtifact)).status).toBe(201);
  });

  it('is accepted although the response is lost', async () => {
    await plan(server, { match: { operation }, when: 'after', act: 'gateway-504' });
    const otherArtifact = await artifactBytes({ name: 'release-2' });
    expect((await uploadArtifact(server, otherArtifact)).status).toBe(504);
    expect((await uploadArtifact(server, otherArtifact)).status).toBe(409);
  });

  it('is cut after the chosen number of bytes', async () => {
    await plan(server, {
      match: { operation },
      act: { kind: 'reset-upload', afterBytes: 100_000 },
    });
    const files = [{ name: 'a', content: seededRandom('b').bytes(500_000) }];
    const otherArtifact = await artifactBytes({ name: 'release-2', files });
    await expect(uploadArtifact(server, otherArtifact)).rejects.toThrow();
    expect((await uploadArtifact(server, otherArtifact)).status).toBe(201);
    expect((await ruleCounts(server)).fired).toBe(1);
  });
});

describe('a download that a planned fault cuts', () => {
  it('is in the journal with the bytes that were sent before the cut', async () => {
    await plan(server, { match, act: { kind: 'truncated', missingBytes: 1000 } });
    const { bytes } = await fetchPart();
    expect(bytes).toHaveLength(file.length - 1000);
    // A file enters the journal after its last byte.
    const recorded = async () => (await journalPage(server, 'operation=download-artifact')).entries;
    await expect
      .poll(async () => (await recorded()).at(-1)?.responseBytes)
      .toBe(file.length - 1000);
  });
});

describe('the fault altered-json', () => {
  const polled = async (set: object) => {
    await deploy(server, [device]);
    const operation = 'post-next-deployment-v2';
    await plan(server, { match: { operation }, act: { kind: 'altered-json', set } });
    return nextRequests['POST v2'](server, device.token, board);
  };

  it('sets and removes members, and leaves the others as they are', async () => {
    const { status, text } = await polled({
      'artifact.device_types_compatible': ['other'],
      'artifact.source.uri': null,
      'new.member': 1,
    });
    const { artifact, ...rest } = JSON.parse(text);
    expect(status).toBe(200);
    expect(artifact).toMatchObject({ device_types_compatible: ['other'] });
    expect(Object.keys(artifact.source)).toEqual(['expire']);
    expect(rest).toMatchObject({ id: expect.any(String), new: { member: 1 } });
  });

  it('is in the journal as it was sent', async () => {
    const { text } = await polled({ 'new.member': 1 });
    const { entries } = await journalPage(server);
    expect(entries.at(-1)?.responseBytes).toBe(Buffer.byteLength(text));
  });

  it('does not fire at a response that is not JSON', async () => {
    await plan(server, { match, act: { kind: 'altered-json', set: { a: 1 } } });
    expect(digestOf((await fetchFile(url)).bytes)).toBe(digestOf(file));
    expect((await ruleCounts(server)).fired).toBe(0);
  });

  it('is refused without a member to set', async () => {
    const refused = plan(server, { match, act: { kind: 'altered-json', set: {} } });
    await expect(refused).rejects.toThrow(/must name at least one member/);
  });
});

describe('the n-th call of a device', () => {
  it('is counted in every stage of an update, downloads by a link included', async () => {
    await deploy(server, [device]);
    const link = instructionsIn(await nextRequests['POST v2'](server, device.token, board));
    const { uri = '' } = link.artifact.source;
    const identity = { mac: 'd-1' };
    await plan(server, { match: { identity, nthCall: 3 }, act: 'gateway-502' });
    const otherDevice = await acceptedDevice(server, 'd-2');
    const artifactId = new URL(url).pathname.split('/').at(-1) ?? '';
    const ofOther = (await linkTo(server, otherDevice.token, artifactId)).uri;
    const statuses = [
      (await nextRequests['POST v2'](server, device.token, board)).status,
      (await fetch(ofOther)).status,
      (await fetch(uri, { headers: { Range: 'bytes=0-0' } })).status,
      (await fetch(uri, { headers: { Range: 'bytes=0-0' } })).status,
    ];
    expect(statuses).toEqual([200, 200, 206, 502]);
    expect(await ruleCounts(server)).toMatchObject({ matched: 3, fired: 1 });
  });
});

describe('the fault abort-deployment', () => {
  it.each(['downloading', 'installing', 'rebooting', 'success'])(
    'aborts when the device reports %s, before the report counts',
    async (at) => {
      const id = await deploy(server, [device]);
      instructionsIn(await nextRequests['POST v2'](server, device.token, board));
      await plan(server, { act: { kind: 'abort-deployment', at } });
      if (at !== 'downloading') {
        expect((await report(server, device, { id, status: 'downloading' })).status).toBe(204);
      }
      expect((await report(server, device, { id, status: at })).status).toBe(409);
      expect(await statusOf(server, id, device)).toBe('aborted');
      expect(await ruleCounts(server)).toMatchObject({ matched: 1, fired: 1 });
    },
  );

  it('leaves a report before it valid, and refuses the next report', async () => {
    const id = await deploy(server, [device]);
    await nextRequests['POST v2'](server, device.token, board);
    await plan(server, { when: 'after', act: { kind: 'abort-deployment', at: 'installing' } });
    expect((await report(server, device, { id, status: 'installing' })).status).toBe(204);
    expect((await report(server, device, { id, status: 'rebooting' })).status).toBe(409);
  });

  it('prevents the offer of a poll before the handler, and invalidates it after the handler', async () => {
    const first = await deploy(server, [device]);
    await plan(server, { act: { kind: 'abort-deployment', at: 'pending' } });
    expect((await nextRequests['GET v1'](server, device.token, board)).status).toBe(204);
    expect(await statusOf(server, first, device)).toBe('aborted');
    const second = await deploy(server, [device], { name: 'second' });
    await plan(server, {
      id: 'after',
      when: 'after',
      act: { kind: 'abort-deployment', at: 'pending' },
    });
    const { id } = instructionsIn(await nextRequests['POST v1'](server, device.token, board));
    expect(id).toBe(second);
    expect((await report(server, device, { id, status: 'downloading' })).status).toBe(409);
  });

  it('never fires for a finished deployment, and the check reports that', async () => {
    const id = await deploy(server, [device]);
    await nextRequests['POST v2'](server, device.token, board);
    await plan(server, { act: { kind: 'abort-deployment', at: 'installing' } });
    await abort(server, id);
    expect((await report(server, device, { id, status: 'installing' })).status).toBe(409);
    const unfired = [{ id: 'fault', act: 'abort-deployment', matched: 0 }];
    expect(await check(server)).toEqual({ status: 409, unfired });
  });
});

describe('the journal of faulty requests', () => {
  it('records the fault and the status that the caller received', async () => {
    await plan(server, [
      { id: 'lost', match: { operation: 'get-configuration' }, when: 'after', act: 'gateway-502' },
      { id: 'cut', match: { operation: 'get-configuration' }, act: 'reset' },
    ]);
    await server.call('get-configuration', { token: device.token });
    await server.call('get-configuration', { token: device.token }).catch(() => undefined);
    const { text } = await control(server, 'GET', '/journal?operation=get-configuration');
    const lost = { name: 'lost', act: 'respond', when: 'after', alters: 'bytes' };
    const cut = { name: 'cut', act: 'reset', when: 'before' };
    expect(JSON.parse(text)).toMatchObject({
      entries: [
        { status: 502, fault: lost },
        { status: 0, fault: cut },
      ],
    });
    const har = await control(server, 'GET', '/journal.har?operation=get-configuration');
    expect(JSON.parse(har.text)).toMatchObject({
      log: { entries: [{ _fault: lost }, { _fault: cut }] },
    });
  });
});
