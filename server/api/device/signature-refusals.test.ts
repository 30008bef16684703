import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readPublicKey } from '../../crypto/public-key.ts';
import { OTHER_KEYS_MAX } from '../../crypto/refused-signature.ts';
import { diagnose } from '../../explain/doctor/evidence.ts';
import { openStore, type Store } from '../../store/store.ts';
import { keysOfFleet } from '../../tenants/fleet-keys.ts';
import { newDevice, signatureOf, type TestDevice } from '../../testing/test-device.ts';
import { missingSignature, signatureDetail, unusableKey } from './signature-refusals.ts';

let store: Store;
const header = 'X-SVC-Signature';
const own = newDevice('own', 'rsa');
const ownWithEarlierKey = newDevice('own', 'ecdsa');
const neighbour = newDevice('neighbour');
const body = JSON.stringify({ id_data: own.idData, pubkey: own.publicKeyPem });

function keyOf({ publicKeyPem }: TestDevice) {
  const key = readPublicKey(publicKeyPem);
  if ('reason' in key) throw new Error(`the key was refused: it ${key.reason}`);
  return key;
}

function record(device: TestDevice, id: string): void {
  const set = {
    id: `set-${id}-${device.publicKeyPem.length}`,
    publicKeyPem: keyOf(device).pem,
    status: 'pending',
    nowMs: 0,
  } as const;
  store.devices.recordFirstContact({ id, identity: device.idData }, set);
}

beforeAll(async () => {
  store = await openStore();
  record(ownWithEarlierKey, 'own');
  for (let n = 0; n < OTHER_KEYS_MAX - 2; n += 1) record(newDevice(`${n}`), `${n}`);
  record(neighbour, 'neighbour');
});

afterAll(() => store.close());

function detailOf(signatureText: string, sent = body) {
  return signatureDetail(header, {
    body: Buffer.from(sent),
    key: keyOf(own),
    signatureText,
    otherKeys: keysOfFleet(store, own.idData),
  });
}

describe('the refusal of a wrong signature', () => {
  it('contains its path, the expectation and, on request, the cause', () => {
    const detail = detailOf(signatureOf(`${body}\n`, own.privateKey));
    expect(detail).toMatchObject({
      path: 'header.X-SVC-Signature',
      expected: expect.stringContaining('RSA PKCS#1 v1.5'),
      actual: expect.stringMatching(/344 characters .* rsa key .* \d+ bytes of the body/),
    });
    expect(diagnose(detail.evidence)?.cause).toBe('line-feed-not-sent');
  });

  it('counts one character and one byte in the singular', () => {
    expect(detailOf('A', '1').actual).toMatch(
      /^a string of 1 character that .* 1 byte of the body$/,
    );
  });

  it.each([
    ['the device itself, by an earlier key', ownWithEarlierKey, 'device own'],
    ['another device', neighbour, 'device neighbour'],
  ])('names the device that owns the key: %s', (_, { privateKey }, device) => {
    const diagnosis = diagnose(detailOf(signatureOf(body, privateKey)).evidence);
    expect(diagnosis).toMatchObject({ cause: 'key-of-another-device', detail: device });
  });

  it('compares keys of the same identity first, then the newest', () => {
    const devices = [...keysOfFleet(store, own.idData)].map(({ device }) => device);
    expect(devices).toHaveLength(OTHER_KEYS_MAX);
    expect(devices.slice(0, 3)).toEqual(['device own', 'device neighbour', 'device 97']);
    record(newDevice('one more'), 'one more');
    const laterDevices = [...keysOfFleet(store, own.idData)].map(({ device }) => device);
    expect(laterDevices).toHaveLength(OTHER_KEYS_MAX);
    expect(laterDevices.slice(0, 2)).toEqual(['device own', 'device one more']);
  });

  it('compares no keys if the body is larger than the journal keeps', () => {
    const detail = detailOf('AAAA', `${body}${' '.repeat(16_384)}`);
    expect(detail.actual).toMatch(/1[67],\d{3} bytes/);
    expect(detail.evidence).toBeUndefined();
  });

  it('names no other device once the store is closed, and does not throw', async () => {
    const closed = await openStore();
    closed.close();
    const detail = signatureDetail(header, {
      body: Buffer.from(body),
      key: keyOf(own),
      signatureText: signatureOf(body, neighbour.privateKey),
      otherKeys: keysOfFleet(closed, own.idData),
    });
    expect(diagnose(detail?.evidence)?.cause).not.toBe('key-of-another-device');
  });
});

describe('the refusal of a request without a signature', () => {
  const error = (...names: readonly string[]) =>
    missingSignature(
      header,
      names.flatMap((name) => [name, 'AAAA']),
      Buffer.from('{}'),
    ).error;

  it('names the header of another vendor and the option that accepts it', () => {
    expect(error('Host', 'X-MEN-Signature')).toBe(
      `the ${header} header is missing or empty, but X-MEN-Signature was sent; send ${header}, or start the server with --header-prefix X-MEN`,
    );
  });

  it('names another header or body member that contains the signature', () => {
    expect(error('Signature')).toBe(
      `the ${header} header is missing or empty, but Signature was sent; send ${header}`,
    );
    const inBody = missingSignature(header, [], Buffer.from('{"signature":"AAAA"}'));
    expect(inBody.error).toBe(
      `the ${header} header is missing or empty, but the member "signature" of the body was sent; send it in ${header}, and sign the body without it`,
    );
  });

  it('names no other header unless it is a signature header', () => {
    for (const name of ['X-SVC-Signature', 'X-MEN-Signatures', 'X-Design']) {
      expect(error(name)).toBe(`the ${header} header is missing or empty`);
    }
  });
});

describe('the refusal of a public key', () => {
  it('names the kind of text that was sent without its content', () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const { status, error, detail } = unusableKey(pem, 'is a PEM block of type "PRIVATE KEY"');
    expect([status, error]).toEqual([400, 'body: pubkey: is a PEM block of type "PRIVATE KEY"']);
    expect(detail).toMatchObject({ path: 'body.pubkey' });
    const diagnosis = diagnose(detail?.evidence);
    expect(diagnosis).toMatchObject({ cause: 'private-key', detail: 'PRIVATE KEY' });
    expect(JSON.stringify([detail, diagnosis])).not.toContain(pem.slice(40, 80));
  });

  it('has no evidence if the text is larger than a key can be', () => {
    const { detail } = unusableKey('A'.repeat(20_000), 'has more than 16384 characters');
    expect(detail?.evidence).toBeUndefined();
  });
});

describe('the refusal of a request without a signature', () => {
  it('contains the expected header as its path', () => {
    const { status, error, detail } = missingSignature(header, [], Buffer.from('[]'));
    expect([status, error]).toEqual([400, 'the X-SVC-Signature header is missing or empty']);
    expect(detail).toMatchObject({ path: 'header.X-SVC-Signature', actual: 'nothing' });
  });
});
