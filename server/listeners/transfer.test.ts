import { describe, expect, it } from 'vitest';
import { BodyStalled, TransferRate } from './transfer.ts';

const limits = { transferIdleMs: 60_000, transferRateMin: 100 };
const CHECK_MS = 5000;

const receiving = { complete: false, readableFlowing: true, readableLength: 0 };
const idle = { bytesRead: 0, bytesWritten: 0, writableLength: 0, parser: { incoming: receiving } };

type Connection = ConstructorParameters<typeof TransferRate>[0];

/**
 * Advances the time until the transfer stalls, an hour at most; returns the second and the reason.
 */
function stallOf(at: (seconds: number) => Connection): readonly [number, string] | undefined {
  const connection: { -readonly [Key in keyof Connection]: Connection[Key] } = { ...at(0) };
  const transfer = new TransferRate(connection, limits);
  for (let nowMs = 0; nowMs <= 3_600_000; nowMs += CHECK_MS) {
    Object.assign(connection, at(nowMs / 1000));
    const stall = transfer.stallAt(nowMs);
    if (stall) return [nowMs / 1000, stall instanceof BodyStalled ? stall.message : stall];
  }
  return undefined;
}

describe('a transfer counts as stalled', () => {
  it('when no byte of a body arrives for the idle time', () => {
    expect(stallOf((seconds) => ({ ...idle, bytesRead: Math.min(seconds, 30) * 1000 }))).toEqual([
      90,
      expect.stringMatching(/^the body stalled: none of it arrived for 60000 ms; /),
    ]);
  });

  it('when a body arrives more slowly than the minimum rate', () => {
    expect(stallOf((seconds) => ({ ...idle, bytesRead: 99 * seconds }))).toEqual([
      60,
      expect.stringMatching(/^the body stalled: 5940 bytes of it arrived in 60000 ms; /),
    ]);
  });

  it('when the response is read below the rate, not counting queued bytes', () => {
    const writableLength = 65_536;
    const stall = stallOf((seconds) => {
      const read = Math.floor((90 * seconds) / writableLength) * writableLength;
      return { ...idle, bytesWritten: writableLength + read, writableLength };
    });
    expect(stall).toEqual([660, 'unread']);
  });
});

describe('a transfer', () => {
  it.each<[string, (seconds: number) => Connection]>([
    ['for an hour at the rate', (seconds) => ({ ...idle, bytesRead: 100 * seconds })],
    ['while the server does not read the body', () => withBody({ readableLength: 1 })],
    ['while nobody has asked for the body', () => withBody({ readableFlowing: null })],
    ['once the body is complete', () => withBody({ complete: true })],
    ['between two requests', () => ({ ...idle, parser: { incoming: null } })],
    ['on a WebSocket', () => ({ ...idle, parser: null })],
    [
      'as a response in large pieces is read at the rate',
      (seconds) => {
        const read = Math.floor((110 * seconds) / 65_536) * 65_536;
        return { ...idle, bytesWritten: 65_536 + read, writableLength: 65_536 };
      },
    ],
  ])('does not count as stalled %s', (_, at) => {
    expect(stallOf(at)).toBeUndefined();
  });
});

function withBody(changed: Partial<typeof receiving> | { readableFlowing: null }): Connection {
  return { ...idle, parser: { incoming: { ...receiving, ...changed } } };
}
