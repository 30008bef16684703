import { expect, it } from 'vitest';
import { soakConnections } from './connections.ts';

/** A tenth of what a whole soak asks for, and less. */
const counts = { refusedUpgrades: 200, openFiles: 400, websockets: 320, stalledBodies: 200 };

it('refused upgrades, too many websockets and stalled bodies leave a small server whole', {
  timeout: 120_000,
}, async () => {
  const figures: string[] = [];
  expect(await soakConnections((line) => figures.push(line), counts)).toEqual([]);
  expect(figures).toEqual([
    expect.stringMatching(/^200 refused upgrades in \d+ ms: open files \d+ before, \d+ after$/),
    expect.stringMatching(/^320 websockets: 2\d\d granted, \d+ refused with 503, 0 otherwise; /),
    expect.stringMatching(/^control answered \d+ times, 0 times not; slowest \d+ ms$/),
    expect.stringMatching(/^200 bodies of 1 MiB stalled: \d+ refused with 503, memory grew by /),
  ]);
});
