import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../fixtures/base/random.ts';
import { idDataOf, identityData, identityKey } from './identity.ts';

const random = seededRandom('x');

describe('the identity of a device', () => {
  it('is the same text for the same seed and index, in every run', () => {
    expect(idDataOf(identityData(seededRandom('x'), 0, 'FB'))).toBe(
      '{"mac":"02:2a:7b:00:00:00","serial":"FB-FE8C878709","sku":"panel-7"}',
    );
    expect(idDataOf(identityData(seededRandom('x'), 1, 'FB'))).toBe(
      '{"mac":"02:2a:7b:00:00:01","serial":"FB-96034D9FA7","sku":"meter-3p"}',
    );
  });

  it('differs for another seed', () => {
    const other = identityData(seededRandom('y'), 0, 'FB');
    const mine = identityData(random, 0, 'FB');
    expect(other.mac).not.toBe(mine.mac);
    expect(other.serial).not.toBe(mine.serial);
  });

  it('has a locally administered MAC address that is unique in its fleet', () => {
    const macs = Array.from({ length: 2000 }, (_, index) => identityData(random, index, 'FB').mac);
    expect(new Set(macs).size).toBe(2000);
    for (const mac of macs) expect(mac).toMatch(/^02(:[0-9a-f]{2}){5}$/);
  });

  it('uses the prefix in the serial number and nowhere else', () => {
    const { serial, ...rest } = identityData(random, 0, 'LAB-7');
    const { serial: ordinary, ...ordinaryRest } = identityData(random, 0, 'FB');
    expect(serial).toBe(ordinary.replace('FB-', 'LAB-7-'));
    expect(rest).toEqual(ordinaryRest);
  });

  it('does not depend on which identities were requested before', () => {
    const fresh = identityData(seededRandom('x'), 7, 'FB');
    identityData(random, 3, 'FB');
    expect(identityData(random, 7, 'FB')).toEqual(fresh);
  });
});

describe('finding a device by its identity', () => {
  it('ignores the order of the members', () => {
    const { mac, serial, sku } = identityData(random, 0, 'FB');
    expect(identityKey({ sku, mac, serial })).toBe(identityKey({ mac, serial, sku }));
  });

  it('does not match one with an extra, missing or differently typed member', () => {
    const mine = identityData(random, 0, 'FB');
    const { sku: _, ...less } = mine;
    expect(identityKey({ ...mine, extra: '1' })).not.toBe(identityKey(mine));
    expect(identityKey(less)).not.toBe(identityKey(mine));
    expect(identityKey({ ...mine, mac: [mine.mac] })).not.toBe(identityKey(mine));
  });
});
