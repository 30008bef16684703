import { describe, expect, it } from 'vitest';
import { TransportFailure } from '../target/transport-failure.ts';
import { CreatedResources } from './created-resources.ts';

const closed = new TransportFailure('connection-closed', 'read ECONNRESET');

/** Owns a thing whose removal fails this many times, and returns how often it was tried. */
async function release(failures: number, failure: Error) {
  const created = new CreatedResources();
  let tried = 0;
  created.removeAtEnd('a thing', async () => {
    tried += 1;
    if (tried <= failures) throw failure;
  });
  return { leftBehind: await created.release(undefined), tried };
}

describe('the removal of a resource', () => {
  it('is retried when the connection was closed', async () => {
    expect(await release(2, closed)).toEqual({ leftBehind: [], tried: 3 });
  });

  it.each([
    [3, closed, 3],
    [1, new TransportFailure('request-time-limit', 'no response'), 1],
    [1, new Error('refused'), 1],
  ])(
    'is reported as left behind after it failed %i times with %s',
    async (failures, fault, tried) => {
      const leftBehind = [`a thing: ${fault.message}`];
      expect(await release(failures, fault)).toEqual({ leftBehind, tried });
    },
  );
});
