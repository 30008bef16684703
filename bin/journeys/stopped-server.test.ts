import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../fixtures/base/clock.ts';
import { startServe } from '../testing/built-command.ts';

it('a process that was stopped and continued does not report a stall', async () => {
  const { running, ready } = await startServe();
  onTestFinished(async () => {
    await running.end();
  });
  const overview = async () => {
    const headers = { Authorization: `Bearer ${ready.controlToken}` };
    const response = await fetch(`${ready.controlUrl}/overview`, { headers });
    return (await response.json()) as { stalls: unknown };
  };
  // Work at the start of the process, such as compiling, ends before the measurement.
  for (let call = 0; call < 50; call += 1) await overview();
  const stallsBefore = (await overview()).stalls;
  running.child.kill('SIGSTOP');
  await systemClock.sleep(400);
  running.child.kill('SIGCONT');
  expect((await overview()).stalls).toEqual(stallsBefore);
  expect((await running.end()).stderr).not.toContain('stalled');
});
