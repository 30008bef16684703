import { describe, expect, it } from 'vitest';
import { limits } from '../../fixtures/contract/limits.ts';
import { UpdateLog } from './update-log.ts';

const bytesIn = (log: UpdateLog): number => Buffer.byteLength(JSON.stringify(log.body()));

describe('the log of a device update', () => {
  it('keeps thousands of short lines, limited only by the bytes of an upload', () => {
    const log = new UpdateLog(() => 0);
    for (let line = 0; line < 10_000; line += 1) log.add('info', `line ${line}`);
    expect(log.body().messages).toHaveLength(10_000);
  });

  it('drops its oldest lines beyond the size of an upload, and says how many', () => {
    const log = new UpdateLog(() => 0);
    for (let line = 0; line < 50; line += 1) log.add('info', 'x'.repeat(50_000));
    expect(bytesIn(log)).toBeLessThanOrEqual(limits.bodyMaxBytes);
    const { messages } = log.body();
    expect(messages[0]?.message).toBe(`${50 - (messages.length - 1)} earlier lines were dropped`);
  });
});
