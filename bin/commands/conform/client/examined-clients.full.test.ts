import { describe, expect, it } from 'vitest';
import { builtCommand } from '../../../testing/built-command.ts';
import { exampleSource } from '../../../testing/example-client.ts';
import { examined } from './testing/examined-client.ts';

const simulator = [
  `'${process.execPath}' '${builtCommand}' simulate --url {server} --ca {ca} --state {dir}/state`,
  '--devices 1 --keys ecdsa=1 --poll 2s --poll-jitter 0.1 --inventory 1h --connect',
  "--back-off 'kind: equal-jitter, min: 2s, max: 20s'",
].join(' ');
const python = `python3 '${exampleSource('client.py')}' --server {server} --ca {ca} --dir {dir} --interval 2`;

describe('the quick programme of the examination', { timeout: 600_000 }, () => {
  it.each([
    ['a simulated device', simulator],
    ['the example client in Python', python],
  ])('finds nothing broken in %s, and says why a MUST was not exercised', async (_, command) => {
    const { broken, unmetMusts, examination, code, stderr } = await examined(command, []);
    expect(broken, stderr).toEqual([]);
    expect({ outcome: examination.outcome, code }, stderr).toEqual({ outcome: 'kept', code: 0 });
    for (const unmet of unmetMusts) expect(unmet).not.toMatch(/did not show|was not played/);
  });
});
